//! The overview: mails and outcomes by day, the age of what waits, and where the tasks stand.

use maud::{Markup, html};

use super::Area;
use crate::{
    app::OpenAge,
    model::{Instant, ItemRow, MailDay, MailState, TaskCounts, TaskView},
    web::{
        chart::{ChartData, ChartSeries, stacked_bars},
        page::{PageAnswer, Visit},
        route::Route,
    },
};

/// How many days are shown.
const DAYS: u64 = 14;

/// The parts of a day's bar from below: what became tasks, what did not, and the rest.
const OUTCOMES: [(&str, &[MailState]); 4] = [
    ("task", &[MailState::Task]),
    ("follow-up", &[MailState::Linked]),
    ("no task", &[MailState::NoTask, MailState::Duplicate, MailState::Gone]),
    ("not read yet", &[MailState::Pending, MailState::Failed, MailState::Parked]),
];

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![Route::page(Area::Overview, "/overview", show)]
}

/// Shows the pictures.
async fn show(visit: Visit) -> PageAnswer {
    let app = visit.app();
    let (days, ages) = (app.mail().outcomes_by_day(DAYS).await?, app.task_lists().open_ages().await?);
    let (counts, items) = (app.task_lists().counts().await?, app.approvals().list().await?);
    let pictures = html! {
        (figures(&counts, &items))
        div.charts {
            (stacked_bars(&mail_chart(&days)))
            (stacked_bars(&task_chart(&ages)))
            (stacked_bars(&approval_chart(&items, app.clock.now())))
        }
    };
    let body = html! {
        h1 { "Overview" }
        (visit.live_region("pictures", &pictures))
    };
    visit.page(Area::Overview, "Overview", &body).await
}

fn figures(counts: &TaskCounts, items: &[ItemRow]) -> Markup {
    let figure = |number: u64, path: &str, words: &str| {
        html! { li { a href=(path) { b { (number) } " " span { (words) } } } }
    };
    html! {
        ul.figures {
            (figure(items.len() as u64, "/approvals", "wait for your decision"))
            (figure(counts.of(TaskView::Open), "/tasks", "tasks are open"))
            (figure(counts.in_progress, "/tasks?view=in_progress", "are in progress"))
            (figure(counts.snoozed, "/tasks?view=snoozed", "are hidden until later"))
            (figure(counts.done, "/tasks?view=done", "are done"))
        }
    }
}

fn mail_chart(days: &[MailDay]) -> ChartData {
    let of_day = |day: &MailDay, states: &[MailState]| {
        states.iter().map(|state| day.outcomes.get(state).copied().unwrap_or_default()).sum::<u64>()
    };
    let total: u64 = days.iter().flat_map(|day| day.outcomes.values()).sum();
    let series = OUTCOMES.iter().map(|(name, states)| ChartSeries {
        name: (*name).to_owned(),
        values: days.iter().map(|day| Some(of_day(day, states) as f64)).collect(),
    });
    ChartData {
        title: format!("Mails of the last {DAYS} days"),
        description: format!("{total} mails arrived."),
        label_name: "Day",
        labels: days.iter().map(|day| day.date.format("%a %-d %b").to_string()).collect(),
        series: series.collect(),
    }
}

fn task_chart(ages: &[OpenAge]) -> ChartData {
    let total: u64 = ages.iter().map(|age| age.tasks).sum();
    ChartData {
        title: "Open tasks by age".into(),
        description: format!("{total} tasks are open."),
        label_name: "Opened",
        labels: ages.iter().map(|age| age.age.to_owned()).collect(),
        series: vec![ChartSeries {
            name: "open tasks".into(),
            values: ages.iter().map(|age| Some(age.tasks as f64)).collect(),
        }],
    }
}

fn approval_chart(items: &[ItemRow], now: Instant) -> ChartData {
    /// The ages in hours at which the next bar begins.
    const BARS: [(&str, f64); 4] =
        [("< 4 hours", 4.0), ("4–24 hours", 24.0), ("1–3 days", 72.0), ("> 3 days", f64::INFINITY)];
    let bar_of = |item: &ItemRow| {
        let age = item.created_at.hours_until(now);
        BARS.iter().position(|(_, end)| age < *end)
    };
    let values = (0..BARS.len()).map(|bar| Some(items.iter().filter(|item| bar_of(item) == Some(bar)).count() as f64));
    ChartData {
        title: "What waits for your decision, by age".into(),
        description: format!("{} items wait.", items.len()),
        label_name: "Waiting for",
        labels: BARS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: vec![ChartSeries { name: "items".into(), values: values.collect() }],
    }
}
