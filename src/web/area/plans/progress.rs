//! A plan that is being executed: where each step stands, and what waits for the person. The page is loaded again by
//! itself whenever something changes.

use axum::extract::Path;
use maud::{Markup, html};

use super::prepared::join;
use crate::{
    model::{ItemKind, ItemRow, PlanRow, PlanStatus, PlanStepRow, PlanStepStatus, ids::sha256_hex},
    web::{
        area::Area,
        page::{PageAnswer, PageFailure, Visit, shown_lines, shown_short},
    },
    wording::plan::{LONGEST_RESULT, describe_result, describe_step_status},
};

/// Shows a plan.
pub(super) async fn show(visit: Visit, Path(task): Path<String>) -> PageAnswer {
    let (row, _) = visit.app().plans().find(Some(&task)).await?;
    let task_id = row.task.task_id;
    let (plan, running, is_running) = visit.app().plans().progress(task_id).await?;
    let items = visit.app().plans().items(task_id).await?;
    let ended =
        plan.steps.iter().filter(|step| matches!(step.status, PlanStepStatus::Completed | PlanStepStatus::Skipped));
    let (ended, all) = (ended.count(), plan.steps.len());
    let number = row.number.map_or_else(String::new, |number| format!(" of task {number}"));
    let title = format!("Plan{number}");
    let live = html! {
        p {
            span.tag { (plan.status.as_str().replace('_', " ")) } " "
            progress value=(ended) max=(all) aria-label="Steps that have ended" {} " " (ended) " of " (all) " steps"
            @if is_running { " · under way" }
        }
        (steps_table(&plan, &running))
        @for item in &items { (waiting(&visit, &plan, item)?) }
        @if let Some(summary) = plan.execution_summary.as_ref().filter(|_| plan.status != PlanStatus::InProgress) {
            p { (shown_short(summary, LONGEST_RESULT)) }
        }
    };
    let body = html! {
        p.crumbs { a href="/plans" { "Plans" } }
        h1 { (title) }
        (shown_lines(&plan.original_request))
        (visit.live_region("plan", &live))
        p { a href={ "/tasks/" (task_id) } { "The task with its history" } }
    };
    visit.page(Area::Plans, &title, &body).await
}

fn steps_table(plan: &PlanRow, running: &[u32]) -> Markup {
    html! {
        div.scroll role="region" aria-label="Steps" tabindex="0" {
            table {
                thead { tr {
                    th.number scope="col" { "#" } th scope="col" { "Step" } th scope="col" { "Tool" } th scope="col" { "After" }
                    th scope="col" { "Stands" } th scope="col" { "Result" }
                } }
                tbody { @for step in &plan.steps { (step_row(step, running.contains(&step.step_number))) } }
            }
        }
    }
}

fn step_row(step: &PlanStepRow, is_running: bool) -> Markup {
    let result = match (&step.error_message, &step.result) {
        (Some(why), _) => why.clone(),
        (None, Some(result)) if step.status == PlanStepStatus::Completed => describe_result(result),
        _ => String::new(),
    };
    html! {
        tr {
            td.number { (step.step_number) }
            th scope="row" { (shown_short(&step.description, 200)) }
            td { (step.tool.as_deref().map_or_else(|| "you".to_owned(), |tool| tool.replace('_', " "))) }
            td { (join(&step.after)) }
            td { span.tag.warning[step.status == PlanStepStatus::Failed] { (describe_step_status(step, is_running)) } }
            td { (shown_short(&result, LONGEST_RESULT)) }
        }
    }
}

/// Returns what stands for a failed step as it was shown.
pub(super) fn failure_digest(plan: &PlanRow, item: &ItemRow) -> String {
    let failed = plan.steps.iter().filter(|step| step.status == PlanStepStatus::Failed);
    let failed: Vec<_> = failed.map(|step| (step.step_number, &step.error_message)).collect();
    sha256_hex(format!("{} {} {} {failed:?}", item.item_id, item.state, item.title).as_bytes())
}

/// Returns what a person can do about an item of the plan: decide on a failed step, or look at an action.
fn waiting(visit: &Visit, plan: &PlanRow, item: &ItemRow) -> Result<Markup, PageFailure> {
    if item.kind != ItemKind::FailedStep {
        return Ok(html! {
            p.warning { "Waits for you: " a href={ "/approvals/" (item.number) } { (shown_short(&item.title, 200)) } }
        });
    }
    let fields = html! {
        input type="hidden" name="item" value=(item.item_id);
        button.primary type="submit" name="decision" value="retry" { "Retry" }
        button type="submit" name="decision" value="skip" { "Skip it and go on" }
        button type="submit" name="decision" value="cancel" { "Cancel the plan" }
    };
    let form = visit.form(&format!("/plans/{}/decide", plan.task_id), &failure_digest(plan, item), &fields)?;
    Ok(html! {
        div.warning-box {
            p { (shown_short(&item.title, 300)) }
            div.actions { (form) }
        }
    })
}
