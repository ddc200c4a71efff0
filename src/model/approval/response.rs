//! What a person wants done with an action instead, as read from their words.

use chrono::{NaiveDate, NaiveTime};
use serde::Serialize;

use crate::model::{Instant, text_enum::text_enum};

text_enum! {
    /// What an invitation is answered with.
    InvitationAnswer {
        Accepted = "accepted",
        Tentative = "tentative",
        Declined = "declined",
    }
}

text_enum! {
    /// A time for which something is declined.
    DeclinedPeriod {
        Today = "today",
        Tomorrow = "tomorrow",
        ThisWeek = "this_week",
        NextWeek = "next_week",
        ThisMonth = "this_month",
        NextMonth = "next_month",
        ThisYear = "this_year",
    }
}

/// A day, an hour, or both, as they were said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NamedMoment {
    pub day: Option<NaiveDate>,
    /// Whether the day was said by its name alone, so that it may be that day of the meeting's own week.
    pub is_weekday: bool,
    /// By the clock on the person's wall.
    pub time: Option<NaiveTime>,
}

/// One thing that a person wants changed about an action that waits for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub enum ResponseWish {
    /// Nothing is sent, and the step is the person's.
    SendNothing,
    /// The person wants to be asked later; at this time, if they named one.
    AskLater { at: Option<Instant> },
    /// An invitation is answered, or what was asked for is declined.
    Answer { answer: InvitationAnswer, period: Option<DeclinedPeriod> },
    /// Another time.
    Move(NamedMoment),
    /// Another place.
    Place { place: String },
    /// Another recipient, or one more, as the person named them.
    SendTo { who: String, is_added: bool },
    /// The recipient is to be told this, in exactly these words.
    Say { text: String },
    /// The message is to say this too.
    Append { text: String },
    /// Fewer words.
    Shorten,
}
