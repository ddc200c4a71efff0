//! Tests the rules file while people edit it: a broken one never takes effect and is always reported.

use crate::support::test_home::{Kind, TestHome};

const HIGH: &str =
    "rules:\n  - name: all\n    when: { kind: { exists: true } }\n    set: high\n    why: everything\ndefault: low\n";
const BROKEN: &str =
    "rules:\n  - name: all\n    when: { knid: { exists: true } }\n    set: high\n    why: everything\ndefault: low\n";

#[test]
fn broken_at_the_start_leaves_the_built_in_rules_and_every_door_says_so() {
    let home = TestHome::real_time(Kind::Active);
    home.rules(BROKEN);
    home.post(&home.letter("one").question());
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    assert_eq!(home.sql("SELECT state FROM ledger"), [["task"]]);
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 4);
    assert!(
        doctor.out.contains("BROKEN") && doctor.out.contains("knid") && doctor.out.contains("0 unaccounted"),
        "{}",
        doctor.out
    );
    let why = home.run(&["why", "1"]);
    assert_eq!(why.code, 0);
    assert!(why.out.contains("The rules file is broken") && why.out.contains("knid"), "{}", why.out);
    let check = home.run(&["rules", "check"]);
    assert_eq!(check.code, 4);
    assert!(check.out.contains("priority.yml:3") && check.out.contains("knid"), "{}", check.out);
    let (code, said) = home.daemon().stop("INT");
    assert!(code == 0 && said.contains("The rules file is broken"), "{said}");
}

#[test]
fn broken_while_running_leaves_the_last_good_set() {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("one").question());
    let mut daemon = home.daemon();
    assert_eq!(home.sql("SELECT priority FROM tasks"), [["low"]]);
    home.rules(HIGH);
    daemon.until("New rules");
    assert_eq!(home.sql("SELECT priority, rule FROM tasks JOIN task_owner USING (task_id)"), [["high", "all"]]);
    home.rules(BROKEN);
    daemon.until("The last good rules, in force since");
    home.post(&home.letter("two").question());
    daemon.until("About two");
    assert_eq!(home.sql("SELECT DISTINCT priority FROM tasks"), [["high"]]);
    assert_eq!(home.run(&["doctor"]).code, 4);
    std::fs::remove_file(home.root().join("rules/priority.yml")).unwrap();
    daemon.until("The last good rules, in force since");
    home.rules(&HIGH.replace("high", "critical"));
    daemon.until("New rules");
    assert_eq!(home.sql("SELECT DISTINCT priority FROM tasks"), [["critical"]]);
    assert_eq!(home.run(&["doctor"]).code, 0);
    assert_eq!(daemon.stop("INT").0, 0);
}

#[test]
fn bombs_are_refused_quickly_and_with_their_place() {
    let home = TestHome::real_time(Kind::Samples);
    let rule =
        |when: &str| format!("rules:\n  - name: bomb\n    when: {when}\n    set: high\n    why: boom\ndefault: low\n");
    let mut anchors = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let one = format!("*a{}", level - 1);
        anchors += &format!("a{level}: &a{level} [{}]\n", [one.as_str(); 9].join(","));
    }
    for (text, place) in [
        (rule("{ subject: { matches: '/(((a{100}){100}){100})/' } }"), ":3"),
        (rule("{ subject: { matches: '/(unclosed/' } }"), ":3"),
        (format!("{anchors}{}", rule("{ kind: { exists: true } }")), ":"),
        (rule(&format!("{}kind: {{ exists: true }}{}", "{ not: ".repeat(50).as_str(), "}".repeat(50))), ":3"),
        ("x".repeat(300 * 1024), ""),
        ("rules: [".into(), ":1"),
        ("\u{0}\u{1}".into(), ""),
    ] {
        home.write("rules/priority.yml", &text);
        let started = std::time::Instant::now();
        let check = home.run(&["rules", "check"]);
        assert_eq!(check.code, 4, "{}\n{}", &text[..text.len().min(200)], check.out);
        assert!(check.out.contains(&format!("priority.yml{place}")), "{}", check.out);
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
        assert!(!check.err.contains("panicked"), "{}", check.err);
    }
    // A slow expression in every textbook is a fast one here.
    home.rules(&rule("{ subject: { matches: '/(a+)+$/' } }"));
    assert_eq!(home.run(&["rules", "check"]).code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_expression_does_not_slow_the_reading() {
    let home = TestHome::active();
    home.rules("rules:\n  - name: slow\n    when: { subject: { matches: '/^(a+)+$/' } }\n    set: high\n    why: slow\ndefault: low\n");
    home.post(&home.letter("one").question().subject(&format!("{}b", "a".repeat(900))));
    let started = std::time::Instant::now();
    home.once().await;
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
    assert_eq!(home.sql("SELECT state FROM ledger"), [["task"]]);
}
