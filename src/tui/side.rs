//! What stands beside or below a conversation: the todo list, the workers, the keys.

use ratatui::{
    style::{Modifier, Style},
    text::{Line, Span},
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{
    pane::{Pane, single_line},
    screen::Screen,
    theme::Theme,
};
use crate::model::{TeamState, TodoStatus};

/// Returns the todo list, a line per entry. What is being done is in its present form.
pub(super) fn todo_lines(screen: &Screen, columns: u16) -> Vec<Line<'static>> {
    let line = |todo: &crate::model::TodoItem| {
        let (icon, style) = screen.theme.todo(todo.status);
        let words = if todo.status == TodoStatus::InProgress { &todo.active_form } else { &todo.content };
        Line::from(vec![Span::styled(format!("{icon} "), style), Span::raw(shorten(&single_line(words), columns))])
    };
    screen.todos.iter().map(line).collect()
}

/// Returns the workers, a line each; the one in view is marked.
pub(super) fn worker_lines(screen: &Screen, columns: u16) -> Vec<Line<'static>> {
    let in_view = screen.agent_in_view();
    let line = |pane: &Pane| {
        let (icon, style) = screen.theme.state(pane.state);
        let icon = if pane.is_waiting_for_input() {
            Span::styled("⚠ ", screen.theme.warning())
        } else {
            Span::styled(format!("{icon} "), style)
        };
        let weight = if in_view == Some(pane.agent) { Modifier::BOLD } else { Modifier::empty() };
        let words = shorten(&format!("{} {}", pane.number, pane.task), columns);
        Line::from(vec![icon, Span::styled(words, Style::new().add_modifier(weight))])
    };
    screen.workers().map(line).collect()
}

/// Cuts words to what is left of so many columns after an icon, and says that it did.
fn shorten(words: &str, columns: u16) -> String {
    let columns = usize::from(columns).saturating_sub(2);
    if words.width() <= columns {
        return words.to_owned();
    }
    let mut filled = 1;
    let fits = |c: &char| {
        filled += c.width().unwrap_or(0);
        filled <= columns
    };
    words.chars().take_while(fits).chain(['…']).collect()
}

/// Returns the keys that have a meaning now, the most important first, as many as fit.
pub(super) fn key_line(screen: &Screen, columns: usize) -> Line<'static> {
    let keys: &[(&str, &str)] = match screen.state {
        state if state.is_open() => &[
            ("Esc", "stop all"),
            ("Tab", "next task"),
            ("Enter", "send"),
            ("Ctrl-T", "manager"),
            ("PgUp", "scroll"),
            ("Ctrl-C", "leave"),
        ],
        TeamState::Stopped => &[("Enter", "go on"), ("Ctrl-C", "leave"), ("Tab", "tasks"), ("PgUp", "scroll")],
        _ => &[("Esc", "leave"), ("Enter", "say more"), ("Tab", "tasks"), ("Ctrl-T", "manager"), ("PgUp", "scroll")],
    };
    let mut spans = Vec::new();
    let mut filled = 0;
    for (key, meaning) in keys {
        let gap = if spans.is_empty() { "" } else { "  " };
        let width = gap.width() + key.width() + 1 + meaning.width();
        if filled + width > columns {
            break;
        }
        filled += width;
        spans.extend([
            Span::raw(gap),
            Span::styled(*key, screen.theme.key()),
            Span::styled(format!(" {meaning}"), screen.theme.dim()),
        ]);
    }
    Line::from(spans)
}

/// Returns what an empty line of input is for.
pub(super) fn input_hint(screen: &Screen) -> String {
    let Some(pane) = screen.pane() else { return "starting …".to_owned() };
    match (pane.is_manager(), screen.state) {
        (true, TeamState::Stopped) => "continue, cancel remaining, or new instructions".to_owned(),
        (true, TeamState::Answered) => "say more, or Esc to leave".to_owned(),
        (true, _) if pane.is_waiting_for_input() => "answer the manager".to_owned(),
        (true, _) => "message to the manager".to_owned(),
        (false, _) if pane.state.has_ended() => format!("{} has ended", pane.name()),
        (false, _) if pane.is_waiting_for_input() => format!("answer {}", pane.name()),
        (false, _) => format!("message to {}", pane.name()),
    }
}

/// Returns the first line: whose conversation it is, and which of how many.
pub(super) fn header_line(screen: &Screen) -> Line<'static> {
    let theme: Theme = screen.theme;
    let Some(pane) = screen.pane() else {
        return Line::styled("◆ Team", theme.agent(true));
    };
    let (icon, style) = theme.state(pane.state);
    let mut spans = vec![Span::styled(format!("{icon} "), style)];
    if pane.is_manager() {
        spans.push(Span::styled("◆ Manager", theme.agent(true)));
        spans.push(Span::raw(format!("  team {}  {}", screen.number, describe_state(screen))));
    } else {
        let of = screen.workers().count();
        spans.push(Span::styled(format!("Task {} of {of}", pane.number), theme.agent(false)));
        spans.push(Span::raw(" - Press Tab to cycle"));
    }
    Line::from(spans)
}

fn describe_state(screen: &Screen) -> String {
    let active = screen.workers().filter(|pane| pane.is_active_worker()).count();
    let of = screen.workers().count();
    match screen.state {
        TeamState::Running if active > 0 => format!("{active} of {of} at work"),
        TeamState::Running => "thinking".to_owned(),
        TeamState::Stopped => "stopped".to_owned(),
        TeamState::Answered => "answered".to_owned(),
        TeamState::Cancelled => "cancelled".to_owned(),
        TeamState::Failed => "failed".to_owned(),
        _ => "starting".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn what_does_not_fit_beside_its_icon_is_cut_with_a_sign() {
        for (words, columns, expected) in [
            ("1 Draft", 9, "1 Draft"),
            ("1 Drafts", 9, "1 Draf…"),
            ("会議会議", 8, "会議…"),
            ("שלום לכם", 7, "שלום…"),
            ("x", 0, "…"),
        ] {
            assert_eq!(shorten(words, columns), expected, "{words}");
        }
    }
}
