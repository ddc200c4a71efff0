//! Items for people: whatever the program will not decide alone.

use super::text_enum::words;

words! {
    ItemKind {
        /// An effect that needs approval.
        Action = "action",
        FailedStep = "failed_step",
        RuleProposal = "rule_proposal",
        Question = "question",
    }
}

words! {
    ItemState {
        Open = "open",
        Decided = "decided",
        Void = "void",
        Expired = "expired",
    }
}
