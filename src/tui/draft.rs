use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The most that a person types at once, so that a pasted book does not stop the screen.
const MOST_BYTES: usize = 16 << 10;

/// What a person has typed to one agent and not sent yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Draft {
    text: String,
    /// The cursor, as a position in the text. Always between characters.
    at: usize,
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Empties the draft and returns what it said.
    pub(super) fn take(&mut self) -> String {
        self.at = 0;
        std::mem::take(&mut self.text).trim().to_owned()
    }

    pub(super) fn insert(&mut self, c: char) {
        if self.text.len() + c.len_utf8() <= MOST_BYTES && !c.is_control() {
            self.text.insert(self.at, c);
            self.at += c.len_utf8();
        }
    }

    pub(super) fn delete_before(&mut self) {
        if let Some(c) = self.before().chars().next_back() {
            self.at -= c.len_utf8();
            self.text.remove(self.at);
        }
    }

    pub(super) fn delete_after(&mut self) {
        if self.at < self.text.len() {
            self.text.remove(self.at);
        }
    }

    /// Deletes the word before the cursor.
    pub(super) fn delete_word(&mut self) {
        let kept = self.before().trim_end();
        let start = kept.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        self.text.replace_range(start..self.at, "");
        self.at = start;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn move_left(&mut self) {
        self.at -= self.before().chars().next_back().map_or(0, char::len_utf8);
    }

    pub(super) fn move_right(&mut self) {
        self.at += self.after().chars().next().map_or(0, char::len_utf8);
    }

    pub(super) fn move_to_start(&mut self) {
        self.at = 0;
    }

    pub(super) fn move_to_end(&mut self) {
        self.at = self.text.len();
    }

    /// Returns the part around the cursor that fits into so many columns, and the cursor's column in it.
    pub(super) fn visible(&self, columns: usize) -> (String, usize) {
        let mut shown = self.before();
        // The cursor needs a column of its own at the end.
        while shown.width() + 1 > columns {
            let Some(first) = shown.chars().next() else { break };
            shown = shown.get(first.len_utf8()..).unwrap_or_default();
        }
        let (mut text, cursor) = (shown.to_owned(), shown.width());
        let mut filled = cursor;
        for c in self.after().chars() {
            filled += c.width().unwrap_or(0);
            if filled > columns {
                break;
            }
            text.push(c);
        }
        (text, cursor)
    }

    fn before(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Draft;

    fn typed(text: &str) -> Draft {
        let mut draft = Draft::default();
        text.chars().for_each(|c| draft.insert(c));
        draft
    }

    #[test]
    fn a_draft_is_edited_by_characters_and_words() {
        let mut draft = typed("שלום wörld");
        draft.move_left();
        draft.delete_before();
        draft.delete_after();
        assert_eq!(draft.text, "שלום wör");
        draft.delete_word();
        assert_eq!(draft.text, "שלום ");
        draft.delete_word();
        draft.delete_before();
        draft.move_left();
        assert!(draft.is_empty());
    }

    #[test]
    fn control_characters_are_no_text() {
        assert_eq!(typed("a\u{1b}[2J\u{7}\nb").text, "a[2Jb");
    }

    #[test]
    fn the_cursor_stays_in_sight() {
        let mut draft = typed("0123456789");
        assert_eq!(draft.visible(5), ("6789".to_owned(), 4));
        draft.move_to_start();
        assert_eq!(draft.visible(5), ("01234".to_owned(), 0));
        assert_eq!(typed("会議会議").visible(5), ("会議".to_owned(), 4));
        assert_eq!(draft.visible(0), (String::new(), 0));
    }
}
