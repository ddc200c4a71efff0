//! Conversations with tasks in memory: what the specifications say, message by message.
//!
//! Each example of the specifications is a test, but for these, which contradict another part of them. The part that
//! counts, and why:
//!
//! | Example | Here | Because |
//! | --- | --- | --- |
//! | "I found multiple tasks with 'report' … Which one would you like to delete?" | "… matching 'report' … Please specify by number." | The later rule 2 has the words, with the numbers to choose by. |
//! | "You don't have any pending tasks. Great work!" | "… You're all caught up!" | Error 6 gives that ending to pending tasks. |
//! | "Show my tasks" answered by "Here are your pending tasks:" | "Here are all your tasks:" | Without a status, all are meant (smart defaults). |
//! | "Here are your 3 pending tasks:" | "Here are your pending tasks:" | It is a variation of tone; the template counts. |
//! | "Excellent!" or "Great job!" for the same message | always the same one | A reply is chosen deterministically. |
//! | "1. Buy milk 2. Call mom" after milk was added last | "1. Call mom 2. Buy milk" | Lists keep their order, so that a position means the same task a moment later. |
//! | "Complete …" without a number asks for one | the title is looked up | Titles are accepted for every change (rule 5). |
//! | "most recent task in list" | the first of the list | Rule 3 says both; its tracking rules say the first. |
//! | the last 10 messages are read | the last 50 | Rule 4 is the later one. |
//! | "Update description for task 3" is done at once | asks for the description | It names no value, and each "done" stands for a change. |
//! | "no" in any state is text | the same, but a whole "no" at a deadline is "none" | The guided profile lists it among the words for none. |
//! | only a full identifier names a task (guided) | "#3" and "task 3" as well | They are the task's own number, and never a guess. |

mod beyond;
mod conversation;
mod direct_examples;
mod guided_checklists;
mod invariants;
mod tasks_in_memory;

use chrono::{NaiveTime, Weekday};

use crate::model::Me;

/// The person of the tests.
pub(super) fn me() -> Me {
    Me {
        names: vec!["Dana Levi".into()],
        addresses: vec!["dana@example.org".into()],
        senders: std::collections::HashMap::new(),
        time_zone: chrono_tz::Tz::UTC,
        work_start: NaiveTime::from_hms_opt(9, 0, 0).unwrap(),
        work_end: NaiveTime::from_hms_opt(17, 0, 0).unwrap(),
        work_days: vec![Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
        signature: String::new(),
        decline: String::new(),
        languages: vec!["en".into()],
    }
}
