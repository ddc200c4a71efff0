//! A prepared plan: its steps, and what the person wants done with it. What is executed is the draft that was shown.

use axum::extract::Path;
use maud::{Markup, html};

use crate::{
    app::PreparedRequest,
    model::{PlannedStep, ids::sha256_hex},
    web::{
        area::Area,
        page::{PageAnswer, PageChange, PageFailure, PageNote, Visit, see_other, shown, shown_lines, shown_short},
    },
    wording::plan::describe_worker,
};

/// Reads a request and shows its plan.
pub(super) async fn prepare(change: PageChange) -> PageAnswer {
    let prepared = change.visit.app().plans().prepare(change.form.get("text"), None).await;
    match prepared {
        Ok(prepared) => lead_to(&change.visit, prepared),
        Err(error) => change.visit.redirect_after("/plans", Err(error)),
    }
}

/// Keeps a plan as a draft and leads to it.
fn lead_to(visit: &Visit, prepared: PreparedRequest) -> PageAnswer {
    let name = visit.state().drafts.plans.keep(visit.session(), prepared)?;
    Ok(see_other(&format!("/plans/drafts/{name}")))
}

/// Returns what stands for everything that is shown of a plan.
fn digest(prepared: &PreparedRequest) -> anyhow::Result<String> {
    Ok(sha256_hex(&serde_json::to_vec(prepared)?))
}

/// Shows a plan before it is executed.
pub(super) async fn show(visit: Visit, Path(name): Path<String>) -> PageAnswer {
    let prepared = visit.state().drafts.plans.find(visit.session(), &name).map_err(anyhow::Error::from)?;
    let complexity = &prepared.complexity;
    let reasons: Vec<&str> = complexity.reasons.iter().map(|reason| reason.describe()).collect();
    let body = html! {
        p.crumbs { a href="/plans" { "Plans" } }
        h1 { "The plan" }
        (shown_lines(&prepared.text))
        @if prepared.is_question() {
            p { "That is a question; nothing was planned or stored. " a href="/search" { "Search" } " finds mails and tasks." }
        } @else {
            @if complexity.is_complex() { p.muted { "Complexity " (complexity.score) " of 100: " (reasons.join(", ")) "." } }
            (steps_table(&prepared.plan.steps))
            @for file in &prepared.files {
                p { "Attached: " (shown_short(&file.path, 100)) " (" (file.text.chars().count()) " characters)" }
            }
            @for note in &prepared.notes { p.warning { (shown(note)) } }
            (choices(&visit, &name, &prepared)?)
        }
    };
    visit.page(Area::Plans, "The plan", &body).await
}

fn steps_table(steps: &[PlannedStep]) -> Markup {
    html! {
        div.scroll role="region" aria-label="Steps" tabindex="0" {
            table {
                thead { tr {
                    th.number scope="col" { "#" } th scope="col" { "Step" } th scope="col" { "Done by" } th scope="col" { "After" }
                } }
                tbody {
                    @for step in steps {
                        tr {
                            td.number { (step.step_number) }
                            th scope="row" { (shown_short(&step.description, 200)) }
                            td { (shown_short(&describe_worker(step), 120)) }
                            td { (join(&step.after)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the numbers of steps in a row.
pub(super) fn join(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn choices(visit: &Visit, name: &str, prepared: &PreparedRequest) -> Result<Markup, PageFailure> {
    let seen = digest(prepared)?;
    let path = |act: &str| format!("/plans/drafts/{name}/{act}");
    let button = |text: &str| html! { button type="submit" { (text) } };
    let execute = html! { button.primary type="submit" { "Execute" } };
    let steps = html! {
        label for="steps" { "The steps, as text" }
        textarea.code #steps name="steps" rows="12" dir="auto" { "\n" (visit.app().plans().print_steps(&prepared.plan)) }
        p.actions { (button("Use these steps")) }
    };
    Ok(html! {
        div.actions {
            (visit.form(&path("execute"), &seen, &execute)?)
            @if prepared.plan.steps.len() > 1 {
                (visit.form(&path("direct"), &seen, &button("Execute directly, as one step"))?)
            }
            (visit.form(&path("cancel"), &seen, &button("Cancel"))?)
        }
        details.file { summary { "Edit the steps" } div.sheet { (visit.form(&path("steps"), &seen, &steps)?) } }
    })
}

/// Returns the draft of a change, if it is what the person was shown.
fn shown_draft(change: &PageChange, name: &str) -> Result<PreparedRequest, PageFailure> {
    let prepared = change.visit.state().drafts.plans.find(change.visit.session(), name).map_err(anyhow::Error::from)?;
    if change.form.seen() == digest(&prepared)? { Ok(prepared) } else { Err(PageFailure::Outdated) }
}

/// Executes the plan that was shown. It is executed once, however often the button is pressed.
pub(super) async fn execute(Path(name): Path<String>, change: PageChange) -> PageAnswer {
    shown_draft(&change, &name)?;
    let prepared =
        change.visit.state().drafts.plans.take(change.visit.session(), &name).map_err(anyhow::Error::from)?;
    open(&change.visit, prepared).await
}

/// Executes the request that was shown as one step.
pub(super) async fn make_direct(Path(name): Path<String>, change: PageChange) -> PageAnswer {
    let prepared = shown_draft(&change, &name)?;
    let direct = change.visit.app().plans().without_plan(&prepared, None).await?;
    drop(change.visit.state().drafts.plans.take(change.visit.session(), &name));
    open(&change.visit, direct).await
}

async fn open(visit: &Visit, prepared: PreparedRequest) -> PageAnswer {
    let task_id = visit.app().plans().open(prepared).await?;
    Ok(see_other(&format!("/plans/{task_id}")))
}

/// Replaces the steps by those that the person wrote, and shows the plan again.
pub(super) async fn edit_steps(Path(name): Path<String>, change: PageChange) -> PageAnswer {
    let prepared = shown_draft(&change, &name)?;
    let steps = change.form.get("steps").replace("\r\n", "\n");
    match change.visit.app().plans().with_steps(&prepared, steps.trim_start_matches('\n'), None).await {
        Ok(changed) => lead_to(&change.visit, changed),
        Err(error) => change.visit.redirect_after(&format!("/plans/drafts/{name}"), Err(error)),
    }
}

/// Drops the plan. Nothing was stored.
pub(super) async fn cancel(Path(name): Path<String>, change: PageChange) -> PageAnswer {
    drop(change.visit.state().drafts.plans.take(change.visit.session(), &name));
    change.visit.redirect("/plans", PageNote::done("Cancelled; nothing was stored."))
}
