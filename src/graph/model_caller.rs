//! Calls the model for a node, with the guidelines in the prompt and the cost charged to the task.

use std::path::PathBuf;

use chrono_tz::Tz;
use tokio::sync::OnceCell;

use super::call_handler::CallContext;
use crate::{
    llm::{BudgetedModel, ModelReply, PromptCall, PromptInput},
    model::{Instant, llm::ModelCall},
    rules::guidelines,
    store::{Store, Write},
};

/// The setting that is on while there may be model calls whose cost is not recorded. If it is on at a start, the last
/// process crashed, and the budget counts the worst case.
pub const MODEL_IN_USE: &str = "model_in_use";

/// The model as nodes use it.
pub struct NodeModelCaller {
    pub model: BudgetedModel,
    /// The file with the person's guidelines, read anew for each call.
    pub guidelines: PathBuf,
    pub time_zone: Tz,
    /// Set once this process has stored [`MODEL_IN_USE`], so that it is stored only once.
    in_use_flag_written: OnceCell<()>,
}

impl NodeModelCaller {
    pub fn new(model: BudgetedModel, guidelines: PathBuf, time_zone: Tz) -> Self {
        Self { model, guidelines, time_zone, in_use_flag_written: OnceCell::new() }
    }

    /// Calls the model within its budget. Returns the reply, which may be the reason why there is none, and the record
    /// of the call with its cost. [`MODEL_IN_USE`] is on the disk before the first call.
    pub(super) async fn call(
        &self,
        store: &Store,
        asker: CallContext<'_>,
        inquiry: &PromptInput,
    ) -> anyhow::Result<(ModelReply, ModelCall)> {
        self.in_use_flag_written.get_or_try_init(|| self.write_in_use_flag(store, "1")).await?;
        // The run of a mail has no task yet, so its cost is charged to the run.
        let about = asker.state.task.as_ref().map_or(asker.run.run_id.to_string(), |task| task.task_id.to_string());
        let before = store.read_blocking(|reader| reader.model_calls().usage_about(&about))?;
        let guidelines = guidelines::load(&self.guidelines);
        let day = self.day(asker.now);
        let question =
            PromptCall { input: inquiry, guidelines: &guidelines.text, about: &about, spent_before: before, day: &day };
        Ok(self.model.request_answer(&question).await)
    }

    /// Returns the local date, by which the daily budget is counted.
    pub fn day(&self, now: Instant) -> String {
        now.day_in(self.time_zone)
    }

    async fn write_in_use_flag(&self, store: &Store, value: &str) -> anyhow::Result<()> {
        store.write(Write::StoreSetting { name: MODEL_IN_USE.into(), value: value.into() }).await?;
        Ok(())
    }

    /// Clears [`MODEL_IN_USE`] at an orderly shutdown, when the cost of every call is recorded.
    pub async fn clear_in_use_flag(&self, store: &Store) -> anyhow::Result<()> {
        if self.in_use_flag_written.initialized() && self.model.is_idle() {
            self.write_in_use_flag(store, "").await?;
        }
        Ok(())
    }
}
