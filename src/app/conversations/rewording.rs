//! Rewording of replies by a language model, if the configuration asks for it. Only the final text is reworded; anything
//! that fails returns the deterministic text.

use super::ConversationUseCases;
use crate::assistant::{ChatReply, is_faithful};

impl ConversationUseCases<'_> {
    /// Returns the text of a reply, reworded if a model may do so and says exactly the same.
    pub(super) async fn reword(self, reply: &ChatReply) -> String {
        let text = reply.text.plain().to_owned();
        if !self.app.config.reword_replies || text.is_empty() {
            return text;
        }
        match self.app.model().reword_reply(&text, reply.language.as_str()).await {
            Ok(Some(reworded)) if is_faithful(&reply.text, reply.language, &reworded) => reworded,
            Ok(_) => text,
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "a reply could not be reworded");
                text
            }
        }
    }
}
