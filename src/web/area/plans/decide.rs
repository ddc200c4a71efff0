//! The decision on a failed step: retry, skip, or cancel the plan.

use axum::extract::Path;

use super::progress::failure_digest;
use crate::{
    app::NotFound,
    model::DecisionKind,
    web::page::{PageAnswer, PageChange, PageNote},
};

/// Decides on the failure that was shown.
pub(super) async fn decide(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let page = format!("/plans/{task}");
    let outcome = carry_out(&change, &task).await;
    change.visit.redirect_after(&page, outcome)
}

async fn carry_out(change: &PageChange, task: &str) -> anyhow::Result<PageNote> {
    let plans = change.visit.app().plans();
    let (row, plan) = plans.find(Some(task)).await?;
    let items = plans.items(row.task.task_id).await?;
    let wanted = change.form.get("item");
    let item = items.iter().find(|item| item.item_id.to_string() == wanted);
    let item = item.ok_or_else(|| NotFound("this was decided already".into()))?;
    if failure_digest(&plan, item) != change.form.seen() {
        return Ok(PageNote::refused("It has changed since it was shown, so nothing was done. Look again."));
    }
    let (decision, done) = match change.form.get("decision") {
        "retry" => (DecisionKind::Retry, "The step is tried again."),
        "skip" => (DecisionKind::Skip, "The step is skipped, and the plan goes on."),
        "cancel" => (DecisionKind::Cancel, "The plan is cancelled."),
        _ => return Ok(PageNote::refused("Nothing was decided.")),
    };
    plans.decide(item, decision).await?;
    Ok(PageNote::done(done))
}
