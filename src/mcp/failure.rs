//! Why a call did nothing, in words that a person understands. An internal cause is logged and never shown.

use crate::{
    app::{BadInput, NotFound},
    ingest::escape_for_display,
    mcp::tool::McpTool,
    store::StoreError,
};

/// The longest message to a client. Messages may repeat what the client sent.
const LONGEST: usize = 400;

/// Why a call was refused or failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The text is for the person and the client.
    #[error("{0}")]
    Refused(String),
    /// The cause is for the log.
    #[error("something went wrong")]
    Internal(#[source] anyhow::Error),
}

impl Failure {
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }

    pub(super) fn no_task(reference: &str) -> Self {
        Self::Refused(format!("There is no task {reference}. list_tasks shows the tasks."))
    }

    /// Returns whether the database refused a change, because of what the task is by now.
    pub(super) fn is_refused_edit(error: &anyhow::Error) -> bool {
        matches!(error.downcast_ref(), Some(StoreError::Refused(_) | StoreError::Conflict(_)))
    }

    /// Returns what the client is told. An internal cause is logged here, once.
    pub(super) fn tell(&self, tool: &str) -> String {
        match self {
            Self::Refused(text) => {
                let shown = escape_for_display(text);
                if shown.chars().count() <= LONGEST {
                    return shown;
                }
                shown.chars().take(LONGEST).collect::<String>() + "…"
            }
            Self::Internal(cause) => {
                tracing::error!(tool, error = format!("{cause:#}"), "a request of an MCP client failed");
                "Sorry, Adjutant could not do that just now. Please try again in a moment; if it happens again, \
                 `adjutant doctor` says what is wrong."
                    .to_owned()
            }
        }
    }

    /// Adds the name of the tool to a refusal, for arguments that are wrong.
    pub(super) fn about(self, tool: McpTool) -> Self {
        match self {
            Self::Refused(text) => Self::Refused(format!("{tool}: {text}")),
            internal => internal,
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let said = error.chain().find_map(|cause| {
            let bad_input = cause.downcast_ref::<BadInput>().map(ToString::to_string);
            bad_input.or_else(|| cause.downcast_ref::<NotFound>().map(ToString::to_string))
        });
        said.map_or(Self::Internal(error), Self::Refused)
    }
}
