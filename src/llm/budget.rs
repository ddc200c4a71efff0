//! The budget of model calls. Before a call its worst case is reserved in memory; afterwards the reservation is
//! replaced by the actual cost.
//!
//! The stored calls are the truth: after a restart, what was spent is read from them. No call is made for which the
//! budget of the day or of the task does not suffice.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::model::llm::{BudgetLimits, ModelUsage, Outcome};

/// What the limits leave, shared by all calls of this process.
pub struct Budget {
    allowance: BudgetLimits,
    state: Mutex<BudgetState>,
}

/// The counters of one day. They are kept in memory only.
#[derive(Default)]
struct BudgetState {
    /// The local date that `spent` and `reserved` count for.
    day: String,
    /// What the finished calls of the day have cost.
    spent: ModelUsage,
    /// The worst case of all calls of the day that are in flight.
    reserved: ModelUsage,
    /// The worst case of calls that were cancelled and have no record yet.
    unrecorded: ModelUsage,
    /// The worst case of the calls in flight, by the id whose budget pays.
    reserved_in_flight: HashMap<String, ModelUsage>,
}

/// The worst case of one call, set aside until its cost is known. If it is dropped without [`Reservation::commit`], all
/// of it counts as spent.
pub(super) struct Reservation<'a> {
    budget: &'a Budget,
    about: String,
    day: String,
    worst: ModelUsage,
    actual: Option<ModelUsage>,
}

impl Budget {
    /// Starts with what the stored calls say was `spent` on `day`.
    pub fn new(allowance: BudgetLimits, day: &str, spent: ModelUsage) -> Self {
        let state = BudgetState { day: day.to_owned(), spent, ..BudgetState::default() };
        Self { allowance, state: Mutex::new(state) }
    }

    /// Reserves the worst case of a call, or returns which budget does not allow it. `before` is what the stored calls
    /// say was spent on `about`.
    pub(super) fn reserve(
        &self,
        day: &str,
        about: &str,
        before: ModelUsage,
        worst: ModelUsage,
    ) -> Result<Reservation<'_>, Outcome> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.day != day {
            // Calls still in flight were reserved on the day before, and count for that day only.
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

    /// Returns the worst case of the calls that were cancelled since the last time, for the caller to record.
    pub(super) fn take_unrecorded(&self) -> ModelUsage {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).unrecorded)
    }

    /// Returns whether no call is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).reserved_in_flight.is_empty()
    }
}

impl Reservation<'_> {
    /// Replaces the worst case by the actual cost.
    pub(super) fn commit(mut self, spent: ModelUsage) {
        self.actual = Some(spent);
    }
}

impl Drop for Reservation<'_> {
    /// Releases the reservation. Without a commit the call was cancelled: nobody knows its cost, so its worst case is
    /// spent.
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
            "a reservation without a commit counts at its worst case"
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
