//! The board: the first tasks of every stage, side by side.

use maud::{Markup, html};

use super::{
    add::add_form,
    line::{priority_reason, priority_tag, task_link},
    list::{tabs, view_title},
};
use crate::{
    model::{TaskPage, TaskRow, TaskView},
    rules::RuleSet,
    web::{
        area::Area,
        page::{PageAnswer, Visit, direction, shown_short},
    },
    wording::description::format_deadline,
};

/// The columns from left to right.
const COLUMNS: [TaskView; 4] = [TaskView::Ready, TaskView::InProgress, TaskView::Waiting, TaskView::Done];
/// How many tasks a column shows.
const CARDS: usize = 12;

/// Shows the board.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let lists = visit.app().task_lists();
    let (columns, counts) = (lists.board(&COLUMNS, CARDS).await?, lists.counts().await?);
    let rules = visit.app().rules().load().rules;
    let board = html! {
        (tabs(TaskView::Open, true, &counts))
        div.board {
            @for (view, page) in &columns {
                section aria-label=(view_title(*view)) {
                    h2 { (view_title(*view)) " " span.muted { (counts.of(*view)) } }
                    (column(&visit, page, &rules))
                    @if page.next.is_some() { p { a href={ "/tasks?view=" (view) } { "All of them" } } }
                }
            }
        }
    };
    let body = html! {
        h1 { "Tasks" }
        (add_form(&visit)?)
        (visit.live_region("board", &board))
    };
    visit.page(Area::Tasks, "Board", &body).await
}

fn column(visit: &Visit, page: &TaskPage, rules: &RuleSet) -> Markup {
    html! {
        @if page.rows.is_empty() {
            p.muted { "None." }
        } @else {
            ul.cards { @for row in &page.rows { li data-row { (card(visit, row, rules)) } } }
        }
    }
}

fn card(visit: &Visit, row: &TaskRow, rules: &RuleSet) -> Markup {
    let deadline = row.task.context.deadline.as_deref();
    html! {
        p.title dir=(direction(&row.task.objective)) { (task_link(row)) }
        p.muted {
            (priority_tag(row.task.priority)) " " (shown_short(&priority_reason(row, rules), 60))
            @if let Some(deadline) = deadline {
                " · due " (shown_short(&format_deadline(deadline, visit.app().config.me.time_zone), 40))
            }
        }
    }
}
