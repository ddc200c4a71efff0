//! The grammar of `chat`.

use clap::Args;

use super::words;
use crate::model::ChatProfile;

/// The options of `chat`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ChatOptions {
    /// How the assistant behaves: "direct" acts at once, "guided" asks step by step and confirms every change [default:
    /// the profile of the conversation; direct for a new one]
    #[arg(long, value_name = "PROFILE", value_parser = words(ChatProfile::ALL, ChatProfile::as_str))]
    pub(in crate::cli) profile: Option<ChatProfile>,
    /// Read one JSON object per line from stdin, {"text", "conversation_id"?, "user_id"?}, and print one per line
    #[arg(long, conflicts_with_all = ["new", "conversation"])]
    pub(in crate::cli) jsonl: bool,
    /// Begin a new conversation instead of going on with the last one
    #[arg(long, conflicts_with = "conversation")]
    pub(in crate::cli) new: bool,
    /// Go on with the conversation of this name, or begin one under it
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) conversation: Option<String>,
    /// Whose tasks to talk about [default: the person of the home]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) user: Option<String>,
}
