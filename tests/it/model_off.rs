//! The whole product with no model: every command, and nobody is asked.

use crate::{
    house::{House, Kind},
    model_server::{Server, with_model},
};

#[test]
fn everything_works_with_the_model_off() {
    let server = Server::kind();
    let house = House::real_time(Kind::Samples);
    with_model(&house, &server, "");
    let config = house.read("adjutant.toml").replace("provider = \"compatible\"", "provider = \"off\"");
    house.write("adjutant.toml", &config);
    let once = house.run(&["once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    assert!(house.count("tasks") > 10);
    assert!(house.count("item WHERE state = 'open'") > 0);
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
        let answered = house.run(command);
        assert_eq!(answered.code, 0, "{command:?}: {}", answered.err);
        assert!(!answered.err.contains("model"), "{command:?}: {}", answered.err);
    }
    assert!(house.run(&["cost"]).out.contains("There is no model"));
    assert_eq!(house.json(&["doctor"])["model"], serde_json::Value::Null);
    let run = house.sql_one("SELECT run_id FROM run WHERE kind = 'task' LIMIT 1");
    assert_eq!(house.json(&["runs", "replay", &run])["identical"], true);
    assert_eq!((server.count(), house.count("model_call")), (0, 0));
}
