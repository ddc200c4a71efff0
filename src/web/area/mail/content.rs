//! What a mail says: who wrote it to whom, its warnings and its text. All of it was written by strangers.

use maud::{Markup, html};

use crate::{
    app::MailDetail,
    model::{Address, Mail},
    web::page::{Visit, shown, shown_lines, shown_short},
    wording::description::format_moment,
};

/// The most addresses of a header that are shown.
const MOST_ADDRESSES: usize = 20;

/// Returns the header, the warnings and the text of a mail.
pub(in crate::web) fn mail_content(visit: &Visit, detail: &MailDetail) -> Markup {
    let row = &detail.row;
    html! {
        @for warning in &row.warnings { p.warning role="note" { b { (warning.kind) ":" } " " (shown(&warning.text)) } }
        @match &detail.mail {
            Some(mail) => {
                (header(visit, detail, mail))
                (shown_lines(&mail.text))
                (attachments(mail))
            }
            None => {
                dl.facts {
                    dt { "From" } dd { (shown_short(&row.sender, 254)) }
                    dt { "Subject" } dd { (shown_short(&row.subject, 998)) }
                }
                p.muted { "Its content could not be read." }
            }
        }
    }
}

fn header(visit: &Visit, detail: &MailDetail, mail: &Mail) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let authentication = &mail.authentication;
    html! {
        dl.facts {
            dt { "From" }
            dd {
                (address(&mail.from)) " "
                @if authentication.verified {
                    span.tag { "verified" }
                } @else {
                    span.tag.warning { "not verified" } " " span.muted { (shown_short(&authentication.reason, 200)) }
                }
            }
            @if mail.reply_to_differs() { dt { "Replies to" } dd { (addresses(&mail.reply_to)) } }
            @if !mail.to.is_empty() { dt { "To" } dd { (addresses(&mail.to)) } }
            @if !mail.cc.is_empty() { dt { "Cc" } dd { (addresses(&mail.cc)) } }
            dt { "Subject" } dd { (shown_short(&mail.subject, 998)) }
            dt { "Date" } dd { (format_moment(mail.date.unwrap_or(detail.row.arrived_at), zone)) }
        }
    }
}

fn address(address: &Address) -> Markup {
    let name = address.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    html! {
        @if let Some(name) = name { (shown_short(name, 120)) " " }
        span.muted { "<" (shown_short(&address.addr, 254)) ">" }
    }
}

fn addresses(list: &[Address]) -> Markup {
    html! {
        @for (nth, one) in list.iter().take(MOST_ADDRESSES).enumerate() {
            @if nth > 0 { ", " }
            (address(one))
        }
        @if list.len() > MOST_ADDRESSES { " and " (list.len() - MOST_ADDRESSES) " more" }
    }
}

fn attachments(mail: &Mail) -> Markup {
    html! {
        @if !mail.attachments.is_empty() {
            h3 { "Attached" }
            ul.plain {
                @for attachment in &mail.attachments {
                    li {
                        (shown_short(&attachment.name, 200))
                        span.muted { " " (shown_short(&attachment.content_type, 80)) ", " (attachment.size) " bytes" }
                    }
                }
            }
        }
    }
}

/// Returns what a mail has beside its text: what was cut off it, what a reader does not see, and where its links lead.
/// Links are text, so that none can be followed by mistake.
pub(super) fn rest_of_mail(mail: &Mail) -> Markup {
    html! {
        @if let Some(signature) = &mail.signature {
            details { summary { "Signature and footers" } (shown_lines(signature)) }
        }
        @if let Some(hidden) = &mail.hidden_text {
            details { summary { "Text that a reader of the mail does not see" } (shown_lines(hidden)) }
        }
        @if !mail.links.is_empty() {
            details {
                summary { (mail.links.len()) " links" }
                ul.plain {
                    @for link in &mail.links {
                        li { (shown_short(&link.text, 200)) " → " code { (shown_short(&link.href, 500)) } }
                    }
                }
            }
        }
        @for truncation in &mail.truncations { p.muted { (shown(truncation)) } }
    }
}
