//! What the envelope and the shape of the text say: who wrote from where, how the words are set.
//!
//! No address and no domain is a cue by itself; only what it has in common with others of its sort.

use super::signal::Signal;
use crate::{
    model::{Address, Mail, Me},
    reading::mail::category::is_machine_sender,
};

/// Mail that people have at home.
const HOME_PROVIDERS: &[&str] = &[
    "gmail.com",
    "googlemail.com",
    "yahoo.com",
    "yahoo.co.uk",
    "ymail.com",
    "hotmail.com",
    "outlook.com",
    "live.com",
    "msn.com",
    "icloud.com",
    "me.com",
    "mac.com",
    "aol.com",
    "protonmail.com",
    "proton.me",
    "gmx.de",
    "gmx.net",
    "web.de",
    "fastmail.com",
    "email.com",
    "mail.com",
    "walla.co.il",
    "walla.com",
    "bezeqint.net",
    "netvision.net.il",
    "012.net.il",
];

/// Endings that throw-away domains have and firms seldom do.
const CHEAP_ENDINGS: &[&str] = &[
    ".biz", ".top", ".xyz", ".click", ".info", ".ru", ".cc", ".club", ".online", ".site", ".win", ".loan", ".work",
    ".icu", ".buzz", ".shop", ".live", ".cn", ".tk", ".ml", ".ga", ".cf", ".gq",
];

/// Words hung on to a domain to make it look like an office.
const OFFICE_WORDS: &[&str] =
    &["secure", "verify", "verification", "alert", "login", "account", "support", "update", "service", "billing"];

const SALES_WORDS: &[&str] = &["deal", "offer", "promo", "prize", "win", "claim", "cash", "pharma", "free", "reward"];

/// Desks that write to customers, not machines as such.
const DEPARTMENT_NAMES: &[&str] = &[
    "news",
    "marketing",
    "sales",
    "promo",
    "offers",
    "hello",
    "info",
    "team",
    "billing",
    "orders",
    "support",
    "events",
    "contact",
    "customer",
    "relations",
    "service",
    "updates",
    "digest",
    "deals",
];

pub(super) fn emit_envelope_cues<'a>(mail: &Mail, me: &Me, mut take: impl FnMut(Signal<'a>)) {
    let domain = mail.from.domain();
    let local = mail.from.addr.split('@').next().unwrap_or_default();
    let own =
        me.addresses.iter().filter_map(|own| own.rsplit_once('@')).any(|(_, own)| is_same_organisation(own, domain));
    let receivers = mail.to.len() + mail.cc.len();
    let direct = mail.to.iter().any(|address| me.is_me(address));
    let any = |words: &[&str], text: &str| words.iter().any(|word| text.contains(word));
    let label = domain.rsplit_once('.').map_or(domain, |(label, _)| label);
    let subject = mail.subject.trim_start();
    let answers = |start: &str| subject.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let reply = answers("re:") || answers("re :") || answers("תשובה:") || answers("השב:");
    for (holds, name) in [
        (own, "colleague"),
        (HOME_PROVIDERS.contains(&domain), "home_address"),
        (mail.from.name.is_none(), "no_name"),
        (is_machine_sender(&mail.from.addr), "machine_sender"),
        (is_organisation(&mail.from), "organisation"),
        (
            DEPARTMENT_NAMES.iter().any(|department| local.split(['.', '-', '_']).any(|part| part == *department)),
            "desk_sender",
        ),
        (CHEAP_ENDINGS.iter().any(|ending| domain.ends_with(ending)), "cheap_domain"),
        (any(OFFICE_WORDS, label), "office_domain"),
        (any(SALES_WORDS, label), "sales_domain"),
        (label.contains('-'), "hyphen_domain"),
        (local.bytes().filter(u8::is_ascii_digit).count() >= 3, "numbered_sender"),
        (mail.bulk_header.is_some() || mail.list_id.is_some(), "bulk_header"),
        (mail.authentication.verified, "verified"),
        (reply, "reply"),
        (answers("fw:") || answers("fwd:"), "forward"),
        (!mail.references.is_empty(), "in_thread"),
        (direct, "direct"),
        (receivers > 1, "several_receivers"),
        (receivers > 4, "many_receivers"),
        (!mail.attachments.is_empty(), "attachment"),
    ] {
        if holds {
            take(Signal::Cue(name));
        }
    }
}

/// Whether a firm or a service writes, and not one of its people: the name is that of the domain, and the words before
/// the @ are no part of it. "Paketreh <sendung@paketreh.example>", not "Eva Brandt <eva@brandt.example>".
pub(in crate::reading) fn is_organisation(address: &Address) -> bool {
    let Some(name) = &address.name else { return false };
    let (name, domain) = (name.to_lowercase(), address.domain());
    let named: Vec<&str> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 3).collect();
    let labels = domain.split('.').rev().skip(1);
    let is_domain = labels.filter(|label| label.len() >= 3).any(|label| {
        named.contains(&label)
            || (named.len() > 1 && named.concat() == label)
            || label.split('-').filter(|part| part.len() >= 3).all(|part| named.contains(&part))
    });
    let local = address.addr.split('@').next().unwrap_or_default();
    is_domain && !local.split(['.', '-', '_', '+']).any(|part| part.len() >= 2 && named.contains(&part))
}

/// The same domain, or one under the other.
pub(in crate::reading) fn is_same_organisation(own: &str, other: &str) -> bool {
    let under = |a: &str, b: &str| a.strip_suffix(b).is_some_and(|rest| rest.ends_with('.'));
    !HOME_PROVIDERS.contains(&own) && (own == other || under(own, other) || under(other, own))
}

/// How the text is set: its length, its links, its shouting, words broken to hide from filters.
pub(super) fn emit_layout_cues<'a>(mail: &Mail, mut take: impl FnMut(Signal<'a>)) {
    let text = mail.text.get(..mail.text.floor_char_boundary(8_000)).unwrap_or_default();
    let mut seen = LayoutCounts::default();
    // Looked for in the whole first: most mails have none.
    let links = text.contains("http") || text.contains("www");
    for word in text.split_whitespace() {
        seen.add(word);
        seen.links += usize::from(links && (word.contains("http") || word.starts_with("www")));
    }
    let words = seen.words.max(1);
    let loud = mail.subject.chars().filter(|c| c.is_alphabetic()).count() >= 6
        && mail.subject.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase);
    for (holds, name) in [
        (words < 25, "very_short"),
        ((25..60).contains(&words), "short"),
        ((60..130).contains(&words), "middling"),
        (words >= 130, "long_text"),
        (seen.links > 0 || !mail.links.is_empty(), "links"),
        (seen.links + mail.links.len() > 3, "many_links"),
        (seen.exclamations >= 2, "exclaims"),
        (text.contains("!!"), "shouts"),
        (seen.capitals * 12 > words && seen.capitals >= 3, "capitals"),
        (seen.single_letters * 5 > words && words >= 8, "broken_words"),
        (seen.loose_marks * 12 > words && words >= 8, "loose_marks"),
        (seen.mixed_words * 25 > words && seen.mixed_words >= 2, "mixed_words"),
        (seen.money > 0, "money"),
        (seen.percent > 0, "percent"),
        (seen.bullets >= 2, "list_of_points"),
        (mail.subject.contains('!'), "subject_exclaims"),
        (loud, "loud_subject"),
        (!mail.subject.chars().any(char::is_uppercase) && mail.subject.is_ascii(), "small_subject"),
        (mail.tricks > 0, "hidden_characters"),
    ] {
        if holds {
            take(Signal::Cue(name));
        }
    }
}

#[derive(Default)]
struct LayoutCounts {
    words: usize,
    links: usize,
    exclamations: usize,
    capitals: usize,
    /// Single letters that are no words.
    single_letters: usize,
    /// Marks that stand apart from words.
    loose_marks: usize,
    /// Letters and digits or marks in one word.
    mixed_words: usize,
    money: usize,
    percent: usize,
    bullets: usize,
}

impl LayoutCounts {
    fn add(&mut self, word: &str) {
        let seen = WordCharacters::from_word(word);
        self.words += 1;
        self.exclamations += usize::from(seen.has_exclamation);
        self.money += usize::from(seen.has_currency);
        self.percent += usize::from(seen.has_percent);
        self.mixed_words += usize::from(seen.has_lowercase_after_mark && is_mixed(word));
        if word.len() > 3 {
            self.capitals += usize::from(seen.letters >= 4 && !seen.has_lowercase && word.is_ascii());
        } else {
            self.single_letters +=
                usize::from(seen.letters == 1 && word.len() == 1 && !matches!(word, "a" | "A" | "I" | "i"));
            self.loose_marks += usize::from(matches!(word, "." | "," | "!" | "?" | ":" | ";" | "/"));
            self.bullets += usize::from(matches!(word, "-" | "•" | "*" | "1." | "2." | "3." | "1)" | "2)"));
        }
    }
}

/// What one look at a word's characters shows.
#[derive(Default)]
struct WordCharacters {
    letters: usize,
    has_lowercase: bool,
    has_exclamation: bool,
    has_currency: bool,
    has_percent: bool,
    /// A small letter follows a digit or a mark.
    has_lowercase_after_mark: bool,
}

impl WordCharacters {
    fn from_word(word: &str) -> Self {
        let mut seen = Self::default();
        let (mut after_mark, mut after_digit) = (false, word == "%");
        for c in word.chars() {
            let small = c.is_ascii_lowercase() || (!c.is_ascii() && !is_hebrew(c) && c.is_lowercase());
            seen.has_lowercase_after_mark |= after_mark && small;
            seen.has_lowercase |= small;
            after_mark = false;
            match c {
                c if c.is_ascii_alphabetic() || is_hebrew(c) => seen.letters += 1,
                c if c.is_ascii() => {
                    after_mark = true;
                    seen.has_exclamation |= c == '!';
                    seen.has_currency |= c == '$';
                    seen.has_percent |= c == '%' && after_digit;
                }
                '€' | '£' | '₪' => seen.has_currency = true,
                c => seen.letters += usize::from(c.is_alphabetic()),
            }
            after_digit = c.is_ascii_digit();
        }
        seen
    }
}

fn is_hebrew(c: char) -> bool {
    matches!(c, 'א'..='ת')
}

/// "v1agra", "p~harmacy": a digit or a mark between letters, where no ordinary spelling has one.
fn is_mixed(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    if word.len() > 20 || word.contains(['@', '/', '.', '-', '\'', '_', '’', ':', '&']) {
        return false;
    }
    let mut inside = word.chars().skip_while(|c| c.is_ascii_digit()).skip_while(|c| c.is_alphabetic());
    let odd = inside.next().is_some_and(|c| c.is_ascii_digit() || c.is_ascii_punctuation());
    odd && inside.next().is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_broken_on_purpose() {
        for (word, expected) in [
            ("v1agra", true),
            ("p~harmacy", true),
            ("MI300", false),
            ("e-mail", false),
            ("don't", false),
            ("3rd", false),
        ] {
            assert_eq!(is_mixed(word), expected, "{word}");
        }
    }

    #[test]
    fn firms_and_their_people() {
        for (name, addr, expected) in [
            ("Paketreh", "sendung@paketreh.example", true),
            ("Basarnet Nachrichten", "nachricht@mail.basarnet.example", true),
            ("Mill Road Surgery", "desk@millroadsurgery.example", true),
            ("Tilda Frame", "tilda@tildaframe.example", false),
            ("Bootswerft Kranich", "buero@bootswerft-kranich.example", true),
            ("Eva Brandt", "eva@brandt.example", false),
            ("Eva Brandt", "eva@brandt-hoffmann.example", false),
            ("Eva Brandt", "eva@home.example", false),
        ] {
            let address = Address { name: Some(name.to_owned()), addr: addr.to_owned() };
            assert_eq!(is_organisation(&address), expected, "{name} {addr}");
        }
    }

    #[test]
    fn houses() {
        for (own, other, expected) in [
            ("amd.example", "amd.example", true),
            ("amd.example", "hw.amd.example", true),
            ("amd.example", "famd.example", false),
            ("gmail.com", "gmail.com", false),
        ] {
            assert_eq!(is_same_organisation(own, other), expected, "{own} {other}");
        }
    }
}
