//! Tests every command with no model configured.

use crate::support::{
    model_server::{Server, with_model},
    test_home::{Kind, TestHome},
};

#[test]
fn everything_works_with_the_model_off() {
    let server = Server::kind();
    let home = TestHome::real_time(Kind::Samples);
    with_model(&home, &server, "");
    let config = home.read("adjutant.toml").replace("provider = \"compatible\"", "provider = \"off\"");
    home.write("adjutant.toml", &config);
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    assert!(home.count("tasks") > 10);
    assert!(home.count("item WHERE state = 'open'") > 0);
    for command in [
        &["tasks"][..],
        &["tasks", "show", "1"],
        &["why", "1"],
        &["mail"],
        &["hitl", "list"],
        &["runs"],
        &["search", "invoice"],
        &["doctor"],
        &["audit", "verify"],
        &["graph"],
        &["rules", "check"],
        &["pause"],
        &["resume"],
        &["tasks", "done", "1"],
        &["once"],
    ] {
        let answered = home.run(command);
        assert_eq!(answered.code, 0, "{command:?}: {}", answered.err);
        assert!(!answered.err.contains("model"), "{command:?}: {}", answered.err);
    }
    assert!(home.run(&["cost"]).out.contains("There is no model"));
    assert_eq!(home.json(&["doctor"])["model"], serde_json::Value::Null);
    let run = home.sql_one("SELECT run_id FROM run WHERE kind = 'task' LIMIT 1");
    assert_eq!(home.json(&["runs", "replay", &run])["identical"], true);
    assert_eq!((server.count(), home.count("model_call")), (0, 0));
}
