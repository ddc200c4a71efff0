//! Tests what a conversation does to its tasks beyond their status: drafts and approvals are thrown away, what was said is
//! shown, dates move, meetings are over, and nobody can do that in the name of a verified sender.

use crate::{
    conversations::{Post, me, tom},
    crash_matrix::dies,
    support::test_home::{Kind, TestHome},
};

/// Delivers one mail of a conversation and works it.
async fn plays(home: &TestHome, mail: &Post, nth: usize) {
    home.clock.advance(3_600);
    let date = home.clock.now().utc().to_rfc2822();
    let folder = if mail.from == "me" { ".Sent/cur" } else { "cur" };
    home.deliver_into(folder, &format!("c0-{nth}.eml:2,S"), mail.text(0, nth, &date));
    home.once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_throws_the_draft_away_and_can_be_undone() {
    let home = TestHome::active();
    let question = "Hello Alex,\n\nWhen will you be back at the house? I have the keys. Please confirm receipt of this mail.\n\nTom";
    plays(&home, &tom(question), 0).await;
    assert_eq!(home.drafts().len(), 1, "an answer is drafted");
    plays(&home, &me("Hi Tom,\n\non Thursday at ten.\n\nAlex"), 1).await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    assert_eq!(home.drafts(), [""; 0], "the draft is thrown away");
    assert_eq!(
        home.sql("SELECT kind, from_value, to_value, why FROM correction"),
        [[""; 0]; 0],
        "nobody was corrected"
    );
    for said in [home.run(&["why", "1"]).out, home.run(&["tasks", "show", "1"]).out] {
        assert!(said.contains("you answered it: “on Thursday at ten.”"), "{said}");
    }
    assert_eq!(home.sql_one("SELECT state FROM ledger WHERE mail_id = 2"), "linked");
    // The person knows better.
    assert_eq!(home.run(&["tasks", "undo", "1"]).code, 0);
    assert_eq!(home.count("tasks WHERE status NOT IN ('DONE', 'CANCELLED')"), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_voids_what_waits_for_approval() {
    let home = TestHome::active();
    let proposal = "Hello Alex,\n\nCan we meet on Thursday at 3pm for half an hour?\n\nTom";
    plays(&home, &tom(proposal), 0).await;
    assert_eq!(home.count("item WHERE state = 'open'"), 1, "{:?}", home.sql("SELECT * FROM tasks"));
    plays(&home, &me("Hi Tom,\n\nThursday at three works for me, I will call you.\n\nAlex"), 1).await;
    assert_eq!(home.sql("SELECT status FROM tasks WHERE source LIKE '%c0-0%'"), [["DONE"]]);
    assert_eq!(home.count("item WHERE state = 'open'"), 0);
    assert_eq!(home.drafts(), [""; 0]);
    assert_eq!(home.sent().len(), 1, "nothing was sent beside the person's own answer");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_the_person_has_changed_stays() {
    let home = TestHome::active();
    let question = "Hello Alex,\n\nWhen will you be back at the house? I have the keys. Please confirm receipt of this mail.\n\nTom";
    plays(&home, &tom(question), 0).await;
    let draft = home.drafts().remove(0);
    let path = ["new", "cur"].map(|part| home.maildir().join(".Drafts").join(part).join(&draft));
    let path = path.into_iter().find(|path| path.exists()).unwrap();
    std::fs::write(&path, "Subject: mine\n\nmy own words\n").unwrap();
    plays(&home, &me("Hi Tom,\n\non Thursday at ten.\n\nAlex"), 1).await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    assert_eq!(home.drafts(), [draft]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_later_is_on_the_task_with_who_and_when() {
    let home = TestHome::active();
    plays(&home, &tom("Hello Alex,\n\nPlease send me the insurance form by Friday.\n\nTom"), 0).await;
    let before = home.sql_one("SELECT due_at FROM task_facts");
    let again = "Hello Alex,\n\nPlease send me the insurance form by Wednesday, 25 November.\n\nTom";
    plays(&home, &tom(again), 1).await;
    let shown = home.run(&["tasks", "show", "1"]).out;
    for piece in [
        "deadline   Wed 25 Nov 2026",
        "said       Tom Baker, Mon 16 Nov 2026, 10:00",
        "by Wednesday, 25 November",
        "deadline: 2026-11-20 → 2026-11-25",
    ] {
        assert!(shown.contains(piece), "{piece} in {shown}");
    }
    assert_ne!(home.sql_one("SELECT due_at FROM task_facts"), before);
    assert_eq!(home.count("tasks"), 1);
    // A date that the person sets is theirs.
    assert_eq!(home.run(&["tasks", "set", "1", "--due", "2026-12-01"]).code, 0);
    plays(&home, &tom("Hello Alex,\n\nPlease send me the insurance form by Thursday, 26 November.\n\nTom"), 2).await;
    assert!(home.sql_one("SELECT context ->> 'deadline' FROM tasks").starts_with("2026-12-01"));
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_can_put_off_what_a_verified_sender_wants() {
    let home = TestHome::active();
    let verified = "Authentication-Results: mx.home.example; dmarc=pass header.from=c0.example";
    plays(&home, &tom("Hello Alex,\n\nPlease send me the insurance form by Friday.\n\nTom").with(verified), 0).await;
    plays(&home, &tom("Hello Alex,\n\nPlease send me the insurance form by 18 December.\n\nTom"), 1).await;
    assert_eq!(home.sql_one("SELECT context ->> 'deadline' FROM tasks ORDER BY task_id LIMIT 1"), "2026-11-20");
    plays(&home, &tom("No need any more, forget the form."), 2).await;
    assert_eq!(home.count("tasks WHERE status IN ('DONE', 'CANCELLED')"), 0, "it is only flagged");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_meeting_whose_time_has_passed_is_over() {
    for body in [
        "Hi Alex,\n\nare you free today at 4pm for ten minutes about the minibus?\n\nTom",
        "Hallo Alex,\n\nbist du heute um 17 Uhr am Steg?\n\nTom",
        "היי אלכס, אפשר לקפוץ אלייך היום ב-17:00? שתי דקות",
    ] {
        // Read in time, and then left until it is over.
        let home = TestHome::active();
        plays(&home, &tom(body), 0).await;
        assert_eq!(home.count("tasks WHERE status NOT IN ('DONE', 'CANCELLED')"), 1, "{body}");
        home.clock.advance(86_400);
        home.once().await;
        assert_eq!(home.sql("SELECT status FROM tasks"), [["CANCELLED"]], "{body}");
        let said = home.run(&["tasks", "show", "1"]).out;
        assert!(said.contains("over: it was at Mon 16 Nov 2026, 1"), "{said}");
        home.must_be_sound().await;
        // Read too late.
        let home = TestHome::active();
        let date = home.clock.now().utc().to_rfc2822();
        home.deliver("late.eml", tom(body).text(0, 0, &date));
        home.clock.advance(86_400);
        home.once().await;
        assert_eq!(home.count("tasks"), 0, "{body}");
        let reason = home.sql_one("SELECT reason FROM ledger");
        assert!(reason.starts_with("over: it asks about 2026-11-16T1"), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn late_work_is_not_over() {
    let home = TestHome::active();
    let date = home.clock.now().utc().to_rfc2822();
    for (nth, body) in [
        "Hi Alex,\n\nplease send me the report by 4pm today.\n\nTom",
        "Hi Alex,\n\ncould you send me the minutes today at 4pm?\n\nTom",
    ]
    .into_iter()
    .enumerate()
    {
        home.deliver(&format!("{nth}.eml"), tom(body).text(nth, 0, &date));
    }
    home.clock.advance(86_400);
    home.once().await;
    assert_eq!(home.count("tasks WHERE status NOT IN ('DONE', 'CANCELLED')"), 2);
}

/// The program dies after a draft was stored and before its row says so; then a person ends the task.
#[test]
fn a_draft_that_no_row_knows_of_is_thrown_away() {
    for place in ["", "commit.draft_cleanup.before", "mailbox.withdraw.after"] {
        let home = TestHome::real_time(Kind::Active);
        home.post(&home.letter("q").question());
        let nth = (1..6).find(|nth| dies(&home, &format!("mailbox.apply.after:{nth}")) && !home.drafts().is_empty());
        assert!(nth.is_some(), "no draft was made");
        assert_eq!(home.count("outbox WHERE step = 'draft_reply' AND state = 'ready'"), 1);
        assert_eq!(home.run(&["tasks", "cancel", "1"]).code, 0);
        assert_eq!(home.count("outbox WHERE step = 'draft_reply' AND state = 'void'"), 1);
        assert_eq!(home.drafts().len(), 1);
        if !place.is_empty() {
            assert!(dies(&home, place), "{place} was never passed");
        }
        assert_eq!(home.run(&["once"]).code, 0);
        assert_eq!(home.drafts(), [""; 0], "{place}");
        assert_eq!(home.count("outbox WHERE cleanup_due"), 0);
    }
}
