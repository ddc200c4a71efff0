//! German clauses turned into what a German list of things to do holds: "Schick mir bitte den Plan" is "mir den Plan
//! schicken".
//!
//! Owns the word order. It never invents words, and what it cannot turn with confidence it leaves whole. Whose "mir" it
//! is knows `objective`.

use crate::reading::{
    language::Language,
    lexicon::{Feature, Lexicon, PhraseMatch, WordList},
    sentence::{
        clause::{Clause, ClauseKind, strip_salutation, trim_courtesies},
        score::ScoredSentence,
        text::{normalise, normalise_spaces_and_quotes, words},
    },
};

/// More words than a line of a list has.
const MOST_WORDS: usize = 24;
/// Before "brauche ich": a purpose, not a story.
const MOST_FRONT_WORDS: usize = 4;

pub(super) fn extract_german_clause(scored: &ScoredSentence<'_>) -> Clause {
    let tidy = normalise_spaces_and_quotes(scored.sentence.raw);
    let rest = |at: usize| tidy.get(at..).unwrap_or_default();
    let hits = |feature| {
        let mut hits: Vec<_> = scored.phrase_matches.iter().filter(|hit| hit.feature == feature).collect();
        hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
        hits.into_iter()
    };
    // "Wäre es möglich, in Raten zu zahlen?" wants a yes, and the act is the writer's.
    let wants_act = |hit: &&PhraseMatch| {
        !scored.sentence.normalised.get(hit.start..hit.end).is_some_and(|said| said.contains("moeglich"))
    };
    let order = scored.imperative_at.and_then(|at| turn_order(rest(at)));
    let turned = order
        .or_else(|| hits(Feature::AsksYou).filter(wants_act).find_map(|hit| turn_request(rest(hit.end))))
        .or_else(|| turn_question_to_you(&tidy))
        .or_else(|| turn_condition(&tidy))
        .or_else(|| hits(Feature::Please).find_map(|hit| turn_request(rest(hit.end))));
    let whole = trim_courtesies(strip_salutation(&tidy), Language::German).to_owned();
    if let Some((text, verb)) = turned {
        return Clause { kind: ClauseKind::Act, text, verb: normalise(&verb), whole };
    }
    if let Some(thing) = hits(Feature::Needs).find_map(|hit| find_needed_thing(scored, hit.start, hit.end, &tidy)) {
        return Clause { kind: ClauseKind::Give, text: thing, verb: String::new(), whole };
    }
    let kind = if scored.has(Feature::Question) { ClauseKind::Answer } else { ClauseKind::Whole };
    Clause { kind, text: whole.clone(), verb: String::new(), whole }
}

/// The clause with its verb at the end, and that verb.
type TurnedClause = (String, String);

/// "Schick mir bitte den Plan", "Rufen Sie mich an und schicken Sie den Plan".
pub(in crate::reading) fn turn_order(text: &str) -> Option<TurnedClause> {
    let clause = ClauseParts::cut(text);
    let lexicon = Lexicon::of(Language::German);
    let main = lexicon
        .words(WordList::Fillers)
        .iter()
        .find_map(|filler| strip_plain_prefix(&clause.main, filler))
        .unwrap_or(clause.main.as_str());
    // "Vergiss nicht, die Blumen zu gießen."
    let first = normalise(words(main).next().unwrap_or_default());
    if first.starts_with("verg") || first.starts_with("denk") {
        let purpose = text.split_once(", ").and_then(|(_, purpose)| turn_request(purpose));
        if purpose.is_some() {
            return purpose;
        }
    }
    // "Rufen Sie an oder kommen Sie vorbei": two ways that are not put in one line.
    let is_choice = main.split(" oder ").skip(1).any(|way| {
        let mut said = words(way);
        let first =
            said.next().is_some_and(|word| word.starts_with(char::is_lowercase) && lexicon.is_verb(&normalise(word)));
        first || said.next() == Some("Sie")
    });
    if is_choice {
        return None;
    }
    let mut turned = Vec::new();
    let mut verb = String::new();
    for part in split_orders(main) {
        let (text, infinitive) = turn_main_clause(part)?;
        if verb.is_empty() {
            verb = infinitive;
        }
        turned.push(text);
    }
    clause.finish(&turned.join(" und ")).map(|text| (text, verb))
}

/// What follows "könntest du", "wir bitten Sie," or "bitte", and ends in an infinitive.
fn turn_request(text: &str) -> Option<TurnedClause> {
    let text = text.trim_start_matches([' ', ',', ':', '-']);
    let clause = ClauseParts::cut(text);
    let main = clause.main.split(" oder ").next().unwrap_or_default();
    let mut tokens = drop_reflexive(drop_particles(main.split(' ')));
    let last = tokens.pop()?;
    let verbs = Lexicon::of(Language::German).german_verbs();
    let plain = normalise(last);
    let written_small = last.starts_with(char::is_lowercase);
    let mut verb = last.to_owned();
    if let Some(at) = verbs.find_infix(&plain) {
        let (head, tail) = split_at_plain(last, at);
        verb = format!("{head}{}", tail.strip_prefix("zu").unwrap_or(tail));
    } else if !(verbs.is_infinitive(&plain) || looks_like_infinitive(&plain)) || !written_small {
        return None;
    } else if tokens.last() == Some(&"zu") {
        tokens.pop();
    }
    // "Bitte schicken Sie …" begins with its verb, and "um …" names a thing.
    let starts_small = tokens.first().is_some_and(|word| matches!(normalise(word).as_str(), "um" | "nicht" | "dass"));
    if tokens.is_empty() || starts_small {
        return None;
    }
    tokens.push(&verb);
    let text = clause.finish(&tokens.join(" "))?;
    Some((text, verb))
}

/// "Kümmerst du dich um die Getränke?"
fn turn_question_to_you(tidy: &str) -> Option<TurnedClause> {
    let text = strip_salutation(tidy);
    // "Kommst du zum Essen oder erst danach?" wants an answer.
    let (first, rest) = text.split_once(" du ").filter(|(_, rest)| !rest.contains(" oder "))?;
    let infinitive = Lexicon::of(Language::German).german_verbs().infinitive_of_second_person(&normalise(first))?;
    let clause = ClauseParts::cut(rest);
    let (text, verb) = close_with_verb(drop_reflexive(drop_particles(clause.main.split(' '))), &infinitive)?;
    clause.finish(&text).map(|text| (text, verb))
}

/// "Es wäre toll, wenn du den Kuchen mitbringen könntest."
fn turn_condition(tidy: &str) -> Option<TurnedClause> {
    const MODALS: &[&str] =
        &["koenntest", "koennten", "koenntet", "kannst", "koennen", "wuerdest", "wuerden", "wuerdet"];
    let starts = ["wenn du ", "wenn Sie ", "wenn ihr ", "Wenn du ", "Wenn Sie "];
    let (at, start) = starts.iter().find_map(|start| tidy.find(start).map(|at| (at, *start)))?;
    let clause = ClauseParts::cut(tidy.get(at + start.len()..)?);
    let mut tokens = drop_particles(clause.main.split(' '));
    let finish = |(text, verb): TurnedClause| clause.finish(&text).map(|text| (text, verb));
    let last = normalise(tokens.last()?);
    let verbs = Lexicon::of(Language::German).german_verbs();
    if MODALS.contains(&last.as_str()) {
        tokens.pop();
        let infinitive = tokens.pop().filter(|word| looks_like_infinitive(&normalise(word)))?;
        return close_with_verb(tokens, infinitive).and_then(finish);
    }
    let wishes = at > 0;
    let by_person = verbs.infinitive_of_second_person(&last).filter(|_| start.ends_with("du ") && wishes);
    let polite = || (start.ends_with("Sie ") && wishes && verbs.is_infinitive(&last)).then(|| last.clone());
    let polite = by_person.or_else(polite)?;
    tokens.pop();
    close_with_verb(tokens, &polite).and_then(finish)
}

/// "Ich schicke dir morgen den Plan", "Morgen schicke ich dir den Plan", "Melde mich morgen": what the writer will do.
pub(in crate::reading) fn turn_promise(tidy: &str) -> Option<String> {
    let clause = ClauseParts::cut(strip_salutation(tidy));
    let mut more = split_orders(&clause.main).into_iter();
    let tokens = drop_particles(more.next()?.split(' '));
    let plain: Vec<String> = tokens.iter().map(|word| normalise(word)).collect();
    if plain.iter().any(|word| matches!(word.as_str(), "nicht" | "kein" | "keine" | "nie")) {
        return None;
    }
    let subject = plain.iter().position(|word| matches!(word.as_str(), "ich" | "wir"));
    // The verb is the first or second member: right behind its subject, right before it, or first without one.
    let (verb, before, after) = match subject {
        Some(0) => (1, 0..0, 2..tokens.len()),
        Some(at) => (at - 1, 0..at - 1, at + 1..tokens.len()),
        None => (0, 0..0, 1..tokens.len()),
    };
    let form = plain.get(verb)?;
    let own = subject.is_some() || plain.get(1).is_some_and(|word| matches!(word.as_str(), "mich" | "dir" | "ihnen"));
    let mut rest: Vec<&str> = tokens.get(after)?.to_vec();
    if rest.first().is_some_and(|word| matches!(*word, "mich" | "mir" | "uns")) {
        rest.remove(0);
    }
    let verbs = Lexicon::of(Language::German).german_verbs();
    let infinitive = match form.as_str() {
        "werde" | "werd" | "werden" => rest.pop().filter(|word| looks_like_infinitive(&normalise(word)))?,
        form => verbs.infinitive_of(form)?,
    };
    let members = tokens.get(before)?.iter().copied().chain(rest).collect();
    let (mut text, _) = close_with_verb(members, infinitive)?;
    for part in more {
        text = format!("{text} und {}", turn_main_clause(part)?.0);
    }
    (own && words(&text).count() <= MOST_WORDS).then(|| format!("{text}{}", clause.tail))
}

/// "Ich brauche noch deine Unterschrift": the thing, when the writer says what they need.
fn find_needed_thing(scored: &ScoredSentence<'_>, start: usize, end: usize, tidy: &str) -> Option<String> {
    const NEEDS: &[&str] =
        &["brauche", "brauch", "brauchen", "benoetige", "benoetigen", "braeuchte", "braeuchten", "haette", "haetten"];
    let said = scored.sentence.normalised.get(start..end)?;
    let needs = words(said).any(|word| NEEDS.contains(&word)) && words(said).any(|word| matches!(word, "ich" | "wir"));
    let front = tidy.get(..start)?.trim();
    if !needs || words(front).count() > MOST_FRONT_WORDS || front.contains([',', ':', '.']) {
        return None;
    }
    let clause = ClauseParts::cut(tidy.get(end..)?);
    let mut tokens = drop_particles(clause.main.split(' '));
    tokens.retain(|word| !matches!(*word, "noch" | "dringend" | "zwingend"));
    if tokens.first() == Some(&"von") && tokens.get(1).is_some_and(|word| matches!(*word, "dir" | "euch" | "Ihnen")) {
        tokens.drain(..2);
    }
    // "von allen Vereinen einen Nachweis" reads as no thing that one hands over.
    let is_of_others = tokens.first() == Some(&"von");
    let is_thing = !is_of_others
        && (2..=12).contains(&tokens.len())
        && !tokens.iter().any(|word| matches!(normalise(word).as_str(), "nicht" | "nichts" | "kein" | "keine"));
    let purpose = lower_first_word(front);
    let thing = format!("{purpose}{}{}", if purpose.is_empty() { "" } else { " " }, tokens.join(" "));
    is_thing.then_some(thing).and_then(|text| clause.finish(&text))
}

/// What stands before the verb is a purpose or a time, and no noun: it starts small in the middle of a clause.
fn lower_first_word(front: &str) -> String {
    let mut chars = front.chars();
    chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
}

/// The main clause, and the subordinate clauses that may hang behind its verb.
struct ClauseParts {
    main: String,
    tail: String,
    /// What hung on the verb was left out.
    lost_object: bool,
}

impl ClauseParts {
    fn cut(text: &str) -> Self {
        let text = trim_courtesies(text, Language::German);
        let lexicon = Lexicon::of(Language::German);
        let (mut main, mut tail) = (String::new(), String::new());
        let (mut lost_object, mut in_apposition) = (false, false);
        for (nth, part) in split_at_commas(text).enumerate() {
            let hangs =
                words(part).next().is_some_and(|first| lexicon.has_word(WordList::Subordinates, &normalise(first)));
            // "Kauf Milch, Butter und Brot."
            let lists =
                || nth > 0 && tail.is_empty() && part.starts_with(char::is_uppercase) && words(part).count() <= 4;
            // "bis Donnerstag, 30.04., per Post": a date beside a day, and what goes on behind it.
            let is_date = part.strip_prefix("den ").unwrap_or(part).starts_with(|c: char| c.is_ascii_digit());
            match nth {
                0 => main.push_str(part),
                _ if tail.is_empty() && !hangs && (is_date || in_apposition) && !speaks_of_writer(part) => {
                    in_apposition = is_date;
                    main.push_str(", ");
                    main.push_str(part);
                }
                _ if hangs && !speaks_of_writer(part) => {
                    tail.push_str(", ");
                    tail.push_str(part);
                }
                _ if lists() && !speaks_of_writer(part) => {
                    main.push_str(", ");
                    main.push_str(part);
                }
                _ => {
                    let asked = |word| lexicon.has_word(WordList::Subordinates, &normalise(word));
                    lost_object = tail.is_empty() && words(part).take(2).any(asked);
                    break;
                }
            }
        }
        Self { main: trim_courtesies(&main, Language::German).to_owned(), tail, lost_object }
    }

    fn finish(&self, main: &str) -> Option<String> {
        let text = format!("{main}{}", self.tail);
        (words(main).count() <= MOST_WORDS && !speaks_of_writer(main) && !self.lost_object).then_some(text)
    }
}

/// At commas that part clauses: one inside a number parts nothing.
fn split_at_commas(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let ends = |(at, c): &(usize, char)| {
            let after = text.get(at + c.len_utf8()..).unwrap_or_default();
            matches!(c, ';' | '–' | '—') || (*c == ',' && after.starts_with(' '))
        };
        let cut = text.char_indices().find(ends);
        rest = cut.and_then(|(at, c)| text.get(at + c.len_utf8()..));
        Some(cut.map_or(text, |(at, _)| text.get(..at).unwrap_or_default()).trim())
    })
}

/// Holds a word that only the writer can say and that no name can stand for.
fn speaks_of_writer(text: &str) -> bool {
    words(text).any(|word| {
        let plain = normalise(word);
        matches!(plain.as_str(), "ich" | "wir") || plain.starts_with("unser")
    })
}

/// "Füllen Sie das aus und senden Sie es zurück": cut where the next order starts.
fn split_orders(main: &str) -> Vec<&str> {
    let mut parts = vec![main];
    let mut from = 0;
    while let Some(at) = main.get(from..).and_then(|rest| rest.find(" und ")).map(|at| at + from) {
        let after = main.get(at + " und ".len()..).unwrap_or_default();
        from = at + " und ".len();
        let mut next = words(after);
        let (word, second) = (normalise(next.next().unwrap_or_default()), next.next().unwrap_or_default());
        let word = word.strip_suffix("'s").unwrap_or(&word);
        let lexicon = Lexicon::of(Language::German);
        let orders = (second == "Sie" && word.ends_with('n'))
            || (lexicon.is_verb(word) && after.starts_with(char::is_lowercase));
        if orders && let Some(last) = parts.last_mut() {
            let start = main.len() - last.len();
            *last = main.get(start..at).unwrap_or_default();
            parts.push(after);
        }
    }
    parts
}

/// One order: its verb goes to the end, and its particle before it.
fn turn_main_clause(text: &str) -> Option<TurnedClause> {
    let mut tokens = drop_particles(text.split(' '));
    if tokens.is_empty() {
        return None;
    }
    let first = normalise(tokens.remove(0).trim_end_matches([',', ':']));
    let (first, shortened) = first.strip_suffix("'s").map_or((first.as_str(), false), |first| (first, true));
    let polite = tokens.first() == Some(&"Sie");
    if polite || tokens.first().is_some_and(|word| matches!(*word, "du" | "ihr")) {
        tokens.remove(0);
    }
    let verbs = Lexicon::of(Language::German).german_verbs();
    let known = verbs.infinitive_of(first).map(str::to_owned);
    let infinitive = known.or_else(|| (polite && looks_like_infinitive(first)).then(|| first.to_owned()))?;
    if shortened {
        tokens.insert(0, "es");
    }
    close_with_verb(drop_reflexive(tokens), &infinitive)
}

/// Puts the infinitive behind the words, with the particle that the last of them is.
fn close_with_verb(mut tokens: Vec<&str>, infinitive: &str) -> Option<TurnedClause> {
    let verbs = Lexicon::of(Language::German).german_verbs();
    let particle = tokens.last().and_then(|word| verbs.particle(&normalise(word)));
    if particle.is_some() {
        tokens.pop();
    }
    let verb = format!("{}{infinitive}", particle.unwrap_or_default());
    (!tokens.is_empty()).then(|| (format!("{} {verb}", tokens.join(" ")), verb))
}

/// Who enters himself into a list "enters into a list".
fn drop_reflexive(mut tokens: Vec<&str>) -> Vec<&str> {
    if tokens.first().is_some_and(|word| matches!(*word, "dich" | "dir" | "euch" | "sich")) {
        tokens.remove(0);
    }
    tokens
}

/// Without the words that only colour a wish.
fn drop_particles<'t>(tokens: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let lexicon = Lexicon::of(Language::German);
    let kept = |word: &&str| !word.is_empty() && !lexicon.has_word(WordList::ModalParticles, &normalise(word));
    tokens.filter(kept).collect()
}

/// A word as infinitives end, written small: after "könntest du" the last word is one, known or not.
fn looks_like_infinitive(plain: &str) -> bool {
    plain.len() >= 4 && (plain.ends_with("en") || plain.ends_with("ern") || plain.ends_with("eln") || plain == "tun")
        || matches!(plain, "sein" | "tun")
}

/// The text behind a prefix that is written in plain letters.
fn strip_plain_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let plain = normalise(text);
    plain.strip_prefix(prefix)?.starts_with(' ').then(|| text.get(prefix.len()..).unwrap_or_default().trim_start())
}

/// Plain letters are as long as those they stand for.
fn split_at_plain(word: &str, at: usize) -> (&str, &str) {
    word.split_at_checked(at).unwrap_or((word, ""))
}
