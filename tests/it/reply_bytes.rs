//! Tests that the bytes of a reply say what its fields say, whatever the subject, names and text of the mail contain,
//! so that the policy never denies a reply because of what the program itself wrote.

use adjutant::{
    ingest::{TrustedServers, parse_mail},
    model::{
        AccountId, AccountMode, Action, ActionId, Effect, Mail, MailId, Task, TaskId, UserId, action::ComposedMessage,
    },
    policy::{EffectPolicy, PolicyContext, classify},
    reading::{Relation, collect_facts},
    tool::{BusyTimes, Registry, ToolInput, ToolOutcome, edit_message},
};
use serde_json::json;

use crate::{
    fuzz_entry::{me, now, read_parsed_mail},
    support::test_home::{SeededRandom, TestHome},
};

/// What a mail can carry in a header or a text, and what has a meaning of its own where it is written again.
const PIECES: &[&str] = &[
    "=?utf-8?q?x?=",
    "=?utf-8?B?eA==?=",
    "=?utf-8?q?",
    "=?",
    "?=",
    "=?iso-8859-1?q?=E9?=",
    "=3D",
    "=",
    "_",
    "?",
    "a",
    "Report",
    " ",
    "  ",
    "\t",
    "Re: ",
    "RE:",
    "Fwd: ",
    "\"",
    "'",
    "\\",
    "\\\"",
    "<",
    ">",
    "<eve@evil.example>",
    "@",
    ",",
    ";",
    ":",
    "(",
    ")",
    "[",
    "]",
    "é",
    "שלום",
    "日本",
    "👩\u{200d}💻",
    "e\u{301}",
    "\u{200f}",
    "\u{ad}",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{1}",
    "\r",
    ".",
    "..",
    "-",
    "--",
    ">",
    "From ",
    "Bcc: eve@evil.example",
    "%",
    "#",
    "&amp;",
    "very long word without an end ",
];

fn thrown(dice: &mut SeededRandom, most: u64) -> String {
    let count = dice.below(most);
    (0..count).map(|_| PIECES[dice.below(PIECES.len() as u64) as usize]).collect()
}

/// As another program may write it: as it is, or encoded.
fn written(dice: &mut SeededRandom, text: &str) -> String {
    if dice.below(2) == 0 {
        return text.replace(['\r', '\n'], " ");
    }
    let encoded: String = text.bytes().map(|byte| format!("={byte:02X}")).collect();
    format!("=?utf-8?q?{encoded}?=")
}

/// What the policy says of a draft.
fn verdict(message: &ComposedMessage, mail: &Mail) -> Result<(), String> {
    verdict_on("draft_reply", Effect::Draft { message: message.clone() }, mail)
}

/// What the policy says of an effect, with nothing said by anybody.
pub(crate) fn verdict_on(step: &str, effect: Effect, mail: &Mail) -> Result<(), String> {
    let action = Action {
        action_id: ActionId::derive(now(), &["reply"]),
        account: AccountId::from("work"),
        user: UserId::from("me"),
        task_id: Some(TaskId::derive(now(), &["reply"])),
        step: step.into(),
        generation: 0,
        mail_id: Some(MailId(1)),
        mail_key: None,
        tool: step.into(),
        effect,
        arguments: Vec::new(),
        terms: None,
    };
    let (own, policy) = (me().addresses.clone(), EffectPolicy::parse("").unwrap());
    let situation = PolicyContext {
        mode: AccountMode::Active,
        mail: Some(mail),
        labels: &[],
        is_phishing: false,
        own: &own,
        policy: &policy,
        approval: None,
        epoch: 0,
        restored_at: None,
        now: now(),
    };
    classify(&action, &situation).map(drop)
}

fn reply(mail: &Mail) -> ComposedMessage {
    let reading = read_parsed_mail(mail);
    let task: Task = serde_json::from_value(json!({
        "task_id": "01JYD3A8P0WQ5M4T6R2P0N1M4K", "created_at": "2025-06-23T03:15:00Z", "source": "email:1",
        "objective": mail.subject, "priority": "low", "status": "READY", "last_updated": "2025-06-23T03:15:00Z",
        "context": { "instruction": format!("> {}", mail.text.replace('\n', " ")) },
    }))
    .unwrap();
    let facts = collect_facts(mail, &reading, "work", &Relation::default());
    let agenda = BusyTimes::None;
    let input = ToolInput {
        invoices: &[],
        documents: &[],
        material: None,
        arguments: None,
        task: &task,
        facts: &facts,
        mail: Some(mail),
        thread: &[],
        busy_times: &agenda,
        held_times: &[],
        in_calendar: &adjutant::source::CalendarLookup::NoCalendar,
        letters: &[],
        wording: None,
        me: me(),
        own: "you@home.example",
        now: now(),
        idempotency_key: "01TOKEN",
    };
    match Registry::shipped().get("send_reply").unwrap().run(&input).unwrap() {
        ToolOutcome::Effect(wished) => match wished.effect {
            Effect::Send { message, .. } => message,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reply_says_in_its_bytes_what_its_fields_say() {
    let mut dice = SeededRandom::thrown("a_reply_says_in_its_bytes_what_its_fields_say");
    for _ in 0..1_500 {
        let (subject, name, text) = (thrown(&mut dice, 12), thrown(&mut dice, 6), thrown(&mut dice, 30));
        let raw = format!(
            "From: {} <tom@bakerand.example>\nTo: you@home.example\nSubject: {}\n\n{text}\n",
            written(&mut dice, &name.replace(['<', '>', '@', ',', ';', ':', '(', ')', '\"', '\\'], " ")),
            written(&mut dice, &subject),
        );
        let mail = parse_mail(raw.as_bytes(), &TrustedServers::default()).unwrap();
        if mail.from.addr != "tom@bakerand.example" {
            continue;
        }
        let message = reply(&mail);
        assert_eq!(verdict(&message, &mail), Ok(()), "{raw:?}");
        // And in a person's own words, whatever they type.
        let typed = (thrown(&mut dice, 12), thrown(&mut dice, 30));
        let subject = typed.0.split_whitespace().collect::<Vec<_>>().join(" ");
        let again = edit_message(&message, "01AGAIN", &subject, &typed.1, now()).unwrap();
        assert_eq!(verdict(&again, &mail), Ok(()), "{raw:?} rewritten {typed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subject_that_looks_encoded_is_answered() {
    let home = TestHome::active();
    for (id, subject) in
        [("whole", "=?utf-8?q?=3D=3Futf-8=3Fq=3Fx=3F=3D?="), ("open", "=?utf-8?q?=3D=3Futf-8=3Fq=3F?=")]
    {
        let letter = home.letter(id).question().subject(subject);
        home.post(&letter);
    }
    home.once().await;
    assert_eq!(home.drafts().len(), 2, "{:?}", home.sql("SELECT title FROM item"));
    assert_eq!(home.sql("SELECT DISTINCT state FROM ledger"), [["task"]]);
}
