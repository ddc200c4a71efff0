//! One conversation: what was said, and the field for the next message.

use axum::extract::Path;
use maud::{Markup, html};

use super::message::message_block;
use crate::{
    app::ChatInput,
    model::ChatProfile,
    web::{
        area::Area,
        page::{PageAnswer, PageChange, PageFailure, Visit, see_other},
    },
};

/// How many messages are shown at first.
const SHOWN: usize = 60;
/// The most messages that one page shows.
const MOST_SHOWN: usize = 2_000;

/// Shows a conversation. One in which nothing was said yet can be begun here.
pub(super) async fn show(visit: Visit, Path(name): Path<String>) -> PageAnswer {
    let shown = visit.query("shown").parse().unwrap_or(SHOWN).clamp(1, MOST_SHOWN);
    let found = visit.app().conversations().find(&name, shown + 1).await?;
    let (profile, mut messages) =
        found.map_or((ChatProfile::Direct, Vec::new()), |(row, messages)| (row.profile, messages));
    let has_earlier = messages.len() > shown;
    messages.truncate(shown);
    messages.reverse();
    let zone = visit.app().config.me.time_zone;
    let body = html! {
        p.crumbs { a href="/chat" { "Chat" } }
        h1 { "Conversation" }
        @if has_earlier { p { a href={ "/chat/" (name) "?shown=" (shown * 2) } { "Show earlier messages" } } }
        div.talk #talk role="log" aria-label="Conversation" tabindex="0" {
            @if messages.is_empty() { p.muted { "Nothing was said yet." } }
            @for message in &messages { (message_block(message, zone)) }
        }
        (message_form(&visit, &name, profile)?)
    };
    visit.page(Area::Chat, "Conversation", &body).await
}

/// Returns the field for the next message, with the profile from that message on.
pub(super) fn message_form(visit: &Visit, conversation: &str, profile: ChatProfile) -> Result<Markup, PageFailure> {
    let option = |of: ChatProfile, name: &str| html! { option value=(of) selected[of == profile] { (name) } };
    let fields = html! {
        div.say {
            label.hidden for="text" { "Message" }
            input #text type="text" name="text" dir="auto" autocomplete="off" autofocus required maxlength="4000" placeholder="Message";
            button.primary type="submit" { "Send" }
        }
        p.muted {
            label for="profile" { "Profile " }
            select #profile name="profile" {
                (option(ChatProfile::Direct, "direct: acts at once"))
                (option(ChatProfile::Guided, "guided: asks step by step"))
            }
            " “undo” takes back the last change."
        }
    };
    let form = visit.form(&format!("/chat/{conversation}/say"), "", &fields)?;
    Ok(html! { div.sheet { (form) } })
}

/// Says something and shows the conversation with the reply.
pub(super) async fn say(Path(name): Path<String>, change: PageChange) -> PageAnswer {
    let input = ChatInput {
        text: change.form.get("text").to_owned(),
        conversation_id: Some(name.clone()),
        user_id: None,
        profile: change.form.get("profile").parse().ok(),
    };
    if !input.text.trim().is_empty() {
        change.visit.app().conversations().say(input).await?;
    }
    Ok(see_other(&format!("/chat/{name}")))
}
