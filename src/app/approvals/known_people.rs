//! Finds the person whom somebody means by a name: among those in the conversation and those whom they have written to.

use crate::{app::BadInput, model::Address, policy::recipient::normalise_address};

/// The most people that are named when a name fits several.
const MOST_NAMED: usize = 5;

/// Returns the one person that the name fits; an address stands for itself. Refuses a name that fits nobody or several.
pub(super) fn find_person(who: &str, known: &[Address], own: &[String]) -> Result<Address, BadInput> {
    if let Some(addr) = normalise_address(who) {
        let named = known.iter().find(|person| person.addr == addr).cloned();
        return Ok(named.unwrap_or(Address { name: None, addr }));
    }
    let mut found: Vec<&Address> = Vec::new();
    for person in known.iter().filter(|person| fits(who, person) && !own.contains(&person.addr)) {
        match found.iter().position(|other| other.addr == person.addr) {
            // The same address may be known with a name and without.
            Some(at) if found.get(at).is_some_and(|other| other.name.is_none()) => {
                found.splice(at..=at, [person]);
            }
            Some(_) => {}
            None => found.push(person),
        }
    }
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(BadInput(format!(
            "you have written to nobody called “{who}”, and nobody in the conversation is; give the address, such as “to marc@work.example”"
        ))),
        several => {
            let named: Vec<String> = several.iter().take(MOST_NAMED).map(|person| describe_person(person)).collect();
            Err(BadInput(format!("“{who}” may be {}; give the address", named.join(" or "))))
        }
    }
}

/// Returns a person's name and address.
pub(super) fn describe_person(person: &Address) -> String {
    match person.name.as_deref().filter(|name| !name.trim().is_empty()) {
        Some(name) => format!("{name} <{}>", person.addr),
        None => person.addr.clone(),
    }
}

/// Returns whether the words of a name are all in that of the person, or, where that is not known, in front of the `@` of
/// their address.
fn fits(who: &str, person: &Address) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let local = person.addr.split('@').next().unwrap_or_default();
    let name = parts(person.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(local));
    let wanted = parts(who);
    !wanted.is_empty() && wanted.iter().all(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_person_or_is_refused() {
        let person = |name: Option<&str>, addr: &str| Address { name: name.map(str::to_owned), addr: addr.into() };
        let known = [
            person(Some("Marc Weber"), "marc@vale.example"),
            person(None, "marc@vale.example"),
            person(Some("Dana Levi"), "dana@work.example"),
            person(Some("Dana Cohen"), "dana.cohen@other.example"),
            person(None, "tom.baker@rand.example"),
            person(Some("Alex Green"), "you@home.example"),
        ];
        let own = ["you@home.example".to_owned()];
        for (who, expected) in [
            ("Marc", Some("marc@vale.example")),
            ("marc weber", Some("marc@vale.example")),
            ("Weber", Some("marc@vale.example")),
            ("Tom", Some("tom.baker@rand.example")),
            ("Dana Levi", Some("dana@work.example")),
            ("New@Else.example", Some("new@else.example")),
            ("Dana", None),
            ("Mar", None),
            ("Alex", None),
            ("", None),
        ] {
            let found = find_person(who, &known, &own).ok().map(|person| person.addr);
            assert_eq!(found.as_deref(), expected, "{who}");
        }
        let several = find_person("Dana", &known, &own).unwrap_err().to_string();
        assert!(several.contains("Dana Levi <dana@work.example> or Dana Cohen"), "{several}");
        assert_eq!(find_person("Marc", &known, &own).unwrap().name.as_deref(), Some("Marc Weber"));
    }
}
