//! The conversations, and the beginning of a new one.

use maud::html;

use super::conversation::message_form;
use crate::{
    app::new_conversation_id,
    model::ChatProfile,
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown_short},
    },
    wording::description::format_timestamp,
};

/// How many conversations one page lists.
const PER_PAGE: usize = 30;

/// Shows the conversations.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let skipped: usize = visit.query("after").parse().unwrap_or_default();
    let listed = visit.app().conversations().list(skipped, PER_PAGE + 1).await?;
    let new = new_conversation_id()?;
    let zone = visit.app().config.me.time_zone;
    let body = html! {
        h1 { "Chat" }
        p.muted { "Talk about your tasks in English or Hebrew: “add buy milk”, “what is due this week?”, “task 3 is done”." }
        section aria-labelledby="new" {
            h2 #new { "A new conversation" }
            (message_form(&visit, new.as_str(), ChatProfile::Direct)?)
        }
        h2 { "Conversations" }
        @if listed.is_empty() { p.muted { "There is none yet." } } @else {
            ol.queue {
                @for (row, beginning) in listed.iter().take(PER_PAGE) {
                    li {
                        a.row href={ "/chat/" (row.conversation) } {
                            span.what { (shown_short(beginning, 100)) }
                            span.about {
                                span { (format_timestamp(row.updated_at, zone)) }
                                span { (row.profile) " profile" }
                            }
                        }
                    }
                }
            }
        }
        @if listed.len() > PER_PAGE { p { a href={ "/chat?after=" (skipped + PER_PAGE) } { "Earlier conversations" } } }
    };
    visit.page(Area::Chat, "Chat", &body).await
}
