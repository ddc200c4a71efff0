use ratatui::layout::Rect;

/// From this size on there are frames, and a column with the todo list and the workers.
const ROOMY: (u16, u16) = (50, 16);
const WIDE: u16 = 100;
const SIDE_COLUMNS: u16 = 36;

/// Where the parts of the screen are. A part without room is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Areas {
    pub header: Rect,
    /// Who waits for the person, or a passing notice.
    pub alert: Rect,
    pub body: Rect,
    /// The rows of the conversation, inside the frame of the body.
    pub text: Rect,
    pub side: Rect,
    /// The todo list of the manager, where there is no column for it.
    pub todo: Rect,
    pub input: Rect,
    pub keys: Rect,
    pub has_frames: bool,
}

/// Divides a screen. `todo_rows` is how much the todo list would like to have below the conversation.
pub(super) fn divide(columns: u16, rows: u16, todo_rows: u16) -> Areas {
    let has_frames = columns >= ROOMY.0 && rows >= ROOMY.1;
    let side_columns = if has_frames && columns >= WIDE { SIDE_COLUMNS } else { 0 };
    let mut left = Rect::new(0, 0, columns, rows);
    let header = take_top(&mut left, 1);
    let keys = take_bottom(&mut left, 1);
    let input = take_bottom(&mut left, 1);
    let alert = take_top(&mut left, 1);
    let side = Rect { x: columns - side_columns, width: side_columns, ..left };
    left.width -= side_columns;
    let todo_rows = if side_columns > 0 { 0 } else { todo_rows.min(left.height / 3) };
    let todo = take_bottom(&mut left, todo_rows);
    let text = if has_frames {
        let (width, height) = (left.width.saturating_sub(4), left.height.saturating_sub(2));
        Rect::new(left.x + 2, left.y + 1, width, height)
    } else {
        left
    };
    Areas { header, alert, body: left, text, side, todo, input, keys, has_frames }
}

fn take_top(left: &mut Rect, rows: u16) -> Rect {
    let height = rows.min(left.height);
    let taken = Rect { height, ..*left };
    left.y += height;
    left.height -= height;
    taken
}

fn take_bottom(left: &mut Rect, rows: u16) -> Rect {
    let height = rows.min(left.height);
    left.height -= height;
    Rect { y: left.y + left.height, height, ..*left }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::divide;

    #[test]
    fn no_part_leaves_the_screen_or_covers_another() {
        for columns in 0..130 {
            for rows in 0..40 {
                for todo in [0, 3, 50] {
                    let areas = divide(columns, rows, todo);
                    let parts =
                        [areas.header, areas.alert, areas.body, areas.side, areas.todo, areas.input, areas.keys];
                    let screen = Rect::new(0, 0, columns, rows);
                    let area: u32 = parts.iter().map(|part| part.area()).sum();
                    assert!(area <= screen.area(), "{columns}x{rows}: {areas:?}");
                    for (nth, part) in parts.iter().enumerate() {
                        assert_eq!(part.intersection(screen).area(), part.area(), "{columns}x{rows}: {areas:?}");
                        assert!(
                            parts.iter().skip(nth + 1).all(|other| part.intersection(*other).is_empty()),
                            "{columns}x{rows}: {areas:?}"
                        );
                    }
                    assert_eq!(areas.text.intersection(areas.body).area(), areas.text.area());
                }
            }
        }
    }

    #[test]
    fn a_narrow_terminal_still_has_a_conversation_and_its_keys() {
        let areas = divide(40, 10, 0);
        assert_eq!((areas.text.width, areas.text.height), (40, 6));
        assert_eq!((areas.input.height, areas.keys.height), (1, 1));
    }
}
