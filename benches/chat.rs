//! Benchmark (g): a turn of a conversation over 10,000 tasks, after a year of conversation. The CPU time is that of the
//! whole process less what the two commits of an empty turn take.

mod kit;

use adjutant::{
    app::{App, ChatInput, NewTask},
    clock::Clock,
    config::{Config, Home},
    model::{ChatProfile, ChatRole, NewChatMessage},
    store::Write,
};
use anyhow::Context as _;
use kit::{Goal, Table, cpu};

const TASKS: usize = 10_000;
/// Messages of a year of conversation.
const MESSAGES: usize = 36_500;
/// How often each message is said.
const ROUNDS: usize = 200;
const VERBS: [&str; 8] = ["Call", "Buy", "Write", "Finish", "Review", "Book", "Plan", "Send"];
const THINGS: [&str; 12] = [
    "report",
    "groceries",
    "invoice",
    "flight",
    "letter",
    "contract",
    "slides",
    "present",
    "dentist",
    "budget",
    "minutes",
    "room",
];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = kit::folder()?;
    App::init_home(folder.path())?;
    let home = Home::at(folder.path().to_owned());
    let config = Config { state_folder: Some(folder.path().join("state")), ..Config::load(&home)? };
    let app = App::open(home, config, Clock::System).await?;
    fill(&app).await?;
    let mut table = Table::new("(g) a turn of a conversation over 10,000 tasks")?;
    // A turn that looks up nothing, whose cost is mostly that of its two commits.
    let idle = turn(&app, "fresh", "hello").await?;
    table.value("a greeting, with its two commits", idle, "ms", Goal::None)?;
    for (name, message) in [
        ("a page of the list", "show my pending tasks"),
        ("why, by number", "why is task 4711 low?"),
        ("a title that many tasks have in part", "delete the report"),
        ("a title with a typing mistake", "complete the reprt nr 77 xyz"),
        ("a title that no task has", "delete the zeppelin"),
        ("a guided question", "delete Call report 96"),
    ] {
        let cost = turn(&app, "year", message).await?;
        table.value(name, (cost - idle).max(0.0), "ms", Goal::AtMost(1.0))?;
    }
    table.end()
}

/// Adds the tasks and a year of conversation.
async fn fill(app: &App) -> anyhow::Result<()> {
    for first in (0..TASKS).step_by(250) {
        let add = |nth: usize| {
            let (verb, thing) = (VERBS.get(nth % VERBS.len()), THINGS.get(nth / VERBS.len() % THINGS.len()));
            let objective =
                format!("{} {} {nth}", verb.copied().unwrap_or_default(), thing.copied().unwrap_or_default());
            let app = app.clone();
            tokio::spawn(async move { app.tasks().add(NewTask { objective, ..NewTask::default() }).await.map(drop) })
        };
        for task in (first..first + 250).map(add).collect::<Vec<_>>() {
            task.await??;
        }
    }
    for first in (0..MESSAGES).step_by(250) {
        let mut pending = Vec::new();
        for nth in first..first + 250 {
            let new = NewChatMessage {
                conversation: "year".parse()?,
                user: app.user.clone(),
                profile: ChatProfile::Direct,
                role: if nth % 2 == 0 { ChatRole::User } else { ChatRole::Assistant },
                text: format!("message {nth} of a long year"),
                mentioned: None,
                memory: if nth % 2 == 0 { String::new() } else { "{}".into() },
                at: app.clock.now(),
            };
            pending.push(app.store.enqueue(Write::RecordChatMessage(Box::new(new)))?);
        }
        for write in pending {
            write.answer().await?;
        }
    }
    Ok(())
}

/// Returns the milliseconds of CPU time of one turn.
async fn turn(app: &App, conversation: &str, message: &str) -> anyhow::Result<f64> {
    let profile = if message.starts_with("delete Call") { ChatProfile::Guided } else { ChatProfile::Direct };
    let before = cpu::process().context("the CPU time")?;
    for _ in 0..ROUNDS {
        let input = ChatInput {
            text: message.to_owned(),
            conversation_id: Some(conversation.to_owned()),
            user_id: None,
            profile: Some(profile),
        };
        app.conversations().say(input).await?;
    }
    Ok((cpu::process()? - before).as_secs_f64() * 1e3 / ROUNDS as f64)
}
