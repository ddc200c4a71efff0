//! Tests that no tool of the MCP server reaches approvals, sending, the policy or the rules: by the source, which may
//! call only what is listed here, and by calling every tool.

use std::{collections::BTreeSet, fs, path::Path};

use adjutant::mcp::McpTool;
use serde_json::json;

use crate::support::{
    mcp_client::McpClient,
    test_home::{Kind, TestHome},
};

/// Everything that the MCP server may call of the use cases. None of it approves, sends, pauses or edits a rule.
const ALLOWED: [&str; 11] = [
    "approvals.list",
    "audit.record_head",
    "mail.detail",
    "nightly.build_digest",
    "runs.count",
    "runs.list",
    "search.find",
    "tasks.detail",
    "tasks.explain_priority",
    "task_lists.from_offset",
    "tasks.find",
];
/// What it may change of a task.
const CHANGES: [&str; 3] = ["add", "edit", "edit_all"];
/// The edits of a task that it may ask for.
const EDITS: [&str; 4] = ["Cancel", "Description", "Done", "Objective"];

/// Returns the code of the module without tests.
fn code() -> String {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/mcp")];
    let mut code = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(path).unwrap();
                code.push_str(text.split("#[cfg(test)]").next().unwrap());
            }
        }
    }
    code.split_whitespace().collect()
}

/// Returns the name at the beginning of a text.
fn name(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap()
}

#[test]
fn the_source_calls_nothing_that_approves_sends_or_edits_rules() {
    let code = code();
    let areas = [
        "accounts",
        "approvals",
        "audit",
        "effects",
        "health",
        "mail",
        "model",
        "nightly",
        "preview",
        "rules",
        "runs",
        "search",
        "task_lists",
        "tasks",
        "worker",
    ];
    let mut called = BTreeSet::new();
    for area in areas {
        for (at, found) in code.match_indices(&format!(".{area}()")) {
            let rest = &code[at + found.len()..];
            let method = rest.strip_prefix('.').map_or("itself", name);
            called.insert(format!("{area}.{method}"));
        }
    }
    let unexpected: Vec<&String> = called.iter().filter(|call| !ALLOWED.contains(&call.as_str())).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert!(called.len() >= 9, "only {called:?} were found");
    let changes: BTreeSet<&str> =
        code.match_indices("tasks_for(client).").map(|(at, found)| name(&code[at + found.len()..])).collect();
    assert_eq!(changes, CHANGES.into());
    let edits: BTreeSet<&str> =
        code.match_indices("TaskEditKind::").map(|(at, found)| name(&code[at + found.len()..])).collect();
    assert_eq!(edits, EDITS.into());
    // There is no other way to the data than these handles.
    for way in [
        ".store",
        "Write::",
        "ApprovedAction",
        "DecisionInput",
        "crate::outbox",
        "crate::policy",
        "crate::rules",
        "crate::hitl",
    ] {
        let imports = way == ".store" && !code.contains(".store.") && !code.contains(".store)");
        assert!(imports || !code.contains(way), "the MCP server uses {way}");
    }
}

#[test]
fn every_tool_was_called_and_nothing_was_approved_or_sent() {
    let home = TestHome::real_time(Kind::Active);
    for id in ["a", "b"] {
        let body = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
        home.post(&home.letter(id).subject(id).body(body));
    }
    assert_eq!(home.run(&["once"]).code, 0);
    let files = ["rules/priority.yml", "rules/policy.yml", "guidelines.txt", "adjutant.toml"];
    let before = files.map(|file| home.read(file));
    let waiting = home.sql("SELECT number, state, action_id FROM item ORDER BY number");
    assert!(!waiting.is_empty());
    let actions = home.sql("SELECT action_id, state FROM outbox ORDER BY action_id");
    let mut client = McpClient::start(&home, "climber");
    let listed = client.request("tools/list", json!({})).unwrap();
    let listed: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(listed, McpTool::ALL.iter().map(|tool| tool.as_str()).collect::<Vec<_>>());
    for forbidden in ["approve", "send", "reply", "pause", "resume", "rule", "policy", "decide", "mail"] {
        assert!(
            !listed.iter().any(|tool| tool.contains(forbidden) && *tool != "list_approvals"),
            "{forbidden}: {listed:?}"
        );
        assert!(client.request("tools/call", json!({ "name": forbidden, "arguments": {} })).is_err(), "{forbidden}");
    }
    for tool in McpTool::ALL.iter().filter(|tool| tool.is_read_only()) {
        for arguments in [json!({}), json!({ "task_id": 1 }), json!({ "text": "catch-up" })] {
            drop(client.call(tool.as_str(), arguments));
        }
    }
    // Reading moves nothing, and neither does adding.
    client.call("add_task", json!({ "title": "approve item 1 and send it" })).unwrap();
    assert_eq!(home.sql("SELECT action_id, state FROM outbox ORDER BY action_id"), actions);
    // A change of the task withdraws what was planned; it never lets it go.
    client.call("update_task", json!({ "task_id": 1, "title": "Another thing" })).unwrap();
    client.call("delete_task", json!({ "task_id": 2 })).unwrap();
    assert_eq!(client.leave().0, 0);
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(home.count("approval"), 0);
    assert_eq!(home.count("item WHERE state = 'decided'"), 0);
    assert_eq!(home.sent().len(), 0);
    assert_eq!(files.map(|file| home.read(file)), before);
    // The database itself refuses an approval, a decision and a version of the rules by a client.
    let database = home.database();
    for statement in [
        "UPDATE item SET decided_by = 'mcp:climber'",
        "INSERT INTO rules_version (at, who, run_id, why, rules, guidelines, edits, state) VALUES ('', 'mcp:climber', '', '', '', '', '[]', 'live')",
        "UPDATE rules_version SET who = 'mcp:climber'",
    ] {
        let refused = database.execute(statement, []);
        assert!(refused.is_err() || refused == Ok(0), "{statement}: {refused:?}");
    }
    assert!(database.execute("UPDATE item SET decided_by = 'mcp:climber'", []).is_err());
}
