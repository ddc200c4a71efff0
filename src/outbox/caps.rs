//! How much may happen at once. Counted in memory by the one worker, from the rows of the last hour on.

use std::collections::VecDeque;

use chrono::Duration;

use crate::{
    model::{Action, Effect, Instant},
    policy::Caps,
};

/// A step over the cap looks again this often at the latest.
const LOOK_AGAIN: Duration = Duration::seconds(60);

#[derive(Debug, Default)]
pub(super) struct Windows {
    labels: VecDeque<Instant>,
    messages: VecDeque<(Instant, String)>,
}

/// Why an effect waits, and until when.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Over {
    pub(super) reason: String,
    pub(super) until: Instant,
}

enum Kind {
    Label,
    Message,
    Free,
}

const fn kind(action: &Action) -> Kind {
    match action.effect {
        Effect::Label { .. } | Effect::Archive => Kind::Label,
        Effect::Draft { .. } | Effect::Send { .. } => Kind::Message,
        Effect::Remind { .. } | Effect::RecordInvoice { .. } | Effect::CreateFolder { .. } => Kind::Free,
    }
}

impl Windows {
    /// What happened before this process began.
    pub(super) fn recall(&mut self, action: &Action, sender: String, at: Instant) {
        match kind(action) {
            Kind::Label => self.labels.push_back(at),
            Kind::Message => self.messages.push_back((at, sender)),
            Kind::Free => {}
        }
    }

    /// Takes a place, or says when one may be free.
    pub(super) fn enter(&mut self, action: &Action, sender: &str, caps: &Caps, now: Instant) -> Result<(), Over> {
        let (minute, hour) = (now.plus(-Duration::minutes(1)), now.plus(-Duration::hours(1)));
        while self.labels.front().is_some_and(|at| *at <= minute) {
            self.labels.pop_front();
        }
        while self.messages.front().is_some_and(|(at, _)| *at <= hour) {
            self.messages.pop_front();
        }
        match kind(action) {
            Kind::Free => {}
            Kind::Label => {
                if self.labels.len() >= caps.labels_per_minute as usize {
                    let first = self.labels.front().copied().unwrap_or(now);
                    let reason = format!("{} labels a minute is the cap", caps.labels_per_minute);
                    return Err(over(reason, first.plus(Duration::minutes(1)), now));
                }
                self.labels.push_back(now);
            }
            Kind::Message => {
                let first = self.messages.front().map_or(now, |(at, _)| *at);
                if self.messages.len() >= caps.messages_per_hour as usize {
                    let reason = format!("{} messages an hour is the cap", caps.messages_per_hour);
                    return Err(over(reason, first.plus(Duration::hours(1)), now));
                }
                let same = || self.messages.iter().filter(|(_, other)| other == sender && !sender.is_empty());
                if same().count() >= caps.messages_per_sender_per_hour as usize {
                    let oldest = same().next().map_or(now, |(at, _)| *at);
                    let reason =
                        format!("{} messages an hour per sender is the cap", caps.messages_per_sender_per_hour);
                    return Err(over(reason, oldest.plus(Duration::hours(1)), now));
                }
                self.messages.push_back((now, sender.to_owned()));
            }
        }
        Ok(())
    }

    /// Gives a place back: nothing came of it.
    pub(super) fn leave(&mut self, action: &Action, sender: &str) {
        match kind(action) {
            Kind::Label => drop(self.labels.pop_back()),
            Kind::Message => {
                let own = self.messages.iter().rposition(|(_, other)| other == sender);
                own.into_iter().for_each(|nth| drop(self.messages.remove(nth)));
            }
            Kind::Free => {}
        }
    }
}

fn over(reason: String, free: Instant, now: Instant) -> Over {
    Over { reason: format!("waits: {reason}"), until: free.min(now.plus(LOOK_AGAIN)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, ActionId, TaskId, UserId};

    fn at(seconds: i64) -> Instant {
        "2026-11-16T08:00:00Z".parse::<Instant>().unwrap().plus(Duration::seconds(seconds))
    }

    fn action(effect: Effect) -> Action {
        Action {
            action_id: ActionId::derive(at(0), &["a"]),
            account: AccountId::from("a"),
            user: UserId::from("u"),
            task_id: TaskId::derive(at(0), &["t"]),
            step: "s".into(),
            generation: 0,
            mail_id: None,
            mail_key: None,
            tool: "t".into(),
            effect,
            arguments: Vec::new(),
            terms: None,
        }
    }

    #[test]
    fn labels_are_capped_by_the_minute() {
        let caps = Caps { labels_per_minute: 2, ..Caps::default() };
        let label = action(Effect::Label { label: "x".into() });
        let mut windows = Windows::default();
        assert!(windows.enter(&label, "", &caps, at(0)).is_ok());
        assert!(windows.enter(&label, "", &caps, at(10)).is_ok());
        assert_eq!(windows.enter(&label, "", &caps, at(20)).unwrap_err().until, at(60));
        assert!(windows.enter(&label, "", &caps, at(60)).is_ok());
        assert!(windows.enter(&label, "", &caps, at(61)).is_err());
    }

    #[test]
    fn messages_are_capped_by_the_hour_and_by_sender() {
        let caps = Caps { messages_per_hour: 3, messages_per_sender_per_hour: 1, ..Caps::default() };
        let archive = action(Effect::Archive);
        let message = action(Effect::Draft { message: crate::model::action::Composed::default() });
        let mut windows = Windows::default();
        assert!(windows.enter(&message, "a", &caps, at(0)).is_ok());
        assert!(windows.enter(&message, "a", &caps, at(1)).is_err(), "one sender");
        assert!(windows.enter(&message, "b", &caps, at(1)).is_ok());
        assert!(windows.enter(&message, "", &caps, at(1)).is_ok());
        assert!(windows.enter(&message, "c", &caps, at(2)).is_err(), "the hour");
        assert!(windows.enter(&archive, "c", &caps, at(2)).is_ok(), "other kinds go on");
        windows.leave(&message, "a");
        assert!(windows.enter(&message, "b", &caps, at(2)).is_err(), "it was not b's place");
        assert!(windows.enter(&message, "a", &caps, at(2)).is_ok(), "it was a's");
        assert!(windows.enter(&message, "a", &caps, at(3602)).is_ok());
    }
}
