//! The ledger, a page at a time: every mail with what became of it and why.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::{
    model::{AccountId, LedgerPageQuery, LedgerRow, MailId, MailState},
    web::{
        area::Area,
        page::{PageAnswer, Visit, direction, encode, shown_short},
    },
    wording::description::{format_timestamp, localise_times},
};

/// How many mails a page has.
const PAGE: usize = 50;

/// Returns an outcome in words.
pub(super) const fn outcome_words(state: MailState) -> &'static str {
    match state {
        MailState::Pending => "being read",
        MailState::Task => "task",
        MailState::Linked => "follow-up",
        MailState::NoTask => "no task",
        MailState::Duplicate => "duplicate",
        MailState::Parked => "parked",
        MailState::Failed => "tried again",
        MailState::Gone => "gone",
    }
}

/// Shows one page of the ledger.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let state = visit.parsed::<MailState>("state")?;
    let before = visit.parsed::<i64>("before")?.map(MailId);
    let account = Some(visit.query("account")).filter(|name| !name.is_empty()).map(AccountId::from);
    let query = LedgerPageQuery { account: account.clone(), state, before, limit: PAGE };
    let (page, counts) = (visit.app().mail().page(query).await?, visit.app().mail().counts().await?);
    let address = list_address(account.as_ref(), state);
    let list = html! {
        (filters(account.as_ref(), state, &counts))
        @if page.rows.is_empty() {
            p.empty { (if before.is_some() { "There are no more." } else { "There is no mail here." }) }
        } @else {
            ol.queue { @for row in &page.rows { li data-row { (line(&visit, row)) } } }
        }
        nav.pages aria-label="Pages" {
            @if before.is_some() { a.button href=(address) { "First page" } }
            @if let Some(next) = page.next { a.button rel="next" href={ (address) "&before=" (next) } { "Next page" } }
        }
    };
    let body = html! {
        h1 { "Mail" }
        p.muted { "Every mail ever seen, and what became of it." }
        (visit.live_region("list", &list))
    };
    visit.page(Area::Mail, "Mail", &body).await
}

/// Returns the address of the first page of a part of the ledger.
fn list_address(account: Option<&AccountId>, state: Option<MailState>) -> String {
    let account = account.map(|account| encode(account.as_str())).unwrap_or_default();
    format!("/mail?account={account}&state={}", state.map_or("", MailState::as_str))
}

fn filters(account: Option<&AccountId>, state: Option<MailState>, counts: &[(AccountId, MailState, u64)]) -> Markup {
    let mut accounts: BTreeMap<&AccountId, u64> = BTreeMap::new();
    let mut states: BTreeMap<MailState, u64> = BTreeMap::new();
    for (of, in_state, mails) in counts {
        *accounts.entry(of).or_default() += mails;
        if account.is_none_or(|wanted| wanted == of) {
            *states.entry(*in_state).or_default() += mails;
        }
    }
    let total: u64 = states.values().sum();
    html! {
        nav.tabs aria-label="Outcome" {
            a href=(list_address(account, None)) aria-current=[state.is_none().then_some("page")] {
                "Everything " span.muted { (total) }
            }
            @for (known, mails) in &states {
                a href=(list_address(account, Some(*known))) aria-current=[(state == Some(*known)).then_some("page")] {
                    (outcome_words(*known)) " " span.muted { (mails) }
                }
            }
        }
        @if accounts.len() > 1 {
            nav.tabs.small aria-label="Account" {
                a href=(list_address(None, state)) aria-current=[account.is_none().then_some("page")] { "every account" }
                @for (known, mails) in &accounts {
                    a href=(list_address(Some(known), state)) aria-current=[(account == Some(known)).then_some("page")] {
                        (shown_short(known.as_str(), 40)) " " span.muted { (mails) }
                    }
                }
            }
        }
    }
}

fn line(visit: &Visit, row: &LedgerRow) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let subject = if row.subject.trim().is_empty() { "(no subject)" } else { &row.subject };
    html! {
        div.line {
            span.tag.outcome.(row.state.as_str()) { (outcome_words(row.state)) }
            div.what {
                p.title dir=(direction(subject)) {
                    a href={ "/mail/" (row.mail_id) } { (shown_short(subject, 160)) }
                    @for warning in &row.warnings { " " span.tag.warning { (warning.kind) } }
                }
                p.muted {
                    "#" (row.mail_id) " · " (shown_short(&row.sender, 80)) " · " (format_timestamp(row.arrived_at, zone))
                    @if !row.reason.is_empty() { " · " (shown_short(&localise_times(&row.reason, zone), 160)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_account_cannot_add_to_an_address() {
        let account = AccountId::from("a&state=task#ä");
        assert_eq!(list_address(Some(&account), None), "/mail?account=a%26state%3Dtask%23%C3%A4&state=");
    }
}
