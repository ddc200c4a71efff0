use ratatui::{
    Frame,
    layout::{Position, Rect},
    text::{Line, Span},
    widgets::{Block, BorderType, Paragraph},
};

use super::{
    layout::Areas,
    pane::{Pane, Row},
    screen::Screen,
    side::{header_line, input_hint, key_line, todo_lines, worker_lines},
};

impl Screen {
    /// Draws everything.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let areas = self.areas();
        draw_line(frame, areas.header, header_line(self));
        if let Some(alert) = self.alert() {
            let style = if alert.starts_with('⚠') { self.theme.warning() } else { self.theme.dim() };
            draw_line(frame, areas.alert, Line::styled(alert, style));
        }
        self.draw_conversation(frame, &areas);
        self.draw_side(frame, areas.side);
        frame.render_widget(Paragraph::new(todo_lines(self, areas.todo.width)), areas.todo);
        self.draw_input(frame, areas.input);
        draw_line(frame, areas.keys, key_line(self, usize::from(areas.keys.width)));
    }

    fn draw_conversation(&self, frame: &mut Frame<'_>, areas: &Areas) {
        let Some(pane) = self.pane() else { return };
        let (rows, below) = pane.visible(usize::from(areas.text.height));
        if areas.has_frames {
            // A manager's frame is double, so that it differs without colours too.
            let border = if pane.is_manager() { BorderType::Double } else { BorderType::Rounded };
            let block = Block::bordered().border_type(border).border_style(self.theme.agent(pane.is_manager()));
            let title = if pane.is_manager() { " Manager ".to_owned() } else { format!(" {} ", pane.task) };
            let mut block = block.title(title);
            if below > 0 {
                block = block.title_bottom(Line::from(format!(" {below} more below ")).right_aligned());
            }
            frame.render_widget(block, areas.body);
        }
        let lines: Vec<Line<'_>> = rows.iter().map(|row| self.conversation_line(row)).collect();
        frame.render_widget(Paragraph::new(lines), areas.text);
    }

    fn conversation_line<'a>(&self, row: &'a Row) -> Line<'a> {
        let (icon, style) = self.theme.entry(row.kind);
        let mark = if row.is_first { icon } else { " " };
        Line::from(vec![Span::styled(mark, style), Span::raw(" "), Span::styled(row.text.as_str(), style)])
    }

    /// Draws the column with the todo list above the workers.
    fn draw_side(&self, frame: &mut Frame<'_>, area: Rect) {
        if area.is_empty() {
            return;
        }
        let todo_rows = u16::try_from(self.todos.len() + 2).unwrap_or(u16::MAX).clamp(3, (area.height / 2).max(3));
        let upper = Rect { height: todo_rows.min(area.height), ..area };
        let lower = Rect { y: area.y + upper.height, height: area.height - upper.height, ..area };
        let columns = area.width.saturating_sub(2);
        let (todos, workers) = (todo_lines(self, columns), worker_lines(self, columns));
        for (area, title, lines) in [(upper, " Todo ", todos), (lower, " Tasks ", workers)] {
            let block = Block::bordered().border_type(BorderType::Plain).border_style(self.theme.dim()).title(title);
            frame.render_widget(Paragraph::new(lines).block(block), area);
        }
    }

    fn draw_input(&self, frame: &mut Frame<'_>, area: Rect) {
        if area.width < 4 || area.height == 0 {
            return;
        }
        let prompt = Span::styled("› ", self.theme.agent(self.pane().is_none_or(Pane::is_manager)));
        let empty = self.pane().is_none_or(|pane| pane.draft.is_empty());
        let (text, cursor) =
            self.pane().map(|pane| pane.draft.visible(usize::from(area.width) - 2)).unwrap_or_default();
        let text = if empty { Span::styled(input_hint(self), self.theme.dim()) } else { Span::raw(text) };
        draw_line(frame, area, Line::from(vec![prompt, text]));
        let column = area.x + 2 + u16::try_from(cursor).unwrap_or_default();
        frame.set_cursor_position(Position::new(column, area.y));
    }
}

fn draw_line(frame: &mut Frame<'_>, area: Rect, line: Line<'_>) {
    frame.render_widget(line, area);
}
