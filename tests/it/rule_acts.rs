//! Tests what a person's own rules do to mail: they label and archive every mail that matches, also one without a task,
//! through policy and outbox; learned rules never do.

use adjutant::model::AccountMode;

use crate::support::test_home::{TestHome, WORK, set_mode};

const RULES: &str = "rules:
  - name: shop
    when: { subject: { contains: offer } }
    do: [archive, label: Shop]
  - name: bills
    when: { kind: { is: invoice } }
    set: high
    why: bills come first
    do: [label: bill]
default: low
";

/// A home with these rules, one newsletter that opens no task, and one invoice.
fn ruled_home() -> TestHome {
    let home = TestHome::active();
    home.rules(RULES);
    home.post(
        &home
            .letter("offer")
            .from("Shop <news@shop.example>")
            .subject("This week's offer")
            .header("List-Unsubscribe: <mailto:off@shop.example>")
            .body("Everything is cheaper this week.\n"),
    );
    home.post(&home.letter("bill").invoice(7));
    home
}

fn archived(home: &TestHome) -> Vec<String> {
    crate::support::test_home::files_in(&home.maildir().join(".Archive/cur"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_acts_on_every_mail_once() {
    let home = ruled_home();
    home.once().await;
    assert_eq!(home.sql_one("SELECT state FROM ledger WHERE source_key LIKE '%offer%'"), "no_task");
    assert_eq!(archived(&home).len(), 1, "{:?}", home.sql("SELECT step, state, result FROM outbox"));
    let labels = home.sql("SELECT label FROM label ORDER BY label");
    assert!(labels.contains(&vec!["Shop".to_owned()]) && labels.contains(&vec!["bill".to_owned()]), "{labels:?}");
    assert_eq!(home.sql_one("SELECT priority FROM tasks"), "high", "the rule also ranks");
    let rows = home.sql(
        "SELECT mail_id IS NOT NULL, step, generation, state, class FROM outbox WHERE task_id IS NULL ORDER BY step",
    );
    assert_eq!(
        rows,
        [
            ["1", "archive", "0", "applied", "R1"],
            ["1", "label Shop", "0", "applied", "R1"],
            ["1", "label bill", "0", "applied", "R1"]
        ]
    );
    // Neither a second pass nor a replay does it again.
    home.once().await;
    assert_eq!(home.count("outbox WHERE task_id IS NULL"), 3);
    for run in home.sql("SELECT run_id FROM run WHERE kind IN ('effect', 'mail')").into_iter().flatten() {
        let replayed = home.json(&["runs", "replay", &run]);
        assert_eq!(replayed["identical"], true, "{replayed}");
    }
    let offer = home.sql_one("SELECT mail_id FROM ledger WHERE source_key LIKE '%offer%'");
    let shown = home.run(&["mail", "show", &offer]).out;
    assert!(shown.contains("by your rules: archive: ") && shown.contains("by your rules: label Shop: "), "{shown}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_did_is_undone_and_in_the_digest() {
    let home = ruled_home();
    home.once().await;
    let digest = home.run(&["digest", "--hours", "2000"]).out;
    assert!(digest.contains("Archived: 1") && digest.contains("This week's offer"), "{digest}");
    let action = home.sql_one("SELECT action_id FROM outbox WHERE step = 'archive'");
    let undone = home.run(&["hitl", "undo", &action]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert!(archived(&home).is_empty());
    home.once().await;
    assert!(archived(&home).is_empty(), "what was taken back is not done again");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_observes_touches_nothing_and_a_pause_holds_it() {
    let home = ruled_home();
    let app = home.app().await;
    set_mode(&app, AccountMode::Observe).await;
    drop(app);
    home.once().await;
    assert!(archived(&home).is_empty());
    assert_eq!(home.count("outbox WHERE task_id IS NULL AND state = 'withheld'"), 3);

    let home = ruled_home();
    assert_eq!(home.run(&["pause"]).code, 0);
    home.once().await;
    assert!(archived(&home).is_empty());
    assert_eq!(home.run(&["resume"]).code, 0);
    home.clock.advance(600);
    home.once().await;
    assert_eq!(archived(&home).len(), 1, "{:?}", home.sql("SELECT step, state, result FROM outbox"));
    let account = home.sql_one("SELECT DISTINCT account FROM outbox WHERE task_id IS NULL");
    assert_eq!(account, WORK);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_for_mail_that_looks_like_phishing_and_senders_must_be_verified() {
    let home = TestHome::active();
    home.rules(
        "rules:\n  - name: tom\n    when: { sender: { is: tom@bakerand.example } }\n    do: [archive]\ndefault: low\n",
    );
    home.post(&home.letter("forged"));
    home.post(&home.letter("true").verified());
    home.once().await;
    assert_eq!(archived(&home).len(), 1, "a rule on the sender counts only for a verified one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_learned_rule_cannot_act_and_mistakes_are_named() {
    let home = TestHome::active();
    for (rules, expected) in [
        (
            "rules: []\n# >>> learned >>>\nlearned:\n- {name: r, when: { subject: { is: x } }, set: low, do: [archive]}\n# <<< learned <<<\n",
            "unknown key in a learned rule 'do'",
        ),
        ("rules:\n- {name: r, when: { subject: { is: x } }, do: [delete]}\n", "archive, or label: NAME"),
        ("rules:\n- {name: r, when: { subject: { is: x } }, do: archive}\n", "a sequence"),
        ("rules:\n- {name: r, when: { subject: { is: x } }, do: []}\n", "archive, or label: NAME"),
        ("rules:\n- {name: r, when: { subject: { is: x } }, do: [label: '']}\n", "the name of a label"),
        ("rules:\n- {name: r, when: { subject: { is: x } }, do: [archive], lock: true}\n", "lock without set"),
    ] {
        home.write("rules/priority.yml", rules);
        let checked = home.run(&["rules", "check"]);
        assert!(
            checked.code != 0 && format!("{}{}", checked.out, checked.err).contains(expected),
            "{rules}: {checked:?}"
        );
    }
    home.rules(RULES);
    let checked = home.run(&["rules", "check"]);
    assert!(checked.code == 0 && checked.out.contains('2'), "{checked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_is_a_keyword_where_dovecot_serves_the_mailbox() {
    let home = ruled_home();
    let root = home.maildir();
    std::fs::write(root.join("dovecot-uidlist"), "3 V1 N1\n").unwrap();
    std::fs::write(root.join("dovecot-keywords"), "0 $Forwarded\n").unwrap();
    home.once().await;
    let keywords = |folder: &str| std::fs::read_to_string(root.join(folder).join("dovecot-keywords")).unwrap();
    assert!(keywords("").starts_with("0 $Forwarded\n1 "), "{}", keywords(""));
    let letter_of = |folder: &str, keyword: &str| {
        let known = keywords(folder);
        let line =
            known.lines().find(|line| line.ends_with(&format!(" {keyword}"))).unwrap_or_else(|| panic!("{known}"));
        char::from(b'a' + line.split(' ').next().unwrap().parse::<u8>().unwrap())
    };
    // The newsletter was labelled and then archived: in that folder another letter may stand for the keyword.
    let moved = archived(&home);
    assert!(moved.len() == 1 && moved[0].ends_with(&format!(":2,{}", letter_of(".Archive", "Shop"))), "{moved:?}");
    let inbox = crate::support::test_home::files_in(&root.join("cur"));
    let bill = inbox.iter().find(|name| name.contains("bill")).unwrap();
    let flags = bill.split(":2,").nth(1).unwrap_or_default();
    assert!(flags.contains(letter_of("", "bill")), "{bill}");
    assert_eq!(home.count("ledger"), 2, "a renamed file is no new mail");
    home.once().await;
    assert_eq!((home.count("ledger"), home.count("tasks")), (2, 1));
    let action = home.sql_one("SELECT action_id FROM outbox WHERE step = 'label bill'");
    assert_eq!(home.run(&["hitl", "undo", &action]).code, 0);
    let inbox = crate::support::test_home::files_in(&root.join("cur"));
    assert!(
        !inbox
            .iter()
            .any(|name| name.contains("bill") && name.split(":2,").nth(1).unwrap().contains(letter_of("", "bill"))),
        "{inbox:?}"
    );
    assert!(!root.join("dovecot-keywords.lock").exists());
    home.must_be_sound().await;
}
