//! What may be spent: reserved in memory before a question, settled after it. The record of questions is the truth a
//! later start reads.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::model::llm::{BudgetLimits, ModelUsage, Outcome};

pub struct Budget {
    allowance: BudgetLimits,
    state: Mutex<BudgetState>,
}

#[derive(Default)]
struct BudgetState {
    day: String,
    /// Today, settled.
    spent: ModelUsage,
    reserved: ModelUsage,
    /// Of questions that were given up in the middle: in no record yet.
    unrecorded: ModelUsage,
    /// Of questions under way, by what they are about.
    reserved_in_flight: HashMap<String, ModelUsage>,
}

/// The worst a question can cost, put aside until it is known. Dropped unsettled, all of it counts as spent.
pub(super) struct Reservation<'a> {
    budget: &'a Budget,
    about: String,
    day: String,
    worst: ModelUsage,
    actual: Option<ModelUsage>,
}

impl Budget {
    /// `spent` is what the record says of `day`.
    pub fn new(allowance: BudgetLimits, day: &str, spent: ModelUsage) -> Self {
        let state = BudgetState { day: day.to_owned(), spent, ..BudgetState::default() };
        Self { allowance, state: Mutex::new(state) }
    }

    /// `before` is what the record says was spent on `about`.
    pub(super) fn reserve(
        &self,
        day: &str,
        about: &str,
        before: ModelUsage,
        worst: ModelUsage,
    ) -> Result<Reservation<'_>, Outcome> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.day != day {
            // What is under way was reserved yesterday and is settled there.
            day.clone_into(&mut state.day);
            (state.spent, state.reserved) = (ModelUsage::default(), ModelUsage::default());
        }
        if !self.allowance.day.allows(state.spent.plus(state.reserved).plus(worst)) {
            return Err(Outcome::DayBudget);
        }
        let under_way = state.reserved_in_flight.get(about).copied().unwrap_or_default();
        if !self.allowance.task.allows(before.plus(under_way).plus(worst)) {
            return Err(Outcome::TaskBudget);
        }
        state.reserved = state.reserved.plus(worst);
        state.reserved_in_flight.insert(about.to_owned(), under_way.plus(worst));
        let (about, day) = (about.to_owned(), day.to_owned());
        Ok(Reservation { budget: self, about, day, worst, actual: None })
    }

    /// What was given up in the middle since this was last asked, at its worst. For whoever records it.
    pub(super) fn take_unrecorded(&self) -> ModelUsage {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).unrecorded)
    }

    /// Nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).reserved_in_flight.is_empty()
    }
}

impl Reservation<'_> {
    pub(super) fn commit(mut self, spent: ModelUsage) {
        self.actual = Some(spent);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.actual.is_none() {
            state.unrecorded = state.unrecorded.plus(self.worst);
        }
        if state.day == self.day {
            state.reserved = state.reserved.minus(self.worst);
            state.spent = state.spent.plus(self.actual.unwrap_or(self.worst));
        }
        let left = state.reserved_in_flight.get(&self.about).copied().unwrap_or_default().minus(self.worst);
        if left == ModelUsage::default() {
            state.reserved_in_flight.remove(&self.about);
        } else {
            state.reserved_in_flight.insert(self.about.clone(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::llm::SpendLimit;

    fn tokens(count: u64) -> ModelUsage {
        ModelUsage { tokens_in: count, ..ModelUsage::default() }
    }

    fn budget(day: u64, task: u64) -> Budget {
        let limit = |most| SpendLimit { tokens: Some(most), micros: None };
        Budget::new(BudgetLimits { day: limit(day), task: limit(task) }, "monday", tokens(10))
    }

    #[test]
    fn what_is_under_way_counts_at_its_worst() {
        let budget = budget(100, 1000);
        let one = budget.reserve("monday", "a", ModelUsage::default(), tokens(60)).ok().unwrap();
        assert_eq!(budget.reserve("monday", "b", ModelUsage::default(), tokens(40)).err(), Some(Outcome::DayBudget));
        one.commit(tokens(5));
        let two = budget.reserve("monday", "b", ModelUsage::default(), tokens(80)).ok().unwrap();
        drop(two);
        assert_eq!(
            budget.reserve("monday", "c", ModelUsage::default(), tokens(6)).err(),
            Some(Outcome::DayBudget),
            "one that nobody settled counts whole"
        );
        assert!(budget.is_idle());
        assert_eq!((budget.take_unrecorded(), budget.take_unrecorded()), (tokens(80), ModelUsage::default()));
    }

    #[test]
    fn a_new_day_has_a_budget_of_its_own() {
        let budget = budget(100, 1000);
        let late = budget.reserve("monday", "a", ModelUsage::default(), tokens(90)).ok().unwrap();
        let early = budget.reserve("tuesday", "b", ModelUsage::default(), tokens(100)).ok().unwrap();
        late.commit(tokens(90));
        early.commit(tokens(1));
        assert!(budget.reserve("tuesday", "c", ModelUsage::default(), tokens(99)).is_ok());
    }

    #[test]
    fn a_task_has_its_own_limit() {
        let budget = budget(1000, 50);
        assert_eq!(budget.reserve("monday", "a", tokens(30), tokens(21)).err(), Some(Outcome::TaskBudget));
        let held = budget.reserve("monday", "a", tokens(30), tokens(15)).ok().unwrap();
        assert_eq!(budget.reserve("monday", "a", tokens(30), tokens(15)).err(), Some(Outcome::TaskBudget));
        assert!(budget.reserve("monday", "b", tokens(30), tokens(15)).is_ok());
        drop(held);
    }
}
