//! Amounts, currencies, invoice numbers and lengths of meetings, as people write them.
//!
//! Owns numbers with a meaning. Refuses whatever could be read two ways.

use crate::reading::{
    language::Language,
    lexicon::{Lexicon, WordList},
    sentence::text::words,
    task::wording::{Template, Wording},
};

const CURRENCIES: &[(&str, &str)] = &[
    ("€", "EUR"),
    ("$", "USD"),
    ("£", "GBP"),
    ("₪", "ILS"),
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("usd", "USD"),
    ("dollars", "USD"),
    ("gbp", "GBP"),
    ("pounds", "GBP"),
    ("ils", "ILS"),
    ("nis", "ILS"),
    ("chf", "CHF"),
    ("cad", "CAD"),
    ("aud", "AUD"),
    ("jpy", "JPY"),
    ("ש\"ח", "ILS"),
    ("שקל", "ILS"),
    ("שקלים", "ILS"),
    ("דולר", "USD"),
    ("אירו", "EUR"),
];

#[derive(Debug, Clone, PartialEq)]
pub(in crate::reading) struct Money {
    pub(in crate::reading) amount: f64,
    pub(in crate::reading) currency: &'static str,
}

impl Money {
    /// "EUR 1,250.00", or as another language has it.
    pub(super) fn format_with_currency(&self, wording: &Wording) -> String {
        let cents = (self.amount * 100.0).round() as u64;
        let whole = (cents / 100).to_string();
        let mut grouped = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                grouped.push_str(wording.template(Template::Thousands));
            }
            grouped.push(digit);
        }
        let cents = format!("{:02}", cents % 100);
        wording.fill(Template::Sum, &[("currency", self.currency), ("whole", &grouped), ("cents", &cents)])
    }
}

/// The largest amount with a currency beside it: totals are larger than their parts.
pub(in crate::reading) fn find_largest_amount(plain: &str) -> Option<Money> {
    let mut best: Option<Money> = None;
    let starts = plain.char_indices().filter(|(at, c)| c.is_ascii_digit() && !is_inside_token(plain, *at));
    for (at, _) in starts {
        let Some(found) = parse_money_at(plain, at) else { continue };
        if best.as_ref().is_none_or(|best| found.amount > best.amount) {
            best = Some(found);
        }
    }
    best
}

fn is_inside_token(plain: &str, at: usize) -> bool {
    let before = plain.get(..at).unwrap_or_default();
    before.ends_with(|c: char| c.is_alphanumeric())
        || (before.ends_with(['.', ',']) && before.trim_end_matches(['.', ',']).ends_with(|c: char| c.is_ascii_digit()))
}

fn parse_money_at(plain: &str, at: usize) -> Option<Money> {
    let (before, rest) = plain.split_at_checked(at)?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(rest.len());
    let (digits, after) = rest.split_at_checked(end)?;
    let amount = parse_amount(digits.trim_end_matches(['.', ',']))?;
    let before = before.trim_end().rsplit(' ').next().unwrap_or_default();
    let after = after.trim_start().split([' ', '.', ',', ')', ';', '?']).next().unwrap_or_default();
    let currency = parse_currency(before.trim_start_matches(['(', ':'])).or_else(|| parse_currency(after))?;
    Some(Money { amount, currency })
}

fn parse_currency(word: &str) -> Option<&'static str> {
    CURRENCIES.iter().find(|(name, _)| *name == word).map(|(_, code)| *code)
}

/// "1,250.00", "1.250,00", "1250", "99,5"; the last separator is the decimal one unless three digits follow it.
fn parse_amount(digits: &str) -> Option<f64> {
    let decimal = digits.rfind(['.', ',']).filter(|at| digits.len() - at - 1 != 3);
    let (whole, fraction) = match decimal {
        Some(at) => (digits.get(..at)?, digits.get(at + 1..)?),
        None => (digits, ""),
    };
    if fraction.len() > 2 || whole.is_empty() {
        return None;
    }
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    format!("{whole}.{fraction}0").parse().ok().filter(|amount: &f64| *amount > 0.0 && *amount < 1e12)
}

/// "invoice no. 2041", "Invoice #INV-2041", "חשבונית מס' 2041".
pub(super) fn find_invoice_number(raw: &str) -> Option<String> {
    let plain = crate::reading::sentence::text::normalise(raw);
    let mut tokens = raw.split_whitespace().zip(plain.split_whitespace());
    while let Some((_, word)) = tokens.next() {
        let lexicons = [Language::English, Language::German].map(Lexicon::of);
        let named = |list, is: &dyn Fn(&str) -> bool| {
            lexicons.iter().any(|lexicon| lexicon.words(list).iter().any(|known| is(known)))
        };
        // Hebrew has its article in front, German its case behind.
        let invoice =
            |known: &str| word.starts_with(known) || word.strip_prefix('ה').is_some_and(|it| it.starts_with(known));
        if !named(WordList::InvoiceWords, &invoice) {
            continue;
        }
        for (raw, word) in tokens.clone().take(3) {
            let bare = raw.trim_matches(|c: char| !c.is_alphanumeric());
            if bare.chars().filter(char::is_ascii_digit).count() >= 2 && !bare.contains([',', ':', '.']) {
                return Some(bare.to_owned());
            }
            let word = if word == ":" { word } else { word.trim_end_matches(':') };
            if !named(WordList::NumberWords, &|known| known == word) {
                break;
            }
        }
    }
    None
}

/// How long to meet: "30m", "1h", "1h30m".
pub(super) fn find_meeting_duration(plain: &str) -> Option<String> {
    find_meeting_minutes(plain).map(format_minutes)
}

/// How long something takes, in minutes.
pub(in crate::reading) fn find_meeting_minutes(plain: &str) -> Option<u32> {
    if !["min", "hour", "hr", "שעה", "שעות", "דק", "stunde", "std", "שעתיים"].iter().any(|unit| plain.contains(unit))
    {
        return None;
    }
    for (phrase, minutes) in [
        ("three quarters of an hour", 45),
        ("quarter of an hour", 15),
        ("two hours", 120),
        ("three hours", 180),
        ("zwei stunden", 120),
        ("drei stunden", 180),
        ("שעתיים", 120),
        ("שלוש שעות", 180),
        ("half an hour", 30),
        ("half hour", 30),
        ("halbe stunde", 30),
        ("halben stunde", 30),
        ("dreiviertelstunde", 45),
        ("viertelstunde", 15),
        ("anderthalb stunden", 90),
        ("eineinhalb stunden", 90),
        ("half-hour", 30),
        ("חצי שעה", 30),
        ("שעה וחצי", 90),
        ("an hour and a half", 90),
    ] {
        if plain.contains(phrase) {
            return Some(minutes);
        }
    }
    let words: Vec<&str> = words(plain).collect();
    let minutes = words.windows(2).find_map(|pair| match pair {
        [count, unit] => parse_minutes(count, unit),
        _ => None,
    });
    let one_hour = || {
        ["an hour", "one hour", "שעה אחת", "של שעה", "eine stunde", "einer stunde"]
            .iter()
            .any(|phrase| plain.contains(phrase))
    };
    minutes.or_else(|| one_hour().then_some(60))
}

fn parse_minutes(count: &str, unit: &str) -> Option<u32> {
    let count: u32 = count.parse().ok()?;
    let minutes = match unit {
        "min" | "mins" | "minute" | "minutes" | "minuten" | "דקות" | "דק'" => count,
        "hour" | "hours" | "hr" | "hrs" | "stunde" | "stunden" | "std" | "שעות" => count.checked_mul(60)?,
        _ => return None,
    };
    (5..=600).contains(&minutes).then_some(minutes)
}

pub(in crate::reading) fn format_minutes(minutes: u32) -> String {
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes}m"),
        (hours, 0) => format!("{hours}h"),
        (hours, minutes) => format!("{hours}h{minutes}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        for (text, expected) in [
            ("total: eur 1,250.00 by friday", Some("EUR 1,250.00")),
            ("1.250,00 €", Some("EUR 1,250.00")),
            ("$99", Some("USD 99.00")),
            ("£1,234,567.8", Some("GBP 1,234,567.80")),
            ("₪480 ועוד 12 ש\"ח", Some("ILS 480.00")),
            ("480 ש\"ח.", Some("ILS 480.00")),
            ("net usd 100, total usd 119.", Some("USD 119.00")),
            ("room 1250", None),
            ("eur 1.2345", None),
        ] {
            assert_eq!(
                find_largest_amount(text)
                    .map(|money| money.format_with_currency(Wording::of(Language::English)))
                    .as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn invoice_numbers() {
        for (text, expected) in [
            ("Invoice 2041 is due", Some("2041")),
            ("your invoice no. INV-2041, thanks", Some("INV-2041")),
            ("Invoice #77:", Some("77")),
            ("חשבונית מס' 3310", Some("3310")),
            ("Rechnung Nr. 3318 vom 4. Mai", Some("3318")),
            ("Ihre Rechnungsnummer: 2026-0117", Some("2026-0117")),
            ("the invoice for 12 chairs", None),
            ("invoice of EUR 1,250.00", None),
        ] {
            assert_eq!(find_invoice_number(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, expected) in [
            ("a 30-min catch-up", Some("30m")),
            ("90 minutes", Some("1h30m")),
            ("half an hour", Some("30m")),
            ("about 1 hour", Some("1h")),
            ("for an hour", Some("1h")),
            ("של 45 דקות", Some("45m")),
            ("eine halbe stunde zeit", Some("30m")),
            ("ca. 20 minuten", Some("20m")),
            ("2000 minutes", None),
            ("soon", None),
        ] {
            assert_eq!(find_meeting_duration(text).as_deref(), expected, "{text}");
        }
    }
}
