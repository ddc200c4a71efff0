//! The rules in force with their hits, the file, and its versions.

use maud::{Markup, html};

use super::author;
use crate::{
    app::{RuleHits, RulesOverview, RulesVersionDetail},
    ingest::escape_for_display,
    model::RuleAct,
    rules::{BrokenRules, FallbackOrigin, ListedEffect, RulesListing},
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown, shown_short},
    },
    wording::description::format_timestamp,
};

/// Shows the rules.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let overview = visit.app().rules().overview().await?;
    let versions = visit.app().rules().history().await?;
    let body = html! {
        h1 { "Rules" }
        p.muted {
            code { "rules/priority.yml" } ", version " code { (overview.current.rules.version()) } ". Every rule is tried; "
            "the highest level wins, then caps lower it."
        }
        @if let Some(broken) = &overview.current.broken { (broken_file(&visit, broken)) }
        p.actions { a.button.primary href="/rules/edit" { "Edit a copy" } }
        (hits_table(&overview))
        details.file {
            summary { "The file" @if overview.current.broken.is_some() { " as it is now, broken" } }
            (numbered_lines(&overview.text))
        }
        h2 #versions { "Versions" }
        (versions_table(&visit, &versions))
    };
    visit.page(Area::Rules, "Rules", &body).await
}

/// Says what is wrong with the file and which rules count instead.
fn broken_file(visit: &Visit, broken: &BrokenRules) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let instead = match broken.fallback {
        FallbackOrigin::LastGood { since: Some(since) } => {
            format!("The last good rules, of {}, are in force until it is mended.", format_timestamp(since, zone))
        }
        FallbackOrigin::LastGood { since: None } => "The last good rules are in force until it is mended.".into(),
        FallbackOrigin::Shipped => {
            "There are no last good rules, so the shipped ones are in force until it is mended.".into()
        }
    };
    html! {
        div.warning-box role="alert" {
            p { strong { "The file is broken and does not count. " } (instead) }
            pre dir="ltr" { (escape_lines(&broken.error.to_string())) }
        }
    }
}

/// Returns a text of our own with several lines, in which nothing acts on the page.
pub(super) fn escape_lines(text: &str) -> String {
    text.lines().map(escape_for_display).collect::<Vec<_>>().join("\n")
}

fn hits_table(overview: &RulesOverview) -> Markup {
    let RulesOverview { tasks, mails, default_decided, .. } = overview;
    let default = RulesListing::of(&overview.current.rules).default_level();
    html! {
        div.scroll role="region" aria-label="Rules in force" tabindex="0" {
            table {
                caption {
                    "How often each rule matched and decided, among your newest " (tasks) " tasks. Rules that give no level are counted "
                    "among the newest " (mails) " mails."
                }
                thead { tr {
                    th scope="col" { "Rule" } th scope="col" { "Does" } th.number scope="col" { "Matched" }
                    th.number scope="col" { "Decided" } th scope="col" { "Why" }
                } }
                tbody {
                    @for hits in &overview.rules { (hits_row(hits)) }
                    tr {
                        th scope="row" { "default" } td { (default) } td.number { "–" } td.number { (default_decided) }
                        td { "no rule decided" }
                    }
                }
            }
        }
    }
}

fn hits_row(hits: &RuleHits) -> Markup {
    let rule = &hits.rule;
    let gives_level = matches!(rule.effect, ListedEffect::Set { .. } | ListedEffect::Cap { .. });
    html! {
        tr {
            th scope="row" {
                (shown_short(&rule.name, 80))
                @if rule.learned { " " span.tag { "learned" } }
                @if let Some(line) = rule.line { " " span.muted { "line " (line) } }
            }
            td { (describe_effect(&rule.effect)) }
            td.number { (hits.matched) }
            td.number { @if gives_level { (hits.decided) } @else { "–" } }
            td { (shown_short(&rule.why, 160)) }
        }
    }
}

fn describe_effect(effect: &ListedEffect) -> Markup {
    let act = |act: &RuleAct| match act {
        RuleAct::Archive => "archive".to_owned(),
        RuleAct::Label { label } => format!("label {label}"),
    };
    match effect {
        ListedEffect::Set { level, lock, stop } => html! {
            "at least " (level) @if *lock { ", locked" } @if *stop { ", final" }
        },
        ListedEffect::Cap { level, stop } => html! { "at most " (level) @if *stop { ", final" } },
        ListedEffect::Act(acts) => shown(&acts.iter().map(act).collect::<Vec<_>>().join(", ")),
        ListedEffect::OpensTask(true) => html! { "is a task" },
        ListedEffect::OpensTask(false) => html! { "is no task" },
    }
}

/// Returns a text with its line numbers, which errors name.
pub(super) fn numbered_lines(text: &str) -> Markup {
    html! {
        div.scroll role="region" aria-label="The rules file" tabindex="0" {
            ol.lines dir="ltr" { @for line in text.lines() { li { code { (escape_for_display(line)) } } } }
        }
    }
}

fn versions_table(visit: &Visit, versions: &[RulesVersionDetail]) -> Markup {
    let zone = visit.app().config.me.time_zone;
    if versions.is_empty() {
        return html! {
            p.muted { "There is none yet. A version is kept whenever the nightly job learns something, and whenever you save an edit here." }
        };
    }
    html! {
        div.scroll role="region" aria-label="Versions of the rules" tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Version" } th scope="col" { "Made" } th scope="col" { "By" } th scope="col" { "What" }
                } }
                tbody {
                    @for version in versions {
                        tr {
                            th scope="row" {
                                a href={ "/rules/versions/" (version.row.version) } { "Version " (version.row.version) }
                                @if version.current { " " span.tag { "in force" } }
                            }
                            td { (format_timestamp(version.row.at, zone)) }
                            td { (author(version.row.who)) }
                            td { (shown_short(&version.row.why, 200)) }
                        }
                    }
                }
            }
        }
    }
}
