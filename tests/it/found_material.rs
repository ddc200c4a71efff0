//! Answers made of what the person has: a file that is asked for, and what they answered to the same question before.

use adjutant::model::{Action, RiskClass};

use crate::support::test_home::{TestHome, approve_first, first};

const WISH: &str = "Hello Alex,\n\nPlease send me your current price list.\n\nTom\n";

fn waiting(home: &TestHome) -> Vec<Action> {
    let rows = home.sql("SELECT action FROM outbox WHERE state = 'parked' ORDER BY action_id");
    rows.into_iter().map(|row| serde_json::from_str(&row[0]).unwrap()).collect()
}

async fn asked_for_the_list(files: &[(&str, &str)]) -> TestHome {
    let home = TestHome::active();
    for (name, text) in files {
        home.write(&format!("data/files/{name}"), text);
    }
    home.post(&home.letter("wish").body(WISH));
    home.once().await;
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_asked_for_waits_as_a_reply_and_survives_an_edit() {
    let home = asked_for_the_list(&[("price list 2026.csv", "chair;90\ntable;250\n"), ("insurance.pdf", "%PDF")]).await;
    let actions = waiting(&home);
    assert_eq!(actions.len(), 1, "{:?}", home.sql("SELECT objective, subtasks, context FROM tasks"));
    let message = actions[0].effect.message().unwrap();
    assert_eq!(message.attachments.len(), 1);
    assert_eq!((message.attachments[0].name.as_str(), message.attachments[0].size), ("price list 2026.csv", 19));
    assert!(message.body.contains("I have attached price list 2026.csv."), "{}", message.body);
    let app = home.app().await;
    let seen = first(&app).await;
    assert_eq!(seen.action.unwrap().class, RiskClass::R3, "a file never leaves unseen");
    let words = "Hi Tom,\n\nhere it is, prices hold until May.\n\nAlex Green\n";
    app.approvals().edit_action(seen.item.item_id, "Re: About wish", words).await.unwrap();
    approve_first(&app).await.unwrap();
    drop(app);
    home.clock.advance(1);
    home.once().await;
    let sent = home.sent();
    assert_eq!(sent.len(), 1);
    assert!(sent[0].contains("prices hold until May") && sent[0].contains("price list 2026.csv"), "{}", sent[0]);
    // The two lines of the file, as mail carries them.
    assert!(sent[0].contains("Y2hhaXI7OTAKdGFibGU7MjUwCg=="), "{}", sent[0]);
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_one_file_it_is_work_for_the_person() {
    for files in [
        &[][..],
        &[("insurance.pdf", "%PDF")],
        &[("price list north.csv", "1"), ("price list south.csv", "2")],
        &[(".price list.csv", "1")],
        &[("old/price list.csv", "1")],
    ] {
        let home = asked_for_the_list(files).await;
        assert_eq!(waiting(&home).len(), 0, "{files:?}");
        let steps = home.sql("SELECT subtasks FROM tasks");
        assert_eq!(steps, [[r#"[{"step":"do_the_work","done":false}]"#]], "{files:?}");
        home.must_be_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_out_of_the_folder_is_not_sent() {
    let home = TestHome::active();
    home.write("secrets.csv", "key");
    home.write("data/files/other.txt", "nothing");
    std::os::unix::fs::symlink(home.root().join("secrets.csv"), home.root().join("data/files/price list.csv")).unwrap();
    home.post(&home.letter("wish").body(WISH));
    home.once().await;
    assert_eq!(waiting(&home).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_answer_to_the_same_question_is_drafted_with_its_source() {
    let home = TestHome::active();
    let question = "Hi Alex,\n\nWhich coating do you recommend for the green mirrors in the hall?\n\nAnn\n";
    home.post(&home.letter("old").from("Ann <ann@c.example>").subject("Mirrors").body(question));
    home.once().await;
    home.clock.advance(7_200);
    let date = home.clock.now().utc().to_rfc2822();
    home.deliver_into(
        ".Sent/cur",
        "answer.eml:2,S",
        format!(
            "From: Alex Green <you@home.example>\nTo: Ann <ann@c.example>\nSubject: Re: Mirrors\nDate: {date}\nMessage-ID: <answer@it.example>\n\
             In-Reply-To: <old@it.example>\nReferences: <old@it.example>\n\nHi Ann,\n\nwe recommend the coating V2 for those mirrors.\n\nBest regards\nAlex\n"
        ),
    );
    home.once().await;
    home.clock.advance(7_200);
    let again = "Hello Alex,\n\nWhich coating do you recommend for green mirrors?\n\nTom\n";
    home.post(&home.letter("new").body(again));
    home.once().await;
    assert_eq!(home.drafts().len(), 1, "{:?}", home.sql("SELECT objective, status, tool_output FROM tasks"));
    let output = home.sql("SELECT tool_output ->> '$.draft_reply' FROM tasks WHERE source LIKE '%new@%'")[0][0].clone();
    assert!(
        output.contains("we recommend the coating V2") || output.contains("We recommend the coating V2"),
        "{output}"
    );
    assert!(output.contains("your answer to Ann"), "{output}");
    assert!(!output.contains("Hi Ann"), "the greeting was for somebody else: {output}");
    assert_eq!(waiting(&home).len(), 0, "what was written to somebody else is only a draft");
    let shown = home.run(&["tasks", "show", "2"]).out;
    assert!(shown.contains("source: your answer to Ann"), "{shown}");
    // Another question about the same things is not answered by it.
    home.post(
        &home.letter("other").from("Eve <eve@e.example>").body("Hello Alex,\n\nWhen will the mirrors arrive?\n\nEve\n"),
    );
    home.once().await;
    assert_eq!(home.drafts().len(), 1);
    home.must_be_sound().await;
}
