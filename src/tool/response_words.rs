//! Sentences that the program knows to be true because the person has just said so: that they decline, or that a time
//! suits them.

use super::{
    answer::format_date,
    letter::{LetterWording, is_familiar_text, is_greeting},
};
use crate::model::{DeclinedPeriod, Instant, Me};

/// Returns what declines a request in the language of its mail: for a period, else in the person's own words, where they
/// have some, else in fixed ones.
///
/// `mail` is the text of the mail, which shows how the two speak to each other.
pub fn decline_letter(language: &str, me: &Me, mail: &str, period: Option<DeclinedPeriod>) -> String {
    let wording = LetterWording::of(language);
    let is_familiar = is_familiar_text(mail, wording);
    match period {
        Some(period) => {
            wording.phrase_for("decline_period", is_familiar).replace("{period}", wording.phrase(period.as_str()))
        }
        None if !me.decline.trim().is_empty() => me.decline.trim().to_owned(),
        None => wording.phrase_for("decline", is_familiar).to_owned(),
    }
}

/// Returns the sentence that a time suits the person, in the language of the mail.
pub fn time_suits(language: &str, me: &Me, at: Instant, has_hour: bool) -> String {
    let wording = LetterWording::of(language);
    let time = format_date(me, at, wording.phrase(if has_hour { "date_and_time" } else { "date" }));
    wording.phrase("suits").replace("{time}", &time)
}

/// Returns the line that names the place of a meeting, in the language of the mail.
pub fn place_line(language: &str, place: &str) -> String {
    LetterWording::of(language).phrase("place").replace("{place}", place)
}

/// Returns whether a text is a letter that somebody has written already: it greets and then says something.
pub fn is_finished_letter(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.next().is_some_and(is_greeting) && lines.next().is_some()
}
