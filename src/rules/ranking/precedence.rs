//! Which of the matching rules decides. The order of precedence stands here and nowhere else: the highest `set` wins;
//! caps lower it, but never below a locked level; the first `stop` ends everything.

use crate::model::Priority;

/// What a matching rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) struct RuleOutcome {
    pub(in crate::rules) kind: SetOrCap,
    pub(in crate::rules) level: Priority,
    /// Whether no cap can lower its level.
    pub(in crate::rules) lock: bool,
    /// Whether its level is final.
    pub(in crate::rules) stop: bool,
}

/// Whether a rule gives at least a level or at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum SetOrCap {
    Set,
    Cap,
}

/// The level, and the index of the rule that decided it; none when the default did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) struct DecidedLevel {
    pub(in crate::rules) level: Priority,
    pub(in crate::rules) rule: Option<usize>,
}

/// Decides the level. `matching` yields the matching rules in the order of the file and is not read past the first
/// `stop`.
pub(in crate::rules) fn apply_precedence(
    matching: impl Iterator<Item = (usize, RuleOutcome)>,
    default: Priority,
) -> DecidedLevel {
    let mut highest: Option<(usize, RuleOutcome)> = None;
    let mut locked: Option<(usize, RuleOutcome)> = None;
    let mut lowest_cap: Option<(usize, RuleOutcome)> = None;
    for (index, outcome) in matching {
        if outcome.stop {
            return DecidedLevel { level: outcome.level, rule: Some(index) };
        }
        let level = |best: &Option<(usize, RuleOutcome)>| best.map(|(_, outcome)| outcome.level);
        match outcome.kind {
            SetOrCap::Set => {
                // At the same level a locked rule decides, because only its level cannot be lowered.
                let locks = outcome.lock && highest.is_some_and(|(_, best)| best.level == outcome.level && !best.lock);
                if level(&highest).is_none_or(|best| outcome.level > best) || locks {
                    highest = Some((index, outcome));
                }
                if outcome.lock && level(&locked).is_none_or(|best| outcome.level > best) {
                    locked = Some((index, outcome));
                }
            }
            SetOrCap::Cap if level(&lowest_cap).is_none_or(|best| outcome.level < best) => {
                lowest_cap = Some((index, outcome));
            }
            SetOrCap::Cap => {}
        }
    }
    let set = highest.map_or(DecidedLevel { level: default, rule: None }, decided_by);
    let capped = lowest_cap.map(decided_by).filter(|cap| cap.level < set.level);
    match (capped, locked.map(decided_by)) {
        (Some(cap), Some(lock)) if lock.level >= cap.level => lock,
        (Some(cap), _) => cap,
        (None, _) => set,
    }
}

fn decided_by((index, outcome): (usize, RuleOutcome)) -> DecidedLevel {
    DecidedLevel { level: outcome.level, rule: Some(index) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};

    use super::*;
    use Priority::{Critical, High, Low, Med};

    fn set(level: Priority) -> RuleOutcome {
        RuleOutcome { kind: SetOrCap::Set, level, lock: false, stop: false }
    }

    fn lock(level: Priority) -> RuleOutcome {
        RuleOutcome { lock: true, ..set(level) }
    }

    fn stop(level: Priority) -> RuleOutcome {
        RuleOutcome { stop: true, ..set(level) }
    }

    fn cap(level: Priority) -> RuleOutcome {
        RuleOutcome { kind: SetOrCap::Cap, ..set(level) }
    }

    fn check(rules: &[RuleOutcome], level: Priority, rule: Option<usize>) {
        let decision = apply_precedence(rules.iter().copied().enumerate(), Med);
        assert_eq!(decision, DecidedLevel { level, rule }, "{rules:?}");
    }

    #[test]
    fn the_order_of_precedence() {
        check(&[], Med, None);
        check(&[cap(Low)], Low, Some(0));
        check(&[cap(Med)], Med, None);
        check(&[set(Low)], Low, Some(0));
        check(&[set(Med), set(High), set(High)], High, Some(1));
        check(&[cap(Med), set(High)], Med, Some(0));
        check(&[cap(Med), cap(Low), cap(Low), set(High)], Low, Some(1));
        check(&[cap(Low), lock(High)], High, Some(1));
        check(&[cap(Low), lock(Med), set(High)], Med, Some(1));
        check(&[cap(Med), lock(Low), set(High)], Med, Some(0));
        check(&[set(High), lock(High)], High, Some(1));
        check(&[lock(Med), set(High)], High, Some(1));
        check(&[lock(Critical), stop(Low), set(Critical)], Low, Some(1));
        check(&[cap(Low), stop(High)], High, Some(1));
        check(&[stop(Med), stop(High)], Med, Some(0));
    }

    /// Decides the level by the words of the design, sharing no code with the function under test.
    fn oracle(rules: &[RuleOutcome], default: Priority) -> Priority {
        if let Some(stop) = rules.iter().find(|rule| rule.stop) {
            return stop.level;
        }
        let sets = || rules.iter().filter(|rule| rule.kind == SetOrCap::Set);
        let highest = sets().map(|rule| rule.level).max().unwrap_or(default);
        let capped =
            rules.iter().filter(|rule| rule.kind == SetOrCap::Cap).fold(highest, |level, rule| level.min(rule.level));
        sets().filter(|rule| rule.lock).fold(capped, |level, rule| level.max(rule.level))
    }

    fn outcome() -> impl Strategy<Value = RuleOutcome> {
        let level = || prop_oneof![Just(Low), Just(Med), Just(High), Just(Critical)];
        prop_oneof![
            6 => (level(), any::<bool>()).prop_map(|(level, lock)| RuleOutcome { lock, ..set(level) }),
            4 => level().prop_map(cap),
            1 => level().prop_map(stop),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_the_words(rules in proptest::collection::vec(outcome(), 0..9), default in 0_usize..4) {
            let default = Priority::ALL[default];
            let decision = apply_precedence(rules.iter().copied().enumerate(), default);
            prop_assert_eq!(decision.level, oracle(&rules, default));
            let named = decision.rule.map_or(default, |rule| rules[rule].level);
            prop_assert_eq!(decision.level, named, "the rule that decided has the level");
        }
    }
}
