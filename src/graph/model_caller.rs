//! Putting a node's question to the model: with the guidelines before it, on the budget of what it is about.

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

/// Set while questions may be under way whose cost is in no record. Found at a start, it says that the last one crashed.
pub const MODEL_IN_USE: &str = "model_in_use";

pub struct NodeModelCaller {
    pub model: BudgetedModel,
    pub guidelines: PathBuf,
    pub time_zone: Tz,
    in_use_flag_written: OnceCell<()>,
}

impl NodeModelCaller {
    pub fn new(model: BudgetedModel, guidelines: PathBuf, time_zone: Tz) -> Self {
        Self { model, guidelines, time_zone, in_use_flag_written: OnceCell::new() }
    }

    pub(super) async fn call(
        &self,
        store: &Store,
        asker: CallContext<'_>,
        inquiry: &PromptInput,
    ) -> anyhow::Result<(ModelReply, ModelCall)> {
        self.in_use_flag_written.get_or_try_init(|| self.write_in_use_flag(store, "1")).await?;
        // A mail's own run has no task yet.
        let about = asker.state.task.as_ref().map_or(asker.run.run_id.to_string(), |task| task.task_id.to_string());
        let before = store.read_blocking(|reader| reader.model_calls().usage_about(&about))?;
        let guidelines = guidelines::load(&self.guidelines);
        let day = self.day(asker.now);
        let question =
            PromptCall { input: inquiry, guidelines: &guidelines.text, about: &about, spent_before: before, day: &day };
        Ok(self.model.request_answer(&question).await)
    }

    pub fn day(&self, now: Instant) -> String {
        now.day_in(self.time_zone)
    }

    async fn write_in_use_flag(&self, store: &Store, value: &str) -> anyhow::Result<()> {
        store.write(Write::StoreSetting { name: MODEL_IN_USE.into(), value: value.into() }).await?;
        Ok(())
    }

    /// At an orderly end: everything that was spent is in the record.
    pub async fn clear_in_use_flag(&self, store: &Store) -> anyhow::Result<()> {
        if self.in_use_flag_written.initialized() && self.model.is_idle() {
            self.write_in_use_flag(store, "").await?;
        }
        Ok(())
    }
}
