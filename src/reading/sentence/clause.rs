//! The part of a sentence that says what to do: "Could you please send me X?" is "send me X".
//!
//! Owns where courtesy ends and the wish begins. It never invents words; see `objective` for that.

use crate::reading::{
    language::Language,
    lexicon::{Feature, Lexicon, PhraseMatch, WordList},
    sentence::{
        german_clause::extract_german_clause,
        score::ScoredSentence,
        text::{normalise, normalise_spaces_and_quotes, words},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reading) enum ClauseKind {
    /// Do it: starts with a verb.
    Act,
    /// Tell the sender: starts with "if", "when", "what" …
    Tell,
    /// Give the sender: starts with what is wanted.
    Give,
    /// Answer the sender.
    Answer,
    /// Nothing could be cut off: the whole sentence.
    Whole,
}

#[derive(Debug, Clone)]
pub(in crate::reading) struct Clause {
    pub(in crate::reading) kind: ClauseKind,
    pub(in crate::reading) text: String,
    /// In plain letters; the first word where a language has its verb first.
    pub(in crate::reading) verb: String,
}

impl Clause {
    fn with_verb_first(kind: ClauseKind, text: &str) -> Self {
        let verb = words(text).next().unwrap_or_default().to_ascii_lowercase();
        Self { kind, text: text.to_owned(), verb }
    }
}

pub(in crate::reading) fn extract_clause(scored: &ScoredSentence<'_>) -> Clause {
    if scored.sentence.language == Language::German {
        return extract_german_clause(scored);
    }
    let tidy = normalise_spaces_and_quotes(scored.sentence.raw);
    let rest = |at: usize| tidy.get(at..).unwrap_or_default();
    let hit = |feature| {
        scored
            .phrase_matches
            .iter()
            .filter(|hit| hit.feature == feature)
            .min_by_key(|hit| (hit.start, usize::MAX - hit.end))
    };
    if let Some(ask) = hit(Feature::AsksYou) {
        let said = scored.sentence.normalised.get(ask.start..ask.end).unwrap_or_default();
        let gives = said.ends_with(" get") || said.ends_with(" have");
        return build_clause(if gives { ClauseKind::Give } else { ClauseKind::Act }, rest(ask.end));
    }
    if let Some(tell) = hit(Feature::LetMeKnow) {
        return build_clause(ClauseKind::Act, rest(tell.start));
    }
    if let Some((wish, at)) = parse_need(scored) {
        return build_clause(wish, rest(at));
    }
    let please = hit(Feature::Please).map(|please| rest(please.end)).filter(|rest| words(rest).count() >= 2);
    if let Some(after) = please {
        return build_clause(ClauseKind::Act, after);
    }
    if let Some(at) = scored.imperative_at {
        return build_clause(ClauseKind::Act, rest(at));
    }
    if let Some(forget) = hit(Feature::Needs).filter(|hit| {
        let said = scored.sentence.normalised.get(hit.start..hit.end).unwrap_or_default();
        matches!(said, "don't forget" | "do not forget" | "remember to" | "can't forget")
    }) {
        let after = rest(forget.end).trim_start();
        return build_clause(ClauseKind::Act, after.strip_prefix("to ").unwrap_or(after));
    }
    let wish = if scored.has(Feature::Question) { ClauseKind::Answer } else { ClauseKind::Whole };
    Clause::with_verb_first(wish, trim_courtesies(strip_salutation(&tidy), Language::English))
}

/// "I need you to …" wants an act, "I need the …" wants a thing. Where it starts.
fn parse_need(scored: &ScoredSentence<'_>) -> Option<(ClauseKind, usize)> {
    let needs = scored.phrase_matches.iter().filter(|hit| hit.feature == Feature::Needs);
    let said = |hit: &&PhraseMatch| scored.sentence.normalised.get(hit.start..hit.end).unwrap_or_default();
    let rest = |hit: &&PhraseMatch| scored.sentence.normalised.get(hit.end..).unwrap_or_default();
    let act = needs.clone().find(|hit| said(hit).ends_with("you to") || said(hit).ends_with("need to"));
    let thing =
        || needs.clone().find(|hit| matches!(said(hit), "i need" | "we need") && !rest(hit).starts_with(" to "));
    // "We need everyone to …".
    let all = || {
        let hit = needs.clone().find(|hit| matches!(said(hit), "i need" | "we need"))?;
        let after = rest(&hit);
        let to = after.find(" to ").filter(|at| words(after.get(..*at).unwrap_or_default()).count() <= 3)?;
        let people = ["everyone", "everybody", "all", "each", "someone", "somebody", "you", "both"];
        let named = words(after).next().is_some_and(|word| people.contains(&word));
        (named || starts_with_known_verb(after.get(to + 4..)?)).then_some((ClauseKind::Act, hit.end + to + 4))
    };
    if act.is_none()
        && let Some(found) = all()
    {
        return Some(found);
    }
    act.map(|hit| (ClauseKind::Act, hit.end)).or_else(|| thing().map(|hit| (ClauseKind::Give, hit.end)))
}

/// Takes small words off the front and sees whether it is about telling.
fn build_clause(wish: ClauseKind, rest: &str) -> Clause {
    let mut rest = rest.trim_start_matches([' ', ',', ':', '-']);
    let lexicon = Lexicon::of(Language::English);
    let strip_filler = |rest| {
        let fillers = lexicon.words(WordList::Fillers).iter();
        fillers.filter_map(|filler| strip_start(rest, filler)).find(|after| after.starts_with(' '))
    };
    while let Some(shorter) = strip_filler(rest) {
        rest = shorter.trim_start_matches([' ', ',']);
    }
    if let Some(what) = lexicon.words(WordList::TellPhrases).iter().find_map(|tell| strip_start(rest, tell)) {
        let what = what.trim_start_matches([' ', ',']);
        return Clause::with_verb_first(ClauseKind::Tell, trim_courtesies(what, Language::English));
    }
    let clause = Clause::with_verb_first(wish, trim_courtesies(rest, Language::English));
    if wish == ClauseKind::Act
        && let Some(verb) = find_base_verb(&clause.verb)
    {
        let tail = clause.text.split_once(' ').map_or("", |(_, tail)| tail);
        return Clause::with_verb_first(wish, format!("{verb} {tail}").trim_end());
    }
    clause
}

/// Starts with a verb.
pub(in crate::reading) fn starts_with_known_verb(text: &str) -> bool {
    words(text).next().is_some_and(|word| Lexicon::of(Language::English).is_verb(&word.to_ascii_lowercase()))
}

/// "Would you mind sending": the verb behind an -ing form.
fn find_base_verb(word: &str) -> Option<String> {
    let is_verb = |verb: &str| Lexicon::of(Language::English).is_verb(verb);
    let stem = word.strip_suffix("ing").filter(|_| !is_verb(word))?;
    let with_e = format!("{stem}e");
    let undoubled = stem.get(..stem.len().saturating_sub(1)).unwrap_or_default();
    [stem, &with_e, undoubled].into_iter().find(|verb| is_verb(verb)).map(str::to_owned)
}

fn strip_start<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let (head, tail) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(tail)
}

/// Drops "Hi Alex," and "Alex -".
pub(super) fn strip_salutation(tidy: &str) -> &str {
    match tidy.split_once([',', '-', ':']) {
        Some((called, rest)) if words(called).count() <= 2 && words(rest).count() >= 3 && rest.starts_with(' ') => {
            rest.trim_start()
        }
        _ => tidy,
    }
}

/// Without the courtesies that hang at the end.
pub(super) fn trim_courtesies(text: &str, language: Language) -> &str {
    let courtesies = Lexicon::of(language).words(WordList::ClosingCourtesies);
    let mut text =
        text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | '!' | '?' | ';' | ':' | '…' | '-'));
    while let Some(shorter) = courtesies.iter().find_map(|tail| strip_end(text, tail)) {
        text = shorter;
    }
    text
}

fn strip_end<'a>(text: &'a str, tail: &str) -> Option<&'a str> {
    let (head, end) = text.split_at_checked(text.len().checked_sub(tail.len())?)?;
    let whole_word = head.ends_with([' ', ',']);
    (whole_word && normalise(end) == *tail).then(|| head.trim_end_matches([' ', ',', '.', '!', '?', '-', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::sentence::{score::score_sentence, text::split_sentences};

    fn check(text: &str, wish: ClauseKind, expected: &str) {
        let scored = score_sentence(split_sentences(text).into_iter().next().unwrap(), &[]);
        let clause = extract_clause(&scored);
        assert_eq!((clause.kind, clause.text.as_str()), (wish, expected), "{text}");
    }

    #[test]
    fn german_clauses_end_in_their_verb() {
        use ClauseKind::{Act, Answer, Give, Whole};
        for (text, kind, expected) in [
            ("Schick mir bitte den Entwurf des Kassenberichts.", Act, "mir den Entwurf des Kassenberichts schicken"),
            (
                "Schicken Sie mir bitte die Auftragsbestätigung bis Donnerstag zurück.",
                Act,
                "mir die Auftragsbestätigung bis Donnerstag zurückschicken",
            ),
            (
                "Könntest du mir bitte bis Mittwoch die Teilnehmerliste schicken?",
                Act,
                "mir bis Mittwoch die Teilnehmerliste schicken",
            ),
            ("Ruf mich heute Abend an.", Act, "mich heute Abend anrufen"),
            ("Bring morgen den Schlüssel mit, sonst stehen wir vor der Tür.", Act, "morgen den Schlüssel mitbringen"),
            ("Gib mir Bescheid, ob das so passt.", Act, "mir Bescheid geben, ob das so passt"),
            (
                "Füllen Sie das Formular aus und senden Sie es an uns zurück.",
                Act,
                "das Formular ausfüllen und es an uns zurücksenden",
            ),
            ("Trag dich in die Liste ein.", Act, "in die Liste eintragen"),
            ("Vergiss nicht, die Blumen zu gießen.", Act, "die Blumen gießen"),
            ("Wir bitten Sie, Ihr Kind um 12 Uhr abzuholen.", Act, "Ihr Kind um 12 Uhr abholen"),
            ("Es wäre super, wenn du den Kuchen mitbringen könntest.", Act, "den Kuchen mitbringen"),
            ("Wäre lieb, wenn du den Müll noch rausstellst", Act, "den Müll noch rausstellen"),
            ("Kümmerst du dich um die Getränke?", Act, "um die Getränke kümmern"),
            ("Kauf Milch, Butter und Brot.", Act, "Milch, Butter und Brot kaufen"),
            ("Bitte Anzahl der Teilnehmer melden.", Act, "Anzahl der Teilnehmer melden"),
            ("Ueberweise mir bitte die 80 Euro.", Act, "mir die 80 Euro überweisen"),
            ("Wir benötigen noch die Bescheinigung Ihrer Krankenkasse.", Give, "die Bescheinigung Ihrer Krankenkasse"),
            (
                "Für die Vorlage benötige ich den Entwurf bis Ende April.",
                Give,
                "für die Vorlage den Entwurf bis Ende April",
            ),
            ("Überweisen Sie den Restbetrag von 412,80 Euro.", Act, "den Restbetrag von 412,80 Euro überweisen"),
            (
                "Melden Sie es bitte bis Donnerstag, 30.04., per Mail an, mit Angabe der Tage.",
                Act,
                "es bis Donnerstag, 30.04., per Mail anmelden",
            ),
            ("Mach bitte ein Foto und schick's mir.", Act, "ein Foto machen und es mir schicken"),
            ("Dürfte ich Sie bitten, den Fragebogen auszufüllen?", Act, "den Fragebogen ausfüllen"),
            (
                "Wäre es möglich, den Beitrag in Raten zu zahlen?",
                Answer,
                "Wäre es möglich, den Beitrag in Raten zu zahlen",
            ),
            (
                "Können Sie mir sagen, an wen ich mich wenden muss?",
                Answer,
                "Können Sie mir sagen, an wen ich mich wenden muss",
            ),
            ("Lass uns das zusammen kaufen.", Whole, "Lass uns das zusammen kaufen"),
            ("Hallo Jonas, wann passt es dir nächste Woche?", Answer, "wann passt es dir nächste Woche"),
            ("Auf dem Antrag fehlt noch Ihre Unterschrift.", Whole, "Auf dem Antrag fehlt noch Ihre Unterschrift"),
            ("Schick uns den Plan, den wir besprochen haben.", Act, "uns den Plan schicken"),
        ] {
            check(text, kind, expected);
        }
    }

    #[test]
    fn cuts_courtesy_off_both_ends() {
        check("Could you please send me the Q3 report by Friday?", ClauseKind::Act, "send me the Q3 report by Friday");
        check("Hi Alex, would you mind sending the file, thanks!", ClauseKind::Act, "send the file");
        check("If you have a minute, please call Dana.", ClauseKind::Act, "call Dana");
        check("Alex, call me tomorrow, please.", ClauseKind::Act, "call me tomorrow");
        check("Please let me know if Tuesday works.", ClauseKind::Tell, "if Tuesday works");
        check("Can I get a copy of the deed?", ClauseKind::Give, "a copy of the deed");
        check("I need the signed contract by noon.", ClauseKind::Give, "the signed contract by noon");
        check("We need you to sign the lease.", ClauseKind::Act, "sign the lease");
        check("Alex, when will the budget be ready?", ClauseKind::Answer, "when will the budget be ready");
        check("תוכלי לשלוח לי את הדוח, בבקשה?", ClauseKind::Act, "לשלוח לי את הדוח");
    }
}
