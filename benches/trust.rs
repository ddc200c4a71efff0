//! Benchmark: the time of one policy verdict, and of verifying the audit chain.

mod kit;

use std::time::Instant as Stopwatch;

use adjutant::{
    model::{
        AccountId, AccountMode, Action, ActionId, Actor, Address, Effect, Mail, MailId, TaskId, UserId,
        action::{Argument, ComposedMessage, Origin, SendKind},
        audit::{AuditEntry, GENESIS, chain_hash},
    },
    policy::{EffectPolicy, PolicyContext, PolicyVerdict, judge_action},
    store::Store,
};
use anyhow::ensure;
use kit::{Goal, Table, desk};
use rusqlite::Connection;

const VERDICTS: usize = 20_000;
const LINES: i64 = 200_000;
const OWN: &str = "you@home.example";

fn main() -> anyhow::Result<()> {
    let mut table = Table::new("trust")?;
    let times = verdicts()?;
    let at = |share: f64| times.get((share * (times.len() - 1) as f64) as usize).copied().unwrap_or_default();
    table.value("verdict on a reply, median", at(0.5), "us", Goal::None)?;
    table.value("verdict on a reply, p99", at(0.99), "us", Goal::AtMost(200.0))?;
    table.value("audit verified", audit()?, "lines/s", Goal::AtLeast(100_000.0))?;
    table.end()
}

/// Returns the microseconds of each verdict, sorted.
fn verdicts() -> anyhow::Result<Vec<f64>> {
    let now = desk::now()?;
    let address = |addr: &str| Address { name: None, addr: addr.into() };
    let text = "Thank you for your mail. Any of these times would suit me.\n".repeat(40);
    let mime = format!(
        "From: {OWN}\r\nTo: dana@work.example\r\nSubject: Re: the plan\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}"
    );
    let message = ComposedMessage {
        to: vec![address("dana@work.example")],
        cc: vec![],
        subject: "Re: the plan".into(),
        body: text,
        mime,
        attachments: vec![],
    };
    let action = Action {
        action_id: ActionId::derive(now, &["a"]),
        account: AccountId::from("work"),
        user: UserId::from("me"),
        task_id: Some(TaskId::derive(now, &["t"])),
        step: "send_reply".into(),
        generation: 0,
        mail_id: Some(MailId(1)),
        mail_key: Some("k".into()),
        tool: "send_reply".into(),
        effect: Effect::Send { kind: SendKind::Reply, message, replaces: None },
        arguments: vec![Argument::new(Argument::RECIPIENTS, Origin::Mail)],
        terms: None,
    };
    let mail = Mail { from: address("dana@work.example"), to: vec![address(OWN)], ..Mail::default() };
    let (own, policy) = ([OWN.to_owned()], EffectPolicy::default());
    let mut times = Vec::with_capacity(VERDICTS);
    for _ in 0..VERDICTS {
        let action = action.clone();
        let watch = Stopwatch::now();
        let situation = PolicyContext {
            mode: AccountMode::Active,
            mail: Some(&mail),
            labels: &[],
            is_phishing: false,
            own: &own,
            policy: &policy,
            approval: None,
            epoch: 0,
            restored_at: None,
            now,
        };
        let verdict = judge_action(action, &situation);
        times.push(watch.elapsed().as_secs_f64() * 1e6);
        ensure!(matches!(verdict, PolicyVerdict::NeedsApproval { .. }), "a reply must ask");
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Returns how many entries of a long chain are verified per second.
fn audit() -> anyhow::Result<f64> {
    let folder = kit::folder()?;
    let path = folder.path().join("audit.db");
    drop(Store::open(&path, &folder.path().join("backups"))?);
    let connection = Connection::open(&path)?;
    let at = desk::now()?;
    let mut previous = GENESIS.to_owned();
    connection.execute_batch("BEGIN")?;
    for seq in 1..=LINES {
        let entry = AuditEntry {
            at,
            account: "work".into(),
            who: Actor::ExecuteTool,
            act: "effect_planned".into(),
            subject: format!("action:{seq:026}"),
            detail: "draft_reply R1 → ready (9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08)".into(),
        };
        previous = chain_hash(&previous, seq, &entry);
        connection
            .prepare_cached("INSERT INTO audit (seq, at, account, who, act, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?
            .execute((seq, at.to_string(), entry.account, entry.who.as_str(), entry.act, entry.subject, entry.detail, &previous))?;
    }
    connection.execute_batch("COMMIT")?;
    drop(connection);
    let store = Store::open(&path, &folder.path().join("backups"))?;
    let watch = Stopwatch::now();
    let walk = store.read_blocking(|reader| reader.audit().verify(&[]))?;
    ensure!(walk.problem.is_none() && walk.lines == LINES, "the chain is not whole: {walk:?}");
    Ok(LINES as f64 / watch.elapsed().as_secs_f64())
}
