//! Tests a rules file that was truncated by a full disk or a killed editor: it never takes effect, and the last good
//! one is not lost.

use adjutant::rules::{BUILT_IN, END_MARKER};

use crate::support::test_home::{Kind, TestHome};

const OWN: &str =
    "rules:\n  - name: zebras\n    when: { subject: { contains: zebra } }\n    set: critical\n    why: mine\n";
const LEVEL: &str = "SELECT priority FROM tasks";

fn house_with_own_rule() -> (TestHome, String) {
    let home = TestHome::real_time(Kind::Active);
    let good = BUILT_IN.replacen("rules:\n", OWN, 1);
    home.write("rules/priority.yml", &good);
    home.post(&home.letter("one").question().subject("A zebra"));
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(home.sql_one(LEVEL), "critical");
    (home, good)
}

#[test]
fn wherever_the_file_ends_too_early_the_last_good_rules_stay() {
    let (home, good) = house_with_own_rule();
    let end = good.find(END_MARKER).unwrap();
    let after_rule = good.find("  - name: finance-alerts").unwrap();
    let line_ends = good.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < end);
    let every_ninth = line_ends.enumerate().filter(|(nth, _)| nth % 9 == 0).map(|(_, at)| at);
    for cut in [1, 400, after_rule, end - 1].into_iter().chain(every_ninth) {
        home.write("rules/priority.yml", &good[..cut]);
        let once = home.run(&["once"]);
        assert!(once.err.contains("The rules file is broken"), "{cut}: {}", once.err);
        assert_eq!(home.sql_one(LEVEL), "critical", "{cut}");
        assert_eq!(home.read("data/rules.good.yml"), good, "{cut}");
        assert_eq!(home.run(&["rules", "check"]).code, 4, "{cut}");
    }
    assert_eq!(home.run(&["doctor"]).code, 4);
    home.write("rules/priority.yml", &good);
    assert_eq!(home.run(&["rules", "check"]).code, 0);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn a_file_that_says_nothing_is_broken_and_one_that_says_none_counts() {
    let (home, good) = house_with_own_rule();
    let learned = &good[good.find("# >>> learned").unwrap()..];
    for nothing in ["# later\n", "null\n", "~\n", "{}\n", "rules:\n", "default: low\n"] {
        for text in [nothing.to_owned(), format!("{nothing}{learned}")] {
            home.write("rules/priority.yml", &text);
            assert!(home.run(&["once"]).err.contains("The rules file is broken"), "{text}");
            assert_eq!(home.sql_one(LEVEL), "critical", "{text}");
        }
    }
    home.write("rules/priority.yml", &format!("rules: []\n{learned}"));
    assert!(!home.run(&["once"]).err.contains("broken"));
    assert_eq!(home.sql_one(LEVEL), "low");
}

/// What the night would write into a part of a file would make it look whole.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_learned_into_a_file_that_was_cut_off_and_a_rollback_mends_it() {
    let home = TestHome::active();
    let app = home.app().await;
    assert!(app.rules().load().broken.is_none());
    app.nightly().run_unless_done_today().await.unwrap();
    let cut = BUILT_IN.split("# >>> learned").next().unwrap();
    home.write("rules/priority.yml", cut);
    home.clock.advance(24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    assert_eq!(home.read("rules/priority.yml"), cut);
    assert!(app.rules().load().broken.is_some());
}
