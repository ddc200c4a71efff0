//! The final check of a life: what was asked for is compared with what the transport accepted and what a person can
//! find.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use super::{
    Verdict, life, person, transport,
    transport::Accepted,
    world::{Message, World, Yes},
};

/// What was under way when the person was given a word may still leave within this time.
const UNDER_WAY: Duration = Duration::from_secs(2);
/// Rounds of twenty minutes each that a home gets to come to rest.
const ROUNDS: usize = 12;
const ROUND: i64 = 20 * 60;

pub(super) fn judge(world: &mut World) -> Verdict {
    let running = come_to_rest(world);
    let mut verdict = Verdict { deaths: world.deaths, ..Verdict::default() };
    if !running.is_empty() {
        verdict.stuck.push(format!("runs that never end: {running:?}"));
    }
    judge_the_mail(world, &mut verdict);
    let asked_again = person::answers_waiting(world);
    judge_what_was_sent(world, &asked_again, &mut verdict);
    let tasks = world.json(&["tasks", "list", "--all", "--limit", "100000"]).to_string();
    for (objective, _) in world.added.iter().filter(|(objective, forgotten)| !forgotten && !tasks.contains(objective)) {
        verdict.lost.push(format!("the task '{objective}' that was added"));
    }
    // What was sent last lies in the mailbox too, and is read like any other mail.
    life::work(world);
    let doctor = world.run(&["doctor"]);
    if !doctor.out.contains("0 unaccounted") || (doctor.code != 0 && !world.was_restored && world.transport_worked) {
        verdict.lost.push(format!("doctor ({}): {}", doctor.code, doctor.out));
    }
    verdict
}

/// Everything is repaired and let go, and the home works until nothing is left to do. What still runs after that.
fn come_to_rest(world: &mut World) -> Vec<String> {
    world.stop_daemon("TERM");
    life::mend_the_rules(world);
    transport::set_mode(&world.transport(), "accept");
    for nth in 0..world.mails.len() {
        life::finish_writing(world, nth);
    }
    if person::open_silence(world).is_some() {
        person::pause_or_resume(world);
    }
    // What was put back may have been paused when it was copied.
    world.run(&["resume"]);
    life::work(world);
    world.run(&["mail", "mode", "work", "active"]);
    let mut running = Vec::new();
    for _ in 0..ROUNDS {
        world.jump(ROUND);
        life::work(world);
        let doubts = person::settle_doubts(world);
        let runs = world.json(&["runs", "list", "--status", "running"]);
        running = runs.as_array().unwrap().iter().map(ToString::to_string).collect();
        if running.is_empty() && !doubts {
            return running;
        }
    }
    running
}

fn judge_the_mail(world: &mut World, verdict: &mut Verdict) {
    let ledger = world.json(&["mail", "list", "--limit", "100000"]);
    let ledger = ledger.as_array().unwrap().clone();
    let tasks = world.json(&["tasks", "list", "--all", "--limit", "100000"]);
    for mail in world.mails.clone() {
        let lies_there = mail.file.as_ref().is_some_and(|file| file.exists());
        let has_token = |text: &str| text.split_whitespace().any(|word| word == mail.token);
        let rows: Vec<_> =
            ledger.iter().filter(|row| row["subject"].as_str().is_some_and(has_token)).cloned().collect();
        let answered = rows.iter().any(|row| !["pending", "failed"].contains(&row["state"].as_str().unwrap()));
        if lies_there && !answered {
            verdict.lost.push(format!("mail {} lies in the mailbox and is not in the ledger", mail.token));
            continue;
        }
        let source = format!("{}@it.example", mail.token);
        let opened = tasks.as_array().unwrap().iter();
        let opened = opened.filter(|task| task.to_string().contains(&source)).count();
        if lies_there && mail.asks_for_a_meeting && opened == 0 {
            verdict.lost.push(format!("mail {} asks for a meeting and has no task", mail.token));
        }
        if lies_there && mail.asks_for_a_meeting {
            let whole = format!("{} ends here", mail.token);
            let numbers = rows.iter().filter_map(|row| row["mail_id"].as_i64().map(|id| id.to_string()));
            let texts: Vec<String> = numbers.map(|number| world.json(&["mail", "show", &number]).to_string()).collect();
            if !texts.iter().any(|text| text.contains(&whole)) {
                verdict.lost.push(format!("the end of mail {} was never read", mail.token));
            }
        }
    }
}

/// Compares what the transport accepted with what the person approved. An approved message whose step failed and was
/// tried again is in the queue once more, and so not lost.
fn judge_what_was_sent(world: &World, asked_again: &[String], verdict: &mut Verdict) {
    let accepted = world.accepted();
    verdict.sent = accepted.len();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for one in &accepted {
        let said: Vec<&Yes> = world.yeses.iter().filter(|yes| is_same(&yes.message, one)).collect();
        let times = times.entry(format!("{:?}", (&one.answers, &one.to, &one.text))).or_default();
        *times += 1;
        if said.is_empty() {
            verdict.unapproved.push(format!("{one:?}"));
        } else if *times > said.len() {
            verdict.twice.push(format!("{one:?}"));
        }
        let left = left_at(one);
        let is_late = |since: SystemTime| left > since + UNDER_WAY;
        if !said.is_empty() && said.iter().all(|yes| yes.revoked.is_some_and(is_late)) {
            verdict.unapproved.push(format!("left after it was taken back: {one:?}"));
        }
        let silent = world
            .silences
            .iter()
            .any(|silence| is_late(silence.from) && silence.until.is_none_or(|until| left < until));
        if silent {
            verdict.unapproved.push(format!("left while everything was held: {one:?}"));
        }
    }
    for yes in world.yeses.iter().filter(|yes| yes.is_acknowledged && yes.excused.is_none()) {
        let is_asked_again = asked_again.contains(&yes.message.answers);
        if !is_asked_again && !accepted.iter().any(|one| is_same(&yes.message, one)) {
            verdict.lost.push(format!("approved and never sent: {yes:?}"));
        }
    }
}

fn is_same(message: &Message, one: &Accepted) -> bool {
    let Message { answers, to, subject, text } = message;
    (answers, to, subject, text) == (&one.answers, &one.to, &one.subject, &one.text)
}

/// The transport puts the time of acceptance into the name of the file.
fn left_at(one: &Accepted) -> SystemTime {
    let nanos = one.file.split('.').nth(1).and_then(|text| text.parse().ok()).expect("a time in the name");
    SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos)
}
