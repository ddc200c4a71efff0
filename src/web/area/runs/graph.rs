//! A run as its graph: the five nodes from top to bottom, the moves that it made, and where it ended.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use maud::{Markup, html};

use crate::{
    app::{NodeVisit, RunTrace},
    graph::topology::{GraphTopology, MoveKind, Place},
    model::{NodeName, RunStatus},
    wording::description::format_clock_time,
};

const WIDTH: f64 = 400.0;
/// The box of a node.
const BOX: (f64, f64) = (208.0, 48.0);
const LEFT: f64 = 8.0;
const TOP: f64 = 8.0;
/// From one node to the next.
const STEP: f64 = 84.0;
/// The box of an end.
const END: (f64, f64) = (88.0, 28.0);
const END_LEFT: f64 = WIDTH - END.0 - 4.0;

/// The moves of a run: how often it went from a node, by which kind of move.
struct Moves(BTreeMap<(NodeName, MoveKind), usize>);

impl Moves {
    fn of(trace: &RunTrace) -> Self {
        let mut moves = BTreeMap::new();
        for visit in &trace.visits {
            *moves.entry((visit.checkpoint.node, MoveKind::from(&visit.checkpoint.next_move))).or_default() += 1;
        }
        Self(moves)
    }

    fn count(&self, node: NodeName, kind: MoveKind) -> usize {
        self.0.get(&(node, kind)).copied().unwrap_or_default()
    }
}

/// Returns the drawing of a run. Fails only if the program's own graph is not valid.
pub(super) fn draw_run(trace: &RunTrace, zone: Tz) -> anyhow::Result<Markup> {
    let (moves, topology) = (Moves::of(trace), GraphTopology::standard()?);
    let height = TOP * 2.0 + STEP * (NodeName::ALL.len() - 1) as f64 + BOX.1;
    let description = describe(trace);
    Ok(html! {
        figure.graph {
            svg role="img" viewBox={ "0 0 " (WIDTH) " " (height) } aria-label={ "The run as its graph. " (description) } {
                title { "The run as its graph" }
                desc { (description) }
                defs {
                    marker #arrow viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                        path.head d="M0,0 L8,4 L0,8 z" {}
                    }
                }
                @for (from, kind, to) in topology.edges() { (edge(from, kind, to, moves.count(from, kind))) }
                @for node in NodeName::ALL.iter().copied() { (node_box(node, trace, zone)) }
            }
        }
    })
}

/// Returns the way of the run in words.
fn describe(trace: &RunTrace) -> String {
    let nodes: Vec<String> =
        trace.visits.iter().map(|visit| visit.checkpoint.node.as_str().replace('_', " ")).collect();
    let end = match trace.row.status {
        RunStatus::Running => format!("It goes on at {}.", trace.row.node.as_str().replace('_', " ")),
        status => format!("It ended {status}."),
    };
    if nodes.is_empty() { end } else { format!("{}. {end}", nodes.join(", then ")) }
}

fn top_of(node: NodeName) -> f64 {
    let place = NodeName::ALL.iter().position(|known| *known == node).unwrap_or_default();
    TOP + place as f64 * STEP
}

fn node_box(node: NodeName, trace: &RunTrace, zone: Tz) -> Markup {
    let visits: Vec<&NodeVisit> = trace.visits.iter().filter(|visit| visit.checkpoint.node == node).collect();
    let is_next = trace.row.status == RunStatus::Running && trace.row.node == node;
    let told = match (visits.first(), is_next) {
        (None, true) => "comes next".to_owned(),
        (None, false) => "not entered".to_owned(),
        (Some(first), _) => {
            let seconds: i64 = visits.iter().map(|visit| visit.seconds()).sum();
            let often = if visits.len() > 1 { format!(" · {}×", visits.len()) } else { String::new() };
            format!("{} · {}{often}", format_clock_time(first.checkpoint.entered_at, zone), duration_words(seconds))
        }
    };
    let (x, y) = (LEFT + 14.0, top_of(node));
    html! {
        g.node.entered[!visits.is_empty()].next[is_next] {
            rect x=(LEFT) y=(y) width=(BOX.0) height=(BOX.1) rx="8" {}
            text.name x=(x) y=(y + 20.0) { (node.as_str().replace('_', " ")) }
            text.told x=(x) y=(y + 38.0) { (told) }
        }
    }
}

/// Returns how long something took. Times are recorded in whole seconds.
pub(super) fn duration_words(seconds: i64) -> String {
    match seconds {
        ..1 => "under 1 s".into(),
        1..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

/// Returns an edge. Those to an end are drawn only where the run took them, so that the picture stays readable.
fn edge(from: NodeName, kind: MoveKind, to: Place, taken: usize) -> Markup {
    let middle = LEFT + BOX.0 / 2.0;
    let (top, right) = (top_of(from), LEFT + BOX.0);
    let often = if taken > 1 { format!("{kind} {taken}×") } else { kind.to_string() };
    match to {
        Place::Node(node) if node == from => {
            // Two loops leave the same node: the upper one is `again`, the lower one `wait`.
            let (y, bend) = if kind == MoveKind::Again { (top + 4.0, -14.0) } else { (top + BOX.1 - 4.0, 14.0) };
            let path = format!(
                "M{right},{y} C{},{} {},{} {},{}",
                right + 40.0,
                y + bend,
                right + 40.0,
                y - bend,
                right + 2.0,
                y - bend * 0.9
            );
            html! {
                g.edge.taken[taken > 0] {
                    path d=(path) marker-end="url(#arrow)" {}
                    text x=(right + 36.0) y=(y + bend * 0.4 + 4.0) { (often) }
                }
            }
        }
        Place::Node(_) => html! {
            g.edge.taken[taken > 0] {
                path d={ "M" (middle) "," (top + BOX.1) " L" (middle) "," (top + STEP - 2.0) } marker-end="url(#arrow)" {}
                text x=(middle + 8.0) y=(top + BOX.1 + 22.0) { (often) }
            }
        },
        Place::End(_) if taken == 0 => html! {},
        Place::End(status) => {
            let y = top + BOX.1 / 2.0;
            html! {
                g.edge.taken {
                    path d={ "M" (right) "," (y) " L" (END_LEFT - 2.0) "," (y) } marker-end="url(#arrow)" {}
                    @if kind.as_str() != status.as_str() { text x=(right + 54.0) y=(y - 6.0) { (often) } }
                }
                g.end {
                    rect x=(END_LEFT) y=(y - END.1 / 2.0) width=(END.0) height=(END.1) rx="14" {}
                    text x=(END_LEFT + END.0 / 2.0) y=(y + 4.0) text-anchor="middle" { (status) }
                }
            }
        }
    }
}
