//! Tests the MCP server on stdio: a client works with the tasks of the person, under its own name.

use serde_json::{Value, json};

use crate::support::{
    mcp_client::McpClient,
    test_home::{Kind, TestHome, finish_with, signal},
};

#[test]
fn a_client_works_with_the_same_tasks_under_its_own_name() {
    let home = TestHome::real_time(Kind::Active);
    let mut client = McpClient::start(&home, "An Editor");
    let added = client.call("add_task", json!({ "title": "Buy milk", "description": "Two litres" })).unwrap();
    assert_eq!(
        (added["said"].as_str(), added["changed"].as_bool()),
        (Some("I've added 'Buy milk' to your list."), Some(true))
    );
    assert_eq!((&added["task"]["number"], &added["description"]), (&json!(1), &json!("Two litres")));
    // What the person sees is the same task, and names the client.
    let shown = home.json(&["tasks", "show", "1"]);
    assert_eq!(
        (shown["source"].as_str(), shown["context"]["description"].as_str()),
        (Some("mcp:an-editor"), Some("Two litres"))
    );
    let by =
        |task: &Value| task["history"].as_array().unwrap().iter().map(|entry| entry["who"].clone()).collect::<Vec<_>>();
    assert_eq!(by(&shown), [json!("mcp:an-editor"), json!("mcp:an-editor")]);
    let update = json!({ "user_id": "me", "task_id": "#1", "title": "Buy oat milk", "description": "" });
    assert_eq!(client.call("update_task", update.clone()).unwrap()["changed"], true);
    assert_eq!(client.call("update_task", update).unwrap()["changed"], false);
    let shown = home.json(&["tasks", "show", "1"]);
    assert_eq!((shown["objective"].as_str(), shown["context"].get("description")), (Some("Buy oat milk"), None));
    // Ending a task twice is ending it once.
    assert_eq!(client.call("complete_task", json!({ "task_id": 1 })).unwrap()["task"]["status"], "completed");
    assert_eq!(client.call("complete_task", json!({ "task_id": 1 })).unwrap()["changed"], false);
    let refused = client.call("delete_task", json!({ "task_id": 1 })).unwrap_err();
    assert!(refused.contains("Task 1 is completed") && refused.contains("adjutant tasks undo 1"), "{refused}");
    assert!(client.call("update_task", json!({ "task_id": 1, "title": "x" })).unwrap_err().contains("completed"));
    client.call("add_task", json!({ "title": "Sell milk" })).unwrap();
    assert_eq!(client.call("delete_task", json!({ "task_id": 2 })).unwrap()["task"]["status"], "deleted");
    assert_eq!(client.call("list_tasks", json!({})).unwrap()["total"], 1);
    let pending = client.call("list_tasks", json!({ "status": "pending" })).unwrap();
    assert_eq!(pending["said"], "You don't have any pending tasks. You're all caught up!");
    assert_eq!(
        client.call("get_task", json!({ "task_id": 99 })).unwrap_err(),
        "There is no task 99. list_tasks shows the tasks."
    );
    let (code, log) = client.leave();
    assert_eq!((code, log.as_str()), (0, ""));
    // Every act is in the audit chain, under that name, and the head of the chain was recorded outside the database.
    let acts = home.sql("SELECT DISTINCT who FROM audit WHERE act LIKE 'task%'");
    assert_eq!(acts, [["mcp:an-editor"]]);
    assert_eq!(home.run(&["audit", "verify"]).code, 0);
    assert_eq!(home.run(&["doctor"]).code, 0);
    assert_eq!(home.sql("SELECT count(*) FROM correction"), [["0"]], "the nightly job learns from the person only");
}

#[test]
fn a_person_can_take_back_what_a_client_did() {
    let home = TestHome::real_time(Kind::Active);
    let mut client = McpClient::start(&home, "");
    client.call("add_task", json!({ "title": "Remind me to call the plumber tomorrow at 9am" })).unwrap();
    let reminder = client.call("get_task", json!({ "task_id": 1 })).unwrap();
    assert!(reminder["task"]["deadline"].is_string(), "{reminder}");
    client.call("delete_task", json!({ "task_id": 1 })).unwrap();
    assert_eq!(home.run(&["tasks", "undo", "1"]).code, 0);
    assert_eq!(client.call("get_task", json!({ "task_id": 1 })).unwrap()["task"]["status"], "pending");
    assert_eq!(home.sql("SELECT who FROM task_history WHERE to_value = 'CANCELLED'"), [["mcp:unnamed"]]);
    assert_eq!(client.leave().0, 0);
}

#[test]
fn lists_come_in_pages_in_the_order_of_the_persons_list() {
    let home = TestHome::real_time(Kind::Samples);
    assert_eq!(home.run(&["once"]).code, 0);
    let mut client = McpClient::start(&home, "pager");
    for (nth, priority) in ["low", "critical", "high", "med"].into_iter().enumerate() {
        client.call("add_task", json!({ "title": format!("Task {nth} by 2030-01-0{}", 9 - nth) })).unwrap();
        let undated = client.call("add_task", json!({ "title": format!("Task {nth}") })).unwrap();
        let number = undated["task"]["number"].to_string();
        assert_eq!(home.run(&["tasks", "set", &number, "--priority", priority]).code, 0);
    }
    assert_eq!(home.run(&["tasks", "done", "1"]).code, 0);
    assert_eq!(home.run(&["tasks", "cancel", "2"]).code, 0);
    // A task that was opened again is listed once, by its successor.
    assert_eq!(home.run(&["tasks", "done", "3"]).code, 0);
    assert_eq!(home.run(&["tasks", "undo", "3"]).code, 0);
    let of_person = home.json(&["tasks", "list", "--all"]);
    for (status, wanted) in [
        ("all", &["NEW", "READY", "IN_PROGRESS", "WAITING_HITL", "DONE"][..]),
        ("pending", &["NEW", "READY", "IN_PROGRESS", "WAITING_HITL"]),
        ("completed", &["DONE"]),
    ] {
        let is_wanted = |task: &&Value| wanted.contains(&task["status"].as_str().unwrap());
        let mut expected: Vec<&Value> = of_person.as_array().unwrap().iter().filter(is_wanted).collect();
        // What is pending comes first.
        expected.sort_by_key(|task| task["status"] == "DONE");
        let expected: Vec<i64> = expected.iter().map(|task| task["number"].as_i64().unwrap()).collect();
        let mut numbers = Vec::new();
        let mut offset = json!(0);
        while !offset.is_null() {
            let page = client.call("list_tasks", json!({ "status": status, "limit": 3, "offset": offset })).unwrap();
            assert_eq!(page["total"], expected.len(), "{status}");
            numbers.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["number"].as_i64().unwrap()));
            offset = page["next_offset"].clone();
        }
        assert_eq!(numbers, expected, "{status}");
    }
    assert_eq!(client.leave().0, 0);
}

#[test]
fn what_was_asked_is_answered_although_the_client_has_left() {
    let home = TestHome::real_time(Kind::Active);
    let mut lines = vec![
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "hasty", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ];
    lines.extend((1..=20).map(|id| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "add_task", "arguments": { "title": format!("Task {id}") } } })
    }));
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answered = finish_with(home.command(&["mcp"]), input.as_bytes());
    assert_eq!(answered.code, 0, "{}", answered.err);
    assert_eq!(answered.out.lines().count(), 21, "{}", answered.out);
    assert_eq!(home.count("tasks WHERE source = 'mcp:hasty'"), 20);
    // Whoever says nothing, or something else, is no reason for a crash.
    assert_eq!(home.run(&["mcp"]).code, 0);
    let other = finish_with(home.command(&["mcp"]), b"GET / HTTP/1.1\r\n\r\n");
    assert!(!other.err.contains("panicked"), "{}", other.err);
}

#[test]
fn it_stops_when_asked() {
    for name in ["INT", "TERM"] {
        let home = TestHome::real_time(Kind::Active);
        let mut client = McpClient::start(&home, "stopped");
        client.call("add_task", json!({ "title": "One" })).unwrap();
        signal(client.id(), name);
        let (code, log) = client.leave();
        assert_eq!((code, log.as_str()), (0, ""), "{name}");
        assert_eq!(home.run(&["audit", "verify"]).code, 0);
    }
}

#[test]
fn nothing_is_changed_in_data_that_were_replaced() {
    let home = TestHome::real_time(Kind::Active);
    let mut client = McpClient::start(&home, "late");
    client.call("add_task", json!({ "title": "Before" })).unwrap();
    let data = home.home().data();
    std::fs::rename(&data, home.root().join("data.old")).unwrap();
    assert_eq!(home.run(&["tasks"]).code, 0);
    let refused = client.call("add_task", json!({ "title": "After" })).unwrap_err();
    assert!(refused.contains("replaced") && refused.contains("Start it again"), "{refused}");
    client.leave();
    assert_eq!(home.count("tasks"), 0);
}

#[test]
fn a_reminder_waits_for_a_person() {
    let home = TestHome::real_time(Kind::Active);
    let mut client = McpClient::start(&home, "early");
    client.call("add_task", json!({ "title": "Remind me to stretch tomorrow at 9am" })).unwrap();
    assert_eq!(client.leave().0, 0);
    assert_eq!(home.count("reminder"), 1);
    home.database().execute("UPDATE reminder SET due_at = '2026-01-01T00:00:00Z'", []).unwrap();
    // A server that nobody looks at must not mark it as shown.
    let mut client = McpClient::start(&home, "early");
    client.call("list_tasks", json!({})).unwrap();
    assert_eq!(client.leave(), (0, String::new()));
    let shown = home.run(&["tasks"]).err;
    assert!(shown.to_lowercase().contains("stretch"), "{shown}");
}
