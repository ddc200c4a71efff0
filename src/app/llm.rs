//! The use cases of the language model: starting and stopping it, its cost, and whether it can be used. Every request
//! that may have cost something is recorded, also after a crash, so that the budget is never exceeded unnoticed. A
//! model that fails never fails a use case.

use std::sync::Arc;

use anyhow::Context as _;
use serde::Serialize;

use crate::{
    app::App,
    graph::{MODEL_IN_USE, NodeModelCaller},
    llm::{
        Budget, BudgetedModel, Llm, ModelHttpClient, ModelReply, PromptCall, PromptInput,
        anonymiser::QuotedMessage,
        prompt::{prioritise, reword_reply},
    },
    model::{
        CostRow, Instant, NewModelCall, ReplyJson,
        llm::{BudgetLimits, LlmSettings, ModelCall, ModelUsage, Outcome, Provider},
    },
    store::Write,
};

/// What the model cost, by day, node and rule.
#[derive(Debug, Clone, Serialize)]
pub struct CostReport {
    pub provider: Provider,
    pub model: String,
    /// The local date.
    pub today: String,
    pub spent_today: ModelUsage,
    pub budget: BudgetLimits,
    /// Whether the configuration has prices, so that money is counted.
    pub priced: bool,
    /// Since when today's budget is exhausted; none while it is not.
    pub gone_since: Option<Instant>,
    pub rows: Vec<CostRow>,
}

/// The answer of the model to the question of `doctor`.
#[derive(Debug, Serialize)]
pub struct ModelHealth {
    pub provider: Provider,
    pub model: String,
    pub outcome: Outcome,
    pub note: String,
    pub took_ms: u64,
    pub spent: ModelUsage,
    /// Since when today's budget is exhausted; none while it is not.
    pub gone_since: Option<Instant>,
    /// What is wrong with the guidelines file.
    pub guidelines_warning: Option<String>,
}

/// The use cases of the language model: starting and stopping it, what it costs, and whether it can be used.
#[derive(Clone, Copy)]
pub struct ModelUseCases<'a> {
    pub(super) app: &'a App,
}

impl ModelUseCases<'_> {
    /// Returns the caller of the model for nodes; none when no model is configured. Records the lost cost of a crash
    /// first.
    pub(super) async fn start(self) -> anyhow::Result<Option<Arc<NodeModelCaller>>> {
        let Some(settings) = &self.app.config.llm else { return Ok(None) };
        self.record_crash_cost(settings).await?;
        let wire = ModelHttpClient::new(settings).context("the model cannot be reached: [llm]")?;
        Ok(Some(Arc::new(self.build(settings, Arc::new(wire))?)))
    }

    /// Returns a caller whose budget starts with what was spent today by any process.
    fn build(self, settings: &LlmSettings, llm: Arc<dyn Llm>) -> anyhow::Result<NodeModelCaller> {
        let model = self.build_model(settings, llm)?;
        Ok(NodeModelCaller::new(model, self.app.home.guidelines_file(), self.app.config.me.time_zone))
    }

    fn build_model(self, settings: &LlmSettings, llm: Arc<dyn Llm>) -> anyhow::Result<BudgetedModel> {
        let today = self.local_date();
        let spent = self.app.store.read_blocking(|reader| reader.model_calls().usage_on(&today))?;
        Ok(BudgetedModel::new(llm, settings, Budget::new(settings.budget, &today, spent)))
    }

    /// Returns the model for the agents of one team; none when no model is configured. If the process that worked the
    /// team before was killed, what its calls may have cost is recorded first.
    pub(super) async fn start_for_team(self, team: i64) -> anyhow::Result<Option<BudgetedModel>> {
        let Some(settings) = &self.app.config.llm else { return Ok(None) };
        let mark = team_mark(team);
        let name = mark.clone();
        if self.app.store.read(move |reader| reader.settings().get(&name)).await?.is_some_and(|mark| !mark.is_empty()) {
            let note = format!("the program ended while agents of team {team} asked the model");
            self.record_lost_cost(settings, BudgetedModel::max_cost_lost_in_crash(settings), note).await?;
        }
        let wire = ModelHttpClient::new(settings).context("the model cannot be reached: [llm]")?;
        let model = self.build_model(settings, Arc::new(wire))?;
        self.app.store.write(Write::StoreSetting { name: mark, value: "1".into() }).await?;
        Ok(Some(model))
    }

    /// Records what cut-off calls of a team may have cost, after which nothing about its cost is unknown.
    pub(super) async fn stop_for_team(self, team: i64, model: &BudgetedModel) -> anyhow::Result<()> {
        let lost = model.take_unrecorded();
        if let Some(settings) = self.app.config.llm.as_ref().filter(|_| lost != ModelUsage::default()) {
            self.record_lost_cost(settings, lost, format!("cut off when team {team} was stopped")).await?;
        }
        self.app.store.write(Write::StoreSetting { name: team_mark(team), value: String::new() }).await?;
        Ok(())
    }

    /// Records the highest possible cost of the calls that were under way when the last process crashed, so that the
    /// budget is never exceeded unnoticed.
    async fn record_crash_cost(self, settings: &LlmSettings) -> anyhow::Result<()> {
        let in_use = self.app.store.read(|reader| reader.settings().get(MODEL_IN_USE)).await?;
        if in_use.is_none_or(|mark| mark.is_empty()) {
            return Ok(());
        }
        let note = format!("the program ended while up to {} questions were under way", settings.max_concurrent);
        self.record_lost_cost(settings, BudgetedModel::max_cost_lost_in_crash(settings), note).await?;
        self.app.store.write(Write::StoreSetting { name: MODEL_IN_USE.into(), value: String::new() }).await?;
        Ok(())
    }

    /// Records the highest possible cost of calls that were cut off by the shutdown. No other cost is unknown then.
    pub(super) async fn stop(self, model: &NodeModelCaller) -> anyhow::Result<()> {
        let lost = model.model.take_unrecorded();
        if let Some(settings) = self.app.config.llm.as_ref().filter(|_| lost != ModelUsage::default()) {
            self.record_lost_cost(settings, lost, "given up in the middle at an orderly end".into()).await?;
        }
        model.clear_in_use_flag(&self.app.store).await
    }

    /// Stores a cost for which there is no reply.
    async fn record_lost_cost(self, settings: &LlmSettings, spent: ModelUsage, note: String) -> anyhow::Result<()> {
        let call = ModelCall {
            about: String::new(),
            day: self.local_date(),
            provider: settings.provider,
            model: settings.model.clone(),
            prompt: String::new(),
            version: String::new(),
            guidelines: String::new(),
            outcome: Outcome::Lost,
            note,
            requests: 0,
            spent,
            took_ms: 0,
        };
        self.record_own_call("stopped", call, ReplyJson::encode(&())?).await
    }

    /// Stores a model call that belongs to no run.
    async fn record_own_call(self, node: &str, call: ModelCall, reply: ReplyJson) -> anyhow::Result<()> {
        let new = NewModelCall {
            run: None,
            node: node.to_owned(),
            input_hash: String::new(),
            ordinal: 0,
            reply,
            call,
            input_replies: Vec::new(),
            at: self.app.clock.now(),
        };
        self.app.store.write(Write::RecordModelCall(Box::new(new))).await?;
        Ok(())
    }

    fn local_date(self) -> String {
        self.app.clock.now().day_in(self.app.config.me.time_zone)
    }

    /// Puts the smallest possible question to the model, to see whether it answers. Returns none when no model is
    /// configured.
    pub(super) async fn check_health(self) -> anyhow::Result<Option<ModelHealth>> {
        let Some(settings) = &self.app.config.llm else { return Ok(None) };
        let wire = ModelHttpClient::new(settings).context("the model cannot be reached: [llm]")?;
        let consultant = self.build(settings, Arc::new(wire))?;
        let (inquiry, today) = (smallest_prompt()?, self.local_date());
        let question = PromptCall {
            input: &inquiry,
            guidelines: "",
            about: "doctor",
            spent_before: ModelUsage::default(),
            day: &today,
        };
        let (_, call) = consultant.model.request_answer(&question).await;
        let gone_since = self.app.store.read_blocking(|reader| reader.model_calls().day_budget_exhausted_at(&today))?;
        let health = ModelHealth {
            provider: call.provider,
            model: call.model.clone(),
            outcome: call.outcome,
            note: call.note.clone(),
            took_ms: call.took_ms,
            spent: call.spent,
            gone_since,
            guidelines_warning: crate::rules::guidelines::load(&self.app.home.guidelines_file()).warning,
        };
        // The question of `doctor` costs money too, so it counts against the budget.
        if call.outcome.was_attempted() {
            self.record_own_call("doctor", call, ReplyJson::encode(&())?).await?;
        }
        Ok(Some(health))
    }

    /// Has a reply of the assistant reworded. Returns none when the model gave no usable answer.
    pub(super) async fn reword_reply(self, reply: &str, language: &str) -> anyhow::Result<Option<String>> {
        let data = reword_reply::RewordReplyData { language: language.to_owned(), reply: reply.to_owned() };
        let input = data.to_prompt_input().context("the reply cannot be written down")?;
        let answer = self.ask_outside_runs("chat", &input, "").await?;
        Ok(answer.and_then(|answer| answer.answer::<reword_reply::RewordReplyAnswer>()).map(|answer| answer.reply))
    }

    /// Puts a question to the model about the plan of a request, with the guidelines. Returns none when no model is
    /// configured.
    pub(super) async fn ask_about_plan(self, input: &PromptInput) -> anyhow::Result<Option<ModelReply>> {
        let guidelines = crate::rules::guidelines::load(&self.app.home.guidelines_file());
        self.ask_outside_runs("ask", input, &guidelines.text).await
    }

    /// Puts a question to the model that belongs to no run. Returns none when no model is configured. The cost is on the
    /// disk before the answer is used. The budget of a task does not apply, because there is none; that of the day does.
    async fn ask_outside_runs(
        self,
        about: &str,
        input: &PromptInput,
        guidelines: &str,
    ) -> anyhow::Result<Option<ModelReply>> {
        let Some(settings) = &self.app.config.llm else { return Ok(None) };
        let wire = ModelHttpClient::new(settings).context("the model cannot be reached: [llm]")?;
        let caller = self.build(settings, Arc::new(wire))?;
        let today = self.local_date();
        let question = PromptCall { input, guidelines, about, spent_before: ModelUsage::default(), day: &today };
        let (reply, call) = caller.model.request_answer(&question).await;
        if call.outcome.was_attempted() {
            self.record_own_call(about, call, ReplyJson::encode(&reply)?).await?;
        }
        Ok(Some(reply))
    }

    /// Returns the cost of the last `days` days; none when there is no model and never was one.
    pub async fn report_cost(self, days: u32) -> anyhow::Result<Option<CostReport>> {
        let today = self.local_date();
        let since = self.app.clock.now().plus(-chrono::Duration::days(days.saturating_sub(1).into()));
        let (day, since) = (today.clone(), since.day_in(self.app.config.me.time_zone));
        let read = self.app.store.read(move |reader| {
            Ok((
                reader.model_calls().usage_on(&day)?,
                reader.model_calls().day_budget_exhausted_at(&day)?,
                reader.model_calls().costs(&since)?,
            ))
        });
        let (spent_today, gone_since, rows) = read.await?;
        let settings = self.app.config.llm.as_ref();
        if settings.is_none() && rows.is_empty() {
            return Ok(None);
        }
        Ok(Some(CostReport {
            provider: settings.map_or(Provider::Off, |settings| settings.provider),
            model: settings.map(|settings| settings.model.clone()).unwrap_or_default(),
            today,
            spent_today,
            budget: settings.map(|settings| settings.budget).unwrap_or_default(),
            priced: settings.is_some_and(|settings| settings.price.is_known()),
            gone_since,
            rows,
        }))
    }

    /// Returns why the configured model cannot be used, as interfaces show it; none when it can.
    pub fn warning(self) -> Option<String> {
        self.app.config.llm.as_ref()?;
        let today = self.local_date();
        let (gone, last) = self
            .app
            .store
            .read_blocking(|reader| {
                Ok((reader.model_calls().day_budget_exhausted_at(&today)?, reader.model_calls().last_outcome()?))
            })
            .ok()?;
        if let Some(since) = gone {
            return Some(format!(
                "The model's budget for {today} is gone since {since}; rules go on alone. See `adjutant cost`."
            ));
        }
        let (outcome, note) = last?;
        let failing = matches!(outcome, Outcome::Unreachable | Outcome::Late | Outcome::Denied);
        failing.then(|| format!("The model did not answer ({note}); rules go on alone. See `adjutant doctor`."))
    }
}

/// Returns the name of the setting that is on while agents of a team may ask the model.
fn team_mark(team: i64) -> String {
    format!("team_model_in_use_{team}")
}

/// Returns the smallest possible prompt, which contains nothing of the person's data.
fn smallest_prompt() -> anyhow::Result<PromptInput> {
    let message = QuotedMessage {
        handle: "M0".into(),
        from: "P1".into(),
        sent: None,
        subject: String::new(),
        text: "Whenever you find the time.".into(),
    };
    let data = prioritise::PrioritiseData {
        people: Vec::new(),
        message,
        objective: "Check that a model answers".into(),
        deadline: String::new(),
    };
    data.to_prompt_input().context("the question cannot be written down")
}
