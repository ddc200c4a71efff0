//! Where a sentence gives an order: at its head, after a courtesy, or after the comma that closes a condition.
//!
//! Owns the grammar of orders, per language where they differ. The words themselves stand in the lexicon.

use crate::reading::{
    language::Language,
    lexicon::{Feature, FeatureSet, Lexicon, PhraseMatch, WordList},
    sentence::text::{Sentence, normalise_spaces_and_quotes, words},
};

/// Orders stand at the head, after a courtesy, or after the comma that closes a condition; nothing else is looked at.
pub(super) fn find_imperative(
    sentence: &Sentence<'_>,
    hits: &[PhraseMatch],
    features: &mut FeatureSet,
) -> Option<usize> {
    let plain = sentence.normalised.as_str();
    let lexicon = Lexicon::of(sentence.language);
    if let Some(at) = sentence_starts(plain, lexicon).find(|at| is_imperative_at(sentence, *at)) {
        features.insert(Feature::Imperative);
        return Some(at);
    }
    if let Some((_, at)) = parse_assignment(sentence) {
        features.insert(Feature::Imperative);
        return Some(at);
    }
    let courtesies = hits.iter().filter(|hit| hit.feature == Feature::Please).map(|hit| hit.end + 1);
    let conditional = words(plain).next().is_some_and(|word| lexicon.has_word(WordList::Conditions, word));
    let commas = || plain.match_indices(", ").map(|(at, comma)| at + comma.len());
    // "If the model is late, send it": the comma that closes the condition. Behind the others an order says for whom it
    // is: "the board meets tomorrow, so send me a page".
    let closing = commas().next().filter(|_| conditional);
    let is_for_writer = |at: &usize| words(plain.get(*at..).unwrap_or_default()).nth(1).is_some_and(is_writer);
    let for_writer = commas().map(|at| skip_join(plain, at)).filter(is_for_writer);
    let at = courtesies.chain(closing).chain(for_writer).find(|at| is_imperative_at(sentence, *at))?;
    features.insert(Feature::ImperativeLater);
    Some(at)
}

/// Behind "so" and "then".
fn skip_join(plain: &str, at: usize) -> usize {
    let rest = plain.get(at..).unwrap_or_default();
    let join = ["so please ", "so ", "then ", "and please "].into_iter().find(|join| rest.starts_with(join));
    at + join.map_or(0, str::len)
}

fn is_writer(word: &str) -> bool {
    matches!(word, "me" | "us")
}

/// "Dana: update the slide", "Dana to confirm the venue": a point of a list, the name of who does it, where it starts.
pub(super) fn parse_assignment<'s>(sentence: &'s Sentence<'_>) -> Option<(&'s str, usize)> {
    let plain = sentence.normalised.as_str();
    let named = sentence.raw.starts_with(char::is_uppercase) && sentence.is_list_item;
    let (who, rest) = plain.split_once([':', ' ']).filter(|_| named)?;
    let at = plain.len() - rest.len();
    let colon = plain.get(..at).is_some_and(|head| head.ends_with(':'));
    let verb =
        if colon { rest.trim_start() } else { rest.strip_prefix("to ").or_else(|| rest.strip_prefix("will "))? };
    let start = plain.len() - verb.len();
    let lead =
        matches!(who, "note" | "reminder" | "action" | "todo" | "please" | "next" | "update" | "important" | "all");
    let lexicon = Lexicon::of(sentence.language);
    (is_imperative_at(sentence, start) && !lexicon.is_verb(who) && !lead && !lexicon.is_lead_in(who))
        .then_some((who, start))
}

/// Where the sentence proper may start: its first word, after lead-ins, after the name of the one spoken to.
fn sentence_starts<'p>(plain: &'p str, lexicon: &'static Lexicon) -> impl Iterator<Item = usize> + use<'p> {
    let mut at = 0;
    let mut leading = true;
    let mut called = false;
    // "Option B: buy new ones" weighs, it does not order.
    let mut weighed = false;
    plain.split(' ').take(5).filter_map(move |word| {
        let start = at;
        at += word.len() + 1;
        let head = leading || called;
        leading = leading && lexicon.is_lead_in(word);
        called = word.ends_with([',', ':', '-', '–', '—', ';']);
        weighed = weighed || matches!(word, "option" | "scenario" | "alternative" | "pro:" | "con:");
        (head && !weighed).then_some(start)
    })
}

fn is_imperative_at(sentence: &Sentence<'_>, at: usize) -> bool {
    match sentence.language {
        Language::German => is_german_imperative_at(sentence, at),
        _ => is_verb_first_at(&sentence.normalised, at),
    }
}

/// A verb stands here, and what follows is not the verb of another sentence ("Report is attached").
fn is_verb_first_at(plain: &str, at: usize) -> bool {
    let lexicon = Lexicon::of(Language::English);
    let rest = plain.get(at..).unwrap_or_default();
    let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
    // "Have legal sign off on it."
    let third = words(after).nth(1).unwrap_or_default();
    if word == "have"
        && lexicon.is_verb(third)
        && !matches!(words(after).next(), Some("you" | "we" | "i" | "a" | "an" | "fun"))
    {
        return true;
    }
    // "Have the boys there by nine.", but "Have the parts arrived?"
    let is_had_ready =
        || matches!(words(after).next(), Some("the" | "your" | "them" | "it" | "everything" | "everyone"));
    if word == "have" && is_had_ready() && !plain.trim_end().ends_with('?') {
        return true;
    }
    let goes_on = || words(after).next().is_some_and(|next| !lexicon.has_word(WordList::NotAfterVerb, next));
    !word.ends_with(['.', ':']) && lexicon.is_verb(word.trim_end_matches(|c: char| !c.is_alphanumeric())) && goes_on()
}

/// "Schick mir …", "Schicken Sie …". A verb with its person before it ("Schickst du") asks, "Schicke dir …" promises.
fn is_german_imperative_at(sentence: &Sentence<'_>, at: usize) -> bool {
    let lexicon = Lexicon::of(Language::German);
    let rest = sentence.normalised.get(at..).unwrap_or_default();
    let mut following = words(rest);
    let (Some(word), Some(next)) = (following.next(), following.next()) else { return false };
    let (word, shortened) = word.strip_suffix("'s").map_or((word, false), |word| (word, true));
    if next == "sie" {
        return word.ends_with('n')
            && !is_written_small(sentence.raw)
            && !sentence.is_question()
            && !lexicon.has_word(WordList::Auxiliaries, word)
            && !lexicon.is_lead_in(word);
    }
    // "Reichen Sie bitte Nachweise ein": a large letter within the sentence makes a noun.
    let tidy = normalise_spaces_and_quotes(sentence.raw);
    let is_within = at > 0
        && !tidy.get(..at).is_some_and(|head| head.trim_end().ends_with([':', '.', ')', '!', '?', ',', '-', '–']));
    if is_within && tidy.get(at..).is_some_and(|rest| rest.starts_with(char::is_uppercase)) {
        return false;
    }
    // A noun is written large and has no order's word order: "Antwort von Ole", "Ruf ist alles".
    let promises =
        word.ends_with('e') && (matches!(next, "dir" | "ihnen" | "euch") || (next == "mich" && is_own_act(rest)));
    // "Kommt der Bagger?", "Passt euch das?", "Lass uns gehen": a question, and a proposal.
    let asks = sentence.is_question() && (word.ends_with('t') || matches!(next, "der" | "die" | "das" | "es"));
    let proposes = next == "uns" && word.starts_with("lass");
    lexicon.is_verb(word)
        && (shortened || !lexicon.has_word(WordList::NotAfterVerb, next))
        && !promises
        && !asks
        && !proposes
}

/// Whether "sie" is written small in a text that has large letters: they, and not the reader.
fn is_written_small(raw: &str) -> bool {
    let has_capitals = || raw.split_whitespace().skip(1).any(|word| word.starts_with(char::is_uppercase));
    !words(raw).any(|word| word == "Sie") && has_capitals()
}

/// "Melde mich", "kümmere mich": what one does oneself.
fn is_own_act(rest: &str) -> bool {
    ["melde mich", "kuemmere mich", "freue mich", "bedanke mich", "beeile mich"].iter().any(|own| rest.starts_with(own))
}
