//! Rate limits: how many labels a minute and messages an hour may be carried out.
//!
//! They are counted in memory, by the one worker, and initialised from the outbox rows of the last hour.
//!
//! The clock may be set back. An entry that is later than the clock is dated as of now, so that it leaves its window
//! after at most the length of the window.

use std::collections::VecDeque;

use chrono::Duration;

use crate::{
    model::{Action, Effect, Instant},
    policy::Caps,
};

/// The longest wait before an effect over a cap is tried again. A person may raise the cap meanwhile.
const MAX_RETRY_INTERVAL: Duration = Duration::seconds(60);
/// The length of the longest window. Older effects do not count.
pub(super) const LONGEST_WINDOW: Duration = Duration::hours(1);

/// The effects that count against the caps.
#[derive(Debug, Default)]
pub(super) struct RateWindows {
    /// When labels and archivings were carried out within the last minute, oldest first.
    labels: VecDeque<Instant>,
    /// When messages were drafted or sent within the last hour and by whose mail they were caused, oldest first.
    messages: VecDeque<(Instant, String)>,
    /// The time of the last check. No entry is later; a smaller time means that the clock was set back.
    last_checked_at: Option<Instant>,
}

/// A cap that an effect would exceed, and when there may be room again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CapExceeded {
    pub(super) reason: String,
    pub(super) until: Instant,
}

/// The window in which an effect counts.
enum CapKind {
    Label,
    Message,
    Uncapped,
}

const fn cap_kind(action: &Action) -> CapKind {
    match action.effect {
        Effect::Label { .. } | Effect::Archive => CapKind::Label,
        Effect::Draft { .. } | Effect::Send { .. } => CapKind::Message,
        Effect::Remind { .. } | Effect::RecordInvoice { .. } | Effect::CreateFolder { .. } => CapKind::Uncapped,
    }
}

impl RateWindows {
    /// Counts an effect of an earlier process; called oldest first. An effect that is dated further ahead than the
    /// longest window was carried out before the clock was set back. Its true time is unknown, and counting it would
    /// close the window again at every start, so it is left out.
    pub(super) fn count_past_effect(&mut self, action: &Action, sender: String, at: Instant, now: Instant) {
        if at > now.plus(LONGEST_WINDOW) {
            return;
        }
        let at = at.min(now);
        match cap_kind(action) {
            CapKind::Label => self.labels.push_back(at),
            CapKind::Message => self.messages.push_back((at, sender)),
            CapKind::Uncapped => {}
        }
    }

    /// Takes a place in the window of the effect. Returns an error with the time of the next try when the cap is
    /// reached.
    pub(super) fn try_acquire(
        &mut self,
        action: &Action,
        sender: &str,
        caps: &Caps,
        now: Instant,
    ) -> Result<(), CapExceeded> {
        self.clamp_to_now(now);
        self.drop_expired(now);
        match cap_kind(action) {
            CapKind::Uncapped => Ok(()),
            CapKind::Label => self.try_acquire_label(caps, now),
            CapKind::Message => self.try_acquire_message(sender, caps, now),
        }
    }

    fn try_acquire_label(&mut self, caps: &Caps, now: Instant) -> Result<(), CapExceeded> {
        if self.labels.len() >= caps.labels_per_minute as usize {
            let first = self.labels.front().copied().unwrap_or(now);
            let reason = format!("{} labels a minute is the cap", caps.labels_per_minute);
            return Err(cap_exceeded(reason, first.plus(Duration::minutes(1)), now));
        }
        self.labels.push_back(now);
        Ok(())
    }

    fn try_acquire_message(&mut self, sender: &str, caps: &Caps, now: Instant) -> Result<(), CapExceeded> {
        let first = self.messages.front().map_or(now, |(at, _)| *at);
        if self.messages.len() >= caps.messages_per_hour as usize {
            let reason = format!("{} messages an hour is the cap", caps.messages_per_hour);
            return Err(cap_exceeded(reason, first.plus(Duration::hours(1)), now));
        }
        let same = || self.messages.iter().filter(|(_, other)| other == sender && !sender.is_empty());
        if same().count() >= caps.messages_per_sender_per_hour as usize {
            let oldest = same().next().map_or(now, |(at, _)| *at);
            let reason = format!("{} messages an hour per sender is the cap", caps.messages_per_sender_per_hour);
            return Err(cap_exceeded(reason, oldest.plus(Duration::hours(1)), now));
        }
        self.messages.push_back((now, sender.to_owned()));
        Ok(())
    }

    fn drop_expired(&mut self, now: Instant) {
        let (minute, hour) = (now.plus(-Duration::minutes(1)), now.plus(-LONGEST_WINDOW));
        while self.labels.front().is_some_and(|at| *at <= minute) {
            self.labels.pop_front();
        }
        while self.messages.front().is_some_and(|(at, _)| *at <= hour) {
            self.messages.pop_front();
        }
    }

    /// If the clock was set back since the last check, dates later entries as of now.
    fn clamp_to_now(&mut self, now: Instant) {
        if self.last_checked_at.replace(now).is_some_and(|before| before > now) {
            self.labels.iter_mut().for_each(|at| *at = now.min(*at));
            self.messages.iter_mut().for_each(|(at, _)| *at = now.min(*at));
        }
    }

    /// Releases the place of an effect that was not carried out.
    pub(super) fn release(&mut self, action: &Action, sender: &str) {
        match cap_kind(action) {
            CapKind::Label => drop(self.labels.pop_back()),
            CapKind::Message => {
                let own = self.messages.iter().rposition(|(_, other)| other == sender);
                own.into_iter().for_each(|nth| drop(self.messages.remove(nth)));
            }
            CapKind::Uncapped => {}
        }
    }
}

/// Returns the error with the time of the next try, at most the retry interval ahead.
fn cap_exceeded(reason: String, free: Instant, now: Instant) -> CapExceeded {
    CapExceeded { reason: format!("waits: {reason}"), until: free.min(now.plus(MAX_RETRY_INTERVAL)) }
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
            task_id: Some(TaskId::derive(at(0), &["t"])),
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
        let mut windows = RateWindows::default();
        assert!(windows.try_acquire(&label, "", &caps, at(0)).is_ok());
        assert!(windows.try_acquire(&label, "", &caps, at(10)).is_ok());
        assert_eq!(windows.try_acquire(&label, "", &caps, at(20)).unwrap_err().until, at(60));
        assert!(windows.try_acquire(&label, "", &caps, at(60)).is_ok());
        assert!(windows.try_acquire(&label, "", &caps, at(61)).is_err());
    }

    #[test]
    fn a_clock_that_jumps_ahead_and_back_closes_no_window_for_good() {
        let caps = Caps { labels_per_minute: 2, messages_per_hour: 2, ..Caps::default() };
        let label = action(Effect::Label { label: "x".into() });
        let message = action(Effect::Draft { message: crate::model::action::ComposedMessage::default() });
        let day = 86_400;
        for (effect, later) in [(&label, 71), (&message, 3611)] {
            let mut windows = RateWindows::default();
            assert!(windows.try_acquire(effect, "", &caps, at(0)).is_ok());
            assert!(windows.try_acquire(effect, "", &caps, at(day)).is_ok());
            assert!(windows.try_acquire(effect, "", &caps, at(day)).is_ok());
            assert!(windows.try_acquire(effect, "", &caps, at(10)).is_err(), "what was done counts");
            assert!(windows.try_acquire(effect, "", &caps, at(later)).is_ok(), "and is over in time");
        }
    }

    #[test]
    fn what_a_clock_ahead_left_behind_is_not_counted_at_every_start() {
        let caps = Caps { messages_per_hour: 1, ..Caps::default() };
        let message = action(Effect::Draft { message: crate::model::action::ComposedMessage::default() });
        for (dated, counts) in [(-3600, false), (-3599, true), (0, true), (3600, true), (3601, false), (86_400, false)]
        {
            let mut windows = RateWindows::default();
            windows.count_past_effect(&message, String::new(), at(dated), at(0));
            assert_eq!(windows.try_acquire(&message, "", &caps, at(0)).is_err(), counts, "{dated}");
            assert!(windows.try_acquire(&message, "", &caps, at(3601)).is_ok(), "{dated}");
        }
    }

    #[test]
    fn messages_are_capped_by_the_hour_and_by_sender() {
        let caps = Caps { messages_per_hour: 3, messages_per_sender_per_hour: 1, ..Caps::default() };
        let archive = action(Effect::Archive);
        let message = action(Effect::Draft { message: crate::model::action::ComposedMessage::default() });
        let mut windows = RateWindows::default();
        assert!(windows.try_acquire(&message, "a", &caps, at(0)).is_ok());
        assert!(windows.try_acquire(&message, "a", &caps, at(1)).is_err(), "one sender");
        assert!(windows.try_acquire(&message, "b", &caps, at(1)).is_ok());
        assert!(windows.try_acquire(&message, "", &caps, at(1)).is_ok());
        assert!(windows.try_acquire(&message, "c", &caps, at(2)).is_err(), "the hour");
        assert!(windows.try_acquire(&archive, "c", &caps, at(2)).is_ok(), "other kinds go on");
        windows.release(&message, "a");
        assert!(windows.try_acquire(&message, "b", &caps, at(2)).is_err(), "it was not b's place");
        assert!(windows.try_acquire(&message, "a", &caps, at(2)).is_ok(), "it was a's");
        assert!(windows.try_acquire(&message, "a", &caps, at(3602)).is_ok());
    }
}
