//! What an answer says about the times that a mail asks for.

use crate::model::text_enum::text_enum;

text_enum! {
    /// What the program found about the times that a mail asks for, and so what the answer says.
    MeetingAnswer {
        /// The one time that was asked for is free.
        Accept = "accept",
        /// Several times were offered, and this is the first that is free.
        Choose = "choose",
        /// A stretch of time was offered, and this is a free time in it.
        Suggest = "suggest",
        /// None of the times asked for is free: others near them.
        Propose = "propose",
        /// The time asked for has passed: the other one is asked for a new one.
        AskAgain = "ask_again",
        /// No time was asked for.
        Offer = "offer",
    }
}

impl MeetingAnswer {
    /// Returns whether one time is fixed by the answer, so that an invitation can be for it.
    pub const fn fixes_time(self) -> bool {
        matches!(self, Self::Accept | Self::Choose | Self::Suggest | Self::Offer)
    }
}
