//! German through the reader: sentences that were labelled, and whole mails.

use serde_json::Value;

use super::read_tests::{check, mail};
use crate::reading::{
    lexicon::Feature,
    sentence::{score::score_sentence, text::split_sentences},
};

const OLE: &str = "ole@werft.example";
const YOU: &str = "you@home.example";

/// Whether the hand-made features alone take a text for one that asks. A promise asks nothing of its reader.
fn asks_by_hand(text: &str) -> bool {
    let sums = split_sentences(text).into_iter().map(|sentence| score_sentence(sentence, &[])).map(|scored| {
        let promise = if scored.has(Feature::Commits) { Feature::Commits.hand_weight() + 0.6 } else { 0.0 };
        scored.hand_sum - promise
    });
    sums.fold(f64::NEG_INFINITY, f64::max) >= 0.0
}

/// The first set helped to find the phrases; the second was written before anyone had looked at it.
#[test]
fn hand_made_features_tell_requests_from_the_rest() {
    for file in ["training/sentences/german.jsonl", "tests/german/sentences.jsonl"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let (mut found, mut missed, mut wrong) = (0.0, 0.0, 0.0);
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            match (asks_by_hand(row["text"].as_str().unwrap()), row["ask"] == 1) {
                (true, true) => found += 1.0,
                (false, true) => missed += 1.0,
                (true, false) => wrong += 1.0,
                (false, false) => {}
            }
        }
        let f1 = 2.0 * found / (2.0 * found + missed + wrong);
        assert!(f1 >= 0.88, "{file}: F1 {f1:.3}, {found} found, {missed} missed, {wrong} wrong");
    }
}

#[test]
fn german_mails_become_german_tasks() {
    for (subject, text, expected) in [
        (
            "Kassenbericht",
            "Hallo Alex,\n\nschick mir bitte den Entwurf des Kassenberichts.\n\nViele Grüße\nOle",
            &["request: Ole den Entwurf des Kassenberichts schicken"] as &[_],
        ),
        (
            "Rechnung 3318",
            "Guten Tag,\n\nanbei erhalten Sie die Rechnung Nr. 3318 über 412,80 EUR, zahlbar bis 30.06.2026.\n\nMit freundlichen Grüßen",
            &["invoice: Rechnung 3318 an ole zahlen (412,80 EUR)"],
        ),
        (
            "Sommerfest",
            "Moin,\nkannst du den Kuchen mitbringen? Und bestell bitte noch zwanzig Stühle beim Verleih.",
            &[
                "request: Den Kuchen mitbringen (Sommerfest)",
                "request: Noch zwanzig Stühle beim Verleih bestellen (Sommerfest)",
            ],
        ),
        (
            "Nächste Woche",
            "Hättest du am Dienstag eine halbe Stunde Zeit für ein Telefonat?",
            &["meeting: 30 Minuten Telefonat mit ole vereinbaren"],
        ),
        (
            "Antrag",
            "Auf dem Antrag fehlt noch Ihre Unterschrift.",
            &["request: „Auf dem Antrag fehlt noch Ihre Unterschrift“"],
        ),
        ("Urlaub", "Wir sind gut angekommen, die Kinder lassen grüßen. Bis bald!", &["fyi"]),
        ("Danke", "Vielen Dank für die schnelle Antwort! Ich melde mich morgen bei dir.", &["fyi"]),
        (
            "Abwesenheitsnotiz: Antrag",
            "Ich bin bis einschließlich 6. April nicht im Büro. In dringenden Fällen wenden Sie sich an Frau Ebner.",
            &["notification"],
        ),
    ] {
        check(&mail(OLE, YOU, subject, text), expected);
    }
}
