//! What the person promised in a mail to somebody else.
//!
//! Owns how "I'll send you the plan" becomes "Send Dana the plan", in each language that is read.

use crate::reading::{
    language::Language,
    lexicon::{Feature, Lexicon, WordList},
    sentence::{
        clause::starts_with_known_verb,
        german_clause::turn_promise,
        score::ScoredSentence,
        text::{normalise, normalise_spaces_and_quotes},
    },
    task::{objective::ObjectiveWriter, third_person::german_genitive},
};

/// The objective of a promise to the writer's person; none when the sentence promises nothing.
pub(super) fn read_promise(scored: &ScoredSentence<'_>, writer: ObjectiveWriter<'_>) -> Option<String> {
    if scored.has(Feature::Conditional) {
        return None;
    }
    let said = normalise_spaces_and_quotes(scored.sentence.raw);
    match scored.sentence.language {
        Language::German => read_german_promise(scored, writer, &said),
        Language::Hebrew => read_hebrew_promise(writer, &said),
        _ => {
            let hit = scored.phrase_matches.iter().find(|hit| hit.feature == Feature::Commits)?;
            let what = said.get(hit.end..)?.trim();
            starts_with_known_verb(what).then(|| writer.write_verbatim(&replace_you_with_name(what, writer.person)))
        }
    }
}

fn read_german_promise(scored: &ScoredSentence<'_>, writer: ObjectiveWriter<'_>, said: &str) -> Option<String> {
    /// Promises to do what the other has asked for.
    const SHORT: &[&str] = &["mache ich", "mach ich", "erledige ich", "wird gemacht", "geht klar", "kuemmere mich"];
    if scored.has(Feature::Question) {
        return None;
    }
    let mut hits = scored.phrase_matches.iter().filter(|hit| hit.feature == Feature::Commits).peekable();
    hits.peek()?;
    let short =
        hits.any(|hit| scored.sentence.normalised.get(hit.start..hit.end).is_some_and(|said| SHORT.contains(&said)));
    let turned = turn_promise(said).filter(|text| text.split(' ').count() >= 3);
    match turned {
        Some(text) => Some(writer.write_verbatim(&replace_german_you(&text, writer))),
        // Said to the other, but not to be put in other words.
        None => {
            let to_other = scored.sentence.words().any(|word| matches!(word, "dir" | "dich" | "ihnen" | "euch"));
            (short || (to_other && !is_refusal(scored))).then(|| writer.write_quote(said))
        }
    }
}

fn is_refusal(scored: &ScoredSentence<'_>) -> bool {
    scored.sentence.words().any(|word| matches!(word, "nicht" | "kein" | "keine" | "nie" | "leider"))
}

/// In the person's own mail "dir" and "Ihnen" are the receiver.
fn replace_german_you(text: &str, writer: ObjectiveWriter<'_>) -> String {
    let swap = |word: &str| {
        let core = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let tail = word.strip_prefix(core).unwrap_or_default();
        match core {
            "dir" | "dich" | "Ihnen" | "Sie" | "euch" => format!("{}{tail}", writer.person),
            "Ihr" | "Ihre" | "Ihren" | "Ihrem" | "Ihrer" | "Ihres" => {
                format!("{}{tail}", german_genitive(writer.person))
            }
            core if core.starts_with("dein") => format!("{}{tail}", german_genitive(writer.person)),
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(swap).collect::<Vec<_>>().join(" ")
}

/// "אשלח לך את הדוח מחר" is "לשלוח לדנה את הדוח מחר".
fn read_hebrew_promise(writer: ObjectiveWriter<'_>, said: &str) -> Option<String> {
    let said = said.trim_end_matches(['.', '!', ' ']);
    let tokens: Vec<&str> = said.split(' ').collect();
    let promises = Lexicon::of(Language::Hebrew).words(WordList::Promises);
    let done = |word: &str| {
        let word = normalise(word);
        let bare = word.strip_prefix('ו').unwrap_or(&word);
        promises
            .iter()
            .filter_map(|entry| entry.split_once(' '))
            .find(|(promised, _)| *promised == bare)
            .map(|(_, done)| done)
    };
    let (at, done) = tokens.iter().enumerate().find_map(|(at, word)| Some((at, done(word)?)))?;
    let before = tokens.get(..at)?;
    if before.last().is_some_and(|word| matches!(*word, "לא" | "אם" | "כש")) || said.ends_with('?') {
        return None;
    }
    // What stands before the verb of its own clause says when, and may as well stand last.
    let own = before.iter().rposition(|word| word.ends_with([',', '.', ':', ';'])).map_or(0, |at| at + 1);
    let empty = |word: &&&str| !matches!(**word, "אני" | "ואני" | "אז" | "גם" | "כן" | "אנחנו" | "בטח");
    let when: Vec<&str> = before.get(own..)?.iter().filter(empty).copied().collect();
    // What stands behind a comma is another thought.
    const ENDS: [char; 3] = [',', '.', ';'];
    let behind = tokens.get(at + 1..)?;
    let end = behind.iter().position(|word| word.ends_with(ENDS)).map_or(behind.len(), |last| last + 1);
    let rest = behind.get(..end)?.iter().map(|word| replace_hebrew_you(word.trim_end_matches(ENDS), writer.person));
    let words: Vec<String> =
        std::iter::once(done.to_owned()).chain(rest).chain(when.iter().map(|word| (*word).to_owned())).collect();
    (words.len() >= 2).then(|| writer.write_verbatim(&words.join(" ")))
}

fn replace_hebrew_you(word: &str, other: &str) -> String {
    match word {
        "לך" | "לכם" | "לכן" => format!("ל{other}"),
        "אליך" | "אלייך" | "אליכם" => format!("אל {other}"),
        "אותך" | "אתכם" => format!("את {other}"),
        "איתך" | "אתך" | "איתכם" => format!("עם {other}"),
        "שלך" | "שלכם" => format!("של {other}"),
        word => word.to_owned(),
    }
}

/// In the person's own mail "you" is the receiver.
fn replace_you_with_name(text: &str, other: &str) -> String {
    let swap = |word: &str| match word {
        "you" => other.to_owned(),
        "your" => format!("{other}'s"),
        word => word.to_owned(),
    };
    text.split(' ').map(swap).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::sentence::{score::score_sentence, text::split_sentences};

    #[test]
    fn promises_are_the_persons_to_keep() {
        for (text, expected) in [
            ("I'll send you the plan by Friday.", Some("Send Ole the plan by Friday")),
            ("Ich schicke dir morgen die Liste.", Some("Ole morgen die Liste schicken")),
            (
                "Die korrigierte Liste schicke ich Ihnen heute Nachmittag.",
                Some("Die korrigierte Liste Ole heute Nachmittag schicken"),
            ),
            ("Ich werde das mit meiner Chefin besprechen.", Some("Das mit meiner Chefin besprechen")),
            ("Ich kümmere mich um die Genehmigung.", Some("Um die Genehmigung kümmern")),
            ("Melde mich am Freitag bei dir.", Some("Am Freitag bei Ole melden")),
            ("Ich rufe dich morgen zurück.", Some("Ole morgen zurückrufen")),
            ("Unseren Bescheid schicke ich Ihnen am Montag zu.", Some("Unseren Bescheid Ole am Montag zuschicken")),
            (
                "Ich stelle die Bescheinigung aus und bringe sie dir am Samstag mit.",
                Some("Die Bescheinigung ausstellen und sie Ole am Samstag mitbringen"),
            ),
            ("Mache ich!", Some("„Mache ich“ (Regatta)")),
            ("Ich schicke dir nichts.", Some("Ole nichts schicken")),
            ("Ich werde nicht kommen.", None),
            ("Ich bin morgen im Büro.", None),
            ("Wenn ich Zeit habe, schicke ich dir die Liste.", None),
            ("אשלח לך את הדוח מחר.", Some("לשלוח לOle את הדוח מחר")),
            ("מחר אני אחזור אליך עם תשובה", Some("לחזור אל Ole עם תשובה מחר")),
            ("אני אאסוף אותך ב-14:30, אל תדאגי", Some("לאסוף את Ole ב-14:30")),
            ("אני אהיה בסטודיו עד 12", None),
            ("לא אשלח לך את זה", None),
        ] {
            let scored = score_sentence(split_sentences(text).remove(0), &[]);
            let writer = ObjectiveWriter { person: "Ole", subject: "Regatta", language: scored.sentence.language };
            assert_eq!(read_promise(&scored, writer).as_deref(), expected, "{text}");
        }
    }
}
