//! Benchmark: what the layer around a model costs besides the model: composing the prompt, reserving the budget,
//! checking the answer, and storing the record.
//!
//! `cargo bench --bench llm`. Each number is printed with its goal; the ratio is the share of the goal that is used.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on should stop loudly")]

use std::{sync::Arc, time::Instant};

use adjutant::{
    llm::{
        Budget, BudgetedModel, CompletionFuture, Llm, PromptCall, ProviderReply, ProviderRequest,
        anonymiser::{Person, QuotedMessage},
        prompt::plan_step,
    },
    model::{
        NewModelCall, ReplyJson,
        llm::{BudgetLimits, LlmSettings, ModelUsage, Provider, SpendLimit, TokenPrice},
    },
    store::{Store, Write},
};
use serde_json::json;

/// Goal for one call, in microseconds.
const GOAL_US: f64 = 1_000.0;
const CALLS: usize = 2_000;

/// A provider that answers at once.
struct Instantly(String);

impl Llm for Instantly {
    fn complete<'a>(&'a self, _request: &'a ProviderRequest) -> CompletionFuture<'a> {
        Box::pin(async { Ok(ProviderReply { text: self.0.clone(), tokens: Some((1_000, 50)) }) })
    }
}

fn settings() -> LlmSettings {
    let limit = SpendLimit { tokens: Some(u64::MAX), micros: Some(u64::MAX) };
    LlmSettings {
        provider: Provider::Compatible,
        model: "bench".into(),
        base_url: String::new(),
        key: None,
        deadline: std::time::Duration::from_secs(30),
        max_concurrent: 4,
        budget: BudgetLimits { day: limit, task: limit },
        price: TokenPrice { input: 0.1, output: 0.4 },
    }
}

/// Returns a prompt as large as they get: a long mail, several people and tasks.
fn data() -> plan_step::PlanStepData {
    let person =
        |nth: usize| Person { handle: format!("P{nth}"), name: format!("Person {nth}"), role: "wrote M0".into() };
    let message = QuotedMessage {
        handle: "M0".into(),
        from: "P1".into(),
        sent: "2026-11-16T08:00:00Z".parse().ok(),
        subject: "Numbers for the project".into(),
        text: "Could you send me the numbers for the project by Friday? ".repeat(70),
    };
    let task = |nth: usize| plan_step::TaskShown {
        handle: format!("T{nth}"),
        objective: format!("Send the numbers for project {nth}"),
        deadline: String::new(),
        steps: vec!["remind".into(), "do_the_work".into()],
    };
    plan_step::PlanStepData {
        language: "en".into(),
        people: (0..8).map(person).collect(),
        message,
        tasks: (1..4).map(task).collect(),
    }
}

fn line(what: &str, us: f64) {
    println!("{what:<44} {us:>8.0} µs per call   goal {GOAL_US:>6.0} µs   ratio {:.3}", us / GOAL_US);
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (1..4)
            .map(|nth| json!({ "task": format!("T{nth}"), "objective": format!("Send Tom the numbers for project {nth}"), "deadline": "2026-11-20", "steps": ["draft_reply"] }))
            .collect();
        let llm = Arc::new(Instantly(json!({ "tasks": tasks }).to_string()));
        let desk = BudgetedModel::new(llm, &settings(), Budget::new(settings().budget, "2026-11-16", ModelUsage::default()));
        let guidelines = "- be brief\n".repeat(300);
        let begun = Instant::now();
        let mut last = None;
        for _ in 0..CALLS {
            let inquiry = data().to_prompt_input().unwrap();
            let question = PromptCall { input: &inquiry, guidelines: &guidelines, about: "task", spent_before: ModelUsage::default(), day: "2026-11-16" };
            let (heard, call) = desk.request_answer(&question).await;
            assert!(heard.answer.is_some(), "{heard:?}");
            last = Some((heard, call));
        }
        line("the layer alone (compose, reserve, check)", begun.elapsed().as_secs_f64() * 1e6 / CALLS as f64);

        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("tasks.db"), folder.path()).unwrap();
        let (heard, call) = last.unwrap();
        let recorded = CALLS / 4;
        let begun = Instant::now();
        for nth in 0..recorded {
            let new = NewModelCall {
                run: None,
                node: "bench".into(),
                input_hash: nth.to_string(),
                ordinal: 0,
                reply: ReplyJson::encode(&heard).unwrap(),
                call: call.clone(),
                input_replies: Vec::new(),
                at: "2026-11-16T08:00:00Z".parse().unwrap(),
            };
            store.write(Write::RecordModelCall(Box::new(new))).await.unwrap();
        }
        let us = begun.elapsed().as_secs_f64() * 1e6 / recorded as f64;
        let what = "its row on the disk, alone";
        println!("{what:<44} {us:>8.0} µs, an fsync that is shared with whoever commits meanwhile");
    });
}
