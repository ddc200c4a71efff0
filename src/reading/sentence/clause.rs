//! The part of a sentence that says what to do: "Could you please send me X?" is "send me X".
//!
//! Owns where courtesy ends and the wish begins. It never invents words; see `objective` for that.

use crate::reading::{
    language::{Language, LanguageScores},
    lexicon::{Feature, Lexicon, PhraseMatch, WordList},
    mail::addressing::is_greeting_word,
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
    /// The sentence without its salutation and courtesies, to be quoted.
    pub(in crate::reading) whole: String,
}

impl Clause {
    /// Whether it is done with "it" or "them": its first words name nothing, and another sentence does.
    pub(in crate::reading) fn points_back(&self, language: Language) -> bool {
        let text = self.text.to_lowercase();
        // The verb stands first, but not in German.
        let from = usize::from(language != Language::German);
        let mut near = text.split_whitespace().skip(from).take(3).map(|word| word.trim_matches([',', '.', '?']));
        // "Beim nächsten Besuch welche mitbringen": some of what was named.
        let mut last = text.rsplit(' ').skip(1);
        if language == Language::German && self.kind == ClauseKind::Act && last.next() == Some("welche") {
            return true;
        }
        self.kind == ClauseKind::Act && near.any(|word| Lexicon::of(language).has_word(WordList::PointingWords, word))
    }

    /// Whether it says by when something is to be told, and not what.
    pub(in crate::reading) fn is_only_time(&self) -> bool {
        let lexicon = Lexicon::of(Language::English);
        let text = self.text.to_lowercase();
        // "Tonight, they print the name cards": a reason may follow.
        let text = text.split([',', ';']).next().unwrap_or_default();
        let is_what = |word: &str| {
            matches!(
                word,
                "if" | "whether"
                    | "what"
                    | "when"
                    | "which"
                    | "who"
                    | "how"
                    | "where"
                    | "why"
                    | "that"
                    | "your"
                    | "the"
            )
        };
        let starts = words(text).next().is_some_and(|word| lexicon.has_word(WordList::TimeStarts, word));
        self.kind == ClauseKind::Tell && starts && !words(text).any(is_what)
    }

    fn with_verb_first(kind: ClauseKind, text: &str) -> Self {
        let verb = words(text).next().unwrap_or_default().to_ascii_lowercase();
        Self { kind, text: text.to_owned(), verb, whole: String::new() }
    }
}

pub(in crate::reading) fn extract_clause(scored: &ScoredSentence<'_>) -> Clause {
    if scored.sentence.language == Language::German {
        return extract_german_clause(scored);
    }
    let tidy = normalise_spaces_and_quotes(strip_initials(scored.sentence.raw));
    let whole = strip_notice(strip_lead_in(trim_courtesies(strip_salutation(&tidy), Language::English)));
    let mark = if tidy.trim_end().ends_with('?') { "?" } else { "" };
    let asks = if scored.has(Feature::Question) { ClauseKind::Answer } else { ClauseKind::Whole };
    let found = find_wishes(scored, &tidy).min_by_key(|wish| (wish.at, std::cmp::Reverse(wish.from)));
    let clause = found.map(|wish| wish.build(&tidy)).unwrap_or_else(|| Clause::with_verb_first(asks, whole));
    // A question about the reader orders nothing ("Would you like Dana to come?"), and nobody is handed a meeting.
    let is_meeting = || scored.has(Feature::Meeting) || scored.logit_meets > 0.0;
    let points = || Lexicon::of(Language::English).has_word(WordList::PointingWords, &clause.verb);
    let is_no_gift = clause.kind == ClauseKind::Give && (is_meeting() || points());
    let kind = if clause.kind == ClauseKind::Whole || is_no_gift { asks } else { clause.kind };
    Clause { whole: format!("{whole}{mark}"), kind, ..clause }
}

/// A place in a sentence at which a wish begins.
struct Wish {
    at: usize,
    kind: ClauseKind,
    /// Where what is wished for begins.
    from: usize,
}

impl Wish {
    fn build(&self, tidy: &str) -> Clause {
        build_clause(self.kind, tidy.get(self.from..).unwrap_or_default())
    }
}

/// The wishes of a sentence. What stands in the condition before its first comma is none, if another one follows.
fn find_wishes<'s>(scored: &'s ScoredSentence<'_>, tidy: &'s str) -> impl Iterator<Item = Wish> + use<'s> {
    let plain = scored.sentence.normalised.as_str();
    let lexicon = Lexicon::of(Language::English);
    let is_conditional = words(plain).next().is_some_and(|word| lexicon.has_word(WordList::Conditions, word));
    let comma = plain.find(", ").filter(|_| is_conditional).unwrap_or(0);
    // "What do we need to do?" wants an answer, and "if we need to move it" sets a condition.
    let is_doubted = |at: usize| {
        let before = plain.get(..at).unwrap_or_default().trim_end();
        scored.has(Feature::Question) || before.rsplit(' ').next().is_some_and(|word| matches!(word, "if" | "whether"))
    };
    let need = parse_need(scored).filter(|(_, _, at)| !is_doubted(*at)).map(|(kind, from, at)| Wish { at, kind, from });
    // A word that looks like an order behind a name or a title is none, if the sentence asks in so many words.
    let is_order = |at: &usize| *at == 0 || !scored.has(Feature::AsksYou);
    let tells =
        |at: &usize| plain.get(*at..).is_some_and(|order| order.starts_with("note ") || order.starts_with("be a"));
    let order = scored.imperative_at.filter(|at| is_order(at) && !tells(at));
    let order = order.map(|at| Wish { at, kind: ClauseKind::Act, from: at });
    let duty = find_hebrew_duty(scored, tidy).map(|at| Wish { at, kind: ClauseKind::Act, from: at });
    let hits = scored.phrase_matches.iter().filter_map(move |hit| read_wish(hit, plain, tidy));
    let found: Vec<Wish> = hits.chain(need).chain(order).chain(duty).collect();
    let first = if found.iter().any(|wish| wish.at >= comma) { comma } else { 0 };
    found.into_iter().filter(move |wish| wish.at >= first)
}

/// Where a Hebrew sentence begins to say what the reader is to do: the infinitive in "יש לאסוף את החבילה".
fn find_hebrew_duty(scored: &ScoredSentence<'_>, tidy: &str) -> Option<usize> {
    const SHORTEST_INFINITIVE: usize = 4;
    if scored.sentence.language != Language::Hebrew {
        return None;
    }
    let lexicon = Lexicon::of(Language::Hebrew);
    let mut ends = tidy.match_indices(" ל").map(|(at, _)| at);
    let is_infinitive = |at: &usize| {
        let (head, tail) = tidy.split_at_checked(*at).unwrap_or_default();
        let verb = words(tail).next().unwrap_or_default();
        let is_duty = |duty: &String| head == duty.as_str() || head.ends_with(&format!(" {duty}"));
        verb.chars().count() >= SHORTEST_INFINITIVE
            && lexicon.is_verb(verb)
            && lexicon.words(WordList::Duties).iter().any(is_duty)
    };
    ends.find(is_infinitive).map(|at| at + 1)
}

/// What the phrase of a wish asks for; none when nothing hangs on it.
fn read_wish(hit: &PhraseMatch, plain: &str, tidy: &str) -> Option<Wish> {
    let lexicon = Lexicon::of(Language::English);
    let said = plain.get(hit.start..hit.end).unwrap_or_default();
    let after = plain.get(hit.end..).unwrap_or_default();
    let wish = |kind, from| Some(Wish { at: hit.start, kind, from });
    let asks_state = || {
        let states = lexicon.words(WordList::AsksState).iter();
        let starts = |state: &String| after.trim_start().strip_prefix(state.as_str());
        states.filter_map(starts).any(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    // "Would it be possible to visit you?"
    let wants_leave = || {
        said.contains("possible")
            && words(after).find(|word| *word != "to").is_some_and(|verb| lexicon.has_word(WordList::WriterActs, verb))
    };
    match hit.feature {
        Feature::AsksYou if said.ends_with(" get") || said.ends_with(" have") => wish(ClauseKind::Give, hit.end),
        // "Would you like …?" asks, and so does "is it possible that …?".
        Feature::AsksYou if (asks_state() && !starts_with_filler(after)) || wants_leave() => {
            wish(ClauseKind::Whole, hit.start)
        }
        // "Wondering if you would like to come" asks too.
        Feature::AsksYou if said.ends_with(" if you") && asks_state() => {
            wish(ClauseKind::Tell, hit.end - "if you".len())
        }
        Feature::AsksYou if said.ends_with(" if") || said.ends_with(" whether") => {
            let is_act =
                starts_with_filler(after) && !after.contains(" you would like ") && !after.contains(" you'd like ");
            if is_act {
                wish(ClauseKind::Act, hit.end)
            } else {
                wish(ClauseKind::Tell, hit.end - said.rsplit(' ').next()?.len())
            }
        }
        Feature::AsksYou => wish(ClauseKind::Act, hit.end),
        Feature::LetMeKnow
            if lexicon.words(WordList::TellPhrases).iter().any(|tell| said == tell) || !said.is_ascii() =>
        {
            wish(ClauseKind::Act, hit.start)
        }
        Feature::LetMeKnow if lexicon.is_verb(words(said).next()?) && !said.starts_with("please") => {
            wish(ClauseKind::Act, hit.start)
        }
        // "It would help if you could send it": a wish for an act.
        Feature::Hopes if ["you could", "you can", "you would"].iter().any(|end| said.ends_with(end)) => {
            let adds = |word: &&str| matches!(*word, "please" | "also" | "kindly" | "then" | "just");
            let next = words(after).find(|word| !adds(word))?;
            (lexicon.is_verb(next) && !asks_state()).then(|| wish(ClauseKind::Act, hit.end))?
        }
        // "Please note that …" tells.
        Feature::Please if [" note ", " be a", " find "].iter().any(|told| after.starts_with(told)) => None,
        // "No slides please, …" closes a wish, and opens none.
        Feature::Please => {
            let rest = tidy.get(hit.end..)?;
            // "Ring us please 0113 555 0148": a number is no act.
            let is_act = words(rest).next().is_some_and(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
            (is_act && words(rest).count() >= 2 && rest.starts_with(' ')).then(|| wish(ClauseKind::Act, hit.end))?
        }
        Feature::Needs if matches!(said, "don't forget" | "do not forget" | "remember to" | "can't forget") => {
            wish(ClauseKind::Act, hit.end)
        }
        Feature::Needs if said == "need to know" => wish(ClauseKind::Tell, hit.end),
        _ => None,
    }
}

fn starts_with_filler(plain: &str) -> bool {
    let rest = plain.trim_start_matches([' ', ',', ':', '-']);
    let fillers = Lexicon::of(Language::English).words(WordList::Fillers).iter();
    fillers.filter_map(|filler| rest.strip_prefix(filler.as_str())).any(|after| after.starts_with(' '))
}

/// "We need the answer - MK": without the initials of whoever writes.
fn strip_initials(raw: &str) -> &str {
    const MOST_INITIALS: usize = 3;
    let end = raw.trim_end_matches(['.', ' ']);
    let Some((head, last)) = end.rsplit_once(['-', '–', '—']) else { return raw };
    // A code like "form A-EU" has no blank beside the dash.
    let is_parted = head.ends_with(' ') || last.starts_with(' ');
    let last = last.trim();
    let is_signed = (2..=MOST_INITIALS).contains(&last.len()) && last.chars().all(|c| c.is_ascii_uppercase());
    if is_signed && is_parted && words(head).count() >= 3 { head.trim_end() } else { raw }
}

/// "Please note that the payment is past due" says that it is.
fn strip_notice(text: &str) -> &str {
    const NOTICES: &[&str] =
        &["please note that ", "please note, ", "please note ", "please be advised that ", "please be aware that "];
    let told = NOTICES.iter().find_map(|notice| strip_start(text, notice));
    told.filter(|rest| words(rest).count() >= 3).unwrap_or(text)
}

/// "So, when …", "And please …": without the word that only goes on.
fn strip_lead_in(text: &str) -> &str {
    let Some((first, rest)) = text.split_once(' ') else { return text };
    let is_lead_in =
        matches!(normalise(first.trim_end_matches(',')).as_str(), "so" | "and" | "but" | "also" | "then" | "well");
    if is_lead_in && words(rest).count() >= 3 { rest } else { text }
}

/// "I need you to …" wants an act, "I need the …" wants a thing. Where that starts, and where the need is said.
fn parse_need(scored: &ScoredSentence<'_>) -> Option<(ClauseKind, usize, usize)> {
    let needs = scored.phrase_matches.iter().filter(|hit| hit.feature == Feature::Needs);
    let said = |hit: &&PhraseMatch| scored.sentence.normalised.get(hit.start..hit.end).unwrap_or_default();
    let rest = |hit: &&PhraseMatch| scored.sentence.normalised.get(hit.end..).unwrap_or_default();
    let duties = ["you to", "need to", "you have to", "you'll have to", "you will have to", "you must", "got to"];
    let act = needs.clone().find(|hit| duties.iter().any(|duty| said(hit).ends_with(duty)));
    let thing =
        || needs.clone().find(|hit| matches!(said(hit), "i need" | "we need") && !rest(hit).starts_with(" to "));
    // "We need everyone to …".
    let all = || {
        let hit = needs.clone().find(|hit| matches!(said(hit), "i need" | "we need"))?;
        let after = rest(&hit);
        let to = after.find(" to ").filter(|at| words(after.get(..*at).unwrap_or_default()).count() <= 3)?;
        let people = ["everyone", "everybody", "all", "each", "someone", "somebody", "you", "both"];
        let named = words(after).next().is_some_and(|word| people.contains(&word));
        (named || starts_with_known_verb(after.get(to + 4..)?)).then_some((
            ClauseKind::Act,
            hit.end + to + 4,
            hit.start,
        ))
    };
    if act.is_none()
        && let Some(found) = all()
    {
        return Some(found);
    }
    let thing = || thing().map(|hit| (ClauseKind::Give, hit.end, hit.start));
    act.map(|hit| (ClauseKind::Act, hit.end, hit.start)).or_else(thing)
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
    if wish == ClauseKind::Tell {
        return Clause::with_verb_first(wish, trim_courtesies(rest, Language::English));
    }
    if let Some(what) = lexicon.words(WordList::TellPhrases).iter().find_map(|tell| strip_start(rest, tell)) {
        let what = what.trim_start_matches([' ', ',']);
        return Clause::with_verb_first(ClauseKind::Tell, trim_courtesies(what, Language::English));
    }
    let clause = Clause::with_verb_first(wish, trim_courtesies(cut_at_closing_bracket(rest), Language::English));
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

/// "(Kim, please forward to your group) Alex": up to the bracket that closes around it.
fn cut_at_closing_bracket(text: &str) -> &str {
    match text.split_once(')') {
        Some((inside, _)) if !inside.contains('(') && words(inside).count() >= 3 => inside,
        _ => text,
    }
}

fn strip_start<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let (head, tail) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(tail)
}

/// Drops "Hi Alex," and "Alex -".
pub(in crate::reading) fn strip_salutation(tidy: &str) -> &str {
    match tidy.split_once([',', '-', ':']) {
        Some((called, rest)) if calls_somebody(called) && words(rest).count() >= 3 && rest.starts_with(' ') => {
            rest.trim_start()
        }
        _ => tidy,
    }
}

/// A name, with a greeting or without; "ginge es, dass …" calls nobody.
fn calls_somebody(called: &str) -> bool {
    let plain = normalise(called);
    let is_name = |word: &str| is_greeting_word(word) || !LanguageScores::is_function_word(word);
    words(&plain).count() <= 2 && (words(&plain).count() < 2 || words(&plain).all(is_name))
}

/// Without the courtesies that hang at the end.
pub(in crate::reading) fn trim_courtesies(text: &str, language: Language) -> &str {
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
