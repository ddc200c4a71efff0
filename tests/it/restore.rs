//! Tests restoring data from a copy: of the file, of the folder, of the whole home with its mailbox. What was sent is
//! not sent again, and what was approved before is asked about again. The oracle is what the transport received.
//!
//! `IT_CASES` says how many random schedules of copies, restores and sends.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    outbox_fixture::cases,
    test_home::{Answered, Kind, SeededRandom, TestHome, eventually, files_in},
};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
/// The grace after a yes where one runs, in seconds.
const GRACE: u32 = 3;

/// A home whose transport appends every message to a spool outside it.
struct Sender {
    test_home: TestHome,
    outside: tempfile::TempDir,
}

impl Sender {
    /// What is approved leaves at once.
    fn new(policy: &str) -> Self {
        Self::with_grace(0, policy)
    }

    fn with_grace(seconds: u32, policy: &str) -> Self {
        let sender = Self { test_home: TestHome::real_time(Kind::Active), outside: tempfile::tempdir().unwrap() };
        let (script, spool) = (sender.outside.path().join("sendmail"), sender.spool());
        fs::create_dir(&spool).unwrap();
        fs::write(&script, format!("#!/bin/sh\nexec cat > $(mktemp {}/XXXXXXXX)\n", spool.display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        sender.test_home.configure(&format!("sendmail = \"{} -i -t\"\n", script.display()));
        sender.test_home.policy(&format!("approvals: {{ grace_seconds: {seconds} }}\n{policy}"));
        sender
    }

    fn spool(&self) -> PathBuf {
        self.outside.path().join("spool")
    }

    /// How often each mail was answered by the transport.
    fn answered(&self) -> BTreeMap<String, usize> {
        let mut times = BTreeMap::new();
        for name in files_in(&self.spool()) {
            let message = fs::read_to_string(self.spool().join(name)).unwrap();
            let mail = message.lines().find_map(|line| line.strip_prefix("In-Reply-To: ")).unwrap_or("none").to_owned();
            *times.entry(mail).or_insert(0) += 1;
        }
        times
    }

    fn sent(&self) -> usize {
        self.answered().values().sum()
    }

    fn asks_for_a_meeting(&self, id: &str) {
        self.test_home.post(&self.test_home.letter(id).subject(&format!("Topic {id}")).body(MEETING));
    }

    /// From somebody who may be answered unasked.
    fn invites(&self, id: &str) -> PathBuf {
        let sent = (self.test_home.clock.now().utc() - chrono::Duration::hours(1)).to_rfc2822();
        let text = format!(
            "Authentication-Results: mx.home.example; dmarc=pass header.from=bakerand.example\nFrom: Tom Baker <tom@bakerand.example>\nTo: you@home.example\nSubject: Lunch {id}\nDate: {sent}\nMessage-ID: <{id}@it.example>\nMIME-Version: 1.0\nContent-Type: text/calendar; method=REQUEST; charset=utf-8\n\nBEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:{id}@bakerand.example\nSUMMARY:Lunch {id}\nORGANIZER:mailto:tom@bakerand.example\nDTSTART:20370302T100000Z\nDTEND:20370302T110000Z\nEND:VEVENT\nEND:VCALENDAR\n"
        );
        self.test_home.deliver(&format!("{id}.eml"), text)
    }

    fn once(&self) -> Answered {
        let once = self.test_home.run(&["once"]);
        assert_eq!(once.code, 0, "{}{}", once.out, once.err);
        once
    }

    /// Says yes to every action that waits; an effect in doubt is left to a person who has looked.
    fn approve(&self) {
        let folder = self.test_home.home().queue();
        for name in files_in(&folder) {
            let Some(item) = name.strip_suffix(".json").filter(|item| !item.contains('.')) else { continue };
            let Ok(text) = fs::read_to_string(folder.join(&name)) else { continue };
            let shown: Value = serde_json::from_str(&text).unwrap();
            let Some(sha256) = shown["action_sha256"].as_str() else { continue };
            let said = json!({ "action_sha256": sha256, "decision": "approve" });
            let unfinished = self.outside.path().join("decision");
            fs::write(&unfinished, said.to_string()).unwrap();
            fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o600)).unwrap();
            fs::rename(unfinished, folder.join(format!("{item}.decision.json"))).unwrap();
        }
    }

    /// Everything a person who knows of nothing might do after the data came back.
    fn goes_on(&self) {
        for _ in 0..2 {
            self.once();
            for command in [&["mail", "mode", "work", "active"][..], &["resume"]] {
                assert_eq!(self.test_home.run(command).code, 0);
            }
            self.approve();
            // A step that waits is looked at again after two seconds.
            eventually("it comes to rest", || {
                self.once();
                let open = "outbox WHERE state IN ('ready', 'held', 'drafting', 'drafted', 'sending', 'settling', 'unknown', 'probe')";
                (self.test_home.count(open) == 0).then_some(())
            });
        }
    }

    /// Approved, and held by a pause.
    fn approved() -> Self {
        let sender = Self::new("");
        sender.asks_for_a_meeting("one");
        sender.once();
        assert_eq!(sender.test_home.run(&["pause"]).code, 0);
        sender.approve();
        sender.once();
        assert_eq!(sender.state(), [["ready"]]);
        sender
    }

    fn leaves(&self) {
        assert_eq!(self.test_home.run(&["resume"]).code, 0);
        // A step that waits is looked at again after two seconds.
        eventually("it leaves", || {
            self.once();
            (self.sent() > 0).then_some(())
        });
        assert_eq!(self.sent(), 1, "{:?}", self.test_home.sql("SELECT step, state, result FROM outbox"));
    }

    fn copy(&self, what: &[&str], name: &str) -> Copied {
        let folder = self.outside.path().join(name);
        fs::create_dir(&folder).unwrap();
        for part in what {
            copy(&self.test_home.root().join(part), &folder.join(part));
        }
        Copied { folder, what: what.iter().map(|part| (*part).to_owned()).collect() }
    }

    fn put_back(&self, copied: &Copied) {
        for part in &copied.what {
            let place = self.test_home.root().join(part);
            fs::remove_dir_all(&place).unwrap();
            copy(&copied.folder.join(part), &place);
        }
    }

    fn mode(&self) -> String {
        self.test_home.sql_one("SELECT mode FROM account WHERE account = 'work'")
    }

    fn restores(&self) -> u64 {
        self.test_home.count("audit WHERE act = 'restored'")
    }

    fn state(&self) -> Vec<Vec<String>> {
        self.test_home.sql("SELECT state FROM outbox WHERE step = 'send_calendar_invite'")
    }
}

struct Copied {
    folder: PathBuf,
    what: Vec<String>,
}

/// As a person or a backup program does it, times and all.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

#[test]
fn a_data_folder_put_back_sends_nothing_again() {
    let sender = Sender::with_grace(GRACE, "");
    sender.asks_for_a_meeting("one");
    sender.once();
    sender.approve();
    sender.once();
    assert_eq!(sender.state(), [["held"]]);
    let copied = sender.copy(&["data"], "yesterday");
    sender.leaves();
    sender.put_back(&copied);
    let once = sender.once();
    assert!(once.err.contains("restored"), "it is said: {}", once.err);
    assert_eq!((sender.mode().as_str(), sender.restores()), ("observe", 1));
    assert_eq!(sender.test_home.count("approval WHERE used_at IS NULL"), 0);
    assert_eq!(sender.state(), [["sent"]], "it was looked for, and found");
    sender.goes_on();
    assert_eq!((sender.sent(), sender.restores()), (1, 1));
    let doctor = sender.test_home.run(&["doctor"]);
    assert!(doctor.code == 0 && doctor.out.contains("restore"), "{}{}", doctor.out, doctor.err);
}

#[test]
fn an_older_file_without_its_anchor_or_with_a_garbled_one_is_noticed() {
    for how in ["removed", "garbled", "older", "emptied"] {
        let sender = Sender::approved();
        let copied = sender.copy(&["data"], "yesterday");
        sender.leaves();
        let data = sender.test_home.home().data();
        for ending in ["-wal", "-shm"] {
            drop(fs::remove_file(data.join(format!("tasks.db{ending}"))));
            drop(fs::copy(
                copied.folder.join(format!("data/tasks.db{ending}")),
                data.join(format!("tasks.db{ending}")),
            ));
        }
        fs::copy(copied.folder.join("data/tasks.db"), data.join("tasks.db")).unwrap();
        let anchor = data.join("audit.anchor");
        match how {
            "removed" => fs::remove_file(&anchor).unwrap(),
            "garbled" => fs::write(&anchor, "7 what?\nis this\n").unwrap(),
            "emptied" => fs::write(&anchor, "").unwrap(),
            _ => drop(fs::copy(copied.folder.join("data/audit.anchor"), &anchor).unwrap()),
        }
        assert_eq!(sender.test_home.run(&["audit", "verify"]).code, 4, "{how}");
        sender.once();
        assert_eq!((sender.mode().as_str(), sender.restores()), ("observe", 1), "{how}");
        sender.goes_on();
        assert_eq!((sender.sent(), sender.restores()), (1, 1), "{how}");
        assert_eq!(sender.test_home.run(&["audit", "verify"]).code, 0, "{how}: a new series begins");
    }
}

#[test]
fn a_home_put_back_with_its_mailbox_asks_before_it_sends_again() {
    // Put back to before the mail had come; to while it was still asked; to while it was approved and held.
    for when in 0..3 {
        let sender = Sender::new("");
        let take = |nth| (nth == when).then(|| sender.copy(&["data", "mail"], &format!("snapshot{nth}")));
        let first = take(0);
        sender.asks_for_a_meeting("one");
        let arrived = fs::read_dir(sender.test_home.maildir().join("new")).unwrap().next().unwrap().unwrap().path();
        let kept = sender.outside.path().join("kept.eml");
        copy(&arrived, &kept);
        sender.once();
        let second = take(1);
        assert_eq!(sender.test_home.run(&["pause"]).code, 0);
        sender.approve();
        sender.once();
        let third = take(2);
        sender.leaves();
        sender.put_back(&first.or(second).or(third).unwrap());
        sender.once();
        assert_eq!((sender.mode().as_str(), sender.restores()), ("observe", 1), "{when}");
        assert_eq!(sender.test_home.run(&["mail", "mode", "work", "active"]).code, 0);
        // The server delivers it again, for its mailbox has forgotten it.
        copy(&kept, &arrived);
        sender.goes_on();
        assert_eq!(sender.sent(), 1, "{when}: {:?}", sender.test_home.sql("SELECT step, state, result FROM outbox"));
        assert_eq!(sender.state(), [["needs_human"]], "{when}: a person decides");
    }
}

#[test]
fn the_mailbox_alone_tells_when_the_state_folder_was_put_back_too() {
    for how in ["put back", "gone"] {
        let sender = Sender::approved();
        let copied = sender.copy(&["data"], "yesterday");
        let state = sender.outside.path().join("state");
        copy(sender.test_home.state(), &state);
        sender.leaves();
        sender.put_back(&copied);
        fs::remove_dir_all(sender.test_home.state()).unwrap();
        if how == "put back" {
            copy(&state, sender.test_home.state());
        }
        // A mail program has moved it since, and given it a name of its own.
        let sent = sender.test_home.maildir().join(".Sent/cur");
        let filed = sender.test_home.maildir().join(".Archive.2026/cur");
        fs::create_dir_all(&filed).unwrap();
        fs::rename(sent.join(&files_in(&sent)[0]), filed.join("1795000000.M1P1.host:2,S")).unwrap();
        sender.goes_on();
        assert_eq!((sender.sent(), sender.state()), (1, vec![vec!["sent".to_owned()]]), "{how}");
    }
}

#[test]
fn a_copy_on_another_machine_observes_and_the_first_goes_on() {
    let sender = Sender::approved();
    let elsewhere = tempfile::tempdir().unwrap();
    let second = elsewhere.path().join("home");
    copy(sender.test_home.root(), &second);
    let there = |arguments: &[&str]| {
        let mut command = sender.test_home.command(arguments);
        command.env("XDG_STATE_HOME", elsewhere.path().join("state"));
        // The first home is named before; the last one counts.
        crate::support::test_home::finish(rehomed(command, &second))
    };
    assert_eq!(there(&["resume"]).code, 0);
    let once = there(&["once"]);
    assert!(once.code == 0 && once.err.contains("restored"), "{}{}", once.out, once.err);
    assert_eq!(sender.sent(), 0, "the copy sends nothing");
    let mode = there(&["--json", "doctor"]);
    let health: Value = serde_json::from_str(&mode.out).unwrap();
    let modes: Vec<&str> =
        health["accounts"].as_array().unwrap().iter().filter_map(|one| one["mode"].as_str()).collect();
    assert!(modes.contains(&"observe"), "{modes:?}");
    sender.leaves();
    assert_eq!((sender.sent(), sender.restores(), sender.mode().as_str()), (1, 0, "active"));
}

fn rehomed(command: Command, home: &Path) -> Command {
    let mut other = Command::new(command.get_program());
    other.arg("--home").arg(home).args(command.get_args().skip(2));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    other
}

#[test]
fn a_home_that_moved_is_the_same_home_and_two_homes_are_two() {
    let sender = Sender::approved();
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("moved");
    fs::rename(sender.test_home.root(), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, sender.test_home.root()).unwrap();
    let once = crate::support::test_home::finish(rehomed(sender.test_home.command(&["once"]), &moved));
    assert_eq!(once.code, 0, "{}", once.err);
    sender.leaves();
    assert_eq!((sender.sent(), sender.restores(), sender.mode().as_str()), (1, 0, "active"));
    sender.once();
    // A second home on the same machine, with the same state folder.
    let other = elsewhere.path().join("other");
    for _ in 0..2 {
        for home in [&other, &moved] {
            let init = crate::support::test_home::finish(rehomed(sender.test_home.command(&["init"]), home));
            assert_eq!(init.code, 0, "{}", init.err);
            let once = crate::support::test_home::finish(rehomed(sender.test_home.command(&["once"]), home));
            assert!(once.code == 0 && !once.err.contains("restored"), "{}", once.err);
        }
    }
    assert_eq!(files_in(&sender.test_home.state().join("adjutant")).len(), 2);
}

#[test]
fn a_state_folder_that_cannot_be_used_is_said_and_not_the_end() {
    let sender = Sender::approved();
    let aside = sender.outside.path().join("aside");
    fs::rename(sender.test_home.state(), &aside).unwrap();
    fs::write(sender.test_home.state(), "no folder").unwrap();
    // What was approved may have left meanwhile: nobody can say it has not.
    sender.once();
    assert_eq!((sender.mode().as_str(), sender.restores(), sender.sent()), ("observe", 1, 0));
    let doctor = sender.test_home.run(&["doctor"]);
    assert!(doctor.code == 4 && doctor.out.contains("state"), "{}{}", doctor.out, doctor.err);
    for command in [&["mail", "mode", "work", "active"][..], &["resume"]] {
        assert_eq!(sender.test_home.run(command).code, 0);
    }
    sender.asks_for_a_meeting("two");
    sender.once();
    assert_eq!((sender.mode().as_str(), sender.restores()), ("active", 1), "said once, not at every start");
    sender.approve();
    sender.once();
    sender.once();
    assert_eq!(sender.answered(), BTreeMap::from([("<two@it.example>".to_owned(), 1)]), "it goes on");
    // It is there again.
    fs::remove_file(sender.test_home.state()).unwrap();
    fs::rename(&aside, sender.test_home.state()).unwrap();
    sender.once();
    assert_eq!((sender.mode().as_str(), sender.restores()), ("active", 1));
    assert!(!sender.test_home.run(&["doctor"]).out.contains("cannot be used"));
    let copied = sender.copy(&["data"], "yesterday");
    assert_eq!(sender.test_home.run(&["pause"]).code, 0);
    sender.put_back(&copied);
    sender.once();
    assert_eq!(sender.restores(), 2, "and it counts again");
}

#[test]
fn a_home_from_before_there_was_a_witness_is_not_restored() {
    let sender = Sender::approved();
    sender.test_home.database().execute("DELETE FROM setting WHERE name IN ('anchored', 'witness')", []).unwrap();
    fs::remove_dir_all(sender.test_home.state().join("adjutant")).unwrap();
    sender.leaves();
    assert_eq!((sender.restores(), sender.mode().as_str()), (0, "active"));
    // From now on it has one.
    assert_eq!(files_in(&sender.test_home.state().join("adjutant")).len(), 1);
    fs::remove_dir_all(sender.test_home.state().join("adjutant")).unwrap();
    sender.once();
    assert_eq!((sender.restores(), sender.mode().as_str()), (1, "observe"));
}

#[test]
fn what_came_since_the_copy_is_not_answered_a_second_time() {
    // The mailbox's own memory, the witness and the rule for mail from before: each holds alone.
    for left in ["Sent", "sends", "rule"] {
        let sender = Sender::new("allow: [tom@bakerand.example]");
        sender.once();
        let copied = sender.copy(&["data"], "yesterday");
        let path = sender.invites("lunch");
        sender.once();
        assert_eq!(sender.sent(), 1, "{:?}", sender.test_home.sql("SELECT step, state, result FROM outbox"));
        sender.put_back(&copied);
        let away = sender.outside.path().join("away.eml");
        fs::rename(&path, &away).unwrap();
        sender.once();
        assert_eq!((sender.mode().as_str(), sender.restores()), ("observe", 1));
        // The person turns it on while the rest is still to be read.
        assert_eq!(sender.test_home.run(&["mail", "mode", "work", "active"]).code, 0);
        fs::rename(&away, &path).unwrap();
        if left != "Sent" {
            fs::remove_dir_all(sender.test_home.maildir().join(".Sent")).unwrap();
        }
        if left != "rule" {
            sender.test_home.database().execute("DELETE FROM setting WHERE name = 'restored_at'", []).unwrap();
        }
        if left != "sends" {
            for home in files_in(&sender.test_home.state().join("adjutant")) {
                drop(fs::remove_file(sender.test_home.state().join("adjutant").join(home).join("sends")));
            }
        }
        sender.once();
        sender.once();
        assert_eq!(sender.sent(), 1, "{left}: {:?}", sender.test_home.sql("SELECT step, state, result FROM outbox"));
        // New mail is answered as before.
        std::thread::sleep(Duration::from_millis(1_100));
        let later = sender.invites("dinner");
        fs::OpenOptions::new().write(true).open(&later).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
        std::thread::sleep(Duration::from_millis(400));
        sender.once();
        assert_eq!(sender.answered().get("<dinner@it.example>"), Some(&1), "{left}");
    }
}

#[test]
fn dying_while_it_is_noted_is_no_restore() {
    let places =
        ["anchor.append", "witness.write", "witness.append", "commit.setting", "commit.move_action", "mailbox.send"];
    let places: Vec<String> =
        places.iter().flat_map(|name| ["before", "after"].map(|when| format!("{name}.{when}"))).collect();
    let (mut died, mut dice) = (0, SeededRandom::thrown("noting"));
    let tries = cases(5);
    // A place need not be passed in a life as short as this; then another is tried.
    let mut nth = 0;
    while nth < tries || (died == 0 && nth < 4 * places.len()) {
        let place = &places[if tries < places.len() { usize::try_from(dice.below(12)).unwrap() } else { nth % 12 }];
        let sender = Sender::new("");
        let dies = |arguments: &[&str], nth: u64| {
            let mut command = sender.test_home.command(arguments);
            command.env("FAILPOINT", format!("{place}:{nth}"));
            usize::from(crate::support::test_home::finish(command).code == -1)
        };
        sender.asks_for_a_meeting("one");
        died += dies(&["once"], 1 + dice.below(2));
        sender.once();
        died += dies(&["pause"], 1) + dies(&["resume"], 1);
        sender.approve();
        died += dies(&["once"], 1 + dice.below(4)) + dies(&["once"], 1);
        sender.once();
        assert_eq!((sender.restores(), sender.mode().as_str()), (0, "active"), "{place}");
        assert!(sender.sent() <= 1, "{place}");
        assert_eq!(sender.test_home.run(&["audit", "verify"]).code, 0, "{place}");
        nth += 1;
    }
    assert!(died > 0, "nothing died in {nth} tries");
    // The very first start of a home, too.
    for nth in 1..=2 {
        let test_home = TestHome::real_time(Kind::Samples);
        for place in ["anchor.append.before", "anchor.append.after", "witness.write.after", "commit.setting.after"] {
            let mut command = test_home.command(&["once"]);
            command.env("FAILPOINT", format!("{place}:{nth}"));
            crate::support::test_home::finish(command);
        }
        assert_eq!(test_home.run(&["once"]).code, 0);
        assert_eq!(test_home.count("audit WHERE act = 'restored'"), 0);
        assert_eq!(test_home.sql_one("SELECT mode FROM account WHERE account = 'samples'"), "active");
    }
}

#[test]
fn random_copies_and_restores_send_nothing_twice() {
    let (schedules, mut dice) = (cases(2), SeededRandom::thrown("restores"));
    let (mut restores, mut sends) = (0, 0);
    for nth in 0..schedules {
        let sender = Sender::with_grace(0, "allow: [tom@bakerand.example]");
        let mut copies: Vec<Copied> = Vec::new();
        let mut story = Vec::new();
        for step in 0..16 {
            let (id, name) = (format!("m{step}"), format!("copy{step}"));
            // Mail first and copies early, so that there is something to put back and something to forget.
            let what = match dice.below(if step < 4 { 6 } else { 12 }) {
                0 | 1 => "a meeting is asked for",
                2 => "an invitation comes",
                3 => "copied",
                4 => "copied with its mail",
                6 | 7 => "yes to all",
                8 => "turned on",
                9 | 10 if !copies.is_empty() => "put back",
                11 => "paused",
                _ => "once",
            };
            match what {
                "a meeting is asked for" => sender.asks_for_a_meeting(&id),
                "an invitation comes" => drop(sender.invites(&id)),
                "copied" => copies.push(sender.copy(&["data"], &name)),
                "copied with its mail" => copies.push(sender.copy(&["data", "mail"], &name)),
                "yes to all" => sender.approve(),
                "turned on" => drop(sender.test_home.run(&["mail", "mode", "work", "active"])),
                "put back" => {
                    restores += 1;
                    sender.put_back(&copies[usize::try_from(dice.below(copies.len() as u64)).unwrap()]);
                }
                "paused" => drop(sender.test_home.run(&[["pause", "resume"][usize::try_from(dice.below(2)).unwrap()]])),
                _ => drop(sender.once()),
            }
            story.push(what);
        }
        for _ in 0..3 {
            for command in [&["once"][..], &["resume"], &["mail", "mode", "work", "active"]] {
                assert_eq!(sender.test_home.run(command).code, 0, "schedule {nth}: {story:?}");
            }
            sender.approve();
        }
        sender.once();
        let answered = sender.answered();
        assert!(answered.values().all(|times| *times == 1), "schedule {nth}: {answered:?} after {story:?}");
        sends += answered.len();
        assert_eq!(sender.test_home.run(&["audit", "verify"]).code, 0, "schedule {nth}: {story:?}");
    }
    println!("{schedules} schedules, {restores} restores, {sends} messages, none twice");
    crate::support::campaign::Campaign::new("restores", schedules, schedules).twice(0).print();
}

#[tokio::test(flavor = "multi_thread")]
async fn gmail_itself_tells_when_the_state_folder_was_put_back_too() {
    use crate::support::{
        gmail_home::{signed_in, turn_on},
        google::{Google, YOU},
    };
    let google = Google::start();
    let test_home = signed_in(&google, YOU, "");
    turn_on(&test_home).await;
    google.person(YOU).receives(test_home.letter("one").body(MEETING).text().replace('\n', "\r\n"));
    test_home.once().await;
    let outside = tempfile::tempdir().unwrap();
    let places = [(test_home.home().data(), "data"), (test_home.state().join("adjutant"), "state")];
    places.iter().for_each(|(place, name)| copy(place, &outside.path().join(name)));
    for round in 0..2 {
        crate::support::test_home::approve_first(&test_home.app().await).await.unwrap();
        for _ in 0..3 {
            test_home.clock.advance(31);
            test_home.once().await;
        }
        assert_eq!(google.person(YOU).sent().len(), 1, "round {round}");
        assert_eq!(
            test_home.sql("SELECT state FROM outbox WHERE step = 'send_calendar_invite'"),
            [["sent"]],
            "{round}"
        );
        assert_eq!(test_home.count("audit WHERE act = 'restored'"), 0, "nothing but the mailbox can tell");
        for (place, name) in &places {
            fs::remove_dir_all(place).unwrap();
            copy(&outside.path().join(name), place);
        }
    }
    assert_eq!(google.calls("POST", "/drafts/send"), 1);
}
