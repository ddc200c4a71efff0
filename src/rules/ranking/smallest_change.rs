//! The smallest change that would give another level. Every candidate is applied and ranked again, so nothing is
//! claimed that does not happen.

use serde::Serialize;

use crate::model::{Addressed, Facts, FactsKind, Instant, Priority};
use crate::rules::{
    RuleSet,
    grammar::{
        field::Field,
        limits::{MAX_SMALLEST_CHANGE_RANKINGS, MAX_SMALLEST_CHANGE_TESTS},
    },
    ranking::{fact_changes, precedence::DecidedLevel},
};

/// A change, the level it leads to, and both in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SmallestChange {
    pub change: HypotheticalChange,
    pub level: Priority,
    /// The rule that would decide.
    pub rule: String,
    /// The whole as a sentence, such as `if the sender were verified: high (finance-alerts)`.
    pub text: String,
}

/// What would be different. A change of the rules is suggested only when no change of one or two facts is found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HypotheticalChange {
    /// One fact, or two at once.
    Facts(Vec<FactChange>),
    /// The rule of this name would be gone.
    WithoutRule(String),
    Default(Priority),
    /// There would be a rule before all others that sets this level and stops, because nothing less leads to another
    /// level.
    NewRule(Priority),
}

/// Another value of one fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactChange {
    /// The field; none for whether the sender is verified, which is no field of a rule.
    pub field: Option<Field>,
    pub to: NewFactValue,
    /// The change in words, such as `due_in were at most 24h`.
    pub words: String,
}

/// The value that a fact would have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NewFactValue {
    Flag(bool),
    Number(f64),
    Text(String),
    Nothing,
}

impl RuleSet {
    /// Returns the smallest change that leads to another level. There always is one.
    pub(super) fn find_smallest_change(&self, facts: &Facts, now: Instant) -> SmallestChange {
        let before = self.decide_level(facts, now, None);
        self.find_fact_changes(facts, now, before.level)
            .or_else(|| self.find_rule_removal(facts, now, before))
            .or_else(|| self.find_default_change(facts, now, before.level))
            .unwrap_or_else(|| self.suggest_overriding_rule(before.level))
    }

    /// Tries single facts, then pairs, within a budget that keeps `why` fast.
    fn find_fact_changes(&self, facts: &Facts, now: Instant, level: Priority) -> Option<SmallestChange> {
        let candidates = fact_changes::enumerate_fact_changes(&self.rules, facts, now);
        let singles = candidates.iter().map(|one| vec![one]);
        // Pairs come in the order of their dearer half, so that the cheap ones are tried first.
        let upto = |dear: usize| candidates.iter().take(dear);
        let pairs = candidates.iter().enumerate();
        let pairs = pairs.flat_map(|(dear, two)| upto(dear).map(move |one| vec![one, two]));
        let pairs = pairs.filter(|pair| pair.first().map(|one| one.topic()) != pair.last().map(|two| two.topic()));
        let tests: usize = self.rules.iter().map(|rule| rule.condition.tests().len()).sum();
        let budget = (MAX_SMALLEST_CHANGE_TESTS / tests.max(1)).min(MAX_SMALLEST_CHANGE_RANKINGS);
        singles.chain(pairs).take(budget).find_map(|changes| {
            let changed = changes.iter().fold(facts.clone(), |facts, change| change.apply(facts, now));
            let after = self.decide_level(&changed, now, None);
            (after.level != level).then(|| {
                let words: Vec<&str> = changes.iter().map(|change| change.words.as_str()).collect();
                let text = format!("if {}", words.join(" and "));
                self.build_smallest_change(
                    HypotheticalChange::Facts(changes.into_iter().cloned().collect()),
                    text,
                    after,
                )
            })
        })
    }

    /// Tries leaving out one rule. The deciding rule comes first, because it is the most likely to matter.
    fn find_rule_removal(&self, facts: &Facts, now: Instant, before: DecidedLevel) -> Option<SmallestChange> {
        let order = before.rule.into_iter().chain(0..self.rules.len());
        let found = order.map(|index| (index, self.decide_level(facts, now, Some(index))));
        let (index, after) = found.into_iter().find(|(_, after)| after.level != before.level)?;
        let name = self.rules.get(index)?.name.clone();
        let text = format!("without the rule {name}");
        Some(self.build_smallest_change(HypotheticalChange::WithoutRule(name), text, after))
    }

    /// Tries another default.
    fn find_default_change(&self, facts: &Facts, now: Instant, before: Priority) -> Option<SmallestChange> {
        let default = other_level(before);
        let after = RuleSet { default, ..self.clone() }.decide_level(facts, now, None);
        let change = || {
            self.build_smallest_change(
                HypotheticalChange::Default(default),
                format!("with the default {default}"),
                after,
            )
        };
        (after.level != before).then(change)
    }

    /// Suggests a rule above all others, which always works.
    fn suggest_overriding_rule(&self, before: Priority) -> SmallestChange {
        let level = other_level(before);
        let text = format!("with a rule above all others that sets {level} and stops: {level}");
        SmallestChange { change: HypotheticalChange::NewRule(level), level, rule: "a new rule".to_owned(), text }
    }

    fn build_smallest_change(&self, change: HypotheticalChange, text: String, after: DecidedLevel) -> SmallestChange {
        let verdict = self.build_verdict(after);
        let text = format!("{text}: {} ({})", verdict.level, verdict.rule);
        SmallestChange { change, level: verdict.level, rule: verdict.rule, text }
    }
}

const fn other_level(level: Priority) -> Priority {
    if matches!(level, Priority::Low) { Priority::Med } else { Priority::Low }
}

impl FactChange {
    /// Returns what the change is about, so that no pair changes one thing twice. The sender and its domain are one
    /// thing.
    fn topic(&self) -> Option<Field> {
        self.field.map(|field| if field == Field::SenderDomain { Field::Sender } else { field })
    }

    /// Returns the facts with this change.
    pub fn apply(&self, mut facts: Facts, now: Instant) -> Facts {
        match (&self.to, self.field) {
            (NewFactValue::Flag(to), None) => facts.sender_verified = *to,
            (NewFactValue::Flag(to), Some(Field::KnownContact)) => facts.known_contact = *to,
            (NewFactValue::Flag(to), Some(Field::Attachment)) => facts.attachment = *to,
            (NewFactValue::Flag(to), Some(Field::ThreadMine)) => facts.thread_mine = *to,
            (NewFactValue::Number(to), Some(Field::Amount)) => facts.amount = Some(*to),
            (NewFactValue::Number(to), Some(Field::Urgency)) => facts.urgency = *to,
            (NewFactValue::Number(to), Some(Field::DueIn)) => {
                let wait = chrono::Duration::try_seconds((to * 3600.0).round() as i64);
                facts.due_at = wait.map(|wait| now.plus(wait)).or(facts.due_at);
            }
            (NewFactValue::Nothing, Some(Field::Amount)) => facts.amount = None,
            (NewFactValue::Nothing, Some(Field::DueIn)) => facts.due_at = None,
            (NewFactValue::Nothing, Some(Field::ListId)) => facts.list_id = None,
            (NewFactValue::Nothing, Some(field)) => set_text_fact(&mut facts, field, ""),
            (NewFactValue::Text(to), Some(field)) => set_text_fact(&mut facts, field, to),
            _ => {}
        }
        facts
    }
}

/// Sets a text. An address and its domain change together, as they would in a mail.
fn set_text_fact(facts: &mut Facts, field: Field, to: &str) {
    let slot = match field {
        Field::Sender => {
            facts.sender_domain = to.rsplit_once('@').map_or("", |(_, domain)| domain).to_owned();
            &mut facts.sender
        }
        Field::SenderDomain => {
            let local = facts.sender.rsplit_once('@').map_or("", |(local, _)| local);
            facts.sender = format!("{local}@{to}");
            &mut facts.sender_domain
        }
        Field::ListId => facts.list_id.get_or_insert_default(),
        Field::Subject => &mut facts.subject,
        Field::Objective => &mut facts.objective,
        Field::Language => &mut facts.language,
        Field::Account => &mut facts.account,
        // A word that is no kind stands for a mail of a kind that no rule knows.
        Field::Kind => {
            facts.kind = to.parse::<FactsKind>().unwrap_or_default();
            return;
        }
        Field::Addressed => {
            facts.addressed = to.parse::<Addressed>().unwrap_or(facts.addressed);
            return;
        }
        _ => return,
    };
    to.clone_into(slot);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_assert_ne, prop_oneof, proptest};

    use super::*;
    use crate::rules::fixture::{facts, now};

    fn check(rules: &[&str], change: impl Fn(&mut Facts), expected: &str) {
        let rules: String = rules.iter().map(|rule| format!("  - {{ {rule} }}\n")).collect();
        let rules = if rules.is_empty() { " []".to_owned() } else { format!("\n{rules}") };
        let rules = RuleSet::parse("f", &format!("lists: {{ bank: [mybank.example] }}\nrules:{rules}"));
        let mut facts = facts();
        change(&mut facts);
        let found = rules.unwrap_or_else(|error| panic!("{error}")).find_smallest_change(&facts, now());
        assert_eq!(found.text, expected);
    }

    #[test]
    fn one_fact_then_two_then_a_rule() {
        let same = |_: &mut Facts| {};
        let bank = "name: bank, when: { sender_domain: { in: bank } }, set: high";
        check(&[bank], same, "if sender_domain were mybank.example (in bank): high (bank)");
        let spoofed = |facts: &mut Facts| {
            facts.sender_domain = "mybank.example".into();
            facts.sender_verified = false;
        };
        check(&[bank], spoofed, "if the sender were verified: high (bank)");
        let unverified = |facts: &mut Facts| facts.sender_verified = false;
        let both = "if the sender were verified and sender_domain were mybank.example (in bank): high (bank)";
        check(&[bank], unverified, both);
        check(
            &["name: late, when: { due_in: { lte: 24 } }, set: high"],
            same,
            "if due_in were at most 24h: high (late)",
        );
        check(
            &["name: big, when: { amount: { gte: 250 } }, set: med"],
            same,
            "if amount were below 250: low (default)",
        );
        check(
            &["name: say, when: { subject: { matches: '/urgent|asap/i' } }, set: med"],
            same,
            "if subject said 'urgent': med (say)",
        );
        check(
            &["name: say, when: { subject: { matches: /invoice/i } }, set: med"],
            same,
            "if subject did not say 'Invoice': low (default)",
        );
        check(
            &["name: list, when: { list_id: { exists: true }, attachment: { is: true } }, set: med"],
            same,
            "if attachment were true and there were a list_id: med (list)",
        );
        check(
            &["name: any, when: { any: [{ subject: { matches: '/x*/' } }, { kind: { matches: '/x*/' } }] }, set: med"],
            same,
            "without the rule any: low (default)",
        );
        check(&[], same, "with the default med: med (default)");
    }

    fn test() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("sender_domain: { in: [mybank.example, shop.example] }".to_owned()),
            Just("sender: { is: bob@mybank.example }".to_owned()),
            Just("sender: { contains: ann }".to_owned()),
            Just("subject: { matches: '/invoice|outage/i' }".to_owned()),
            Just("objective: { contains: call }".to_owned()),
            Just("kind: { in: [meeting, invoice] }".to_owned()),
            Just("addressed: { is: cc }".to_owned()),
            Just("list_id: { exists: true }".to_owned()),
            any::<bool>().prop_map(|flag| format!("known_contact: {{ is: {flag} }}")),
            any::<bool>().prop_map(|flag| format!("amount: {{ exists: {flag} }}")),
            (0..100).prop_map(|hours| format!("due_in: {{ lte: {hours} }}")),
            (0..=10).prop_map(|tenths| format!("urgency: {{ gte: {} }}", f64::from(tenths) / 10.0)),
        ]
    }

    fn rule() -> impl Strategy<Value = String> {
        let outcome = prop_oneof![
            4 => prop_oneof![Just("set: low"), Just("set: med"), Just("set: high")],
            1 => Just("set: med, lock: true"),
            1 => Just("set: low, stop: true"),
            2 => prop_oneof![Just("cap: low"), Just("cap: med")],
        ];
        (proptest::collection::vec(test(), 1..3), 0..4, outcome).prop_map(|(tests, form, outcome)| {
            let parts: Vec<String> = tests.iter().map(|test| format!("{{ {test} }}")).collect();
            let when = match form {
                0 => format!("{{ any: [{}] }}", parts.join(", ")),
                1 => format!("{{ not: {{ all: [{}] }} }}", parts.join(", ")),
                _ => format!("{{ all: [{}] }}", parts.join(", ")),
            };
            format!("when: {when}, {outcome}")
        })
    }

    proptest! {
        #[test]
        fn what_is_claimed_happens(rules in proptest::collection::vec(rule(), 0..6), verified in any::<bool>(), med in any::<bool>()) {
            let rules: String = rules.iter().enumerate().map(|(n, rule)| format!("  - {{ name: r{n}, {rule} }}\n")).collect();
            let default = if med { "med" } else { "low" };
            let rules = if rules.is_empty() { " []\n".to_owned() } else { format!("\n{rules}") };
            let text = format!("rules:{rules}default: {default}\n");
            let set = RuleSet::parse("f", &text).unwrap();
            let facts = Facts { sender_verified: verified, ..facts() };
            let before = set.rank(&facts, now());
            let found = set.find_smallest_change(&facts, now());
            let after = match &found.change {
                HypotheticalChange::Facts(changes) => {
                    set.rank(&changes.iter().fold(facts, |facts, change| change.apply(facts, now())), now())
                }
                HypotheticalChange::WithoutRule(name) => {
                    let kept = text.lines().filter(|line| !line.contains(&format!("name: {name},")));
                    let kept = kept.collect::<Vec<_>>().join("\n").replace("rules:\ndefault", "rules: []\ndefault");
                    RuleSet::parse("f", &kept).unwrap().rank(&facts, now())
                }
                HypotheticalChange::Default(level) => {
                    let text = text.replace(&format!("default: {default}"), &format!("default: {level}"));
                    RuleSet::parse("f", &text).unwrap().rank(&facts, now())
                }
                HypotheticalChange::NewRule(level) => {
                    let rule = format!("rules:\n  - {{ name: new, when: {{ kind: {{ exists: true }} }}, set: {level}, stop: true }}");
                    RuleSet::parse("f", &text.replace("rules: []", "rules:").replace("rules:", &rule)).unwrap().rank(&facts, now())
                }
            };
            prop_assert_eq!(after.level, found.level, "{}", found.text);
            prop_assert_ne!(before.level, found.level, "{}", found.text);
        }
    }
}
