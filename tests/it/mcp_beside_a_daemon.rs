//! Tests ten clients of the MCP server at once, each with a server of its own, beside a running daemon.

use serde_json::json;

use crate::support::{
    mcp_client::McpClient,
    test_home::{Kind, TestHome},
};

const CLIENTS: usize = 10;
/// How many tasks each client adds, rewords and ends.
const ROUNDS: usize = 12;

#[test]
fn ten_clients_at_once_lose_no_update() {
    let home = TestHome::real_time(Kind::Samples);
    let daemon = home.daemon();
    let shared = {
        let mut client = McpClient::start(&home, "first");
        let added = client.call("add_task", json!({ "title": "Shared" })).unwrap();
        assert_eq!(client.leave().0, 0);
        added["task"]["number"].as_i64().unwrap()
    };
    std::thread::scope(|scope| {
        for nth in 0..CLIENTS {
            let home = &home;
            scope.spawn(move || work(home, nth, shared));
        }
    });
    assert_eq!(daemon.stop("TERM").0, 0);
    // Every task that was added is there, with its last wording and its end.
    assert_eq!(home.count("tasks WHERE source LIKE 'mcp:client-%'"), (CLIENTS * ROUNDS) as u64);
    assert_eq!(
        home.count("tasks WHERE source LIKE 'mcp:client-%' AND objective LIKE 'Reworded %'"),
        (CLIENTS * ROUNDS) as u64
    );
    assert_eq!(home.count("tasks WHERE source LIKE 'mcp:client-%' AND status = 'DONE'"), (CLIENTS * ROUNDS / 2) as u64);
    // Everybody's change of the shared task is in its history, each on top of the one before.
    let history = home.sql(&format!(
        "SELECT from_value, to_value FROM task_history JOIN task_owner USING (task_id) WHERE number = {shared} AND field = 'objective' ORDER BY entry"
    ));
    assert_eq!(history.len(), CLIENTS * ROUNDS);
    for pair in history.windows(2) {
        assert_eq!(pair[0][1], pair[1][0], "an update was lost");
    }
    let last =
        home.sql_one(&format!("SELECT objective FROM tasks JOIN task_owner USING (task_id) WHERE number = {shared}"));
    assert_eq!(last, history.last().unwrap()[1]);
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}", doctor.out);
}

fn work(home: &TestHome, nth: usize, shared: i64) {
    let mut client = McpClient::start(home, &format!("client {nth}"));
    for round in 0..ROUNDS {
        let added = client.call("add_task", json!({ "title": format!("Task {nth} {round}") })).unwrap();
        let id = added["task"]["task_id"].clone();
        let reworded = json!({ "task_id": id, "title": format!("Reworded {nth} {round}"), "description": "both" });
        assert_eq!(client.call("update_task", reworded).unwrap()["changed"], true);
        let title = format!("Shared, by {nth} in round {round}");
        assert_eq!(client.call("update_task", json!({ "task_id": shared, "title": title })).unwrap()["changed"], true);
        if round % 2 == 0 {
            assert_eq!(client.call("complete_task", json!({ "task_id": id })).unwrap()["changed"], true);
        }
        client.call("list_tasks", json!({ "status": "pending" })).unwrap();
    }
    let (code, log) = client.leave();
    assert_eq!((code, log.as_str()), (0, ""), "client {nth}");
}
