//! The screen of a team in a real terminal (tmux), with a scripted model: what the specification lists as checks by hand.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    model_server::{Asked, Said, Server, with_model},
    team_script::{answer, finish, last, orchestrate, reports, start, times, turns},
    test_home::{Kind, PATIENCE, TestHome, eventually},
};

/// A terminal with the program in it. Its server ends with it.
struct Tmux {
    socket: String,
}

impl Tmux {
    /// Opens a terminal of this size and starts the program. What it prints at its end stays on the screen.
    fn open(home: &TestHome, (columns, rows): (u16, u16), arguments: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let tmux = Self { socket: format!("adjutant-test-{}-{nth}", std::process::id()) };
        let command = format!(
            "XDG_STATE_HOME='{}' '{}' --home '{}' {arguments}; echo \"left with $?\"; exec cat",
            home.state().display(),
            env!("CARGO_BIN_EXE_adjutant"),
            home.root().display()
        );
        let (columns, rows) = (columns.to_string(), rows.to_string());
        tmux.call(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, "/bin/sh", "-c", &command]);
        tmux
    }

    fn call(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-u", "-L", &self.socket]).args(arguments).env_remove("TMUX").env_remove("NO_COLOR");
        let output = command.env("LANG", "C.UTF-8").output().expect("these tests need tmux");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn press(&self, key: &str) {
        self.call(&["send-keys", key]);
    }

    fn type_text(&self, text: &str) {
        self.call(&["send-keys", "-l", text]);
    }

    fn resize(&self, columns: u16, rows: u16) {
        self.call(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    fn shown(&self) -> String {
        self.call(&["capture-pane", "-p"])
    }

    /// Waits for these words and returns the screen with them. Rows broken to the width count as one.
    #[track_caller]
    fn until(&self, words: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let shown = self.shown();
            if shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(words) {
                return shown;
            }
            assert!(Instant::now() < deadline, "never saw '{words}', only:\n{shown}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let mut command = Command::new("tmux");
        drop(command.args(["-L", &self.socket, "kill-server"]).output());
    }
}

/// What the workers of a test wait for.
#[derive(Clone, Default)]
struct Gate(Arc<AtomicBool>);

impl Gate {
    fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Answers with this turn once the gate is open, and until then with one that takes a while and changes nothing.
    fn then(&self, turn: Value) -> Said {
        if self.0.load(Ordering::SeqCst) {
            return Said::Answer(turn);
        }
        Said::Slow(Duration::from_millis(700), json!({ "action": "list_tasks" }))
    }
}

/// A manager that thinks, writes its list, starts these tasks, waits for all reports and answers with them.
fn manage(asked: &Asked, tasks: &[&str]) -> Value {
    let todo = |task: &&str| json!({ "content": task, "activeForm": format!("Doing: {task}"), "status": "pending" });
    match turns(asked) {
        0 => json!({ "action": "think", "thought": format!("That makes {} tasks.", tasks.len()) }),
        1 => json!({ "action": "todo_write", "todos": tasks.iter().map(todo).collect::<Vec<_>>() }),
        _ => orchestrate(asked, tasks),
    }
}

/// A home with a model, and its server.
fn team_home(script: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> (TestHome, Server) {
    let home = TestHome::real_time(Kind::Samples);
    assert_eq!(home.run(&["once"]).code, 0);
    let server = Server::start(script);
    with_model(&home, &server, "");
    (home, server)
}

#[test]
fn a_request_becomes_a_task_whose_result_is_in_the_answer() {
    let (home, _server) = team_home(|asked| match asked.prompt.as_str() {
        "task_manager" => Said::Answer(manage(asked, &["Count the open tasks"])),
        _ if times(asked, "execute_javascript") == 0 => {
            let code = "const open = tasks({}).tasks;\nconsole.log('seen');\nreturn { open: open.length };";
            Said::Slow(Duration::from_millis(800), json!({ "action": "execute_javascript", "code": code }))
        }
        _ => {
            let open = &last(asked)["result"]["value"]["open"];
            assert!(open.as_u64().is_some_and(|open| open > 3), "{}", last(asked));
            Said::Slow(Duration::from_millis(800), finish(&format!("open tasks: {open}")))
        }
    });
    let tmux = Tmux::open(&home, (80, 24), "team 'How many tasks are open?'");
    tmux.until("Task 1 of 1 - Press Tab to cycle");
    tmux.until("Count the open tasks");
    tmux.until("execute_javascript");
    tmux.until("✔ open tasks:");
    let answered = tmux.until("★ All done: \"open tasks:");
    for words in ["◆ Manager", "That makes 1 tasks.", "Task 1 started: Count the open tasks", "✔ Task 1 finished"] {
        assert!(answered.contains(words), "{answered}");
    }
    tmux.press("Escape");
    tmux.until("left with 0");
}

#[test]
fn three_tasks_run_side_by_side_and_tab_goes_round() {
    let gate = Gate::default();
    let held = gate.clone();
    let (home, _server) = team_home(move |asked| match asked.prompt.as_str() {
        "task_manager" => Said::Answer(manage(asked, &["Read mail", "Read tasks", "Read drafts"])),
        _ => held.then(finish(&format!("done: {}", asked.data["task"].as_str().unwrap()))),
    });
    let tmux = Tmux::open(&home, (100, 30), "team 'Go through everything'");
    tmux.until("Task 1 of 3 - Press Tab to cycle");
    for number in [2, 3, 1] {
        tmux.press("Tab");
        tmux.until(&format!("Task {number} of 3 - Press Tab to cycle"));
    }
    tmux.press("BTab");
    tmux.until("Task 3 of 3");
    tmux.press("C-t");
    let manager = tmux.until("3 of 3 at work");
    assert!(manager.contains("○ Read mail"), "{manager}");
    tmux.press("Tab");
    tmux.until("Task 1 of 3");
    // Half-typed text stays with its worker.
    tmux.type_text("only unread");
    tmux.until("› only unread");
    tmux.press("Tab");
    tmux.until("message to Task 2");
    gate.open();
    tmux.until("★ All done: \"done: Read");
    tmux.press("Escape");
    tmux.until("left with 0");
}

#[test]
fn a_failed_task_is_thought_about_and_tried_in_another_way() {
    let (home, _server) = team_home(|asked| match asked.prompt.as_str() {
        "task_manager" => {
            let reports = reports(asked);
            let turn = match (reports.first(), times(asked, "think"), times(asked, "start_task")) {
                (None, ..) => manage(asked, &["List the invoices of the account Production"]),
                (Some(report), 1, _) => {
                    assert_eq!(report["status"], "error", "{report}");
                    assert_eq!(report["error_details"]["type"], "not_found", "{report}");
                    json!({ "action": "think", "thought": "There is no such account; another one then." })
                }
                (_, _, 1) => start("List the invoices of all accounts"),
                _ if reports.len() < 2 => json!({ "action": "wait" }),
                _ => answer(&format!("Found: {}", reports[1]["result"])),
            };
            Said::Answer(turn)
        }
        _ if asked.data["task"].as_str().unwrap().contains("Production") => Said::Answer(json!({
            "action": "report_error", "error_type": "not_found", "text": "There is no account Production",
            "suggestion": "The accounts are: samples.",
        })),
        _ => Said::Answer(finish("[{\"invoice\": 17}]")),
    });
    let tmux = Tmux::open(&home, (80, 24), "team 'List the invoices of Production'");
    let answered = tmux.until("★ Found:");
    for words in ["✖ Task 1 failed", "There is no such account", "Task 2 started", "✔ Task 2 finished"] {
        assert!(answered.contains(words), "{answered}");
    }
    // Nothing is at work any more, so Tab goes through what there was.
    tmux.press("Tab");
    tmux.until("✖ There is no account Production");
    tmux.until("suggestion: The accounts are: samples.");
}

#[test]
fn escape_stops_the_team_and_continue_goes_on() {
    let gate = Gate::default();
    let held = gate.clone();
    let (home, _server) = team_home(move |asked| match asked.prompt.as_str() {
        "task_manager" => Said::Answer(manage(asked, &["First part", "Second part", "Third part"])),
        _ => held.then(finish(&format!("done: {}", asked.data["task"].as_str().unwrap()))),
    });
    let tmux = Tmux::open(&home, (90, 40), "team 'Do all three parts'");
    tmux.until("Task 1 of 3");
    tmux.press("Escape");
    let stopped = tmux.until("[SYSTEM INTERRUPTION]");
    for words in
        ["Task 1: \"First part\"", "Task 3: \"Third part\"", "Todo list: 3 tasks", "continue, cancel remaining"]
    {
        tmux.until(words);
    }
    assert!(stopped.contains("◆ Manager"), "{stopped}");
    assert_eq!(home.sql_one("SELECT state FROM team"), "stopped");
    gate.open();
    tmux.type_text("continue");
    tmux.press("Enter");
    tmux.until("★ All done: \"done: First part\"");
    tmux.press("C-c");
    tmux.until("left with 0");
}

#[test]
fn a_waiting_task_is_announced_and_answered() {
    let gate = Gate::default();
    let held = gate.clone();
    let (home, _server) = team_home(move |asked| match asked.prompt.as_str() {
        "task_manager" => Said::Answer(manage(asked, &["Watch the inbox", "Read one account"])),
        _ if asked.data["task"] == "Read one account" => Said::Answer(match times(asked, "ask_user") {
            0 => json!({ "action": "ask_user", "text": "Which account?" }),
            _ => {
                let said = last(asked).to_string();
                finish(&format!("read {}", said.contains("חשבון הבית")))
            }
        }),
        _ => held.then(finish("nothing new")),
    });
    let tmux = Tmux::open(&home, (40, 10), "team 'Watch and read'");
    tmux.until("Task 1 of 2 - Press Tab to cycle");
    tmux.until("⚠ Task 2 waiting for input");
    tmux.press("Tab");
    let asking = tmux.until("? Which account?");
    assert!(asking.contains("answer Task 2") && !asking.contains("waiting for input"), "{asking}");
    tmux.type_text("חשבון הבית");
    tmux.until("› חשבון הבית");
    tmux.press("Enter");
    tmux.until("✔ read true");
    // The end is shown for a moment, then the view goes to the one that is left.
    tmux.until("Task 1 of 2");
    tmux.resize(120, 30);
    tmux.until("✔ 2 Read one account");
    tmux.resize(30, 6);
    tmux.until("Task 1 of 2");
    tmux.resize(80, 24);
    gate.open();
    tmux.until("★ All done:");
    tmux.press("Escape");
    tmux.until("left with 0");
}

/// Leaving asks twice, and the team that was left goes on when it is resumed. The terminal is as it was.
#[test]
fn a_team_that_was_left_is_resumed() {
    let gate = Gate::default();
    let held = gate.clone();
    let (home, server) = team_home(move |asked| match asked.prompt.as_str() {
        "task_manager" => Said::Answer(manage(asked, &["One part"])),
        _ => held.then(finish("done")),
    });
    let tmux = Tmux::open(&home, (80, 24), "team 'Do it'");
    tmux.until("Task 1 of 1");
    tmux.press("C-c");
    tmux.until("Ctrl-C again leaves. The team is kept: adjutant team --resume");
    tmux.press("C-c");
    let left = tmux.until("left with");
    assert!(!left.contains("Press Tab to cycle"), "{left}");
    gate.open();
    let asked = server.count();
    let again = Tmux::open(&home, (80, 24), "team --resume");
    again.until("★ All done: \"done\"");
    assert_eq!(home.sql_one("SELECT count(*) FROM team"), "1");
    eventually("the team is asked for more", || (server.count() > asked).then_some(()));
}
