//! The mails in `tests/warnings`: what they are warned of, and whether they open a task.

use serde::Deserialize;

use super::{
    read::{ReadContext, read},
    read_tests::{mail, me},
};
use crate::model::{Mail, Me, Reading, WarningKind};

#[derive(Deserialize)]
struct WarnedMail {
    id: String,
    from: String,
    subject: String,
    body: String,
    #[serde(default)]
    hidden: Option<String>,
    verified: bool,
    known: bool,
    warns: Option<WarningKind>,
    task: Option<bool>,
}

fn person() -> Me {
    Me { addresses: vec!["alex@green.example".into()], ..me() }
}

impl WarnedMail {
    fn all() -> Vec<Self> {
        let lines = include_str!("../../tests/warnings/mails.jsonl").lines();
        lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    }

    fn to_mail(&self) -> Mail {
        let (name, addr) = self.from.trim_end_matches('>').split_once(" <").unwrap();
        let mut written = mail(addr, "alex@green.example", &self.subject, &self.body);
        written.from.name = Some(name.to_owned());
        written.authentication.verified = self.verified;
        written.hidden_text = self.hidden.clone();
        written
    }

    fn read(&self, is_genuine: bool) -> Reading {
        let (me, now) = (person(), "2026-06-16T09:00:00Z".parse().unwrap());
        let context = ReadContext {
            me: &me,
            now,
            known_contact: self.known,
            thread_mine: false,
            second_reading: &[],
            is_genuine,
        };
        read(&self.to_mail(), &context)
    }
}

#[test]
fn each_mail_is_warned_of_what_it_does() {
    let mut wrong = Vec::new();
    for written in WarnedMail::all() {
        let reading = written.read(false);
        let warned = reading.warnings.first().map(|warning| warning.kind);
        let opens = !reading.tasks.is_empty();
        if warned != written.warns || written.task.is_some_and(|task| task != opens) {
            let tasks: Vec<_> = reading.tasks.iter().map(|task| &task.objective).collect();
            wrong.push(format!("{}: {:?} {tasks:?} ({})", written.id, reading.warnings, reading.reason));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// No task holds words that only a program is told.
#[test]
fn an_order_to_a_program_is_in_no_task() {
    for written in WarnedMail::all().iter().filter(|written| written.warns == Some(WarningKind::Injection)) {
        for task in written.read(false).tasks {
            let said = task.evidence.to_lowercase();
            for word in ["ignor", "assistant", "all mail", "disregard", "alle mails", "התעלם", "מיילים"] {
                assert!(!said.contains(word), "{}: {}", written.id, task.evidence);
            }
        }
    }
}

/// "It is genuine" leaves no warning, and the demand becomes the task it would have been.
#[test]
fn a_genuine_mail_is_read_without_suspicion() {
    for written in WarnedMail::all().iter().filter(|written| written.warns.is_some()) {
        let reading = written.read(true);
        let is_warned = reading.warnings.iter().any(|warning| warning.is_about_deceit());
        assert!(!is_warned, "{}: {:?}", written.id, reading.warnings);
    }
    let transfer = WarnedMail::all().into_iter().find(|written| written.id == "iban-en-1").unwrap();
    assert_eq!(transfer.read(true).tasks.len(), 1, "{:?}", transfer.read(true));
}
