//! Tests the interactive approval screen in a real pseudo-terminal (made by `script`, which every Unix has): what a
//! person sees, and what the keys do.

use std::{
    fs,
    io::{Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use crate::support::test_home::{Kind, PATIENCE, TestHome, eventually, files_in, signal};

const CLEAR: &str = "\x1b[2J";
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// The desk, and the terminal it sits at.
struct Pane<'a> {
    home: &'a TestHome,
    child: Child,
    keys: ChildStdin,
    written: Arc<Mutex<Vec<u8>>>,
}

impl<'a> Pane<'a> {
    fn open(home: &'a TestHome) -> Self {
        Self::with(home, (80, 24), &[])
    }

    fn with(home: &'a TestHome, size: (u16, u16), settings: &[(&str, &str)]) -> Self {
        Self::running(home, "hitl", size, settings)
    }

    /// Some command at a terminal.
    fn running(home: &'a TestHome, what: &str, (columns, rows): (u16, u16), settings: &[(&str, &str)]) -> Self {
        let inside = format!(
            "stty columns {columns} rows {rows}; tty > \"$ROOT/tty\"; echo $$ > \"$ROOT/pid\"; exec \"$ADJUTANT\" --home \"$ROOT\" {what}"
        );
        let mut command = Command::new("script");
        command.args(["-q", "-e", "-c", &inside, "/dev/null"]);
        command.env("SHELL", "/bin/sh").env("TERM", "xterm").env("EDITOR", "false").env_remove("VISUAL");
        command
            .env_remove("NO_COLOR")
            .env("ROOT", home.root())
            .env("XDG_STATE_HOME", home.state())
            .env("ADJUTANT", env!("CARGO_BIN_EXE_adjutant"));
        command.envs(settings.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("these tests need `script` (util-linux)");
        let (keys, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let written: Arc<Mutex<Vec<u8>>> = Arc::default();
        let into = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut part) {
                into.lock().unwrap().extend(&part[..length]);
            }
        });
        Self { home, child, keys, written }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn raw(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// What stands there since the screen was last empty, without styles.
    fn shown(&self) -> String {
        let raw = self.raw();
        let last = [CLEAR, ENTER, LEAVE].iter().filter_map(|code| raw.rfind(code).map(|at| at + code.len())).max();
        let mut text = raw[last.unwrap_or_default()..].replace('\r', "");
        for style in ["\x1b[1m", "\x1b[0m", "\x1b[H"] {
            text = text.replace(style, "");
        }
        text
    }

    /// Waits for these words; rows broken to the width count as one.
    fn until(&self, words: &str) -> String {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let deadline = Instant::now() + PATIENCE;
        let mut before = String::new();
        loop {
            let shown = self.shown();
            // Twice the same: not the half of a screen that is still being written.
            if shown == before && flat(&shown).contains(words) {
                return shown;
            }
            assert!(Instant::now() < deadline, "never saw '{words}', only:\n{shown}");
            before = shown;
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn must_fit(&self, columns: usize, rows: usize) {
        let shown = self.shown();
        assert!(shown.lines().count() <= rows, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() < columns), "{shown}");
    }

    /// Moves on until the shown item has these words.
    fn seek(&mut self, words: &str) {
        let all: usize = self.home.count("item WHERE state = 'open'").try_into().unwrap();
        for nth in 1..=all {
            if self.until(&format!("{nth} of {all}")).contains(words) {
                return;
            }
            self.press("n");
        }
        panic!("no item has '{words}'");
    }

    /// Leaves, and waits for the end; what was said after the screen was given back.
    fn quit(mut self) -> String {
        self.press("q");
        self.ended(0)
    }

    fn ended(&mut self, code: i32) -> String {
        let status = eventually("the desk ends", || self.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(code), "{}", self.raw());
        let raw = self.raw();
        assert!(raw.rfind(LEAVE) > raw.rfind(ENTER), "the screen was not given back: {raw}");
        self.shown()
    }
}

impl Drop for Pane<'_> {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Four things wait: three invitations to meetings, and last an answer in the person's own words.
fn waiting(grace_seconds: u32) -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    home.write("rules/policy.yml", &format!("approvals:\n  grace_seconds: {grace_seconds}\n"));
    let meeting = |id: &str, from: &str, domain: &str, subject: &str, body: &str| {
        let vouched = format!("Authentication-Results: mx.home.example; dmarc=pass header.from={domain}");
        home.post(&home.letter(id).from(&format!("{from}@{domain}>")).subject(subject).body(body).header(&vouched));
    };
    let hebrew =
        "היי אלכס,\n\nאשמח לקבוע פגישה של 30 דקות בדירה כדי לעבור על רשימת התיקונים. מתי נוח לך בשבוע הבא?\n\nיוסי\n";
    meeting("one", "יוסי כהן <yossi", "nadlan.example", "ביקור בדירה", hebrew);
    let english = "Hello Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nBest\n";
    meeting("two", "Anna Smith <anna", "clinic.example", "Catch-up", english);
    let hostile = english.replace("Best", "Best\u{1b}]0;owned\u{7}\u{202e}");
    meeting("three", "Lena Hoffmann <lena", "studio.example", "Kick-off \u{202e}", &hostile);
    home.post(&home.letter("four").question());
    assert_eq!(home.run(&["once"]).code, 0);
    let question = home
        .sql_one("SELECT number FROM task_owner JOIN tasks USING (task_id) WHERE objective LIKE '%back at the house%'");
    assert_eq!(home.run(&["tasks", "reply", &question, "I am back on Friday."]).code, 0);
    assert_eq!(home.count("item WHERE state = 'open'"), 4, "{:?}", home.sql("SELECT title FROM item"));
    home
}

fn sent(home: &TestHome) -> usize {
    ["new", "cur"].iter().map(|place| files_in(&home.maildir().join(".Sent").join(place)).len()).sum()
}

#[test]
fn an_item_is_shown_with_everything_a_yes_depends_on() {
    let home = waiting(600);
    let mut pane = Pane::open(&home);
    pane.seek("yossi@nadlan.example");
    let shown = pane.until("שלום יוסי כהן");
    for words in [
        ": send calendar invite, void in 7",
        "of 4 · med · number ",
        "To       yossi@nadlan.example [in the conversation, you never wrote to them]",
        "Subject  Re: ביקור בדירה",
        "Attached invite.ics (text/calendar",
        "Why      R3: it invites people",
        "On yes   it is saved in Sent, not transmitted",
        ": ביקור בדירה from yossi@nadlan.example",
        "a yes  e edit  r no",
    ] {
        assert!(shown.contains(words), "{words}:\n{shown}");
    }
    let digest = home.sql_one(
        "SELECT action ->> '$.effect.message.attachments[0].sha256' FROM outbox WHERE state = 'parked' AND action LIKE '%yossi@nadlan%'",
    );
    assert!(shown.contains(&digest), "{digest}:\n{shown}");
    pane.must_fit(80, 24);
    assert!(pane.raw().contains("\x1b[1m"), "marked where there are styles");
    pane.press("m");
    pane.until("אשמח לקבוע פגישה");
    pane.press("m?");
    pane.until("take your last yes back");
    pane.press("?");
    pane.until("of 4");
    pane.press("gppp");
    pane.seek("lena@studio.example");
    pane.press("m");
    pane.until("30-min catch-up next week");
    let raw = pane.raw();
    assert!(!raw.contains('\u{202e}') && !raw.contains("\x1b]") && !raw.contains('\u{7}'), "{raw:?}");
    pane.press("m");
    assert!(pane.quit().contains("4 still wait for you"));
    assert_eq!(home.count("approval"), 0);
}

#[test]
fn without_colours_and_on_a_dumb_terminal() {
    let home = waiting(600);
    let pane = Pane::with(&home, (80, 24), &[("NO_COLOR", "1")]);
    pane.until("1 of 4");
    assert!(!pane.raw().contains("\x1b[1m") && !pane.raw().contains("\x1b[3"), "{}", pane.raw());
    pane.quit();
    let mut dumb = Pane::with(&home, (80, 24), &[("TERM", "dumb")]);
    dumb.until("1 of 4");
    dumb.press("s\n");
    dumb.until("2 of 4");
    dumb.press("q\n");
    let status = eventually("the desk ends", || dumb.child.try_wait().unwrap());
    assert!(status.success() && !dumb.raw().contains('\x1b'), "{}", dumb.raw());
    // Nobody there: the list.
    assert!(home.run(&["hitl"]).out.contains("VOID AT"));
}

#[test]
fn a_yes_counts_once_the_end_was_seen_and_says_what_came_of_it() {
    let home = waiting(2);
    let mut pane = Pane::with(&home, (60, 20), &[]);
    pane.until("1 of 4");
    pane.must_fit(60, 20);
    pane.press("a");
    pane.until("There is more of it below");
    assert_eq!(home.count("approval"), 0);
    pane.press("Ga");
    pane.until("unless you undo (u)");
    pane.must_fit(60, 20);
    pane.until("saved in Sent, not transmitted.");
    assert_eq!((home.count("outbox WHERE state = 'saved'"), sent(&home)), (1, 1));
    pane.press("u");
    pane.until("no approval of this session");
    // The line is wrapped to the width of the screen.
    let said = pane.quit().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("saved in Sent, not transmitted") && said.contains("3 still wait"), "{said}");
}

#[test]
fn leaving_at_once_waits_for_the_grace() {
    let home = waiting(2);
    let mut pane = Pane::open(&home);
    pane.until("1 of 4");
    pane.press("Ga");
    pane.until("unless you undo");
    let said = pane.quit();
    assert!(said.contains("No daemon runs") && said.contains("saved in Sent, not transmitted"), "{said}");
    assert_eq!(sent(&home), 1);
}

#[test]
fn a_yes_is_taken_back_within_its_grace() {
    let home = waiting(600);
    let mut pane = Pane::open(&home);
    let first = pane.until("1 of 4").lines().nth(1).unwrap().to_owned();
    pane.press("Ga");
    pane.until("1 of 3");
    pane.press("u");
    let again = pane.until("Taken back: nothing was sent");
    assert_eq!(again.lines().nth(1), Some(first.as_str()), "the same one again");
    assert_eq!((home.count("approval"), home.count("outbox WHERE state = 'held'"), sent(&home)), (0, 0, 0));
    pane.quit();
    assert_eq!(home.count("item WHERE state = 'open'"), 4);
}

#[test]
fn a_text_is_edited_seen_again_and_approved() {
    let home = waiting(0);
    let mut pane = Pane::with(&home, (80, 24), &[("EDITOR", "sed -i 's/back on Friday/in Rome. להתראות/'")]);
    pane.seek("tom@bakerand.example");
    assert!(pane.shown().contains("UNVERIFIED"), "{}", pane.shown());
    pane.press("e");
    let shown = pane.until("Changed: this is what would be sent now");
    assert!(shown.contains("in Rome. להתראות"), "{shown}");
    assert_eq!(home.count("approval"), 0, "an edit approves nothing");
    // The file for the editor is gone.
    assert!(files_in(&home.home().data()).iter().all(|name| !name.contains("edit")));
    pane.press("Ga");
    pane.until("saved in Sent, not transmitted.");
    pane.quit();
    let place = home.maildir().join(".Sent");
    let name = ["new", "cur"]
        .iter()
        .flat_map(|state| files_in(&place.join(state)).into_iter().map(move |name| format!("{state}/{name}")));
    let text = fs::read_to_string(place.join(name.last().unwrap())).unwrap();
    assert!(text.contains("Subject: Re: About four"), "{text}");
}

#[test]
fn an_editor_that_changes_nothing_or_fails_changes_nothing() {
    let home = waiting(600);
    for (editor, words) in [
        ("true", "Nothing was changed."),
        ("false", "Not done: the editor (false) ended"),
        ("truncate -s 0", "Nothing was changed."),
    ] {
        let mut pane = Pane::with(&home, (80, 24), &[("EDITOR", editor)]);
        pane.until("1 of 4");
        pane.press("e");
        pane.until(words);
        pane.quit();
    }
    assert_eq!(home.count("outbox WHERE state = 'void'"), 0);
}

#[test]
fn reasons_instructions_and_second_thoughts() {
    let home = waiting(600);
    let mut pane = Pane::open(&home);
    pane.seek("tom@bakerand.example");
    pane.press("r");
    pane.until("Why not?");
    pane.press("half a reas\x1b");
    pane.until("Nothing was decided.");
    pane.press("t");
    pane.until("What should it do instead?");
    pane.press("Tell him I am back on Friday.\n");
    // What was understood is shown, and counts only when the person says so.
    pane.until("Understood: the message says something else: “I am back on Friday.”");
    pane.until("Do this?");
    pane.press("\x1b");
    pane.until("Nothing was decided.");
    pane.press("t");
    pane.until("What should it do instead?");
    pane.press("Tell him it is Friday at five.\n");
    pane.until("Do this?");
    pane.press("\n");
    // The next try comes by itself, with the words and without the gap.
    let shown = pane.until("It is Friday at five.");
    assert!(shown.contains("tom@bakerand.example") && !shown.contains("Tell him"), "{shown}");
    pane.press("r");
    pane.until("Why not?");
    pane.press("לא מתאים\n");
    pane.until("Rejected; the task is IN_PROGRESS");
    pane.until("of 3");
    pane.quit();
    assert_eq!(home.count("item WHERE decision = 'reject' AND reason = 'לא מתאים'"), 1);
    assert_eq!((home.count("item WHERE decision = 'respond'"), sent(&home)), (1, 0));
}

#[test]
fn a_batch_is_previewed_and_needs_the_word() {
    let home = waiting(600);
    let mut pane = Pane::with(&home, (60, 20), &[]);
    for (numbers, word, words) in
        [("all", "y", "Nothing was approved."), ("9", "\x1b", ""), ("1-2 4", "yes", "3 approved; u takes back")]
    {
        pane.until("of 4");
        pane.press("b");
        pane.until("Which numbers?");
        pane.press(&format!("{numbers}\n"));
        if numbers == "9" {
            pane.until("'9' is none of these numbers.");
            pane.press("\n");
            pane.until("Nothing was approved.");
            continue;
        }
        let preview = pane.until("Type yes to approve these");
        assert!(preview.contains("[R3]") && preview.contains("To be approved:"), "{preview}");
        assert!(preview.contains("I am back on Friday."), "each is shown whole:\n{preview}");
        pane.press(&format!("{word}\n"));
        pane.until(words);
    }
    assert_eq!(home.count("outbox WHERE state = 'held'"), 3);
    pane.quit();
    assert_eq!(sent(&home), 0);
}

#[test]
fn what_others_decide_and_how_large_the_window_is_are_noticed() {
    let home = waiting(600);
    let mut pane = Pane::open(&home);
    pane.until("1 of 4");
    let item = home.json(&["hitl", "list"])[0]["number"].to_string();
    assert_eq!(home.run(&["hitl", "reject", &item, "--reason", "no"]).code, 0);
    pane.until("Meanwhile elsewhere:");
    pane.until("1 of 3");
    let tty = home.read("tty");
    let resized = Command::new("stty").args(["-F", tty.trim(), "columns", "50", "rows", "15"]).status().unwrap();
    assert!(resized.success());
    eventually("the screen is drawn anew", || {
        let shown = pane.shown();
        (shown.lines().count() <= 15 && shown.lines().all(|line| line.chars().count() < 50)).then_some(())
    });
    pane.press("z");
    pane.until("Until when?");
    pane.press("2h\n");
    pane.until("Hidden until");
    pane.until("1 of 2");
    pane.quit();
    let count = |all: &[&str]| home.json(all).as_array().unwrap().len();
    assert_eq!((count(&["hitl", "list"]), count(&["hitl", "list", "--all"])), (2, 3));
    // A change of ours is no tampering with the queue's files.
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(files_in(&home.home().queue().join("quarantine")), [""; 0]);
    // A snoozed one keeps its number.
    let listed = home.json(&["hitl", "list", "--all"]);
    let snoozed = listed.as_array().unwrap().iter().find(|item| item["snooze_until"].is_string()).unwrap();
    let shown = home.json(&["hitl", "show", &snoozed["number"].to_string()]);
    assert_eq!(shown["item_id"], snoozed["item_id"]);
}

#[test]
fn the_terminal_is_given_back_whatever_happens() {
    let home = waiting(600);
    let mut interrupted = Pane::open(&home);
    interrupted.until("1 of 4");
    interrupted.press("\x03");
    interrupted.ended(0);
    let mut stopped = Pane::open(&home);
    stopped.until("1 of 4");
    stopped.press("r");
    stopped.until("Why not?");
    signal(home.read("pid").trim().parse().unwrap(), "TERM");
    stopped.ended(143);
    assert_eq!(home.count("item WHERE state = 'open'"), 4);
}

#[test]
fn a_failed_step_is_tried_again() {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("one").question());
    home.write("mail/.Drafts", "a file where a folder should be");
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(home.count("item WHERE state = 'open' AND kind = 'failed_step'"), 1);
    let mut pane = Pane::open(&home);
    let shown = pane.until("R retry S skip step C cancel task");
    assert!(shown.contains("failed step"), "{shown}");
    pane.press("a");
    pane.until("'a' does nothing here");
    fs::remove_file(home.root().join("mail/.Drafts")).unwrap();
    pane.press("R");
    pane.until("Tried again; the task is IN_PROGRESS.");
    pane.until("Nothing waits for you.");
    pane.quit();
    assert_eq!(home.drafts().len(), 1);
}

#[test]
fn beside_a_daemon_the_daemon_carries_on() {
    let home = waiting(2);
    let daemon = home.daemon();
    let mut pane = Pane::open(&home);
    pane.until("1 of 4");
    pane.press("Ga");
    pane.until("unless you undo (u)");
    pane.until("saved in Sent, not transmitted.");
    assert_eq!(home.run(&["pause"]).code, 0);
    pane.until("EFFECTS ARE PAUSED · 1 of 3");
    pane.press("Ga");
    pane.until("unless you undo (u)");
    let said = pane.quit();
    assert!(said.contains("Effects are paused: nothing leaves until"), "{said}");
    assert_eq!((sent(&home), home.count("outbox WHERE state = 'saved'")), (1, 1));
    assert_eq!(home.run(&["resume"]).code, 0);
    eventually("the second leaves", || (sent(&home) == 2).then_some(()));
    assert_eq!(daemon.stop("TERM").0, 0);
}

#[test]
fn approving_by_number_shows_what_it_will_do_and_asks() {
    let home = waiting(600);
    let shown = home.json(&["hitl", "show", "4"]);
    let message = &shown["action"]["action"]["effect"]["message"];
    for (word, said, approved) in [("y", "Nothing was approved.", 0), ("yes", "Decided: approve.", 1)] {
        let mut pane = Pane::running(&home, "hitl approve 4", (100, 40), &[]);
        let page = pane.until("Type yes to approve this one:");
        for words in [message["to"][0]["addr"].as_str().unwrap(), message["subject"].as_str().unwrap(), "On yes"] {
            assert!(page.contains(words), "{words}:\n{page}");
        }
        for line in message["body"].as_str().unwrap().lines() {
            assert!(page.contains(line), "{line}:\n{page}");
        }
        pane.press(&format!("{word}\n"));
        pane.until(said);
        let status = eventually("the command ends", || pane.child.try_wait().unwrap());
        assert!(status.success(), "{}", pane.raw());
        assert_eq!(home.count("approval"), approved);
    }
    assert_eq!(home.sql_one("SELECT number FROM item WHERE decision = 'approve'"), "4");
    // What is answered with yes at a terminal cannot be answered beforehand.
    let mut pane = Pane::running(&home, "hitl approve 3 --yes", (100, 40), &[]);
    pane.until("name what you saw");
    eventually("the command ends", || pane.child.try_wait().unwrap());
    assert_eq!(home.count("approval"), 1);
}

/// On a terminal without keys the queue is read anew between a key and its effect: the key is for what was shown.
#[test]
fn a_key_decides_what_was_on_the_screen() {
    let home = waiting(600);
    let mut dumb = Pane::with(&home, (100, 60), &[("TERM", "dumb")]);
    let page = dumb.until("1 of 4");
    let number = page.split("number ").nth(1).unwrap().split(':').next().unwrap().to_owned();
    assert_eq!(home.run(&["hitl", "reject", &number, "--reason", "elsewhere"]).code, 0);
    dumb.press("a\n");
    dumb.until("Your key was not counted");
    assert_eq!(home.count("approval"), 0);
    // A new policy is another action under the same number.
    home.write("rules/policy.yml", "allow: [x@else.example]\napprovals:\n  grace_seconds: 600\n");
    assert_eq!(home.run(&["once"]).code, 0);
    dumb.press("a\n");
    dumb.until("It was judged anew meanwhile; look at it again. Your key was not counted");
    assert_eq!(home.count("approval"), 0);
    dumb.press("a\n");
    dumb.until("unless you undo (u)");
    assert_eq!(home.count("approval"), 1);
    dumb.press("q\n");
    eventually("the desk ends", || dumb.child.try_wait().unwrap());
}

#[test]
fn scripts_say_yes_to_several_and_get_codes() {
    let home = waiting(600);
    let digest = |number: &str| home.json(&["hitl", "show", number])["action_sha256"].as_str().unwrap().to_owned();
    let (one, two) = (digest("1"), digest("2"));
    for (arguments, code) in [
        (&["hitl", "approve", "1"][..], 2),
        (&["hitl", "approve", "1", "--yes"], 2),
        (&["hitl", "approve", "1", "2"], 2),
        (&["hitl", "approve", "1", "2", "--yes"], 2),
        (&["hitl", "approve", "1", "2", "--sha256", "x", "--yes"], 2),
        (&["hitl", "approve", "1", "2", "--sha256", &one, "--yes"], 2),
        (&["hitl", "approve", "1", "--sha256", &one, "--sha256", &two], 2),
        (&["hitl", "approve", "1", "2", "--sha256", &one, "--sha256", &one], 1),
        (&["hitl", "approve", "1", "--sha256", &two], 1),
        (&["hitl", "edit", "1"], 2),
        (&["hitl", "edit", "1", "--text", " "], 1),
        (&["hitl", "approve", "9"], 3),
        (&["hitl", "undo", "nothing"], 3),
        (&["hitl", "snooze", "1", "whenever"], 2),
        (&["hitl", "approve", "1", "--sha256", "0000"], 1),
    ] {
        let answered = home.run(arguments);
        assert_eq!(answered.code, code, "{arguments:?}: {}{}", answered.out, answered.err);
        assert!(!answered.err.is_empty(), "{arguments:?}");
    }
    assert_eq!(home.count("approval"), 0, "nothing is approved that was not named");
    assert_eq!(home.run(&["hitl", "approve", "1", "1", "2", "--sha256", &two, "--sha256", &one]).code, 0);
    assert_eq!(home.count("outbox WHERE state = 'held'"), 2);
    let list = home.run(&["hitl", "list"]);
    assert!(list.out.contains("you can still take it back"), "{}", list.out);
    let task = home.sql_one("SELECT number FROM task_owner JOIN outbox USING (task_id) WHERE state = 'held' LIMIT 1");
    let shown = home.run(&["tasks", "show", &task]);
    assert!(shown.out.contains("approved; leaves at") && shown.out.contains("It waits until"), "{}", shown.out);
    assert!(home.run(&["runs"]).out.contains("waits until"));
    let item = home.sql_one("SELECT item_id FROM item WHERE decision = 'approve' LIMIT 1");
    for arguments in [
        &["hitl", "list", "--all"][..],
        &["hitl", "journal"],
        &["hitl", "undo", &item],
        &["hitl", "show", &item],
        &["hitl", "snooze", &item, "2h"],
        &["hitl", "edit", &item, "--text", "Other words."],
        &["hitl", "reject", "3", "--reason", "no"],
    ] {
        assert!(!home.json(arguments).is_null(), "{arguments:?}");
    }
}
