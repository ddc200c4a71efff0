//! Handles: the only names by which agents know people, mails and tasks. No address and no id reaches a model, and a
//! handle that was never given out names nothing.

use std::collections::HashMap;

use crate::{
    llm::anonymiser::redact_with,
    model::{MailId, TaskId, TeamHandle},
};

/// What a handle names. The first letter of the handle says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum HandleKind {
    Person,
    Mail,
    Task,
}

impl HandleKind {
    const fn letter(self) -> char {
        match self {
            Self::Person => 'P',
            Self::Mail => 'M',
            Self::Task => 'T',
        }
    }
}

/// All handles of a team. A target keeps its handle for the life of the team.
#[derive(Debug, Default)]
pub struct Handles {
    by_handle: HashMap<String, TeamHandle>,
    by_target: HashMap<(HandleKind, String), String>,
    counts: HashMap<HandleKind, usize>,
    /// Those that are not stored yet.
    fresh: Vec<TeamHandle>,
}

impl Handles {
    /// Returns the handles as they were stored. The person that the team works for is always `P0`.
    pub(super) fn load(stored: Vec<TeamHandle>) -> Self {
        let mut handles = Self::default();
        for handle in stored {
            let kind = match handle.handle.chars().next() {
                Some('P') => HandleKind::Person,
                Some('M') => HandleKind::Mail,
                _ => HandleKind::Task,
            };
            handles.insert(kind, handle);
        }
        handles
    }

    fn insert(&mut self, kind: HandleKind, handle: TeamHandle) {
        *self.counts.entry(kind).or_default() += 1;
        self.by_target.insert((kind, handle.target.clone()), handle.handle.clone());
        self.by_handle.insert(handle.handle.clone(), handle);
    }

    fn name(&mut self, kind: HandleKind, target: String, name: &str) -> String {
        if let Some(known) = self.by_target.get(&(kind, target.clone())) {
            return known.clone();
        }
        let number = self.counts.get(&kind).copied().unwrap_or_default() + 1;
        let text = format!("{}{number}", kind.letter());
        let handle = TeamHandle { handle: text.clone(), target, name: name.to_owned() };
        self.fresh.push(handle.clone());
        self.insert(kind, handle);
        text
    }

    /// Returns the handle of a person, by their address.
    pub(super) fn of_person(&mut self, address: &str, name: &str) -> String {
        self.name(HandleKind::Person, address.to_lowercase(), name)
    }

    pub(super) fn of_mail(&mut self, mail: MailId) -> String {
        self.name(HandleKind::Mail, mail.to_string(), "")
    }

    pub(super) fn of_task(&mut self, task: TaskId) -> String {
        self.name(HandleKind::Task, task.to_string(), "")
    }

    /// Returns the person of a handle.
    pub(super) fn person(&self, handle: &str) -> Option<&TeamHandle> {
        self.find('P', handle)
    }

    pub(super) fn mail(&self, handle: &str) -> Option<MailId> {
        self.find('M', handle)?.target.parse().ok().map(MailId)
    }

    pub(super) fn task(&self, handle: &str) -> Option<TaskId> {
        self.find('T', handle)?.target.parse().ok()
    }

    fn find(&self, letter: char, handle: &str) -> Option<&TeamHandle> {
        let handle = handle.trim().trim_matches(['[', ']', '"', '\'']).to_uppercase();
        self.by_handle.get(&handle).filter(|known| known.handle.starts_with(letter))
    }

    /// Returns a text of a mail for a model: addresses of people with a handle become the handle, other addresses and all
    /// links become a mark.
    pub(super) fn redact(&self, text: &str, longest: usize) -> String {
        redact_with(text, longest, |address| self.by_target.get(&(HandleKind::Person, address.to_lowercase())).cloned())
    }

    /// Returns a text of a model for the person: handles of people get the name or address behind them. Mails and tasks
    /// get the numbers by which the person knows them.
    pub(super) fn explain(&self, text: &str, task_number: impl Fn(TaskId) -> Option<i64>) -> String {
        let mut explained = String::with_capacity(text.len());
        let mut word = String::new();
        let flush = |word: &mut String, explained: &mut String| {
            match self.by_handle.get(word.as_str()) {
                Some(known) => explained.push_str(&self.describe(known, &task_number)),
                None => explained.push_str(word),
            }
            word.clear();
        };
        for c in text.chars() {
            if c.is_alphanumeric() {
                word.push(c);
            } else {
                flush(&mut word, &mut explained);
                explained.push(c);
            }
        }
        flush(&mut word, &mut explained);
        explained
    }

    fn describe(&self, known: &TeamHandle, task_number: impl Fn(TaskId) -> Option<i64>) -> String {
        match known.handle.chars().next() {
            Some('P') if known.name.is_empty() => known.target.clone(),
            Some('P') => known.name.clone(),
            Some('M') => format!("mail {}", known.target),
            _ => {
                let number = known.target.parse().ok().and_then(task_number);
                number.map_or_else(|| known.handle.clone(), |number| format!("task {number}"))
            }
        }
    }

    /// Returns the handles that are not stored yet, and regards them as stored.
    pub(super) fn take_fresh(&mut self) -> Vec<TeamHandle> {
        std::mem::take(&mut self.fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_keeps_its_handle_over_a_restart() {
        let mut handles = Handles::default();
        assert_eq!(handles.of_person("Anna@work.example", "Anna"), "P1");
        assert_eq!(handles.of_person("anna@work.example", ""), "P1");
        assert_eq!((handles.of_mail(MailId(7)), handles.of_mail(MailId(9))), ("M1".into(), "M2".into()));
        let fresh = handles.take_fresh();
        assert_eq!((fresh.len(), handles.take_fresh().len()), (3, 0));
        let mut again = Handles::load(fresh);
        assert_eq!(again.of_mail(MailId(9)), "M2");
        assert_eq!(again.of_mail(MailId(10)), "M3");
        assert_eq!(again.mail("[m2]"), Some(MailId(9)));
        assert_eq!((again.mail("M9"), again.mail("P1"), again.task("T1")), (None, None, None));
    }

    #[test]
    fn texts_are_changed_in_both_directions() {
        let mut handles = Handles::default();
        handles.of_person("anna@work.example", "Anna Berg");
        handles.of_mail(MailId(7));
        let shown = handles.redact("Ask anna@work.example or eve@evil.example at https://evil.example", 500);
        assert_eq!(shown, "Ask P1 or [address] at [link]");
        assert_eq!(handles.explain("P1 wrote M1, P12 did not", |_| None), "Anna Berg wrote mail 7, P12 did not");
    }
}
