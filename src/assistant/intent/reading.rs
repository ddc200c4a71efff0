//! What the classification of a message takes and returns.

use std::ops::Range;

use crate::{assistant::ChatLanguage, model::text_enum::text_enum};

text_enum! {
    /// What a message, or one clause of it, wants.
    Intent {
        Create = "CREATE",
        List = "LIST",
        Complete = "COMPLETE",
        Delete = "DELETE",
        Update = "UPDATE",
        Help = "HELP",
        Greeting = "GREETING",
        Unclear = "UNCLEAR",
    }
}

impl Intent {
    /// Returns whether it changes a task.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Create | Self::Complete | Self::Delete | Self::Update)
    }
}

text_enum! {
    /// What the assistant has asked and waits for.
    PendingQuestion {
        /// It has asked nothing.
        Nothing = "nothing",
        /// Which of several tasks, or which task at all.
        Selection = "selection",
        /// Whether it should go on.
        Confirmation = "confirmation",
        /// A new title, a date or another value.
        Value = "value",
    }
}

/// What came before the message, as far as its intent depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntentContext {
    pub language: ChatLanguage,
    pub pending: PendingQuestion,
    /// The last reply was a list of tasks, so that a number may be a position in it.
    pub list_was_shown: bool,
}

impl IntentContext {
    /// Returns the context of the first message of a conversation.
    pub fn fresh(language: ChatLanguage) -> Self {
        Self { language, pending: PendingQuestion::Nothing, list_was_shown: false }
    }
}

text_enum! {
    /// Why a clause has its intent.
    Evidence {
        /// A keyword at the place of the verb, or a fixed phrase.
        Keyword = "keyword",
        /// A bare imperative, as in "Buy groceries".
        Imperative = "imperative",
        /// The learned weights chose it.
        Weights = "weights",
        /// The rules proposed a change, and the learned weights did not believe it.
        Veto = "veto",
        /// Nothing was recognised.
        None = "none",
    }
}

/// One clause of a message. All places are in bytes of the message as it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct ClauseReading {
    pub intent: Intent,
    /// From 0 to 1.
    pub confidence: f64,
    pub evidence: Evidence,
    /// The whole clause, without the word that joins it to the one before.
    pub span: Range<usize>,
    /// The words that say what is wanted. Empty if there are none, as in a bare imperative.
    pub trigger: Range<usize>,
    /// What it is wanted of: the title, the reference, or what to list. Mostly what follows the trigger, but what stands
    /// before it in "task 3 is done". Courtesies ("please", "thanks") and what belongs to the trigger are left out.
    pub rest: Range<usize>,
}

/// What a message wants.
#[derive(Debug, Clone, PartialEq)]
pub struct IntentReading {
    /// The intent of the message: that of its first clause that has one.
    pub intent: Intent,
    /// From 0 to 1.
    pub confidence: f64,
    /// At least one; more than one only if each of them wants something.
    pub clauses: Vec<ClauseReading>,
}

impl IntentReading {
    /// Returns the reading of a message in which nothing was recognised.
    pub(super) fn unclear(message: &str) -> Self {
        let whole = 0..message.len();
        let clause = ClauseReading {
            intent: Intent::Unclear,
            confidence: 0.0,
            evidence: Evidence::None,
            span: whole.clone(),
            trigger: 0..0,
            rest: whole,
        };
        Self { intent: clause.intent, confidence: clause.confidence, clauses: vec![clause] }
    }
}
