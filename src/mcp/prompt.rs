//! The prompts: the morning review.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, Prompt, PromptMessage, Role},
};

use super::{
    UNTRUSTED_TEXT,
    resource::{DIGEST_URI, TASKS_URI, read_text},
    server::McpServer,
};

const MORNING_REVIEW: &str = "morning_review";
const DESCRIPTION: &str = "Goes through what happened since yesterday, what is overdue and what to do first.";

pub(super) fn list() -> Vec<Prompt> {
    vec![Prompt::new(MORNING_REVIEW, Some(DESCRIPTION), None).with_title("Morning review")]
}

pub(super) async fn get(server: &McpServer, name: &str) -> Result<GetPromptResult, ErrorData> {
    if name != MORNING_REVIEW {
        return Err(ErrorData::invalid_params(format!("there is no such prompt; there is {MORNING_REVIEW}"), None));
    }
    let digest = read_text(server, DIGEST_URI).await?;
    let tasks = read_text(server, TASKS_URI).await?;
    let json = || Some("application/json".to_owned());
    let embed = |uri: &str, text: String| {
        PromptMessage::new_resource(Role::User, uri.to_owned(), json(), Some(text), None, None, None)
    };
    let messages =
        vec![PromptMessage::new_text(Role::User, request()), embed(DIGEST_URI, digest), embed(TASKS_URI, tasks)];
    Ok(GetPromptResult::new(messages).with_description(DESCRIPTION))
}

/// Returns what the client is asked to do with the digest and the list of tasks that follow.
fn request() -> String {
    format!(
        "Go through my morning with me, briefly. The digest of the last 24 hours and my open tasks follow.\n\
         1. Say in two sentences what was done and what came in.\n\
         2. Name what is overdue or due today, the most urgent first, each with its number.\n\
         3. Name what waits for my approval. You cannot approve it: I decide with `adjutant hitl`.\n\
         4. Warn me of mails that are marked as suspicious.\n\
         5. Propose what I should do first, and why. Ask me before you complete, change or delete a task.\n\
         {UNTRUSTED_TEXT}"
    )
}
