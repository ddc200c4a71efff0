//! What the person of a home does: looks, approves, rejects, and changes their mind.

use std::time::SystemTime;

use serde_json::Value;

use super::{
    transport::plain,
    world::{Message, Seen, Silence, World, Yes},
};

/// Looks at everything that waits, and remembers it as it was shown.
pub(super) fn look(world: &mut World) {
    let items = world.json(&["hitl", "list"]);
    for item in items.as_array().unwrap() {
        let number = number(item);
        let detail = world.json(&["hitl", "show", &number]);
        if let Some(seen) = seen(&number, &detail) {
            world.seen.retain(|other| other.number != number);
            world.seen.push(seen);
        }
    }
}

pub(super) fn number(item: &Value) -> String {
    item["number"].as_i64().expect("an item has a number").to_string()
}

fn seen(number: &str, detail: &Value) -> Option<Seen> {
    let message = &detail["action"]["action"]["effect"]["message"];
    let sha256 = detail["action_sha256"].as_str()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mime = text(&message["mime"]);
    let answers = mime.lines().find_map(|line| line.strip_prefix("In-Reply-To: "))?;
    Some(Seen {
        number: number.to_owned(),
        sha256: sha256.to_owned(),
        message: Message {
            answers: answers.trim_matches(['<', '>']).to_owned(),
            to: message["to"].as_array()?.iter().map(|to| text(&to["addr"])).collect(),
            subject: text(&message["subject"]),
            text: plain(message["body"].as_str()?),
        },
    })
}

/// Says yes to something seen, perhaps some time ago.
pub(super) fn approve(world: &mut World) {
    let Some(seen) = world.pick(&world.seen.clone()) else { return };
    let arguments = ["hitl", "approve", &seen.number, "--sha256", &seen.sha256];
    let killed = world.one_in(5);
    let is_acknowledged = if killed { world.run_and_kill(&arguments) } else { world.run(&arguments).code == 0 };
    if !is_acknowledged && !killed {
        return;
    }
    let excused = if is_acknowledged { doubtful_transport(world) } else { Some("killed while it was said") };
    let Seen { number, message, .. } = seen;
    world.yeses.push(Yes { number, message, is_acknowledged, excused, revoked: None });
}

/// Says yes twice at once, as two people at two screens might.
pub(super) fn approve_twice_at_once(world: &mut World) {
    let Some(seen) = world.pick(&world.seen.clone()) else { return };
    let arguments = ["hitl", "approve", &seen.number, "--sha256", &seen.sha256];
    let mut other = world.command(&arguments).spawn().unwrap();
    let one = world.run(&arguments).code == 0;
    let two = other.wait().unwrap().success();
    world.note(format!("two yeses to {}: {one} {two}", seen.number));
    assert!(!(one && two), "one yes counted twice");
    if one || two {
        let Seen { number, message, .. } = seen;
        world.yeses.push(Yes {
            number,
            message,
            is_acknowledged: true,
            excused: doubtful_transport(world),
            revoked: None,
        });
    }
}

fn doubtful_transport(world: &World) -> Option<&'static str> {
    (!world.transport_works).then_some("the transport failed")
}

/// Takes a yes back, while that is possible.
pub(super) fn take_back(world: &mut World) {
    let Some(yes) = world.pick(&world.yeses.clone()) else { return };
    if world.run(&["hitl", "undo", &yes.number]).code == 0 {
        revoke(world, |other| other.number == yes.number);
    }
}

pub(super) fn reject(world: &mut World) {
    let Some(seen) = world.pick(&world.seen.clone()) else { return };
    world.run(&["hitl", "reject", &seen.number, "--reason", "not now"]);
}

pub(super) fn edit(world: &mut World) {
    let Some(seen) = world.pick(&world.seen.clone()) else { return };
    world.count += 1;
    let text = format!("Shall we say Thursday? {}", world.count);
    world.run(&["hitl", "edit", &seen.number, "--text", &text]);
}

/// Gives a task up: nothing of it may leave from then on.
pub(super) fn cancel_task(world: &mut World) {
    let Some(task) = some_task(world) else { return };
    let (number, source) = task;
    if world.run(&["tasks", "cancel", &number]).code == 0 {
        revoke(world, |yes| source.contains(&yes.message.answers));
    }
}

fn some_task(world: &mut World) -> Option<(String, String)> {
    let tasks = world.json(&["tasks", "list"]);
    let task = world.pick(tasks.as_array().unwrap())?;
    let source = task["source"].as_str().or(task["task"]["source"].as_str()).unwrap().to_owned();
    Some((task["number"].as_i64()?.to_string(), source))
}

fn revoke(world: &mut World, which: impl Fn(&Yes) -> bool) {
    let now = SystemTime::now();
    for yes in world.yeses.iter_mut().filter(|yes| which(yes)) {
        yes.excused.get_or_insert("taken back");
        yes.revoked.get_or_insert(now);
    }
}

pub(super) fn add_task(world: &mut World) {
    world.count += 1;
    let objective = format!("Water the plants K{}", world.count);
    let arguments = ["tasks", "add", &objective];
    if world.one_in(4) {
        world.run_and_kill(&arguments);
    } else if world.run(&arguments).code == 0 {
        world.added.push((objective, false));
    }
}

/// Holds everything, or lets it go again.
pub(super) fn pause_or_resume(world: &mut World) {
    if let Some(open) = open_silence(world) {
        let until = SystemTime::now();
        if world.run(&["resume"]).code == 0 {
            world.silences[open].until = Some(until);
        }
    } else if world.run(&["pause"]).code == 0 {
        world.silences.push(Silence { from: SystemTime::now(), until: None });
    }
}

pub(super) fn open_silence(world: &World) -> Option<usize> {
    world.silences.iter().position(|silence| silence.until.is_none())
}

/// Lets the account only observe for a while: what waited then never fires.
pub(super) fn observe_for_a_while(world: &mut World) {
    if world.run(&["mail", "mode", "work", "observe"]).code == 0 {
        world.excuse_all("the account observed");
        let from = SystemTime::now();
        super::life::work(world);
        let until = SystemTime::now();
        world.silences.push(Silence { from, until: Some(until) });
        world.run(&["mail", "mode", "work", "active"]);
    }
}

/// Returns which mails the messages answer that wait in the queue.
pub(super) fn answers_waiting(world: &mut World) -> Vec<String> {
    let items = world.json(&["hitl", "list"]);
    let numbers: Vec<String> =
        items.as_array().unwrap().iter().filter(|item| item["kind"] == "action").map(number).collect();
    numbers.iter().filter_map(|number| answered_mail(&world.json(&["hitl", "show", number]))).collect()
}

/// Returns the id of the mail that the message of an item answers.
fn answered_mail(detail: &Value) -> Option<String> {
    let mime = detail["action"]["action"]["effect"]["message"]["mime"].as_str()?;
    let id = mime.lines().find_map(|line| line.strip_prefix("In-Reply-To: "))?;
    Some(id.trim_matches(['<', '>']).to_owned())
}

/// Answers what is asked about failed or doubtful effects as one who can look into the transport's spool.
pub(super) fn settle_doubts(world: &mut World) -> bool {
    let items = world.json(&["hitl", "list"]);
    let mut any = false;
    for item in items.as_array().unwrap().iter().filter(|item| item["kind"] != "action") {
        let number = number(item);
        let detail = world.json(&["hitl", "show", &number]);
        let answers = answered_mail(&detail);
        let has_left =
            answers.as_ref().is_some_and(|id| world.accepted().iter().any(|accepted| accepted.answers == *id));
        // What is not about a message is a mail or a step that failed, on a full disk for instance: it is tried again.
        let word = match answers {
            Some(_) if has_left => "sent",
            Some(_) => "skip",
            None => "retry",
        };
        if world.run(&["hitl", word, &number]).code != 0 {
            world.run(&["hitl", "cancel", &number]);
        }
        if let Some(answers) = answers {
            for yes in world.yeses.iter_mut().filter(|yes| yes.message.answers == answers) {
                yes.excused.get_or_insert("the person was asked about it");
            }
        }
        any = true;
    }
    any
}
