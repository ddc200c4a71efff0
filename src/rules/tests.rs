//! The shipped rules file, tested on the mails it was written for.

use chrono::Duration;

use super::{
    BUILT_IN, RuleSet,
    fixture::{facts, now},
};
use crate::model::{Addressed, Facts, FactsKind, Priority, TaskKind};

use Priority::{Critical, High, Low, Med};

/// A request from an unknown, unverified sender with nothing urgent about it.
fn stranger() -> Facts {
    Facts {
        sender: "sam@elsewhere.example".into(),
        sender_domain: "elsewhere.example".into(),
        sender_verified: false,
        known_contact: false,
        subject: "A favour".into(),
        objective: "Send the slides to Sam".into(),
        kind: FactsKind::Task(TaskKind::Request),
        amount: None,
        due_at: None,
        urgency: 0.2,
        ..facts()
    }
}

fn check(what: &str, change: impl Fn(&mut Facts), level: Priority, rule: &str) {
    let rules = RuleSet::parse("priority.yml", BUILT_IN).unwrap_or_else(|error| panic!("{error}"));
    let mut facts = stranger();
    change(&mut facts);
    let verdict = rules.rank(&facts, now());
    assert_eq!((verdict.level, verdict.rule.as_str()), (level, rule), "{what}\n{}", rules.trace(&facts, now()));
}

fn from_bank(facts: &mut Facts) {
    facts.sender = "alerts@mybank.example".into();
    facts.sender_domain = "mybank.example".into();
}

fn bulk(facts: &mut Facts) {
    facts.list_id = Some("news.elsewhere.example".into());
    facts.addressed = Addressed::List;
}

#[test]
fn who_wrote_counts_only_when_verified() {
    check("a stranger's favour", |_| {}, Low, "default");
    check("a bank nobody vouches for", from_bank, Low, "default");
    let verified_bank = |facts: &mut Facts| {
        from_bank(facts);
        facts.sender_verified = true;
    };
    check("the bank itself", verified_bank, High, "finance-alerts");
    check("a friend's request", |facts| facts.known_contact = true, Med, "known-request");
    let copied = |facts: &mut Facts| {
        facts.known_contact = true;
        facts.addressed = Addressed::Cc;
    };
    check("a friend's request to another", copied, Low, "default");
}

#[test]
fn money_and_time() {
    let invoice = |facts: &mut Facts| facts.kind = FactsKind::Task(TaskKind::Invoice);
    check("an invoice by its kind", invoice, Med, "invoice");
    check("an invoice by its words", |facts| facts.objective = "Pay invoice 4711".into(), Med, "bookkeeping");
    for (hours, urgency, level, rule) in [
        (-30, 0.6, Med, "due-within-three-days"),
        (-5, 0.6, High, "due-within-a-day"),
        (24, 0.6, High, "due-within-a-day"),
        (24, 0.2, Med, "due-within-three-days"),
        (25, 0.6, Med, "due-within-three-days"),
        (73, 0.6, Low, "default"),
        (-30, 0.85, High, "fuzzy-urgency"),
        (-80, 0.85, Med, "due-within-three-days"),
        (15 * 24, 0.95, Med, "urgent-later"),
        (-80, 0.95, High, "at-stake"),
        (100, 0.95, High, "fuzzy-urgency"),
    ] {
        let due = |facts: &mut Facts| {
            facts.due_at = Some(now().plus(Duration::hours(hours)));
            facts.urgency = urgency;
        };
        check(&format!("due in {hours} hours, urgency {urgency}"), due, level, rule);
    }
    check("a meeting", |facts| facts.kind = FactsKind::Task(TaskKind::Meeting), Med, "meeting");
    check("urgent words", |facts| facts.urgency = 0.8, High, "fuzzy-urgency");
    check("nearly urgent words", |facts| facts.urgency = 0.79, Low, "default");
}

#[test]
fn alarms() {
    let outage = |facts: &mut Facts| {
        facts.kind = FactsKind::Task(TaskKind::Alert);
        facts.subject = "Production is down".into();
    };
    check("an outage, says a stranger", outage, High, "outage");
    let verified = |facts: &mut Facts| {
        outage(facts);
        facts.sender_verified = true;
    };
    check("an outage, says a monitor", verified, Critical, "outage-verified");
    let known = |facts: &mut Facts| {
        facts.subject = "Outage: customers cannot log in".into();
        facts.known_contact = true;
    };
    check("an outage, says a colleague", known, Critical, "outage-known");
    let security = |facts: &mut Facts| {
        facts.kind = FactsKind::Task(TaskKind::Alert);
        facts.subject = "New sign-in to your account".into();
    };
    check("a security alert nobody vouches for", security, Low, "default");
    let verified_security = |facts: &mut Facts| {
        security(facts);
        facts.sender_verified = true;
    };
    check("a verified security alert", verified_security, High, "security-alert");
}

#[test]
fn noise_stays_low() {
    let sale = |facts: &mut Facts| {
        facts.subject = "LAST CHANCE: 50% off, offer ends tonight!".into();
        facts.urgency = 0.95;
        facts.due_at = Some(now().plus(Duration::hours(3)));
    };
    check("sales pressure", sale, Low, "sales-pressure");
    let newsletter = |facts: &mut Facts| {
        bulk(facts);
        facts.urgency = 0.95;
    };
    check("a newsletter in a hurry", newsletter, Low, "bulk");
    let list = |facts: &mut Facts| {
        bulk(facts);
        facts.thread_mine = true;
        facts.urgency = 0.95;
    };
    check("a list the person wrote to", list, High, "fuzzy-urgency");
}

#[test]
fn judging_is_fast() {
    let rules = RuleSet::parse("priority.yml", BUILT_IN).unwrap();
    let (facts, started) = (facts(), std::time::Instant::now());
    for _ in 0..1000 {
        std::hint::black_box(rules.rank(&facts, now()));
    }
    // An unoptimised build takes some 20 µs; a hundred times that is a mistake, not a slow machine.
    assert!(started.elapsed().as_millis() < 2000, "{:?}", started.elapsed());
}

#[test]
fn the_shipped_file_learns_between_its_markers() {
    let range = super::learned_range(BUILT_IN).unwrap();
    assert_eq!(BUILT_IN.get(range.clone()).unwrap(), "learned: []\n");
    let entry = "learned:\n  - name: learned-1\n    when: { sender: { is: ann@shop.example } }\n    set: high\n";
    let mut text = BUILT_IN.to_owned();
    text.replace_range(range, entry);
    let rules = RuleSet::parse("priority.yml", &text).unwrap_or_else(|error| panic!("{error}"));
    let verdict = rules.rank(&facts(), now());
    assert_eq!((verdict.rule.as_str(), verdict.why.as_str(), verdict.locked), ("learned-1", "learned-1", false));
    let trace = rules.trace(&facts(), now());
    assert!(trace.rules.iter().filter(|rule| rule.learned).map(|rule| rule.name.as_str()).eq(["learned-1"]));
    assert_ne!(rules.version(), RuleSet::parse("priority.yml", BUILT_IN).unwrap().version());
}

#[test]
fn line_ends_and_comments_change_nothing() {
    let many = format!(
        "{}{}",
        "# a word\n".repeat(500),
        BUILT_IN.replace("rules:\n", &format!("rules:\n{}", "  # more\n".repeat(500)))
    );
    for text in [BUILT_IN.replace('\n', "\r\n"), format!("\u{feff}{BUILT_IN}"), many] {
        let rules = RuleSet::parse("priority.yml", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rules.len(), RuleSet::parse("priority.yml", BUILT_IN).unwrap().len());
        assert!(rules.learned_range().is_some());
    }
}
