//! Tests the tools of the MCP server with generated arguments: no panic, no partial change, and every refusal says why.

use serde_json::{Map, Value, json};

use crate::support::{
    mcp_client::McpClient,
    test_home::{Kind, TestHome},
};

/// How many argument objects are generated.
const CALLS: u64 = 10_000;
const TOOLS: [&str; 10] = [
    "add_task",
    "list_tasks",
    "complete_task",
    "delete_task",
    "update_task",
    "get_task",
    "why",
    "search",
    "list_approvals",
    "list_runs",
];
const NAMES: [&str; 9] =
    ["user_id", "title", "description", "status", "task_id", "text", "limit", "offset", "priority"];

/// The random number generator SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn text(&mut self) -> String {
        const PARTS: [&str; 24] = [
            "Buy milk",
            "remind me to",
            "every day",
            "tomorrow at 9",
            "by 31 February 99999",
            "\n",
            "\u{0}",
            "\u{202e}",
            "🎉",
            "לקנות חלב",
            "'; DROP TABLE tasks; --",
            "{{",
            "%s%n",
            "\"",
            "\\",
            "-1",
            "task 1",
            "#1",
            "all",
            "pending",
            "running",
            "ß\u{301}\u{301}\u{301}",
            "00:00",
            "noon",
        ];
        let length = if self.below(40) == 0 { 3_000 } else { self.below(5) };
        (0..length).map(|_| self.pick(&PARTS)).collect::<Vec<_>>().join(" ")
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 10 } else { 13 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(i64::try_from(self.below(12)).unwrap() - 2),
            3 => json!([i64::MAX, i64::MIN, 0, 201][self.below(4)]),
            4 => json!([1.5, -0.0, 1e300, 3.0][self.below(4)]),
            5 => json!(u64::MAX),
            6..=9 => Value::String(self.text()),
            10 => Value::Array((0..self.below(4)).map(|_| self.value(depth - 1)).collect()),
            11 => Value::Object((0..self.below(3)).map(|_| (self.text(), self.value(depth - 1))).collect()),
            _ => (0..50).fold(Value::Null, |inner, _| json!([inner])),
        }
    }

    /// Returns arguments for a tool: most of them right, some with a wrong or a missing value, some of another tool.
    fn arguments(&mut self, tool: &str, tasks: i64) -> Map<String, Value> {
        let own: &[&str] = match tool {
            "add_task" => &["title", "description"],
            "list_tasks" => &["status", "limit", "offset"],
            "update_task" => &["task_id", "title", "description"],
            "search" => &["text", "limit"],
            "list_approvals" => &["limit"],
            "list_runs" => &["status", "limit"],
            _ => &["task_id"],
        };
        let mut arguments = Map::new();
        for name in NAMES {
            let is_given = if own.contains(&name) { self.below(10) > 1 } else { self.below(50) == 0 };
            if !is_given {
                continue;
            }
            let right = match name {
                "user_id" => json!("me"),
                "task_id" => json!(1 + i64::try_from(self.below(usize::try_from(tasks).unwrap() + 2)).unwrap()),
                "limit" => json!(1 + self.below(200)),
                "offset" => json!(self.below(20)),
                "status" => json!(self.pick(&["all", "pending", "completed", "done", "running"])),
                _ => json!(format!("Generated {}", self.below(1_000))),
            };
            let value = if self.below(3) == 0 { self.value(2) } else { right };
            arguments.insert(name.to_owned(), value);
        }
        arguments
    }
}

/// What every change of a task leaves behind.
fn state(database: &rusqlite::Connection) -> (i64, i64, i64) {
    let sql = "SELECT (SELECT max(seq) FROM audit), (SELECT count(*) FROM task_history), (SELECT count(*) FROM tasks)";
    database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
}

#[test]
fn ten_thousand_generated_arguments_break_nothing() {
    let seed = std::env::var("IT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(24);
    println!("IT_SEED={seed}");
    let home = TestHome::real_time(Kind::Active);
    let mut client = McpClient::start(&home, "generator");
    let database = home.database();
    let mut random = Random(seed);
    for nth in 0..20 {
        client.call("add_task", json!({ "title": format!("Task {nth}") })).unwrap();
    }
    let (mut done, mut refused) = (0, 0);
    let mut before = state(&database);
    for nth in 0..CALLS {
        // A long list would only make the calls slower.
        let tool = if before.2 > 300 { random.pick(&TOOLS[1..]) } else { random.pick(&TOOLS) };
        let arguments = random.arguments(tool, before.2);
        let answer = client.call(tool, Value::Object(arguments.clone()));
        let after = state(&database);
        let shown = || format!("call {nth}, {tool} {arguments:?}: {answer:?}");
        match &answer {
            Ok(answer) => {
                done += 1;
                let changed = answer["changed"] == true;
                assert_eq!(after != before, changed, "{}", shown());
                // Each change has its lines of audit and history in the same transaction.
                assert_eq!(after.0 - before.0, after.1 - before.1, "{}", shown());
                if tool == "update_task" && changed {
                    check_update(&arguments, answer);
                }
            }
            Err(why) => {
                refused += 1;
                assert_eq!(after, before, "{}", shown());
                assert!(why.len() > 10 && why.chars().count() <= 401 && !why.contains("Sorry"), "{}", shown());
                let internal = ["SQL", "sqlite", "panicked", "src/", "refused:", "overtaken:"];
                assert!(!internal.iter().any(|word| why.contains(word)), "{}", shown());
            }
        }
        before = after;
    }
    println!("{done} were executed, {refused} refused");
    assert!(done > 1_000 && refused > 1_000, "{done} executed, {refused} refused");
    let (code, log) = client.leave();
    assert_eq!((code, log.as_str()), (0, ""));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(home.must_be_sound());
}

/// Checks that an update changed everything that was asked for.
fn check_update(arguments: &Map<String, Value>, answer: &Value) {
    if let Some(title) = arguments.get("title").and_then(Value::as_str) {
        assert_eq!(answer["task"]["title"].as_str().unwrap().is_empty(), title.trim().is_empty());
    }
    if let Some(description) = arguments.get("description").and_then(Value::as_str) {
        assert_eq!(answer["description"].is_null(), description.trim().is_empty(), "{arguments:?}: {answer}");
    }
}
