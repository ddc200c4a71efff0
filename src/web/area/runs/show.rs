//! The page of one run: its graph, what each node read and wrote, its model calls, its replay, and forks.

use axum::extract::Path;
use maud::{Markup, html};

use super::{
    change_words::describe_change,
    graph::{draw_run, duration_words},
    list::{about, title},
};
use crate::{
    app::{BadInput, NodeVisit, RunTrace},
    graph::{Replay, node::describe_input},
    model::{NodeName, RunStatus},
    web::{
        area::Area,
        page::{PageAnswer, PageChange, PageFailure, PageNote, Visit, shown, shown_lines, shown_short},
    },
    wording::description::{describe_wait, format_clock_time, format_timestamp, localise_times},
};

/// The longest recorded value that is shown.
const LONGEST_VALUE: usize = 4_000;

/// Shows one run.
pub(super) async fn show(visit: Visit, Path(run): Path<String>) -> PageAnswer {
    let trace = visit.app().runs().trace(&run).await?;
    let body = html! {
        p.crumbs { a href="/runs" { "Runs" } }
        h1 { (title(&trace.row)) }
        (facts(&visit, &trace))
        (run_section(&visit, &trace))
        (model_calls(&trace))
        (offers(&visit, &trace)?)
    };
    visit.page(Area::Runs, &title(&trace.row), &body).await
}

fn facts(visit: &Visit, trace: &RunTrace) -> Markup {
    let (row, zone) = (&trace.row, visit.app().config.me.time_zone);
    let wait = describe_wait(row, visit.app().clock.now(), zone);
    html! {
        p {
            span.tag.run.(row.status.as_str()) { (row.status) } " " (about(row)) " "
            (shown(&wait.unwrap_or_else(|| localise_times(&row.reason, zone))))
        }
        dl.facts {
            dt { "Run" } dd { code { (row.run_id) } }
            dt { "Begun" } dd { (format_timestamp(row.created_at, zone)) }
            dt { "Last step" } dd { (format_timestamp(row.updated_at, zone)) }
            @if let Some(parent) = row.parent_run { dt { "Started by" } dd { a href={ "/runs/" (parent) } { "another run" } } }
            @if let Some(original) = row.fork_of {
                dt { "Fork of" } dd { a href={ "/runs/" (original) } { "its original" } ", an experiment without effects" }
            }
        }
    }
}

/// Returns the graph of a run, and beside it what each node read and wrote.
pub(in crate::web) fn run_section(visit: &Visit, trace: &RunTrace) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let graph = draw_run(trace, zone).unwrap_or_else(|error| html! { p.warning { (shown(&format!("{error:#}"))) } });
    html! {
        div.beside.run {
            (graph)
            ol.visits {
                @for node in &trace.visits { li { (node_visit(visit, node)) } }
                @if trace.row.status == RunStatus::Running {
                    li.muted { "It goes on at " (trace.row.node.as_str().replace('_', " ")) "." }
                }
            }
        }
        p { a href={ "/runs/" (trace.row.run_id) "/replay" } { "Replay it, without a call" } }
    }
}

fn node_visit(visit: &Visit, node: &NodeVisit) -> Markup {
    let (checkpoint, zone) = (&node.checkpoint, visit.app().config.me.time_zone);
    let name = checkpoint.node.as_str().replace('_', " ");
    html! {
        h3 {
            (name) " "
            span.muted {
                (format_clock_time(checkpoint.entered_at, zone)) " · " (duration_words(node.seconds())) " · "
                (checkpoint.next_move.as_str())
            }
        }
        @if checkpoint.changes.is_empty() { p.muted { "It wrote nothing." } }
        ul.plain { @for change in &checkpoint.changes { li { (shown_short(&describe_change(change, zone), 300)) } } }
        details {
            summary { "What " (name) " read and wrote" }
            p.muted { "It reads " (describe_input(checkpoint.node)) "; it was given " (node.replies.len()) " answers." }
            @for reply in &node.replies { (value("read", reply)) }
            @for change in &checkpoint.changes {
                (value(&format!("wrote {}", change.written_field()), &serde_json::to_string(change).unwrap_or_default()))
            }
        }
    }
}

/// Returns a recorded value as it is stored, as far as it can be read by a person.
fn value(title: &str, json: &str) -> Markup {
    let pretty = serde_json::from_str::<serde_json::Value>(json).and_then(|value| serde_json::to_string_pretty(&value));
    let pretty = pretty.unwrap_or_else(|_| json.to_owned());
    let kept: String = pretty.chars().take(LONGEST_VALUE).collect();
    html! {
        div.recorded {
            p.muted { (title) }
            (shown_lines(&kept))
            @if kept.len() < pretty.len() { p.muted { "… and " (pretty.len() - kept.len()) " bytes more" } }
        }
    }
}

fn model_calls(trace: &RunTrace) -> Markup {
    html! {
        @if !trace.model_calls.is_empty() {
            section aria-labelledby="model-calls" {
                h2 #model-calls { "Questions to the model" }
                ul.plain {
                    @for asked in &trace.model_calls {
                        li {
                            (asked.node.as_str().replace('_', " ")) ": " (asked.call.provider) " "
                            (shown_short(&asked.call.model, 60)) ", " (asked.call.prompt) ", " (asked.call.spent.tokens())
                            " tokens, " (asked.call.took_ms) " ms: " (asked.call.outcome)
                        }
                    }
                }
            }
        }
    }
}

/// Returns the form that makes a fork from one of the nodes that the run has entered.
fn offers(visit: &Visit, trace: &RunTrace) -> Result<Markup, PageFailure> {
    let entered = |node: &NodeName| trace.visits.iter().any(|visit| visit.checkpoint.node == *node);
    let nodes: Vec<NodeName> = NodeName::ALL.iter().copied().filter(|node| entered(node)).collect();
    if nodes.is_empty() {
        return Ok(html! {});
    }
    let fields = html! {
        label { "From" select name="from" { @for node in nodes { option value=(node) { (node.as_str().replace('_', " ")) } } } }
        button type="submit" { "Run it again from there" }
    };
    let form = visit.form(&format!("/runs/{}/fork", trace.row.run_id), &trace.row.run_id.to_string(), &fields)?;
    Ok(html! {
        details {
            summary { "Fork it" }
            p.muted { "A fork is recorded beside its original. It changes no task, and has no effects." }
            (form)
        }
    })
}

/// Stores a fork of a run. The worker drives it.
pub(super) async fn fork(Path(run): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let from = change.form.get("from");
        let from = from.parse::<NodeName>().map_err(|_| BadInput(format!("there is no node '{from}'")))?;
        change.visit.app().runs().fork(&run, from).await
    };
    match outcome.await {
        Ok(id) => change.visit.redirect(&format!("/runs/{id}"), PageNote::done("Forked; it is driven in a moment.")),
        Err(error) => change.visit.redirect_after(&format!("/runs/{run}"), Err(error)),
    }
}

/// Shows what a replay of the run finds. It makes no call and writes nothing.
pub(super) async fn replay(visit: Visit, Path(run): Path<String>) -> PageAnswer {
    let replay = visit.app().runs().replay(&run).await?;
    let body = html! {
        p.crumbs { a href="/runs" { "Runs" } " › " a href={ "/runs/" (replay.run_id) } { "the run" } }
        h1 { (if replay.identical { "The replay is identical" } else { "The replay is not identical" }) }
        p.muted { (replay.checkpoints.len()) " checkpoints, " (replay.calls_made) " calls made" }
        (replayed(&replay))
    };
    visit.page(Area::Runs, "Replay", &body).await
}

fn replayed(replay: &Replay) -> Markup {
    html! {
        ol.visits {
            @for checkpoint in &replay.checkpoints {
                li {
                    h3 { (checkpoint.node.as_str().replace('_', " ")) " " span.muted { "checkpoint " (checkpoint.seq) } }
                    @if checkpoint.identical { p { "identical" } } @else { (shown_lines(&checkpoint.difference)) }
                }
            }
        }
    }
}
