//! Tests in which the program dies at every failpoint, before and after each commit and each outside call: what was
//! asked for is delivered exactly once. The oracle is the spool of a transport: what it accepted, and how often.
//!
//! `IT_PLACES` says how many failpoints (all of them under `make crash`), `IT_KILLS` how many kills, `IT_MAILS` how
//! many mails.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::{fs::PermissionsExt as _, process::ExitStatusExt as _},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use adjutant::{failpoint, store::Write};
use serde_json::{Value, json};

use crate::support::test_home::{ACCEPT, Kind, MailBuilder, SeededRandom, TestHome, field, files_in};

/// Homes at the same time: they mostly wait for the disk.
const AT_ONCE: usize = 4;
/// What a process that dies at a place dies of.
const ABORT: i32 = 6;
/// Refuses while there is a file that tells it to; else accepts.
const TRANSPORT: &str = "[ -e \"$HOME/refuse\" ] && exit 69";

/// Places no home with a Maildir comes by, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("calendar.", "a Maildir has no calendar: gmail_crash.rs"),
    ("token.", "nobody signs in to a Maildir: gmail_crash.rs"),
    ("witness.trim", "needs thousands of sends: witness/sends.rs"),
    ("archive.", "no rule and no template archives yet: source/maildir/tests.rs"),
    ("scratch.", "a copy for the editor of a person at a terminal, which nothing depends on: approval_screen.rs"),
    ("model.", "no model is asked here: model_record.rs"),
    ("commit.hear_model", "no model is asked here: model_record.rs"),
    ("commit.condition", "only an account behind a network has one: gmail_crash.rs"),
    ("rules.write", "nothing is learned in a day: night_rewrite.rs"),
    ("rules.rename", "nothing is learned in a day: night_rewrite.rs"),
    ("rules.sync", "nothing is learned in a day: night_rewrite.rs"),
    ("commit.intend_rules", "nothing is learned in a day: night_rewrite.rs"),
    ("commit.keep_rules", "nothing is learned in a day: night_rewrite.rs"),
    ("commit.drop_intent", "nothing is learned in a day: night_rewrite.rs"),
    ("epoch.", "a restore makes the account observe, and then nothing is sent: approval.rs"),
    ("anchor.rename", "a restore makes the account observe, and then nothing is sent: approval.rs"),
    ("commit.epoch", "a restore makes the account observe, and then nothing is sent: approval.rs"),
];

/// Places that no home of either campaign comes by, and why.
const OUT_OF_THE_WAY: &[(&str, &str)] = &[
    ("commit.open_account", "written when the home is made, before it has any mail"),
    ("commit.setting", "written when the home is made; restore.rs dies there"),
    ("rules.keep", "written when the home is made"),
    ("keyword", "no Dovecot serves the mailbox, and no rule labels a mail: rule_acts.rs"),
    ("client_token.write", "no client is served over HTTP; made again when it was cut short: mcp_http.rs"),
    ("sign_in_code.write", "nobody signs in to the page; a lost code is asked for again: web_guard.rs"),
    ("page_address.write", "no page is served; the next start writes the address again: web_guard.rs"),
    ("commit.chat_message", "nobody talks to it: chat.rs"),
    ("commit.titles", "titles are indexed with their tasks; only an older home has them all indexed: chat.rs"),
    ("commit.open_run", "only a mail that was made a task by hand, or a fork, opens a run by itself"),
    ("commit.open_request", "only a request of a person is opened so: planner_kills.rs"),
    ("commit.open_team", "nobody asks for a team: team_kills.rs"),
    ("commit.team", "nobody asks for a team: team_kills.rs"),
    ("commit.end_run", "only a run that hangs is ended from outside"),
    ("commit.rerank", "nobody changes the rules, and no day passes"),
    ("commit.expire", "nothing waits for days"),
    ("commit.draft_cleanup", "no task ends between its draft and the row: conversation_effects.rs dies there"),
    ("commit.meetings_over", "no meeting is over; one transaction, repeated at the next start"),
    ("commit.ask", "only beside a daemon is anything asked of it"),
    ("commit.answer", "only a daemon answers"),
    ("commit.reminders_shown", "nothing is due"),
    ("commit.cancel_twin", "no night finds two tasks that are one"),
    ("commit.settle_proposal", "no night asks anything"),
    ("commit.forget", "the memory lies beside the tasks and loses nothing"),
    ("commit.memory_cleared", "the memory lies beside the tasks and does not move"),
    ("folder.create", "no mail asks for a folder"),
];

/// Every place there is to die.
pub(crate) fn places() -> Vec<String> {
    let commits = Write::NAMES.iter().map(|name| format!("commit.{name}"));
    let calls = failpoint::EXTERNAL_CALLS.iter().map(|name| (*name).to_owned());
    commits.chain(calls).flat_map(|name| [format!("{name}.before"), format!("{name}.after")]).collect()
}

/// Some of them, or all; those that are tried elsewhere are left out.
pub(crate) fn chosen(dice: &mut SeededRandom, wanted: usize, elsewhere: &[(&str, &str)]) -> Vec<String> {
    let all = places();
    let named = || elsewhere.iter().chain(OUT_OF_THE_WAY);
    let unknown = named().find(|(start, _)| !all.iter().any(|place| place.starts_with(start)));
    assert_eq!(unknown, None, "there is no such place");
    let mut chosen: Vec<String> =
        all.into_iter().filter(|place| !named().any(|(start, _)| place.starts_with(start))).collect();
    while chosen.len() > wanted {
        chosen.swap_remove(usize::try_from(dice.below(chosen.len() as u64)).unwrap());
    }
    chosen
}

pub(crate) fn knob(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Mails that bring out every part: invitations to send, drafts, labels, reminders, folders, noise.
fn fill(mails: usize) -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    home.transport(&format!("{TRANSPORT}\n{ACCEPT}"), None);
    home.policy("caps: { pending: 1000, pending_per_sender: 1000, messages_per_hour: 10000, messages_per_sender_per_hour: 10000, labels_per_minute: 10000 }\napprovals: { grace_seconds: 1, reply_hours: 11, other_hours: 11 }");
    for letter in letters(&home, mails) {
        home.post(&letter);
    }
    home
}

pub(crate) fn letters(home: &TestHome, mails: usize) -> impl Iterator<Item = MailBuilder> {
    (0..mails).map(|nth| {
        let letter = home.letter(&format!("m{nth}")).subject(&format!("Topic {nth}"));
        match nth % 4 {
            0 | 1 => letter.body(INVITING),
            2 => letter.question(),
            _ => letter.invoice(u32::try_from(nth).unwrap()),
        }
    })
}

const INVITING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

/// Mails that are answered with an invitation, each about a topic.
pub(crate) fn invitations(
    home: &TestHome,
    mails: usize,
    topic: impl Fn(usize) -> usize,
) -> impl Iterator<Item = MailBuilder> {
    (0..mails).map(move |nth| {
        let subject = format!("Topic {} of {nth}", topic(nth));
        home.letter(&format!("m{nth}")).subject(&subject).body(INVITING)
    })
}

/// What lies in the queue to be answered.
fn questions(home: &TestHome) -> Vec<(String, Value)> {
    let folder = home.home().queue();
    let read = |name: String| {
        let item = name.strip_suffix(".json").filter(|item| !item.contains('.'))?.to_owned();
        let text = fs::read_to_string(folder.join(&name)).ok()?;
        Some((item, serde_json::from_str(&text).unwrap()))
    };
    files_in(&folder).into_iter().filter_map(read).collect()
}

/// Says yes to everything that waits, as a script would. Whoever is asked whether a message was sent looks into the
/// spool. Returns about how many that was asked.
pub(crate) fn approve_all(home: &TestHome) -> usize {
    let folder = home.home().queue();
    let mut doubts = 0;
    for (item, shown) in questions(home) {
        let word = match shown["action"]["state"].as_str() {
            Some("needs_human") => {
                doubts += 1;
                home.comes_to_rest();
                let id = shown["action"]["action"]["action_id"].as_str().unwrap();
                let left = home.spool().iter().any(|message| field(message, "X-Adjutant-Action") == id);
                if left {
                    // A decision file cannot say this.
                    let sent = home.run(&["hitl", "sent", &item]);
                    assert_eq!(sent.code, 0, "{}{}", sent.out, sent.err);
                    continue;
                }
                "retry"
            }
            Some(_) => "approve",
            None => "retry",
        };
        let said = json!({ "action_sha256": shown["action_sha256"].as_str().unwrap_or_default(), "decision": word });
        let unfinished = home.root().join("decision");
        fs::write(&unfinished, said.to_string()).unwrap();
        fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(unfinished, folder.join(format!("{item}.decision.json"))).unwrap();
    }
    doubts
}

/// Runs a command that dies at the place if it comes by. Whether it did; whatever else ends it has a code.
fn dies_there(mut command: Command, place: &str) -> Option<i32> {
    let status = command.env("FAILPOINT", place).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    match status.signal() {
        Some(signal) => {
            assert_eq!(signal, ABORT, "{command:?} died of something else at {place}");
            None
        }
        None => Some(status.code().unwrap()),
    }
}

/// Runs `once`, dying at the place. Whether it died there; else it did its work.
pub(crate) fn dies(home: &TestHome, place: &str) -> bool {
    match dies_there(home.command(&["once"]), place) {
        None => true,
        Some(code) => {
            assert_eq!(code, 0, "`once` failed, and not at {place}");
            false
        }
    }
}

/// What people do in between, each command dying at the place if it comes by. How often one did. `undone`: a step whose
/// effect is taken back.
pub(crate) fn meddle(home: &TestHome, place: &str, undone: &str) -> usize {
    fs::write(home.home().queue().join("a stranger"), "x").unwrap();
    let policy = home.read("rules/policy.yml");
    home.write("rules/policy.yml", &format!("{policy}# another version\n"));
    let rows = home.sql(&format!("SELECT action_id FROM outbox WHERE step = '{undone}' AND state = 'applied' LIMIT 1"));
    let effect = rows.first().map_or("none", |row| row[0].as_str());
    let asked = questions(home).into_iter().find(|(_, shown)| shown["action"]["state"] == "parked");
    let (item, sha256) = asked.map_or_else(Default::default, |(item, shown)| {
        (item, shown["action_sha256"].as_str().unwrap_or_default().to_owned())
    });
    let commands: [&[&str]; 21] = [
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
        &["hitl", "snooze", &item, "tomorrow 9am"],
        &["hitl", "edit", &item],
        &["hitl", "approve", &item, "--sha256", &sha256],
        &["hitl", "undo", &item],
        &["hitl", "edit", &item, "--text", "Shall we say Thursday?"],
        &["hitl", "undo", effect],
        &["reflect"],
        &["rules", "rollback"],
        &["rules", "rollback"],
        &["once"],
    ];
    let died = |words: &&[&str]| {
        let mut command = home.command(words);
        command.env("VISUAL", "true");
        dies_there(command, place).is_none()
    };
    let count = commands.iter().filter(|words| died(words)).count();
    // Whatever was cut off, the account must act again for the rest.
    for command in [&["mail", "mode", "work", "active"][..], &["resume"], &["mail", "mute", "1", "--off"]] {
        home.run(command);
    }
    count
}

/// Works until nothing is left to do. Returns how often a person was asked whether a message was sent.
fn finish(home: &TestHome) -> usize {
    let mut doubts = 0;
    for _ in 0..60 {
        let once = home.run(&["once"]);
        assert_eq!(once.code, 0, "{}{}", once.out, once.err);
        doubts += approve_all(home);
        if home.count("item WHERE state = 'open'") == 0 && home.count("run WHERE status = 'running'") == 0 {
            return doubts;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    panic!("stuck: {:?}", home.sql("SELECT node, status, waits_for FROM run WHERE status = 'running'"));
}

/// Every invitation was delivered, each once, and nothing else was. How many those are.
pub(crate) fn check(home: &TestHome, answered: impl Iterator<Item = String>, mails: usize, how: &str) -> usize {
    let mut delivered: BTreeMap<String, usize> = BTreeMap::new();
    for thread in answered {
        *delivered.entry(thread).or_default() += 1;
    }
    let expected: BTreeSet<String> =
        (0..mails).filter(|nth| nth % 4 < 2).map(|nth| format!("<m{nth}@it.example>")).collect();
    assert_eq!(delivered.keys().cloned().collect::<BTreeSet<_>>(), expected, "{how}: lost or never asked for");
    assert!(delivered.values().all(|times| *times == 1), "{how}: sent twice: {delivered:?}");
    assert_eq!(home.count("ledger WHERE direction = 'in'"), mails as u64, "{how}");
    assert_eq!(home.count("run WHERE status = 'running'"), 0, "{how}: stuck");
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{how}: {}{}", doctor.out, doctor.err);
    assert!(doctor.out.contains("0 unaccounted") && doctor.out.contains("chain whole"), "{how}: {}", doctor.out);
    expected.len()
}

/// The mails that what the transport has accepted answers.
fn answered(home: &TestHome) -> impl Iterator<Item = String> {
    home.comes_to_rest();
    home.spool().into_iter().map(|message| field(&message, "In-Reply-To").to_owned())
}

/// What must have happened for the program to come by a place.
fn lead_to(home: &TestHome, place: &str) {
    if place.starts_with("mailbox.probe") {
        // What is looked for first is what died while it was put there.
        dies(home, "mailbox.apply.after");
    }
    if place.starts_with("journal.rewrite") {
        dies(home, "journal.append.before");
    }
}

/// One home: it dies at the place as often as it comes by, in everything it does. How often it did, and how often a
/// person was asked whether a message had left.
fn die_at(place: &str, nth: u64, mails: usize) -> (usize, usize) {
    let home = fill(mails);
    lead_to(&home, place);
    // At the first passings, while mail is read; then later, while what was approved is sent.
    let mut died = usize::from(dies(&home, &format!("{place}:{nth}")));
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "after {place}: {}", once.err);
    died += meddle(&home, place, "draft_reply");
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "after {place}: {}", once.err);
    let mut doubts = approve_all(&home);
    if place.starts_with("mailbox.find") {
        // What is looked for is what died while it was sent.
        let leaves = || {
            std::thread::sleep(Duration::from_millis(1_100));
            dies(&home, "mailbox.send.after")
        };
        assert!((0..5).any(|_| leaves()), "nothing was sent");
    }
    if place.starts_with("mailbox.withdraw") || place.starts_with("trash.") {
        // What the transport refuses leaves a draft that is thrown away.
        home.write("refuse", "");
    }
    died += usize::from(dies(&home, place));
    std::thread::sleep(Duration::from_millis(1_100));
    died += usize::from(dies(&home, place));
    drop(fs::remove_file(home.root().join("refuse")));
    doubts += finish(&home);
    check(&home, answered(&home), mails, place);
    (died, doubts)
}

#[test]
fn dying_at_every_place_loses_nothing_and_sends_nothing_twice() {
    let (all, mails) = (places().len(), knob("IT_MAILS", 4));
    let mut dice = SeededRandom::thrown("places");
    let chosen = chosen(&mut dice, knob("IT_PLACES", 3), ELSEWHERE);
    let throws: Vec<u64> = chosen.iter().map(|_| 1 + dice.below(3)).collect();
    let (next, died, doubts) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let spared = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(place) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let nth = throws[chosen.iter().position(|other| other == place).unwrap()];
                    let (mut here, mut asked) = die_at(place, nth, mails);
                    if here == 0 && nth > 1 {
                        // Some are passed once in a life.
                        (here, asked) = die_at(place, 1, mails);
                    }
                    died.fetch_add(here, Ordering::Relaxed);
                    doubts.fetch_add(asked, Ordering::Relaxed);
                    if here == 0 {
                        spared.lock().unwrap().push(place.clone());
                    }
                }
            });
        }
    });
    let spared = spared.into_inner().unwrap();
    println!(
        "{} of {all} places, {mails} mails each: died {died:?} times, a person was asked about {doubts:?} messages; {} places are tried elsewhere",
        chosen.len(),
        all - self::chosen(&mut dice, usize::MAX, ELSEWHERE).len(),
    );
    let deaths = died.into_inner();
    crate::support::campaign::Campaign::new("places", chosen.len(), chosen.len())
        .deaths(deaths)
        .places(chosen.len() - spared.len(), all)
        .lost(0)
        .twice(0)
        .stuck(0)
        .print();
    assert_eq!(spared, [""; 0], "nobody came by: reach it, or say where it is tried");
}

/// Around the moment in which the transport accepts: the place, whether it has the message, whether a person is asked.
const AROUND_ACCEPTANCE: [(&str, bool, bool); 8] = [
    ("mailbox.draft.after", false, false),
    ("mailbox.send.before", false, true),
    ("transport.transmit.before", false, true),
    ("transport.transmit.after", true, true),
    ("sent.rename.before", true, true),
    ("sent.rename.after", true, false),
    ("mailbox.send.after", true, false),
    ("mailbox.settle.after", true, false),
];

#[test]
fn dying_between_acceptance_and_its_note_asks_a_person_and_sends_nothing_again() {
    let die = |place: &str, accepted: bool, asked: bool| {
        let home = fill(1);
        home.policy("");
        assert_eq!(home.run(&["once"]).code, 0);
        assert_eq!(approve_all(&home), 0, "{place}");
        assert!(dies(&home, place), "{place} is not passed");
        home.comes_to_rest();
        assert_eq!(home.spool().len(), usize::from(accepted), "{place}");
        for _ in 0..2 {
            assert_eq!(home.run(&["once"]).code, 0, "{place}");
        }
        assert_eq!(home.spool().len(), usize::from(accepted || !asked), "{place}: sent on a guess");
        assert_eq!(home.count("outbox WHERE state = 'needs_human'"), u64::from(asked), "{place}");
        assert_eq!(finish(&home), usize::from(asked), "{place}: how often a person was asked");
        check(&home, answered(&home), 1, place);
    };
    std::thread::scope(|scope| {
        for (place, accepted, asked) in AROUND_ACCEPTANCE {
            scope.spawn(move || die(place, accepted, asked));
        }
    });
}

#[test]
fn killed_at_random_while_it_sends_nothing_is_sent_twice() {
    let (kills, mails) = (knob("IT_KILLS", 6), knob("IT_MAILS", 8));
    let mut dice = SeededRandom::thrown("kills");
    let (mut done, mut homes, mut doubts) = (0, 0, 0);
    while done < kills {
        let home = fill(mails);
        homes += 1;
        for _ in 0..12.min(kills - done) {
            let mut child = home.command(&["once"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(dice.below(400)));
            let running = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            child.wait().unwrap();
            done += usize::from(running);
            doubts += approve_all(&home);
            if home.count("item WHERE state = 'open'") == 0 && dice.below(4) == 0 {
                break;
            }
        }
        doubts += finish(&home);
        check(&home, answered(&home), mails, &format!("after {done} kills"));
        println!("{done} of {kills} kills over {homes} homes of {mails} mails; asked about {doubts} messages");
    }
    crate::support::campaign::Campaign::new("kills while sending", kills, done)
        .deaths(done)
        .lost(0)
        .twice(0)
        .stuck(0)
        .print();
}
