//! Tests that a conversation is read as one: the person's own answer completes what it answers, a reminder is put on the
//! task it reminds of, a withdrawal closes it, and whatever is not certain stays open.
//!
//! Every conversation is played twice: mail by mail, and as a mailbox that is imported with its Sent folder.

use crate::{
    conversation_cases::{Case, answers, endings, promises, reminders},
    support::test_home::TestHome,
};

/// One mail of a conversation.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) from: &'static str,
    body: &'static str,
    subject: Option<&'static str>,
    has_references: bool,
    file: Option<&'static str>,
    header: &'static str,
    is_to_asker: bool,
}

fn post(from: &'static str, body: &'static str) -> Post {
    Post { from, body, subject: None, has_references: true, file: None, header: "", is_to_asker: true }
}

/// A mail of the one who asks.
pub(crate) fn tom(body: &'static str) -> Post {
    post("tom", body)
}

/// A mail of the person, in the Sent folder.
pub(crate) fn me(body: &'static str) -> Post {
    post("me", body)
}

impl Post {
    pub(crate) fn by(self, from: &'static str) -> Self {
        Self { from, ..self }
    }

    pub(crate) fn under(self, subject: &'static str) -> Self {
        Self { subject: Some(subject), ..self }
    }

    pub(crate) fn without_references(self) -> Self {
        Self { has_references: false, ..self }
    }

    pub(crate) fn with_file(self, file: &'static str) -> Self {
        Self { file: Some(file), ..self }
    }

    pub(crate) fn with(self, header: &'static str) -> Self {
        Self { header, ..self }
    }

    pub(crate) fn for_ann(self) -> Self {
        Self { is_to_asker: false, ..self }
    }

    /// Returns the message as the `nth` of conversation `case`.
    pub(crate) fn text(&self, case: usize, nth: usize, date: &str) -> String {
        let address = |who: &str| match who {
            "me" => "Alex Green <you@home.example>".to_owned(),
            "namesake" => format!("Tom Baker <tom@other{case}.example>"),
            who => format!("Tom Baker <{who}@c{case}.example>"),
        };
        let receiver = match (self.from, self.is_to_asker) {
            ("me", true) => address("tom"),
            ("me", false) => address("ann"),
            _ => address("me"),
        };
        let prefix = if nth > 0 { "Re: " } else { "" };
        let subject = self.subject.map_or_else(|| format!("{prefix}Matter {case}"), str::to_owned);
        let mut more = String::new();
        if nth > 0 && self.has_references {
            more.push_str(&format!("In-Reply-To: <c{case}-{}@it.example>\n", nth - 1));
            more.push_str(&format!("References: <c{case}-0@it.example>\n"));
        }
        if !self.header.is_empty() {
            more.push_str(&format!("{}\n", self.header));
        }
        let body = self.body;
        let (kind, body) = match self.file {
            None => ("text/plain; charset=utf-8", format!("{body}\n")),
            Some(file) => (
                "multipart/mixed; boundary=b",
                format!(
                    "--b\nContent-Type: text/plain; charset=utf-8\n\n{body}\n--b\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=\"{file}\"\n\nxx\n--b--\n"
                ),
            ),
        };
        format!(
            "From: {}\nTo: {receiver}\nSubject: {subject}\nDate: {date}\nMessage-ID: <c{case}-{nth}@it.example>\n{more}MIME-Version: 1.0\nContent-Type: {kind}\n\n{body}",
            address(self.from)
        )
    }
}

/// Says what became of one conversation: status, objective, deadline, notes and reasons of each task.
fn tasks_of(home: &TestHome, case: usize) -> Vec<(String, String)> {
    let sql = format!(
        "SELECT t.status, t.objective || ' | ' || coalesce(t.context ->> 'deadline', '') || ' | ' || coalesce(t.context ->> 'notes', '') || ' | '
                || coalesce((SELECT group_concat(h.why, ' | ') FROM task_history h WHERE h.task_id = t.task_id), '')
         FROM tasks t WHERE t.source LIKE 'email:<c{case}-%' ORDER BY t.task_id"
    );
    home.sql(&sql).into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

/// Returns which conversations ended otherwise than they should.
fn differences(home: &TestHome, cases: &[Case]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (nth, case) in cases.iter().enumerate() {
        let found = tasks_of(home, nth);
        let is_open = |status: &str| !["DONE", "CANCELLED"].contains(&status);
        let fits = |((status, said), (wanted, piece)): (&(String, String), &(&str, &str))| {
            (status == wanted || (is_open(status) && *wanted == "READY")) && said.contains(piece)
        };
        if found.len() != case.tasks.len() || !found.iter().zip(case.tasks).all(fits) {
            wrong.push(format!("{}: expected {:?}, found {found:#?}", case.name, case.tasks));
        }
    }
    wrong
}

/// Delivers the `nth` mail of every conversation, an hour after the one before it.
fn deliver_round(home: &TestHome, cases: &[Case], nth: usize) {
    home.clock.advance(3_600);
    let date = home.clock.now().utc().to_rfc2822();
    for (number, case) in cases.iter().enumerate() {
        let Some(mail) = case.mails.get(nth) else { continue };
        let folder = if mail.from == "me" { ".Sent/cur" } else { "cur" };
        home.deliver_into(folder, &format!("c{number}-{nth}.eml:2,S"), mail.text(number, nth, &date));
    }
}

async fn check(cases: Vec<Case>) {
    let rounds = cases.iter().map(|case| case.mails.len()).max().unwrap();
    let one_by_one = TestHome::observing();
    let imported = TestHome::observing();
    for nth in 0..rounds {
        deliver_round(&one_by_one, &cases, nth);
        one_by_one.once().await;
        deliver_round(&imported, &cases, nth);
    }
    imported.once().await;
    for (home, how) in [(&one_by_one, "mail by mail"), (&imported, "imported")] {
        let wrong = differences(home, &cases);
        assert!(wrong.is_empty(), "{how}: {} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n"));
        home.must_be_sound().await;
        for run in home.sql("SELECT run_id FROM run WHERE kind = 'mail'") {
            let replayed = home.json(&["runs", "replay", &run[0]]);
            assert_eq!(replayed["identical"], true, "{how}: {replayed}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_persons_own_answer_completes_what_it_answers() {
    check(answers()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promise_is_one_task_with_its_date() {
    check(promises()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_is_put_on_the_task_it_reminds_of() {
    check(reminders()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawal_closes_only_what_it_takes_back() {
    check(endings()).await;
}
