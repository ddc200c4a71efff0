//! How things look: every state has an icon and a colour, so that neither is needed to tell it.

use ratatui::style::{Color, Modifier, Style};

use super::pane::EntryKind;
use crate::model::{AgentState, TodoStatus};

/// Whether colours are used. Without them, icons and weights remain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Theme {
    pub has_colour: bool,
}

impl Theme {
    fn coloured(self, colour: Color) -> Style {
        if self.has_colour { Style::new().fg(colour) } else { Style::new() }
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Manager and workers differ in colour and in their frame.
    pub(super) fn agent(self, is_manager: bool) -> Style {
        let style = self.coloured(if is_manager { Color::Magenta } else { Color::Cyan });
        style.add_modifier(Modifier::BOLD)
    }

    pub(super) fn warning(self) -> Style {
        self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(super) fn key(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn state(self, state: AgentState) -> (&'static str, Style) {
        match state {
            AgentState::Queued => ("○", self.dim()),
            AgentState::Working => ("●", self.coloured(Color::Blue)),
            AgentState::Waiting => ("◐", self.coloured(Color::Yellow)),
            AgentState::Stopped => ("■", self.coloured(Color::Yellow)),
            AgentState::Finished => ("✔", self.coloured(Color::Green)),
            AgentState::Failed => ("✖", self.coloured(Color::Red)),
            AgentState::Cancelled => ("⊘", self.dim()),
        }
    }

    pub(super) fn todo(self, status: TodoStatus) -> (&'static str, Style) {
        match status {
            TodoStatus::Pending => ("○", self.dim()),
            TodoStatus::InProgress => ("▶", self.coloured(Color::Blue)),
            TodoStatus::Completed => ("✔", self.coloured(Color::Green)),
        }
    }

    /// The icon before an entry, and the style of the whole entry.
    pub(super) fn entry(self, kind: EntryKind) -> (&'static str, Style) {
        match kind {
            EntryKind::Task => ("▣", Style::new().add_modifier(Modifier::BOLD)),
            EntryKind::Thought => ("…", self.dim().add_modifier(Modifier::ITALIC)),
            EntryKind::Call => ("→", self.coloured(Color::Blue)),
            EntryKind::Returned => ("←", self.dim()),
            EntryKind::Error => ("✖", self.coloured(Color::Red)),
            EntryKind::Question => ("?", self.warning()),
            EntryKind::Person => ("›", Style::new().add_modifier(Modifier::BOLD)),
            EntryKind::Remark => ("·", Style::new()),
            EntryKind::Proposal => ("✉", self.coloured(Color::Magenta)),
            EntryKind::Result => ("✔", self.coloured(Color::Green)),
            EntryKind::Warning => ("!", self.warning()),
            EntryKind::Summary => ("■", self.coloured(Color::Yellow)),
            EntryKind::Answer => ("★", Style::new()),
            EntryKind::Progress => ("·", self.dim()),
        }
    }
}
