//! Reads what a person answers to an action that waits for them: "make it Thursday at three", "tell her I am ill",
//! "send nothing", "to Marc instead".
//!
//! A response is understood as a whole or not at all: a word that fits no meaning makes all of it none, and the person
//! edits the text instead. Nothing in here decides what is done; the result is shown to the person first.

mod lexicon;
mod pattern;
mod statement;
#[cfg(test)]
mod tests;

use lexicon::{PhraseMeaning, ResponseLexicon};
use pattern::{Capture, Captures, Slot, TypedWord, split_words};

use crate::{
    date::{self, ReferenceTime},
    model::{Instant, InvitationAnswer, Me, NamedMoment, ResponseWish},
    plain_text::normalise,
};

/// The most words of a response that are compared with phrases. A longer one is a text and no instruction.
const MOST_WORDS: usize = 60;
/// So many phrases of courtesy are skipped at the beginning and at the end of a part.
const MOST_SKIPPED: usize = 4;
/// A response has so many parts at most.
const MOST_PARTS: usize = 4;
/// The longest name of a person, in words.
const LONGEST_NAME: usize = 4;
/// The longest name of a place, in words.
const LONGEST_PLACE: usize = 8;

/// Returns what a person's words ask for, in their order; none when a part of them is not understood.
pub fn read_response(typed: &str, me: &Me, now: Instant) -> Option<Vec<ResponseWish>> {
    let words = split_words(typed);
    if words.is_empty() || words.len() > MOST_WORDS {
        return None;
    }
    let reader = ResponseReader { typed, words: &words, me, now };
    let wishes = reader.read(0, words.len(), MOST_PARTS).filter(|wishes| are_compatible(wishes));
    wishes.or_else(|| reader.read_refusal_with_reason())
}

/// Returns whether the wishes can be carried out together: no two of a kind, and either all about the message that waits,
/// or all about another text.
fn are_compatible(wishes: &[ResponseWish]) -> bool {
    let has_two_of_a_kind = wishes.iter().enumerate().any(|(at, wish)| {
        wishes.iter().skip(at + 1).any(|other| std::mem::discriminant(wish) == std::mem::discriminant(other))
    });
    let is_other_text = |wish: &ResponseWish| matches!(wish, ResponseWish::Answer { .. } | ResponseWish::Say { .. });
    let is_change = |wish: &ResponseWish| {
        matches!(
            wish,
            ResponseWish::Move(_)
                | ResponseWish::Place { .. }
                | ResponseWish::SendTo { .. }
                | ResponseWish::Append { .. }
                | ResponseWish::Shorten
        )
    };
    wishes.len() == 1 || !has_two_of_a_kind && (wishes.iter().all(is_other_text) || wishes.iter().all(is_change))
}

/// Which phrases a part of a response is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PhraseKind {
    /// Those that quote a text.
    Text,
    /// All others.
    Instruction,
    /// All that have a word of their own. A time alone may belong to a text.
    WithWords,
}

/// The words of one response.
struct ResponseReader<'a> {
    typed: &'a str,
    words: &'a [TypedWord],
    me: &'a Me,
    now: Instant,
}

impl ResponseReader<'_> {
    /// Reads a part of the words: as one wish, or as several that stand side by side, so many at most.
    fn read(&self, from: usize, to: usize, most: usize) -> Option<Vec<ResponseWish>> {
        if let Some(wish) = self.read_one(from, to) {
            return Some(vec![wish]);
        }
        let most = most.checked_sub(1).filter(|most| *most > 0)?;
        self.boundaries(from, to).find_map(|(end, next)| {
            let first = self.read_one(from, end)?;
            let mut wishes = self.read(next, to, most)?;
            // "Too long, make it shorter" is one wish, and "not now, ask me tomorrow" is the more exact one.
            let says_the_same = |wish: &ResponseWish| {
                *wish == first
                    || matches!((&first, wish), (ResponseWish::AskLater { at: None }, ResponseWish::AskLater { .. }))
            };
            if !wishes.iter().any(says_the_same) {
                wishes.insert(0, first);
            }
            Some(wishes)
        })
    }

    /// Returns where a part may end, and where the next begins.
    fn boundaries(&self, from: usize, to: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (from + 1..to).filter_map(move |at| {
            let is_joiner = |at: usize| {
                let plain = self.words.get(at).map_or("", |word| word.plain.as_str());
                ResponseLexicon::all().iter().any(|lexicon| lexicon.has("joiners", plain))
            };
            let ends = self.words.get(at - 1).is_some_and(|word| word.ends_phrase);
            let mut next = at;
            while next < to && is_joiner(next) {
                next += 1;
            }
            ((ends || next > at) && next < to).then_some((at, next))
        })
    }

    /// Reads a part of the words as one wish, also without what is said out of courtesy.
    fn read_one(&self, from: usize, to: usize) -> Option<ResponseWish> {
        let plain = self.frames(from, to, "tail").into_iter().rev();
        let mut instruction = plain.map(|(from, to)| self.match_phrases(from, to, PhraseKind::Instruction));
        let texts = || self.frames(from, to, "courtesy").into_iter().rev();
        let text = || texts().find_map(|(from, to)| self.match_phrases(from, to, PhraseKind::Text));
        instruction.find_map(|wish| wish).or_else(text)
    }

    /// Returns the part itself, and then the part without ever more words in front of it and behind it that carry no
    /// meaning.
    fn frames(&self, from: usize, to: usize, tail: &str) -> Vec<(usize, usize)> {
        let mut starts = vec![from];
        let mut ends = vec![to];
        while let Some(next) =
            starts.last().and_then(|at| self.skip_listed("head", *at, to)).filter(|_| starts.len() <= MOST_SKIPPED)
        {
            starts.push(next);
        }
        while let Some(next) =
            ends.last().and_then(|at| self.skip_listed_back(tail, from, *at)).filter(|_| ends.len() <= MOST_SKIPPED)
        {
            ends.push(next);
        }
        starts.iter().flat_map(|from| ends.iter().map(|to| (*from, *to))).filter(|(from, to)| from < to).collect()
    }

    fn skip_listed(&self, list: &str, from: usize, to: usize) -> Option<usize> {
        let length = |entry: &&str| {
            let count = entry.split(' ').count();
            let matches = entry.split(' ').enumerate().all(|(nth, word)| {
                let (word, needs_comma) = word.strip_suffix(',').map_or((word, false), |word| (word, true));
                let typed = self.words.get(from + nth).filter(|_| from + nth < to);
                typed.is_some_and(|typed| typed.plain == word && (typed.ends_phrase || !needs_comma))
            });
            matches.then_some(count)
        };
        let all = ResponseLexicon::all().iter().flat_map(|lexicon| lexicon.list(list));
        all.filter_map(length).max().map(|count| from + count)
    }

    fn skip_listed_back(&self, list: &str, from: usize, to: usize) -> Option<usize> {
        let length = |entry: &&str| {
            let count = entry.split(' ').count();
            let start = to.checked_sub(count).filter(|start| *start >= from)?;
            let mut pairs = entry.split(' ').zip(self.words.get(start..to)?);
            pairs.all(|(word, typed)| typed.plain == word).then_some(start)
        };
        let all = ResponseLexicon::all().iter().flat_map(|lexicon| lexicon.list(list));
        all.filter_map(length).min()
    }

    /// Compares a part of the words with every phrase of a kind.
    fn match_phrases(&self, from: usize, to: usize, kind: PhraseKind) -> Option<ResponseWish> {
        ResponseLexicon::all().iter().find_map(|lexicon| {
            let phrases = lexicon.phrases.iter().filter(|(meaning, phrase)| match kind {
                PhraseKind::Text => meaning.is_text(),
                PhraseKind::Instruction => !meaning.is_text(),
                PhraseKind::WithWords => phrase.has_words(),
            });
            phrases.into_iter().find_map(|(meaning, phrase)| {
                let captures = phrase.capture(self.words, from, to)?;
                self.understand(*meaning, &captures, lexicon)
            })
        })
    }

    /// Returns the wish that a phrase of this meaning stands for; none if something else is in its open places.
    fn understand(
        &self,
        meaning: PhraseMeaning,
        captures: &Captures,
        lexicon: &ResponseLexicon,
    ) -> Option<ResponseWish> {
        let find = |slot: Slot| captures.iter().find(|capture| capture.slot == slot);
        if find(Slot::Whom).is_some_and(|whom| !self.is_somebody(whom, lexicon)) {
            return None;
        }
        let period = match find(Slot::Period) {
            Some(named) => {
                let named = self.text_of(named).to_lowercase();
                Some(lexicon.periods.iter().find(|(_, words)| words.contains(&named.as_str()))?.0)
            }
            None => None,
        };
        let answer = |answer| Some(ResponseWish::Answer { answer, period });
        match meaning {
            PhraseMeaning::SendNothing => Some(ResponseWish::SendNothing),
            PhraseMeaning::Decline => answer(InvitationAnswer::Declined),
            PhraseMeaning::Tentative => answer(InvitationAnswer::Tentative),
            PhraseMeaning::Accept => answer(InvitationAnswer::Accepted),
            PhraseMeaning::Shorter => Some(ResponseWish::Shorten),
            PhraseMeaning::Later => match find(Slot::Time) {
                Some(time) => Some(ResponseWish::AskLater { at: Some(self.read_instant(time)?) }),
                None => Some(ResponseWish::AskLater { at: None }),
            },
            PhraseMeaning::Move => self.read_moment(find(Slot::Time)?).map(ResponseWish::Move),
            PhraseMeaning::Place => self.read_place(find(Slot::Place)?, lexicon),
            PhraseMeaning::Recipient | PhraseMeaning::RecipientAdded => {
                let who = self.read_name(find(Slot::Person)?)?;
                Some(ResponseWish::SendTo { who, is_added: meaning == PhraseMeaning::RecipientAdded })
            }
            PhraseMeaning::Append => self.read_text(captures, false, lexicon).map(|text| ResponseWish::Append { text }),
            PhraseMeaning::Say | PhraseMeaning::SayNot => self
                .read_text(captures, meaning == PhraseMeaning::SayNot, lexicon)
                .map(|text| ResponseWish::Say { text }),
        }
    }

    /// Returns the text of an open place as it was typed.
    fn text_of(&self, capture: &Capture) -> &str {
        let from = self.words.get(capture.first).map_or(0, |word| word.from + capture.prefix);
        let to = capture.end.checked_sub(1).and_then(|at| self.words.get(at)).map_or(0, |word| word.to);
        self.typed.get(from..to).unwrap_or_default().trim()
    }

    /// Returns whether a word stands for a person: a pronoun, or a name with a capital.
    fn is_somebody(&self, whom: &Capture, lexicon: &ResponseLexicon) -> bool {
        let plain = self.words.get(whom.first).map_or("", |word| word.plain.trim_end_matches(':'));
        lexicon.has("whom", plain) || self.text_of(whom).starts_with(char::is_uppercase)
    }

    fn read_moment(&self, time: &Capture) -> Option<NamedMoment> {
        let text = self.plain_text_of(time);
        let said_on = |days: i64| {
            let base = self.now.plus(chrono::Duration::days(days));
            date::find_moment(&text, &ReferenceTime::new(base, self.me))
        };
        let moment = said_on(0)?;
        let Some(day) = moment.day else { return Some(moment) };
        // The name of a day means the same tomorrow and another day in a week; "tomorrow" and a date do not.
        let day_on = |days| said_on(days).and_then(|moment| moment.day);
        let is_weekday = day_on(1) == Some(day) && day_on(7) == day.checked_add_days(chrono::Days::new(7));
        Some(NamedMoment { is_weekday, ..moment })
    }

    fn read_instant(&self, time: &Capture) -> Option<Instant> {
        let due = date::find_typed_due_date(&self.plain_text_of(time), &ReferenceTime::new(self.now, self.me))?;
        (due.at > self.now).then_some(due.at)
    }

    fn plain_text_of(&self, capture: &Capture) -> String {
        normalise(self.text_of(capture).trim_end_matches(['.', ',', ';', '!', '?']))
    }

    fn read_place(&self, place: &Capture, lexicon: &ResponseLexicon) -> Option<ResponseWish> {
        let named = self.text_of(place).trim_end_matches(['.', ',', ';', '!']).to_owned();
        let first = self.words.get(place.first).map_or("", |word| word.plain.as_str());
        let is_place = lexicon.list("places").is_empty()
            || lexicon.has("places", first)
            || named.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        (is_place && place.end - place.first <= LONGEST_PLACE && !named.is_empty())
            .then_some(ResponseWish::Place { place: named })
    }

    fn read_name(&self, person: &Capture) -> Option<String> {
        let named = self.text_of(person).trim_end_matches(['.', ',', ';', '!', '?']);
        let fits = person.end - person.first <= LONGEST_NAME
            && !named.is_empty()
            && !self.words.get(person.first..person.end)?.iter().rev().skip(1).any(|word| word.ends_phrase);
        // An hour or an amount is no name.
        let is_name = named.contains('@') || !named.contains(|c: char| c.is_ascii_digit());
        let is_other_word =
            |word: &TypedWord| ResponseLexicon::all().iter().any(|known| known.has("no_name", &word.plain));
        let has_other_word = self.words.get(person.first..person.end)?.iter().any(is_other_word);
        (fits && is_name && !has_other_word).then(|| named.to_owned())
    }

    /// Returns what the recipient is to be told. A text in which another instruction stands is none.
    fn read_text(&self, captures: &Captures, is_negated: bool, lexicon: &ResponseLexicon) -> Option<String> {
        let place = captures.iter().find(|one| matches!(one.slot, Slot::Text | Slot::Clause | Slot::Request))?;
        let text = self.text_of(place);
        if let Some(quoted) = statement::unquote(text) {
            return Some(quoted.to_owned());
        }
        // What stands behind a colon is meant to the letter.
        let before = place.first.checked_sub(1).and_then(|at| self.words.get(at));
        if before.is_some_and(|word| word.plain.ends_with(':')) {
            return Some(text.to_owned());
        }
        let holds_instruction =
            self.boundaries(place.first, place.end).any(|(_, next)| self.holds_instruction(next, place.end));
        if holds_instruction {
            return None;
        }
        match place.slot {
            Slot::Clause => statement::read_clause(text, lexicon),
            Slot::Request => statement::read_request(text, is_negated, lexicon),
            _ => statement::read_statement(text, lexicon),
        }
    }

    /// Returns whether these words are an instruction of their own, as in "tell her I am ill and move it to Friday".
    fn holds_instruction(&self, from: usize, to: usize) -> bool {
        self.frames(from, to, "tail").into_iter().any(|(from, to)| {
            let first = self.words.get(from).map_or("", |word| word.plain.as_str());
            let is_command = ResponseLexicon::all().iter().any(|lexicon| lexicon.has("commands", first));
            self.match_phrases(from, to, PhraseKind::WithWords).is_some() || is_command
        })
    }

    /// Reads "don't send anything, she has cancelled": that nothing is sent, and the reason, which may not itself be an
    /// instruction.
    fn read_refusal_with_reason(&self) -> Option<Vec<ResponseWish>> {
        let end = self.words.len();
        let refuses = |from: usize, to: usize| self.read_one(from, to) == Some(ResponseWish::SendNothing);
        let is_reason = |from: usize, to: usize| {
            !self.holds_instruction(from, to)
                && self.boundaries(from, to).all(|(_, next)| !self.holds_instruction(next, to))
        };
        let found = self
            .boundaries(0, end)
            .any(|(part, next)| refuses(0, part) && is_reason(next, end) || refuses(next, end) && is_reason(0, part));
        found.then(|| vec![ResponseWish::SendNothing])
    }
}
