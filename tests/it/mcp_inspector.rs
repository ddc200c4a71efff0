//! Tests the MCP server with the inspector of the protocol's own makers, a third-party program, over stdio and HTTP.

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use adjutant::mcp::McpTool;
use serde_json::{Value, json};

use crate::support::test_home::{Answered, Kind, TestHome, finish};

/// How the inspector reaches the server.
enum Reach<'a> {
    Stdio(&'a TestHome),
    Http { url: String, token: String },
}

fn peers() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    cache.join("adjutant/peers")
}

impl Reach<'_> {
    /// Runs the inspector with these arguments.
    fn inspect(&self, scratch: &TestHome, arguments: &[&str]) -> Answered {
        let node = peers().join("google/node_modules/.bin/node");
        let program = peers().join("mcp/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
        assert!(
            node.exists() && program.exists(),
            "missing: the inspector in {}. Get it with: make peers",
            peers().display()
        );
        let mut command = Command::new(node);
        command.arg(program).arg("--cli").arg("--format").arg("json");
        command.env("HOME", scratch.root()).env("NO_COLOR", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match self {
            Reach::Stdio(home) => {
                command.args(arguments).arg("-e").arg(format!("XDG_STATE_HOME={}", home.state().display()));
                command.args(["--", env!("CARGO_BIN_EXE_adjutant"), "--home"]).arg(home.root()).arg("mcp");
            }
            Reach::Http { url, token } => {
                command.args(["--server-url", url, "--transport", "http"]);
                command.args(["--header", &format!("Authorization: Bearer {token}")]).args(arguments);
            }
        }
        finish(command)
    }

    /// Runs the inspector and returns the result; panics unless it succeeds.
    fn result(&self, scratch: &TestHome, arguments: &[&str]) -> Value {
        let answered = self.inspect(scratch, arguments);
        assert_eq!(answered.code, 0, "{arguments:?}: {}{}", answered.out, answered.err);
        let mut value: Value =
            serde_json::from_str(&answered.out).unwrap_or_else(|_| panic!("{arguments:?}: {}", answered.out));
        if value["result"].is_object() { value["result"].take() } else { value }
    }

    fn call(&self, scratch: &TestHome, tool: McpTool, arguments: &Value) -> Value {
        let json = arguments.to_string();
        self.result(scratch, &["--method", "tools/call", "--tool-name", tool.as_str(), "--tool-args-json", &json])
    }
}

fn home() -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    let body = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
    home.post(&home.letter("a").subject("A catch-up").body(body));
    assert_eq!(home.run(&["once"]).code, 0);
    home
}

/// Lists strictly, calls every tool, makes an error, and reads the resources and the prompt.
fn inspect_everything(reach: &Reach<'_>) {
    let scratch = TestHome::samples();
    let listed = reach.inspect(&scratch, &["--method", "tools/list", "--strict"]);
    assert_eq!(listed.code, 0, "{}{}", listed.out, listed.err);
    assert!(!listed.err.contains("arning") && !listed.err.contains("portability"), "{}", listed.err);
    assert!(McpTool::ALL.iter().all(|tool| listed.out.contains(tool.as_str())), "{}", listed.out);
    for tool in McpTool::ALL.iter().copied() {
        let arguments = match tool {
            McpTool::AddTask => json!({ "title": "Buy milk", "description": "Two litres", "user_id": "me" }),
            McpTool::ListTasks => json!({ "status": "pending" }),
            McpTool::UpdateTask => json!({ "task_id": 2, "title": "Buy oat milk" }),
            McpTool::CompleteTask => json!({ "task_id": 2 }),
            McpTool::DeleteTask => json!({ "task_id": 3 }),
            McpTool::GetTask | McpTool::Why => json!({ "task_id": "1" }),
            McpTool::Search => json!({ "text": "catch-up" }),
            McpTool::ListApprovals | McpTool::ListRuns => json!({ "limit": 5 }),
        };
        if tool == McpTool::DeleteTask {
            reach.call(&scratch, McpTool::AddTask, &json!({ "title": "Superfluous" }));
        }
        if tool == McpTool::UpdateTask {
            // The tool before in the list has completed task 2.
            let refused = reach.inspect(
                &scratch,
                &["--method", "tools/call", "--tool-name", "update_task", "--tool-args-json", &arguments.to_string()],
            );
            assert!(format!("{}{}", refused.out, refused.err).contains("Task 2 is completed"), "{refused:?}");
            continue;
        }
        let answer = reach.call(&scratch, tool, &arguments);
        assert!(answer["isError"] != true && answer["structuredContent"].is_object(), "{tool}: {answer}");
    }
    // Coerced by the schema, as a person types it.
    let shown =
        reach.result(&scratch, &["--method", "tools/call", "--tool-name", "get_task", "--tool-arg", "task_id=1"]);
    assert_eq!(shown["structuredContent"]["task"]["number"], 1, "{shown}");
    let failed = reach.inspect(
        &scratch,
        &["--method", "tools/call", "--tool-name", "get_task", "--tool-args-json", "{\"task_id\": 99}"],
    );
    assert!(format!("{}{}", failed.out, failed.err).contains("There is no task 99"), "{failed:?}");
    let resources = reach.result(&scratch, &["--method", "resources/list"]);
    assert_eq!(resources["resources"].as_array().unwrap().len(), 2, "{resources}");
    let templates = reach.result(&scratch, &["--method", "resources/templates/list"]);
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "adjutant://tasks/{task_id}", "{templates}");
    for uri in ["adjutant://tasks", "adjutant://digest", "adjutant://tasks/1"] {
        let read = reach.result(&scratch, &["--method", "resources/read", "--uri", uri]);
        let text = read["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{uri}: {read}"));
        assert!(serde_json::from_str::<Value>(text).unwrap().is_object(), "{uri}: {text}");
    }
    let prompts = reach.result(&scratch, &["--method", "prompts/list"]);
    assert_eq!(prompts["prompts"][0]["name"], "morning_review", "{prompts}");
    let prompt = reach.result(&scratch, &["--method", "prompts/get", "--prompt-name", "morning_review"]);
    assert_eq!(prompt["messages"].as_array().unwrap().len(), 3, "{prompt}");
}

#[test]
fn the_inspector_finds_nothing_over_stdio() {
    let home = home();
    inspect_everything(&Reach::Stdio(&home));
    let names = home.sql("SELECT DISTINCT who FROM audit WHERE who LIKE 'mcp:%'");
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0][0].starts_with("mcp:inspector"), "{names:?}");
    assert_eq!(home.run(&["doctor"]).code, 0);
}

/// Ends the server with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn the_inspector_finds_nothing_over_http() {
    let home = home();
    home.configure("\n[mcp]\nhttp = \"127.0.0.1:0\"\n");
    let mut server = Server(home.command(&["--json", "mcp", "--http"]).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    let token = std::fs::read_to_string(said["token_file"].as_str().unwrap()).unwrap().trim().to_owned();
    let url = said["url"].as_str().unwrap().to_owned();
    let scratch = TestHome::samples();
    let stranger = Reach::Http { url: url.clone(), token: "guessed".into() };
    assert_ne!(stranger.inspect(&scratch, &["--method", "tools/list", "--stored-auth-only"]).code, 0);
    inspect_everything(&Reach::Http { url, token });
    assert_eq!(home.run(&["doctor"]).code, 0);
}
