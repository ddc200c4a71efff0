//! Why a task has its priority: every rule that was tried, and the smallest change that would give another.

use axum::extract::Path;
use maud::{Markup, html};

use super::line::{priority_tag, task_link};
use crate::{
    app::PriorityExplanation,
    rules::{ConditionTrace, RuleTrace},
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown, shown_short},
    },
};

/// Shows why a task has its priority.
pub(super) async fn show(visit: Visit, Path(task): Path<String>) -> PageAnswer {
    let why = visit.app().tasks().explain_priority(&task).await?;
    let trace = &why.trace;
    let (matched, others): (Vec<&RuleTrace>, Vec<&RuleTrace>) = trace.rules.iter().partition(|rule| rule.matched);
    let body = html! {
        p.crumbs { a href="/tasks" { "Tasks" } " › " (task_link(&why.task)) }
        h1 { "Why it is " (why.level) }
        (conditions_of_reading(&why))
        dl.facts {
            dt { "Decided by" }
            dd { b { (shown(&trace.rule)) } @if !trace.why.is_empty() { ": " (shown(&trace.why)) } @if trace.locked { " (locked)" } }
            dt { "Urgency" } dd { (format!("{:.2}", trace.urgency)) " (" (trace.urgency_origin.to_string().replace('_', "-")) ")" }
            dt { "Rules" } dd { "version " code { (trace.version) } }
            dt { "Smallest change" } dd { (shown(&trace.smallest_change.text)) }
        }
        h2 { "Rules that matched" }
        @if matched.is_empty() { p.muted { "None, so the default counts." } } @else { (table("Rules that matched", &matched)) }
        h2 { "Rules that did not" }
        @if others.is_empty() { p.muted { "None." } } @else { (table("Rules that did not match", &others)) }
    };
    visit.page(Area::Tasks, "Why", &body).await
}

/// Returns what a person must know before they read the trace.
fn conditions_of_reading(why: &PriorityExplanation) -> Markup {
    html! {
        @if why.set_by_hand { p { "You set this priority, so it stays. The rules alone would say " (priority_tag(why.trace.level)) "." } }
        @if let Some(problem) = &why.rules_broken { p.warning { (shown(problem)) } }
        @if let Some(sender) = &why.sender { p.warning { (shown(sender)) } }
        @for warning in why.task.task.context.warnings() { p.warning { b { (warning.kind) ":" } " " (shown(&warning.text)) } }
        @for mail in &why.follow_ups {
            p.muted { "A later mail, " a href={ "/mail/" (mail.mail_id) } { (shown_short(&mail.subject, 120)) } ", may have raised it." }
        }
    }
}

fn table(name: &str, rules: &[&RuleTrace]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table {
                thead { tr { th scope="col" { "Rule" } th scope="col" { "Line" } th scope="col" { "Does" } th scope="col" { "Tests" } } }
                tbody { @for rule in rules { (rule_row(rule)) } }
            }
        }
    }
}

fn rule_row(rule: &RuleTrace) -> Markup {
    html! {
        tr.decided[rule.decided] {
            td {
                b { (shown_short(&rule.name, 80)) }
                @if rule.learned { " " span.tag { "learned" } }
                @if rule.decided { " " span.tag { "decided" } }
                @if !rule.why.is_empty() { p.muted { (shown_short(&rule.why, 200)) } }
            }
            td.number { (rule.line) }
            td.time { (rule.effect.to_string().split_whitespace().collect::<Vec<_>>().join(" ")) }
            td {
                @if let Some(reason) = &rule.not_counted { p.warning { "not counted: " (shown(reason)) } }
                ul.plain { @for condition in &rule.conditions { li { (condition_words(condition)) } } }
            }
        }
    }
}

/// Returns one test with the value it met. Under an odd number of `not`, a test that is not met holds.
fn condition_words(condition: &ConditionTrace) -> Markup {
    let holds = condition.met != condition.negated;
    html! {
        span aria-hidden="true" { (if holds { "✓ " } else { "✗ " }) }
        span.hidden { (if holds { "holds: " } else { "does not hold: " }) }
        (shown_short(&condition.to_string(), 300))
    }
}
