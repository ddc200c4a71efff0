//! Lists of tasks, a page at a time.

use maud::{Markup, html};

use super::{add::add_form, line::task_line};
use crate::{
    model::{Priority, TaskCounts, TaskPosition, TaskView},
    web::{
        area::Area,
        page::{PageAnswer, Visit},
    },
};

/// How many tasks a page has.
const PAGE: usize = 50;

/// Returns the name of a list.
pub(super) const fn view_title(view: TaskView) -> &'static str {
    match view {
        TaskView::Open => "Open",
        TaskView::Ready => "To do",
        TaskView::InProgress => "In progress",
        TaskView::Waiting => "Waiting for you",
        TaskView::Snoozed => "Snoozed",
        TaskView::Done => "Done",
        TaskView::Cancelled => "Cancelled",
    }
}

/// Returns whether a list is ordered by urgency, and can be narrowed to a priority.
const fn is_by_urgency(view: TaskView) -> bool {
    matches!(view, TaskView::Open | TaskView::Ready | TaskView::InProgress | TaskView::Waiting)
}

/// Shows one page of a list.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let view = visit.parsed::<TaskView>("view")?.unwrap_or(TaskView::Open);
    let priority = visit.parsed::<Priority>("priority")?.filter(|_| is_by_urgency(view));
    let after = visit.parsed::<TaskPosition>("after")?;
    let lists = visit.app().task_lists();
    let (page, counts) = (lists.page(view, priority, after, PAGE).await?, lists.counts().await?);
    let rules = visit.app().rules().load().rules;
    let address = list_address(view, priority);
    let lines = page.rows.iter().map(|row| task_line(&visit, row, &rules, Some(&address)));
    let lines: Vec<Markup> = lines.collect::<Result<_, _>>()?;
    let list = html! {
        (tabs(view, false, &counts))
        @if is_by_urgency(view) { (priorities(view, priority)) }
        @if lines.is_empty() {
            p.empty { (empty_words(view, after.is_some())) }
        } @else {
            ol.queue { @for line in &lines { li data-row { (line) } } }
        }
        nav.pages aria-label="Pages" {
            @if after.is_some() { a.button href=(address) { "First page" } }
            @if let Some(next) = page.next { a.button rel="next" href={ (address) "&after=" (next) } { "Next page" } }
        }
    };
    let body = html! {
        h1 { "Tasks" }
        (add_form(&visit)?)
        (visit.live_region("list", &list))
    };
    visit.page(Area::Tasks, "Tasks", &body).await
}

/// Returns the address of the first page of a list.
fn list_address(view: TaskView, priority: Option<Priority>) -> String {
    let priority = priority.map(|priority| format!("&priority={priority}")).unwrap_or_default();
    format!("/tasks?view={view}{priority}")
}

/// Returns the links to the lists and to the board, each with how many tasks it has.
pub(super) fn tabs(current: TaskView, is_board: bool, counts: &TaskCounts) -> Markup {
    html! {
        nav.tabs aria-label="Lists of tasks" {
            a href="/tasks/board" aria-current=[is_board.then_some("page")] { "Board" }
            @for view in TaskView::ALL.iter().copied() {
                @let is_current = !is_board && view == current;
                a href=(list_address(view, None)) aria-current=[is_current.then_some("page")] {
                    (view_title(view)) " " span.muted { (counts.of(view)) }
                }
            }
        }
    }
}

fn priorities(view: TaskView, current: Option<Priority>) -> Markup {
    html! {
        nav.tabs.small aria-label="Priority" {
            a href=(list_address(view, None)) aria-current=[current.is_none().then_some("page")] { "any priority" }
            @for priority in Priority::ALL.iter().rev().copied() {
                a href=(list_address(view, Some(priority))) aria-current=[(current == Some(priority)).then_some("page")] {
                    (priority)
                }
            }
        }
    }
}

const fn empty_words(view: TaskView, is_later_page: bool) -> &'static str {
    match view {
        _ if is_later_page => "There are no more.",
        TaskView::Open => "You're all caught up.",
        TaskView::Waiting => "Nothing waits for your decision.",
        TaskView::Snoozed => "No task is hidden.",
        TaskView::Done => "Nothing is done yet.",
        TaskView::Cancelled => "Nothing was cancelled.",
        TaskView::Ready | TaskView::InProgress => "There is no task here.",
    }
}
