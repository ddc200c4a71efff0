//! Scripts of workers in the real program: what they read, how their errors come back, and what a stop or a kill leaves.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    model_server::{Asked, Said, Server, with_model},
    team_script::{finish, is_manager, orchestrate, turns},
    test_home::{Kind, TestHome, eventually, signal},
};

fn script(code: &str) -> Value {
    json!({ "action": "execute_javascript", "code": code })
}

/// A home with mail, whose only worker does what the function says.
fn home_of_one(worker: impl Fn(&Asked) -> Value + Send + Sync + 'static) -> (TestHome, Server) {
    let home = TestHome::real_time(Kind::Samples);
    assert_eq!(home.run(&["once"]).code, 0);
    let server = Server::start(move |asked| {
        Said::Answer(if is_manager(asked) { orchestrate(asked, &["Look"]) } else { worker(asked) })
    });
    with_model(&home, &server, "");
    (home, server)
}

/// Runs a team to its end and returns the results that its worker's scripts had.
fn results(home: &TestHome, server: &Server) -> Vec<Value> {
    let answered = home.run(&["team", "Look at it"]);
    assert_eq!(answered.code, 0, "{}", answered.err);
    let of_worker = server.asked().into_iter().filter(|asked| !is_manager(asked)).max_by_key(turns).unwrap();
    let entries = of_worker.data["conversation"].as_array().unwrap().clone();
    entries.into_iter().filter(|entry| entry["tool"] == "execute_javascript").collect()
}

#[test]
fn a_script_reads_mail_and_tasks_by_handle_and_repairs_its_errors() {
    const SCRIPTS: [&str; 5] = [
        "const all = mails({ limit: 100 }).mails;\nconsole.log(all.length, 'mails');\n\
         return { addresses: JSON.stringify(all.map(mail => [mail.from, mail.to])).includes('@'),\n\
                  handles: all.every(mail => /^M\\d+$/.test(mail.mail) && mail.subject === mail_subject(mail.mail)) };\n\
         function mail_subject(handle) { return mail(handle).subject; }",
        "const open = tasks({}).tasks;\nreturn open.map(one => one.due.date);",
        "mail('M9999')",
        "return date().today.length;",
        "for (;;) mails({ limit: 1 })",
    ];
    let (home, server) =
        home_of_one(|asked| SCRIPTS.get(turns(asked)).map_or_else(|| finish("looked"), |code| script(code)));
    let results = results(&home, &server);
    let [read, failed, missing, day, flood] = results.as_slice() else { panic!("{results:#?}") };
    assert_eq!(read["result"]["value"], json!({ "addresses": false, "handles": true }), "{read}");
    assert!(read["result"]["log"][0].as_str().unwrap().ends_with("mails"), "{read}");
    assert_eq!((&failed["error"], &failed["result"]["type"]), (&json!(true), &json!("runtime_error")));
    assert_eq!(failed["result"]["line"], 2, "{failed}");
    assert!(failed["result"]["message"].as_str().unwrap().starts_with("TypeError"), "{failed}");
    assert!(missing["result"]["message"].as_str().unwrap().contains("there is no mail"), "{missing}");
    assert_eq!(day["result"]["value"], 10, "{day}");
    assert!(flood["result"]["message"].as_str().unwrap().contains("at most 1000 times"), "{flood}");
}

#[test]
fn a_stop_ends_a_script_at_once() {
    let (home, _server) = home_of_one(|_| script("for (;;) {}"));
    let mut team = home.command(&["team", "Look at it"]);
    let mut team = team.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let sandbox = eventually("a script runs", || sandboxes_of(team.id()).pop());
    let began = Instant::now();
    assert_eq!(home.run(&["team", "--stop"]).code, 1);
    eventually("the script has ended", || has_ended(&sandbox).then_some(()));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(!team.wait().unwrap().success());
    assert_eq!(home.sql_one("SELECT state FROM team"), "stopped");
    let summary = home.sql_one("SELECT content FROM team_message WHERE content LIKE '%SYSTEM INTERRUPTION%'");
    assert!(summary.contains("for (;;) {}"), "{summary}");
}

#[test]
fn a_script_dies_with_the_program_that_started_it() {
    let (home, _server) = home_of_one(|_| script("for (;;) {}"));
    let mut team = home.command(&["team", "Look at it"]);
    let mut team = team.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let sandbox = eventually("a script runs", || sandboxes_of(team.id()).pop());
    signal(team.id(), "KILL");
    team.wait().unwrap();
    eventually("the script has ended", || has_ended(&sandbox).then_some(()));
}

/// The folders in /proc of the sandboxes that a process has.
fn sandboxes_of(parent: u32) -> Vec<PathBuf> {
    let of_parent = |folder: &PathBuf| {
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        let command = fs::read_to_string(folder.join("cmdline")).unwrap_or_default();
        status.contains(&format!("PPid:\t{parent}\n")) && command.contains("--script-sandbox")
    };
    fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(of_parent).collect()
}

/// Whether a process is gone, or waits for nothing but to be counted.
fn has_ended(process: &Path) -> bool {
    fs::read_to_string(process.join("status")).map_or(true, |status| status.contains("State:\tZ"))
}
