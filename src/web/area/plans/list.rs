//! The field for a request, and the plans.

use maud::{Markup, html};

use crate::{
    model::PlanRow,
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown_short},
    },
};

/// How many plans one page lists.
const PER_PAGE: usize = 30;

/// Shows the plans.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let skipped: usize = visit.query("after").parse().unwrap_or_default();
    let plans = visit.app().plans().list(skipped, PER_PAGE + 1).await?;
    let fields = html! {
        label for="text" { "What is to be done?" }
        textarea #text name="text" rows="4" dir="auto" required maxlength="16384"
            placeholder="1. collect last month's invoices 2. draft a summary to Dana 3. remind me Friday" {}
        p.actions { button.primary type="submit" { "Show the plan" } }
    };
    let body = html! {
        h1 { "Plans" }
        p.muted { "A request with several steps. You see the steps first; nothing is stored or done before you agree." }
        div.sheet { (visit.form("/plans/prepare", "", &fields)?) }
        h2 { "Your plans" }
        @if plans.is_empty() { p.muted { "There is none yet." } } @else {
            ol.queue { @for (plan, number) in plans.iter().take(PER_PAGE) { li { (line(plan, *number)) } } }
        }
        @if plans.len() > PER_PAGE { p { a href={ "/plans?after=" (skipped + PER_PAGE) } { "Earlier plans" } } }
    };
    visit.page(Area::Plans, "Plans", &body).await
}

fn line(plan: &PlanRow, number: Option<i64>) -> Markup {
    html! {
        a.row href={ "/plans/" (plan.task_id) } {
            span.what { (shown_short(&plan.original_request, 160)) }
            span.about {
                span { (plan.status.as_str().replace('_', " ")) }
                @if let Some(number) = number { span { "task " (number) } }
            }
        }
    }
}
