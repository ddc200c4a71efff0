//! The health page.

use chrono_tz::Tz;
use maud::{Markup, html};

use crate::{
    app::{AccountStatus, CostReport, Status},
    model::{AccountMode, MailState, MailboxKind},
    web::{
        area::Area,
        page::{PageAnswer, PageFailure, Visit, shown, shown_short},
    },
    wording::description::{format_moment, format_timestamp},
};

/// Shows how the program is doing.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let status = visit.state().status.get(visit.app()).await?;
    let zone = visit.app().config.me.time_zone;
    let has_real_account = visit.app().config.accounts.iter().any(|account| !account.is_sample);
    let live = html! {
        p.muted { "As of " (format_moment(status.at, zone)) ". " a href="/health/doctor" { "Check everything, as doctor does" } }
        @for broken in status.rules_broken.iter().chain(&status.policy_broken) { p.warning { (shown(broken)) } }
        h2 { "Accounts" }
        (accounts_table(&status, zone))
        h2 { "Work" }
        (work(&status, zone))
        h2 { "Model" }
        (model(&status, zone))
    };
    let body = html! {
        h1 { "Health" }
        @if !has_real_account {
            p.warning { "You are looking at sample mails. " a href="/start" { "Set up your own mailbox" } }
        }
        (visit.live_region("health", &live))
        h2 { "Pause" }
        (pause(&visit, status.paused)?)
        p { a href="/start" { "Name, addresses, time zone and mailbox" } }
    };
    visit.page(Area::Health, "Health", &body).await
}

fn accounts_table(status: &Status, zone: Tz) -> Markup {
    html! {
        div.scroll role="region" aria-label="Accounts" tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Account" } th scope="col" { "Mode" } th scope="col" { "Last poll" } th.number scope="col" { "Lag" }
                    th.number scope="col" { "Mails" } th.number scope="col" { "Gap" } th.number scope="col" { "Unaccounted" }
                } }
                // The account of typed tasks is no mailbox.
                tbody {
                    @for account in status.accounts.iter().filter(|account| account.kind != MailboxKind::Local) { (account_row(account, zone)) }
                }
            }
        }
    }
}

fn account_row(account: &AccountStatus, zone: Tz) -> Markup {
    let condition = account.condition.as_ref();
    let problem = condition.map(|condition| condition.problem.as_str()).filter(|problem| !problem.is_empty());
    let lag = condition.and_then(|condition| condition.lag_seconds);
    let mails: u64 = account.mails.iter().map(|(_, count)| count).sum();
    html! {
        tr {
            th scope="row" { (shown_short(&account.account, 64)) " " span.muted { (account.kind) } }
            td { (account.mode) @if account.mode == AccountMode::Observe { br; span.muted { "nothing in it is touched" } } }
            td {
                @match (problem, account.last_poll) {
                    (Some(problem), _) => span.warning { "failed: " (shown_short(problem, 300)) },
                    (None, Some(at)) => (format_timestamp(at, zone)),
                    (None, None) => "never",
                }
            }
            td.number { @match lag { Some(seconds) => { (seconds) " s" }, None => "–" } }
            td.number {
                (mails)
                @if let Some(condition) = condition.filter(|condition| condition.backlog > 0) {
                    br; span.muted { (condition.backlog) " still to be read" }
                }
            }
            td.number { (condition.map_or(0, |condition| condition.missed)) }
            td.number { span.warning[account.unaccounted > 0] { (account.unaccounted) } }
        }
    }
}

/// Returns counts by their state in words; "none" when all are zero.
fn in_words(rows: impl Iterator<Item = (String, u64)>) -> String {
    let words: Vec<String> = rows
        .filter(|(_, count)| *count > 0)
        .map(|(state, count)| format!("{count} {}", state.replace('_', " ")))
        .collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn work(status: &Status, zone: Tz) -> Markup {
    let mails = MailState::ALL.iter().map(|state| {
        let of_state = status.accounts.iter().flat_map(|account| &account.mails).filter(|(known, _)| known == state);
        (state.to_string(), of_state.map(|(_, count)| count).sum())
    });
    html! {
        dl.facts {
            dt { "Waiting for you" } dd { a href="/approvals" { (status.waiting_for_you) } }
            dt { "Mail" } dd { (in_words(mails)) }
            dt { "Tasks" } dd { (in_words(status.tasks.iter().map(|(state, count)| (state.to_string(), *count)))) }
            dt { "Runs" } dd { (in_words(status.runs.iter().map(|(state, count)| (state.to_string(), *count)))) }
            dt { "Effects" } dd { (in_words(status.effects.iter().cloned())) }
            @for waiting in &status.set_aside {
                dt { "Set aside" }
                dd {
                    (waiting.steps) " wait: " (shown_short(&waiting.reason, 160)) ", next at " (format_timestamp(waiting.next, zone))
                }
            }
            @if status.left_behind > 0 { dt { "Left behind" } dd.warning { (status.left_behind) " steps are due and nobody works them" } }
            dt { "Worker" } dd { @match &status.worker { Some(pid) => { "process " (pid) }, None => "none running" } }
            dt { "Nights" }
            dd {
                "last " (status.last_night.as_deref().unwrap_or("none yet"))
                @if let Some(next) = status.next_night { ", next " (format_timestamp(next, zone)) }
            }
            dt { "Rules" } dd { "version " (status.rules_version) }
        }
    }
}

fn model(status: &Status, zone: Tz) -> Markup {
    html! {
        @if let Some(warning) = &status.model_warning { p.warning { (shown(warning)) } }
        @match &status.cost {
            None => p.muted { "There is none, and nothing was spent. The rules work alone." },
            Some(cost) => (cost_facts(cost, zone)),
        }
    }
}

fn cost_facts(cost: &CostReport, zone: Tz) -> Markup {
    let limit = cost.budget.day.tokens.map_or_else(String::new, |most| format!(" of {most}"));
    let money = |micros: u64| format!("{:.4}", micros as f64 / 1e6);
    let money_limit = cost.budget.day.micros.map_or_else(String::new, |most| format!(" of {}", money(most)));
    html! {
        dl.facts {
            dt { "Model" } dd { (cost.provider) " " (shown_short(&cost.model, 60)) }
            dt { "Today" } dd { (cost.spent_today.tokens()) (limit) " tokens" }
            @if cost.priced { dt { "Money" } dd { (money(cost.spent_today.micros)) (money_limit) } }
            @if let Some(since) = cost.gone_since {
                dt { "Budget" } dd.warning { "gone since " (format_timestamp(since, zone)) "; the rules go on alone" }
            }
        }
    }
}

fn pause(visit: &Visit, is_paused: bool) -> Result<Markup, PageFailure> {
    Ok(if is_paused {
        let button = html! { button.primary type="submit" { "Resume" } };
        html! {
            p { strong { "Paused." } " No effect is carried out. Mail is still read." }
            (visit.form("/health/resume", "paused", &button)?)
        }
    } else {
        let button = html! { button type="submit" { "Pause all effects" } };
        html! {
            p.muted { "A pause holds everything that would leave or change something. Mail is still read." }
            (visit.form("/health/pause", "running", &button)?)
        }
    })
}
