use chrono::{NaiveTime, Weekday};
use serde_json::{Value, json};

use super::{BusyTimes, OwnLetter, Registry, ThreadMail, ToolInput, ToolOutcome};
use crate::{
    model::{Address, Addressed, Effect, Facts, FactsKind, Instant, Mail, Me, Task, TaskKind, UrgencyOrigin},
    source::CalendarLookup,
};

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

pub(super) fn me() -> Me {
    Me {
        names: vec!["Alex Green".into()],
        addresses: vec!["you@home.example".into()],
        time_zone: chrono_tz::Europe::Berlin,
        work_start: NaiveTime::from_hms_opt(9, 0, 0).unwrap(),
        work_end: NaiveTime::from_hms_opt(17, 0, 0).unwrap(),
        work_days: vec![Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
        signature: String::new(),
        decline: String::new(),
        senders: std::collections::HashMap::new(),
        languages: vec!["en".into()],
    }
}

pub(super) fn facts(kind: TaskKind, due: Option<&str>) -> Facts {
    Facts {
        sender: "dana@work.example".into(),
        sender_domain: "work.example".into(),
        sender_verified: true,
        known_contact: false,
        addressed: Addressed::To,
        list_id: None,
        subject: "s".into(),
        objective: "o".into(),
        kind: FactsKind::Task(kind),
        language: "en".into(),
        amount: Some(12.5),
        due_at: due.map(at),
        urgency: 0.1,
        urgency_origin: UrgencyOrigin::BuiltIn,
        attachment: false,
        thread_mine: false,
        account: "a".into(),
    }
}

pub(super) fn task(objective: &str, output: Value) -> Task {
    serde_json::from_value(json!({
        "task_id": "01JYD3A8P0WQ5M4T6R2P0N1M4K", "created_at": "2025-06-23T03:15:00Z", "source": "email:1", "objective": objective,
        "priority": "low", "status": "READY", "last_updated": "2025-06-23T03:15:00Z", "context": {"person": "Dana", "currency": "EUR"},
        "tool_output": output,
    }))
    .unwrap()
}

fn run(tool: &str, task: &Task, facts: &Facts, mail: Option<&Mail>) -> ToolOutcome {
    run_with(tool, task, facts, mail, &[])
}

pub(super) fn run_with(
    tool: &str,
    task: &Task,
    facts: &Facts,
    mail: Option<&Mail>,
    letters: &[OwnLetter],
) -> ToolOutcome {
    let thread = [ThreadMail { from: "Dana".into(), at: None, text: "Numbers are in. More later.".into() }];
    let me = me();
    // A Friday, 10:00 in Berlin.
    let now = at("2026-11-13T09:00:00Z");
    let agenda = BusyTimes::None;
    let input = ToolInput {
        task,
        facts,
        mail,
        thread: &thread,
        busy_times: &agenda,
        held_times: &[],
        in_calendar: &CalendarLookup::NoCalendar,
        letters,
        wording: None,
        invoices: &[],
        documents: &[],
        material: None,
        arguments: None,
        me: &me,
        own: "you@home.example",
        now,
        idempotency_key: "01TOKEN",
    };
    Registry::shipped().get(tool).unwrap().run(&input).unwrap()
}

fn effect(outcome: ToolOutcome) -> Effect {
    match outcome {
        ToolOutcome::Effect(requested) => requested.effect,
        other => panic!("{other:?}"),
    }
}

#[test]
fn slots_lie_on_working_days_inside_working_hours() {
    let ToolOutcome::Output(output) =
        run("propose_time_slots", &task("Meet", Value::Null), &facts(TaskKind::Meeting, None), None)
    else {
        panic!("slots are an output");
    };
    let starts: Vec<&str> =
        output["slots"].as_array().unwrap().iter().map(|slot| slot["start"].as_str().unwrap()).collect();
    // Monday, Tuesday, Wednesday after the weekend.
    assert_eq!(starts, ["2026-11-16T10:00:00+01:00", "2026-11-17T14:00:00+01:00", "2026-11-18T10:00:00+01:00"]);
}

#[test]
fn reminders_come_before_the_deadline_and_never_in_the_past() {
    let remind_of = |task: &Task, kind: TaskKind, due: Option<&str>| match run("remind", task, &facts(kind, due), None)
    {
        ToolOutcome::Effect(requested) => match requested.effect {
            Effect::Remind { at, .. } => at.to_string(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let remind = |kind: TaskKind, due: Option<&str>| remind_of(&task("Do it", Value::Null), kind, due);
    assert_eq!(remind(TaskKind::Request, Some("2026-11-20T12:00:00Z")), "2026-11-19T12:00:00Z");
    assert_eq!(remind(TaskKind::Request, Some("2026-11-13T15:00:00Z")), "2026-11-13T13:00:00Z");
    assert_eq!(remind(TaskKind::Request, Some("2026-11-01T15:00:00Z")), "2026-11-13T09:00:00Z");
    assert_eq!(remind(TaskKind::Reminder, Some("2026-11-20T12:00:00Z")), "2026-11-20T12:00:00Z");
    assert_eq!(remind(TaskKind::Request, None), "2026-11-16T09:00:00Z");
    let mut by_a_day = task("Do it", Value::Null);
    by_a_day.context.deadline = Some("2026-11-20".into());
    assert_eq!(
        remind_of(&by_a_day, TaskKind::Reminder, Some("2026-11-20T16:00:00Z")),
        "2026-11-20T08:00:00Z",
        "in the morning"
    );
}

#[test]
fn a_draft_threads_and_carries_the_proposed_times() {
    let mail = Mail {
        message_id: Some("<q@work.example>".into()),
        references: vec!["<p@work.example>".into()],
        from: Address { name: Some("דנה".into()), addr: "dana@work.example".into() },
        subject: "Catch-up".into(),
        ..Mail::default()
    };
    let slots = json!({"propose_time_slots": {"slots": [{"start": "2026-11-16T10:00:00+01:00", "end": "2026-11-16T10:30:00+01:00"}]}});
    let Effect::Draft { message } =
        effect(run("draft_reply", &task("Meet", slots), &facts(TaskKind::Meeting, None), Some(&mail)))
    else {
        panic!("a draft is an effect");
    };
    assert_eq!(message.subject, "Re: Catch-up");
    assert!(message.body.contains("- Monday 16 November 2026, 10:00–10:30 (UTC+01:00)"), "{}", message.body);
    for line in
        ["In-Reply-To: <q@work.example>", "References: <p@work.example> <q@work.example>", "X-Adjutant-Action: 01TOKEN"]
    {
        assert!(message.mime.contains(line), "{line} in\n{}", message.mime);
    }
    let again = run("draft_reply", &task("Meet", Value::Null), &facts(TaskKind::Meeting, None), Some(&mail));
    assert_eq!(
        again,
        run("draft_reply", &task("Meet", Value::Null), &facts(TaskKind::Meeting, None), Some(&mail)),
        "every byte is fixed"
    );
}

#[test]
fn nothing_is_drafted_where_nothing_is_known() {
    let mail = Mail {
        from: Address { name: Some("Dana".into()), addr: "dana@work.example".into() },
        subject: "Keys".into(),
        text: "When will you be back?".into(),
        ..Mail::default()
    };
    for tool in ["draft_reply", "send_reply"] {
        let outcome = run(tool, &task("Answer Dana", Value::Null), &facts(TaskKind::Question, None), Some(&mail));
        let expected = ToolOutcome::ReplacedBy { steps: &["draft_reply", "send_reply"], step: "answer_mail" };
        assert_eq!(outcome, expected, "{tool}");
    }
}

#[test]
fn a_receipt_is_confirmed_with_the_names_of_the_files() {
    let file = |name: &str| crate::model::Attachment {
        name: name.into(),
        content_type: "application/pdf".into(),
        size: 1,
        sha256: String::new(),
    };
    let mail = Mail {
        from: Address { name: Some("Dana".into()), addr: "dana@work.example".into() },
        subject: "Application".into(),
        text: "Please confirm receipt.\n\nDana".into(),
        attachments: vec![file("cv.pdf"), file("plan.pdf")],
        ..Mail::default()
    };
    for (asked, is_incomplete) in [("receipt", false), ("receipt_and_more", true)] {
        let mut task = task("Confirm", Value::Null);
        task.context.more.insert("asked".into(), json!(asked));
        let ToolOutcome::Effect(requested) = run("draft_reply", &task, &facts(TaskKind::Question, None), Some(&mail))
        else {
            panic!("a receipt can be confirmed");
        };
        assert_eq!(requested.output.get("incomplete").is_some(), is_incomplete);
        let text = requested.output["draft"].as_str().unwrap();
        assert!(text.contains("It has arrived, with cv.pdf and plan.pdf."), "{text}");
        task.tool_output = Some(serde_json::Map::from_iter([("draft_reply".to_owned(), requested.output.clone())]));
        let sent = run("send_reply", &task, &facts(TaskKind::Question, None), Some(&mail));
        assert_eq!(matches!(sent, ToolOutcome::Effect(_)), !is_incomplete, "half an answer is not put up for sending");
    }
}

#[test]
fn an_invoice_is_recorded_with_what_the_mail_said() {
    let Effect::RecordInvoice { invoice } =
        effect(run("record_invoice", &task("Pay", Value::Null), &facts(TaskKind::Invoice, None), None))
    else {
        panic!("an invoice is an effect");
    };
    assert_eq!(
        (invoice.payee.as_str(), invoice.amount, invoice.currency.as_deref()),
        ("Dana", Some(12.5), Some("EUR"))
    );
}

#[test]
fn a_thread_is_summed_up_by_first_sentences() {
    let ToolOutcome::Output(output) =
        run("summarise_thread", &task("Sum", Value::Null), &facts(TaskKind::Summary, None), None)
    else {
        panic!("a summary is an output");
    };
    assert_eq!(output, json!({"mails": 1, "summary": ["Dana: Numbers are in"]}));
}
