//! The program dies at every named place, before and after each commit and each call to the outside, and what was asked
//! for is delivered once. The oracle is the delivered folder.
//!
//! `IT_PLACES` says how many places (all of them under `make crash`), `IT_MAILS` how many mails.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
    time::Duration,
};

use adjutant::{failpoint, store::Write};
use serde_json::{Value, json};

use crate::house::{Dice, House, Kind, Letter, files_in};

/// Every place there is to die.
pub(crate) fn places() -> Vec<String> {
    let commits = Write::NAMES.iter().map(|name| format!("commit.{name}"));
    let calls = failpoint::CALLS.iter().map(|name| (*name).to_owned());
    commits.chain(calls).flat_map(|name| [format!("{name}.before"), format!("{name}.after")]).collect()
}

pub(crate) fn knob(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The command, with the digest of what it approves: the edited message has the second number.
fn seen(house: &House, command: &[&str]) -> std::process::Command {
    let mut with_digest = house.command(command);
    if command.starts_with(&["hitl", "approve"]) {
        let shown = house.run(&["--json", "hitl", "show", "2"]).out;
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap_or_default();
        with_digest.arg("--sha256").arg(shown["action_sha256"].as_str().unwrap_or("none"));
    }
    with_digest
}

/// Mails that bring out every part: invitations to send, drafts, labels, reminders, folders, noise.
fn fill(mails: usize) -> House {
    let house = House::real_time(Kind::Active);
    house.policy("caps: { pending: 1000, pending_per_sender: 1000, messages_per_hour: 10000, messages_per_sender_per_hour: 10000, labels_per_minute: 10000 }\napprovals: { grace_seconds: 1 }");
    for letter in letters(&house, mails) {
        house.post(&letter);
    }
    house
}

pub(crate) fn letters(house: &House, mails: usize) -> impl Iterator<Item = Letter> {
    (0..mails).map(|nth| {
        let letter = house.letter(&format!("m{nth}")).subject(&format!("Topic {nth}"));
        match nth % 4 {
            0 | 1 => letter.body("Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n"),
            2 => letter.question(),
            _ => letter.invoice(u32::try_from(nth).unwrap()),
        }
    })
}

/// Says yes to everything that waits, as a script would, and one no.
pub(crate) fn approve_all(house: &House) {
    let folder = house.home().queue();
    for name in files_in(&folder) {
        let Some(item) = name.strip_suffix(".json").filter(|item| !item.contains('.')) else { continue };
        let Ok(text) = fs::read_to_string(folder.join(&name)) else { continue };
        let shown: Value = serde_json::from_str(&text).unwrap();
        let word = if shown["action_sha256"].is_null() { "retry" } else { "approve" };
        let said = json!({ "action_sha256": shown["action_sha256"].as_str().unwrap_or_default(), "decision": word });
        let unfinished = house.root().join("decision");
        fs::write(&unfinished, said.to_string()).unwrap();
        fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(unfinished, folder.join(format!("{item}.decision.json"))).unwrap();
    }
}

/// Runs `once`, dying at the place. Whether it died.
pub(crate) fn dies(house: &House, place: &str) -> bool {
    let mut once = house.command(&["once"]);
    let status = once.env("FAILPOINT", place).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    !status.success()
}

/// What people do in between, each command dying at the place if it comes by. How often one did.
pub(crate) fn meddle(house: &House, place: &str) -> usize {
    fs::write(house.home().queue().join("a stranger"), "x").unwrap();
    let policy = house.read("rules/policy.yml");
    house.write("rules/policy.yml", &format!("{policy}# another version\n"));
    let label = house.sql("SELECT action_id FROM outbox WHERE step = 'label' AND state = 'applied' LIMIT 1");
    let label = label.first().map_or("none", |row| row[0].as_str());
    let commands: [&[&str]; 19] = [
        &["once"],
        &["mail", "mode", "work", "observe"],
        &["mail", "mode", "work", "active"],
        &["pause"],
        &["resume"],
        &["tasks", "add", "Water the plants"],
        &["tasks", "set", "1", "--priority", "high"],
        &["mail", "mute", "1"],
        &["mail", "mute", "1", "--off"],
        &["search", "--rebuild"],
        &["memory", "rebuild"],
        &["hitl", "snooze", "1", "tomorrow 9am"],
        &["hitl", "edit", "1", "--text", "Shall we say Thursday?"],
        &["hitl", "undo", label],
        &["hitl", "approve", "2"],
        &["hitl", "undo", "2"],
        &["reflect"],
        &["rules", "rollback"],
        &["once"],
    ];
    let died = |command: &&[&str]| {
        let mut command = seen(house, command);
        let status = command.env("FAILPOINT", place).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        // Killed by its own hand; a refusal has a code.
        status.code().is_none()
    };
    let count = commands.iter().filter(|command| died(command)).count();
    // Whatever was cut off, the account must act again for the rest.
    for command in [&["mail", "mode", "work", "active"][..], &["resume"], &["mail", "mute", "1", "--off"]] {
        house.run(command);
    }
    count
}

/// Works until nothing is left to do.
fn finish(house: &House) {
    for _ in 0..60 {
        let once = house.run(&["once"]);
        assert_eq!(once.code, 0, "{}{}", once.out, once.err);
        approve_all(house);
        if house.count("item WHERE state = 'open'") == 0 && house.count("run WHERE status = 'running'") == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    panic!("stuck: {:?}", house.sql("SELECT node, status, waits_for FROM run WHERE status = 'running'"));
}

/// Every invitation was delivered, each once, and nothing else was. How many those are.
pub(crate) fn check(house: &House, answered: impl Iterator<Item = String>, mails: usize, how: &str) -> usize {
    let mut delivered: BTreeMap<String, usize> = BTreeMap::new();
    for thread in answered {
        *delivered.entry(thread).or_default() += 1;
    }
    let expected: BTreeSet<String> =
        (0..mails).filter(|nth| nth % 4 < 2).map(|nth| format!("<m{nth}@it.example>")).collect();
    assert_eq!(delivered.keys().cloned().collect::<BTreeSet<_>>(), expected, "{how}: lost or never asked for");
    assert!(delivered.values().all(|times| *times == 1), "{how}: sent twice: {delivered:?}");
    assert_eq!(house.count("ledger WHERE direction = 'in'"), mails as u64, "{how}");
    assert_eq!(house.count("run WHERE status = 'running'"), 0, "{how}: stuck");
    let doctor = house.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{how}: {}{}", doctor.out, doctor.err);
    assert!(doctor.out.contains("0 unaccounted") && doctor.out.contains("chain whole"), "{how}: {}", doctor.out);
    expected.len()
}

/// The mails that those in the folder of sent mail answer.
fn answered(house: &House) -> impl Iterator<Item = String> {
    let sent = house.sent().into_iter();
    sent.map(|message| message.lines().find_map(|line| line.strip_prefix("In-Reply-To: ")).unwrap().to_owned())
}

#[test]
fn dying_at_every_place_loses_nothing_and_sends_nothing_twice() {
    let (all, mails) = (places(), knob("IT_MAILS", 4));
    assert!(all.len() >= 40, "{} places", all.len());
    let wanted = knob("IT_PLACES", 4).min(all.len());
    let mut dice = Dice::thrown("places");
    let mut chosen = all.clone();
    while chosen.len() > wanted {
        chosen.swap_remove(usize::try_from(dice.below(chosen.len() as u64)).unwrap());
    }
    let mut died = 0;
    let mut spared = Vec::new();
    for place in &chosen {
        let before = died;
        let house = fill(mails);
        // At the first passing, while mail is read; then later, while what was approved is sent.
        let nth = 1 + dice.below(3);
        died += usize::from(dies(&house, &format!("{place}:{nth}")));
        let once = house.run(&["once"]);
        assert_eq!(once.code, 0, "after {place}: {}", once.err);
        died += meddle(&house, place);
        let once = house.run(&["once"]);
        assert_eq!(once.code, 0, "after {place}: {}", once.err);
        approve_all(&house);
        if place.starts_with("mailbox.find") {
            // What is looked for is what died while it was sent.
            std::thread::sleep(Duration::from_millis(1_100));
            dies(&house, "mailbox.send.after");
        }
        died += usize::from(dies(&house, place));
        std::thread::sleep(Duration::from_millis(1_100));
        died += usize::from(dies(&house, place));
        finish(&house);
        check(&house, answered(&house), mails, place);
        if died == before {
            spared.push(place.as_str());
        }
    }
    println!("{wanted} of {} places, {mails} mails each: died {died} times; never came by {spared:?}", all.len());
}

#[test]
fn killed_at_random_while_it_sends_nothing_is_sent_twice() {
    let (kills, mails) = (knob("IT_KILLS", 6), knob("IT_MAILS", 8));
    let mut dice = Dice::thrown("kills");
    let (mut done, mut homes) = (0, 0);
    while done < kills {
        let house = fill(mails);
        homes += 1;
        for _ in 0..12.min(kills - done) {
            let mut child = house.command(&["once"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(dice.below(400)));
            let running = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            child.wait().unwrap();
            done += usize::from(running);
            approve_all(&house);
            if house.count("item WHERE state = 'open'") == 0 && dice.below(4) == 0 {
                break;
            }
        }
        finish(&house);
        check(&house, answered(&house), mails, &format!("after {done} kills"));
        println!("{done} of {kills} kills over {homes} homes of {mails} mails");
    }
}

/// A commit or a call without a place to die would be one nobody has tried.
#[test]
fn every_commit_and_every_call_has_a_place_to_die() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut code = String::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                code.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    for call in failpoint::CALLS {
        let named =
            code.contains(&format!("around(\"{call}\"")) || code.contains(&format!("pass(\"{call}\", \"after\")"));
        assert!(named, "{call} is listed and not in the code");
    }
    for part in code.split("around(\"").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(failpoint::CALLS.contains(&name), "{name} is in the code and not listed");
    }
    // Whoever calls a mailbox or a source does it through such a place.
    for call in [
        "mailbox.apply(",
        "mailbox.probe(",
        "mailbox.draft(",
        "mailbox.send(",
        "mailbox.find(",
        "mailbox.undo(",
        "source.poll(",
        "source.fetch(",
    ] {
        for line in code.lines().filter(|line| line.contains(call)) {
            assert!(line.contains("around(") || line.contains("|| "), "no place to die: {}", line.trim());
        }
    }
    // And there is one way to commit, beside that of a migration, which has a test of its own.
    assert_eq!(code.matches("execute(session, \"COMMIT\")").count(), 1);
}
