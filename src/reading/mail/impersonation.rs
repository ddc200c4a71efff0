//! A sender who shows a name that is not theirs, and a link that shows another address than it leads to.
//!
//! Owns the comparison of names and hosts. A name is only compared, never trusted.

use crate::model::{Mail, Me};

/// Names that are imitated most. A name is only compared, never trusted.
const BRANDS: &[&str] = &[
    "paypal",
    "amazon",
    "apple",
    "microsoft",
    "office365",
    "google",
    "gmail",
    "netflix",
    "facebook",
    "instagram",
    "whatsapp",
    "linkedin",
    "dropbox",
    "docusign",
    "adobe",
    "dhl",
    "fedex",
    "chase",
    "wellsfargo",
    "bankofamerica",
    "citibank",
    "hsbc",
    "barclays",
    "santander",
    "revolut",
    "coinbase",
    "binance",
    "stripe",
    "ebay",
    "spotify",
    "leumi",
    "hapoalim",
    "discount",
];

/// The domain is nearly, but not quite, that of a known name, of the name it shows, or of the person.
pub(super) fn warn_of_lookalike_domain(mail: &Mail, me: &Me) -> Option<String> {
    let domain = mail.from.domain();
    if mail.authentication.verified || domain.is_empty() {
        return None;
    }
    let label = main_label(domain);
    let folded = fold_label_and_parts(label);
    let shown: String = mail.from.name.iter().flat_map(|name| name.chars()).filter(|c| c.is_alphanumeric()).collect();
    let shown = shown.to_lowercase();
    let own = me.addresses.iter().filter_map(|own| own.rsplit_once('@')).map(|(_, domain)| main_label(domain));
    let linked = mail.links.iter().filter_map(|link| parse_host(&link.text)).map(main_label);
    let is_spelled_out = label.bytes().filter(|byte| *byte != b'-').eq(shown.bytes());
    let shown = (!is_spelled_out).then_some(shown.as_str());
    let mut known = BRANDS.iter().copied().chain(own).chain(linked).chain(shown);
    known.find(|known| is_lookalike(label, &folded, known)).map(|known| {
        format!("the sender's domain {domain} looks like “{known}” but is not, and the receiving server did not vouch for it")
    })
}

/// Equal once swapped characters are put back, though not equal as written; or the name with words hung on by hyphens.
fn is_lookalike(label: &str, folded: &[String], known: &str) -> bool {
    if label.eq_ignore_ascii_case(known) || known.len() < 4 {
        return false;
    }
    folded.iter().any(|part| part == known) || (known.len() >= 6 && is_one_edit_apart(label, known))
}

/// The whole label and its hyphenated parts, with swapped characters put back.
fn fold_label_and_parts(label: &str) -> Vec<String> {
    std::iter::once(label)
        .chain(label.split('-').filter(|part| part.len() < label.len()))
        .map(fold_confusables)
        .collect()
}

/// Digits and letter pairs that pass for letters.
fn fold_confusables(label: &str) -> String {
    let swapped = label.chars().filter(|c| *c != '-').map(|c| match c {
        '0' => 'o',
        '1' => 'l',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '6' => 'b',
        '8' => 'b',
        c => c,
    });
    swapped.collect::<String>().replace("rn", "m").replace("vv", "w")
}

fn is_one_edit_apart(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.len() - short.len() > 1 {
        return false;
    }
    let same = short.bytes().zip(long.bytes()).take_while(|(a, b)| a == b).count();
    let tail = |text: &str, from: usize| text.bytes().skip(from).collect::<Vec<_>>();
    let skip_short = usize::from(short.len() == long.len());
    tail(short, same + skip_short) == tail(long, same + 1)
}

/// The part of a domain a person reads as its name: "mybank" of "mail.mybank.example".
fn main_label(domain: &str) -> &str {
    let mut labels = domain.rsplit('.');
    let last = labels.next().unwrap_or_default();
    match labels.next() {
        Some("co" | "com" | "org" | "ac" | "gov" | "net") if last.len() == 2 => labels.next().unwrap_or(last),
        Some(label) => label,
        None => last,
    }
}

/// Shows one address and leads to another. `is_alarming`: the mail is about access, so that a host of the sender's own
/// is no excuse either.
pub(super) fn warn_of_mismatched_link(mail: &Mail, is_alarming: bool) -> Option<String> {
    // Newsletters count clicks through another host; a vouched-for sender may.
    if mail.authentication.verified && mail.bulk_header.is_some() {
        return None;
    }
    let own = main_label(mail.from.domain());
    mail.links.iter().find_map(|link| {
        let (shown, target) = (parse_host(&link.text)?, parse_host(&link.href)?);
        let leads_home = main_label(target).eq_ignore_ascii_case(own) && !is_alarming;
        (!main_label(shown).eq_ignore_ascii_case(main_label(target)) && !leads_home)
            .then(|| format!("a link shows {shown} but leads to {target}"))
    })
}

/// The host of something that looks like an address on the web.
fn parse_host(text: &str) -> Option<&str> {
    let text = text.trim();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', ':']).next()?;
    let host = host.rsplit('@').next()?;
    let dotted = host.split_once('.').is_some_and(|(a, b)| !a.is_empty() && b.len() >= 2);
    (dotted && !host.contains(char::is_whitespace) && host.is_ascii()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookalikes() {
        for (label, known, expected) in [
            ("my6ank", "mybank", true),
            ("paypa1", "paypal", true),
            ("paypal", "paypal", false),
            ("paypal-support", "paypal", true),
            ("rnicrosoft", "microsoft", true),
            ("amazom", "amazon", true),
            ("acme", "amazon", false),
            ("home", "some", false),
        ] {
            assert_eq!(is_lookalike(label, &fold_label_and_parts(label), known), expected, "{label} {known}");
        }
    }

    #[test]
    fn hosts_and_names() {
        for (text, expected) in [
            ("https://www.mybank.example/login?x", Some("mybank")),
            ("mybank.co.il", Some("mybank")),
            ("Click here", None),
            ("v2. Done", None),
        ] {
            assert_eq!(parse_host(text).map(main_label), expected, "{text}");
        }
    }
}
