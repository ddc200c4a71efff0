//! Tests replaying a run from its record without any call, and forking it as an experiment without effects.

use adjutant::model::NodeName;

use crate::support::test_home::TestHome;

#[tokio::test(flavor = "multi_thread")]
async fn every_run_of_the_samples_replays_identically_with_no_calls() {
    let home = TestHome::samples();
    home.once().await;
    let before = home.dump();
    let app = home.app().await;
    let runs = app.runs().list(None, 1000).await.unwrap();
    assert!(runs.len() > 35, "{}", runs.len());
    for run in runs {
        let replay = app.runs().replay(&run.run_id.to_string()).await.unwrap();
        assert!(replay.identical, "{} {:?}: {:?}", run.run_id, run.kind, replay.checkpoints);
        assert_eq!((replay.calls_made, replay.checkpoints.len()), (0, run.seq as usize));
    }
    assert_eq!(home.dump(), before, "a replay writes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_record_is_noticed_by_a_replay() {
    let home = TestHome::samples();
    home.once().await;
    home
        .database()
        .execute("UPDATE reply SET reply = replace(reply, '\"level\":\"critical\"', '\"level\":\"med\"') WHERE node = 'prioritise'", [])
        .unwrap();
    let run = home.sql_one("SELECT run_id FROM checkpoint WHERE node = 'prioritise' AND changes LIKE '%critical%'");
    let replay = home.app().await.runs().replay(&run).await.unwrap();
    assert!(!replay.identical);
    assert!(replay.checkpoints.iter().any(|step| step.difference.contains("critical")), "{:?}", replay.checkpoints);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_from_any_node_leaves_everything_as_it_was() {
    let home = TestHome::samples();
    home.once().await;
    // One run with effects in a mailbox, one with rows of ours, one of a mail. No later mail overtook them: a fork has none.
    let runs = home.sql(
        "SELECT DISTINCT r.run_id, r.mail_id FROM run r JOIN outbox o USING (run_id) WHERE o.step IN ('draft_reply', 'record_invoice') AND r.status <> 'overtaken' ORDER BY r.mail_id LIMIT 3",
    );
    let mail_run = home.sql_one("SELECT run_id FROM run WHERE kind = 'mail' AND status = 'done' LIMIT 1");
    let mut forked = 0;
    for run in runs.iter().map(|row| row[0].clone()).chain([mail_run]) {
        let entered = home.sql(&format!("SELECT DISTINCT node FROM checkpoint WHERE run_id = '{run}' ORDER BY seq"));
        for node in entered.into_iter().flatten() {
            let kept = |home: &TestHome| {
                let lines = home.dump();
                let others = lines.lines().filter(|line| {
                    !["run:", "run_input:", "checkpoint:", "reply:", "fork_effect:"]
                        .iter()
                        .any(|table| line.starts_with(table))
                });
                others.map(str::to_owned).collect::<Vec<_>>()
            };
            let (before, drafts) = (kept(&home), home.drafts());
            home.clock.advance(1);
            let app = home.app().await;
            let fork = app.runs().fork(&run, node.parse::<NodeName>().unwrap()).await.unwrap();
            app.worker().finish_runs().await.unwrap();
            let detail = app.runs().detail(&fork.to_string()).await.unwrap();
            assert_eq!(detail.row.fork_of.map(|id| id.to_string()).as_deref(), Some(run.as_str()));
            assert_ne!(detail.row.status.to_string(), "running");
            assert_eq!(
                detail.row.status.to_string(),
                home.sql_one(&format!("SELECT status FROM run WHERE run_id = '{run}'"))
            );
            assert!(app.runs().replay(&fork.to_string()).await.unwrap().identical, "from {node}");
            assert_eq!(kept(&home), before, "a fork of {run} from {node}");
            assert_eq!(home.drafts(), drafts);
            forked += 1;
        }
    }
    assert!(forked >= 9, "{forked}");
    assert_eq!(home.count("fork_effect WHERE state <> 'void'"), 0);
    assert!(home.count("fork_effect") > 0);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_from_a_node_never_entered_names_the_ones_that_were() {
    let home = TestHome::samples();
    home.once().await;
    let run = home.sql_one("SELECT run_id FROM run WHERE kind = 'mail' LIMIT 1");
    let error = home.app().await.runs().fork(&run, NodeName::ExecuteTool).await.unwrap_err();
    assert!(format!("{error:#}").contains("went through plan_step"), "{error:#}");
}
