//! What `adjutant doctor` finds. The checks read everything, so that they run only when they are asked for.

use maud::html;

use crate::{
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown},
    },
    wording::description::localise_times,
};

/// Runs all checks and shows the findings.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let health = visit.app().health().check().await?;
    let zone = visit.app().config.me.time_zone;
    let body = html! {
        p.crumbs { a href="/health" { "Health" } }
        h1 { "Checks" }
        @if health.is_well() {
            p { strong { "Nothing is wrong." } }
        } @else {
            ul.findings {
                @for finding in &health.findings {
                    li {
                        strong { (shown(&localise_times(&finding.what, zone))) } " " span.tag { (finding.code) }
                        p.muted { "What to do: " (shown(&finding.remedy)) }
                    }
                }
            }
        }
        h2 { "What was checked" }
        dl.facts {
            dt { "Mail" } dd { (health.unaccounted) " unaccounted" }
            dt { "Transitions" } dd { (health.illegal_transitions) " illegal" }
            dt { "Audit chain" }
            dd {
                @match &health.audit.problem {
                    None => { (health.audit.lines) " lines, whole, " (health.audit.anchors) " anchors" },
                    Some(problem) => span.warning { (shown(problem)) },
                }
            }
            dt { "Rows" } dd { (health.unreadable.count) " cannot be read" }
            dt { "Memory" } dd { (health.memory.place) }
            dt { "SQLite" } dd { (health.sqlite) }
        }
        @for account in health.accounts.iter().filter(|account| !account.notes.is_empty()) {
            h2 { "Account " (shown(&account.account)) }
            ul { @for note in &account.notes { li { (shown(note)) } } }
        }
        p.actions { a.button href="/health/doctor" { "Check again" } }
    };
    visit.page(Area::Health, "Checks", &body).await
}
