//! Tests the conversation in a real pseudo-terminal (made by `script`): editing a line, its history, and the isolates around
//! titles.

use std::{
    io::{Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
};

use crate::support::test_home::{Kind, TestHome, eventually};

/// A conversation at a terminal.
struct ChatPane {
    child: Child,
    keys: ChildStdin,
    written: Arc<Mutex<Vec<u8>>>,
}

impl ChatPane {
    fn open(home: &TestHome, options: &str) -> Self {
        let inside = format!("stty columns 100 rows 30; exec \"$ADJUTANT\" --home \"$ROOT\" chat {options}");
        let mut command = Command::new("script");
        command
            .args(["-q", "-e", "-c", &inside, "/dev/null"])
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1");
        command
            .env("ROOT", home.root())
            .env("XDG_STATE_HOME", home.state())
            .env("ADJUTANT", env!("CARGO_BIN_EXE_adjutant"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
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
        let pane = Self { child, keys, written };
        pane.wait_for("you> ");
        pane
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn wait_for(&self, text: &str) {
        eventually(text, || String::from_utf8_lossy(&self.written.lock().unwrap()).contains(text).then_some(()));
    }

    fn leave(mut self) {
        self.press("\u{4}");
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_line_can_be_edited_recalled_and_answered() {
    let home = TestHome::real_time(Kind::Samples);
    let mut pane = ChatPane::open(&home, "");
    // A wrong letter is removed, and a word is put in front.
    pane.press("milkk\x7f\x01add buy \r");
    pane.wait_for("I've added '\u{2068}Buy milk\u{2069}' to your list.");
    pane.press("הוסף לקנות לחם\r");
    pane.wait_for("'\u{2068}לקנות לחם\u{2069}'");
    // The arrow recalls the first line, which is changed and sent again.
    pane.press("\x1b[A\x1b[A\x17bread\r");
    pane.wait_for("'\u{2068}Buy bread\u{2069}'");
    pane.press("what\u{3}/quit\r");
    assert!(pane.child.wait().unwrap().success());
    let titles = home.sql("SELECT objective FROM tasks WHERE source LIKE 'chat:%' ORDER BY objective");
    assert_eq!(titles, [["buy bread"], ["buy milk"], ["לקנות לחם"]]);
}

#[test]
fn the_conversation_goes_on_where_it_ended() {
    let home = TestHome::real_time(Kind::Samples);
    let mut pane = ChatPane::open(&home, "--profile guided");
    pane.press("add task\r");
    pane.wait_for("What is the title of the new task?");
    pane.leave();
    let mut pane = ChatPane::open(&home, "");
    pane.wait_for("Going on with the conversation of");
    pane.press("Buy milk\r");
    pane.wait_for("What is its priority");
    pane.leave();
    assert_eq!(home.count("conversations"), 1);
    let pane = ChatPane::open(&home, "--new");
    pane.leave();
}
