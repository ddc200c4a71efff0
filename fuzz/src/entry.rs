//! What the fuzz targets do with their inputs: they run the parsers of everything that strangers, scripts and models
//! write, each through the entry point that the program uses.

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
    time::Duration,
};

use adjutant::{
    hitl::DecisionFile,
    ingest::{TrustedServers, parse_mail},
    llm::{
        PromptInput,
        anonymiser::Anonymiser,
        parse_provider_reply,
        prompt::{draft_reply, generate_response, plan_step, prioritise},
    },
    model::{Addressed, Facts, FactsKind, Instant, ItemId, Mail, Me, Reading, TaskKind, UrgencyOrigin, llm::Provider},
    policy::EffectPolicy,
    reading::{self, ReadContext, Relation},
    rules::RuleSet,
};
use chrono::{NaiveTime, Weekday};
use rustix::time::{ClockId, clock_gettime};

/// CPU time that one input of up to [`MAX_INPUT_BYTES`] bytes may take in an optimised build without instrumentation.
pub const CPU_TIME_LIMIT: Duration = Duration::from_millis(250);
/// Size of the largest input that is tried.
pub const MAX_INPUT_BYTES: usize = 64 * 1024;

/// Parses an input as the program would. It must not panic, whatever the bytes are.
pub type FuzzTarget = fn(&[u8]);

/// All targets by name.
pub const TARGETS: &[(&str, FuzzTarget)] = &[
    ("mail", mail),
    ("ics", ics),
    ("authentication_results", authentication_results),
    ("rules", rules),
    ("policy", policy),
    ("decision_file", decision_file),
    ("model_answer", model_answer),
];

/// Returns the target of that name; panics if there is none.
pub fn find_target(name: &str) -> FuzzTarget {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no target {name}")).1
}

/// Returns the CPU time that this thread needs for some work.
pub fn cpu_time(work: impl FnOnce()) -> Duration {
    let now = || {
        let at = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(at.tv_sec.unsigned_abs(), u32::try_from(at.tv_nsec).unwrap_or_default())
    };
    let before = now();
    work();
    now().saturating_sub(before)
}

/// Returns the person whom the mails are for.
pub fn me() -> &'static Me {
    &ME
}

static ME: LazyLock<Me> = LazyLock::new(|| Me {
    names: vec!["Alex Green".into()],
    addresses: vec!["you@home.example".into()],
    senders: HashMap::new(),
    time_zone: chrono_tz::Europe::Berlin,
    work_start: NaiveTime::MIN,
    work_end: NaiveTime::MIN,
    work_days: vec![Weekday::Mon, Weekday::Tue],
    signature: String::new(),
    decline: String::new(),
    languages: vec!["en".into(), "he".into()],
});

/// Returns the time at which the clock is stopped.
pub fn now() -> Instant {
    static NOW: OnceLock<Instant> = OnceLock::new();
    *NOW.get_or_init(|| "2026-11-16T08:00:00Z".parse().unwrap_or_else(|_| panic!("a date")))
}

/// Parses bytes as a mail, reads its tasks and collects their facts.
pub fn mail(bytes: &[u8]) {
    let trust = TrustedServers { servers: vec!["mx.home.example".into()] };
    if let Ok(mail) = parse_mail(bytes, &trust) {
        read_parsed_mail(&mail);
    }
}

/// Reads a mail for its tasks, as it is and as if a person had asked for a task.
pub fn read_parsed_mail(mail: &Mail) -> Reading {
    let context = ReadContext {
        me: &ME,
        now: now(),
        known_contact: false,
        thread_mine: false,
        second_reading: &[],
        is_genuine: false,
    };
    let reading = reading::read(mail, &context);
    let facts = reading::collect_facts(mail, &reading, "work", &Relation::default());
    for task in &reading.tasks {
        std::hint::black_box(facts.for_task(task));
    }
    reading::plan_forced_task(mail, &context);
    reading
}

/// Parses the bytes as the calendar part of a mail.
pub fn ics(bytes: &[u8]) {
    let head = b"From: a@b.example\nSubject: x\nContent-Type: text/calendar; method=REQUEST; charset=utf-8\n\n";
    mail(&[head, bytes].concat());
}

/// Parses the bytes as what a trusted server recorded about the sender.
pub fn authentication_results(bytes: &[u8]) {
    let (head, tail) = (b"Authentication-Results: mx.home.example; ", b"\nFrom: a@b.example\nSubject: x\n\nx\n");
    mail(&[head, bytes, tail].concat());
}

/// Parses a rules file, lints it and ranks a task by it.
pub fn rules(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(rules) = RuleSet::parse("priority.yml", text) {
        rules.lint();
        rules.trace(&sample_facts(), now());
    }
}

/// Returns facts that have a value for every field a rule can test.
fn sample_facts() -> Facts {
    Facts {
        sender: "ann@shop.example".into(),
        sender_domain: "shop.example".into(),
        sender_verified: true,
        known_contact: true,
        addressed: Addressed::To,
        list_id: None,
        subject: "Your Invoice 4711".into(),
        objective: "Pay invoice 4711".into(),
        kind: FactsKind::Task(TaskKind::Invoice),
        language: "en".into(),
        amount: Some(250.0),
        due_at: Some(now()),
        urgency: 0.5,
        urgency_origin: UrgencyOrigin::BuiltIn,
        attachment: false,
        thread_mine: false,
        account: "work".into(),
    }
}

/// Parses a policy file.
pub fn policy(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        drop(EffectPolicy::parse(text));
    }
}

/// Parses a decision file of the approval queue.
pub fn decision_file(bytes: &[u8]) {
    drop(DecisionFile::parse(ItemId::derive(now(), &["fuzz"]), bytes));
}

/// Parses the bytes as a provider's response in each format, and as an answer of the model to each prompt.
pub fn model_answer(bytes: &[u8]) {
    for provider in Provider::ALL {
        if let Ok(raw) = parse_provider_reply(*provider, bytes) {
            sample_inquiries().iter().for_each(|question| drop(question.check_answer(&raw.text)));
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        sample_inquiries().iter().for_each(|question| drop(question.check_answer(text)));
    }
}

/// Returns one input of each prompt, all about one mail.
fn sample_inquiries() -> &'static [PromptInput] {
    static QUESTIONS: LazyLock<Vec<PromptInput>> = LazyLock::new(|| {
        let mail = Mail { subject: "Report".into(), text: "Could you send the report?".into(), ..Mail::default() };
        let cast = Anonymiser::for_mail(&mail, &ME);
        let (people, message, objective) = (cast.people(), cast.message(&mail), "Send the report".to_owned());
        let task = plan_step::TaskShown {
            handle: "T1".into(),
            objective: objective.clone(),
            deadline: String::new(),
            steps: vec!["draft_reply".into()],
        };
        let wording = plan_step::PlanStepData {
            language: "en".into(),
            people: people.clone(),
            message: message.clone(),
            tasks: vec![task],
        };
        let reply = draft_reply::DraftReplyData {
            language: "en".into(),
            people: people.clone(),
            messages: vec![message.clone()],
            objective: objective.clone(),
            asked: mail.text.clone(),
            style: Vec::new(),
            related: Vec::new(),
            times_follow: false,
        };
        let summary = generate_response::GenerateResponseData {
            language: "en".into(),
            people: people.clone(),
            message: message.clone(),
            objective: objective.clone(),
            related: Vec::new(),
        };
        let urgency = prioritise::PrioritiseData { people, message, objective, deadline: String::new() };
        let all =
            [wording.to_prompt_input(), urgency.to_prompt_input(), reply.to_prompt_input(), summary.to_prompt_input()];
        all.into_iter().flatten().collect()
    });
    &QUESTIONS
}
