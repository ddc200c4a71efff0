//! Editing one line at a terminal: the cursor, the history, and the keys that people know from a shell.
//!
//! The text is kept and edited in the order in which it is typed. Right-to-left letters are sent as they are: the terminal
//! puts them in order, and nothing here reorders them.

use std::io::{self, Write as _};

use crossterm::{
    event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    terminal::{disable_raw_mode, enable_raw_mode, size},
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::cli::hitl::restore_terminal_on_exit;

/// The width of a terminal that does not tell it.
const DEFAULT_WIDTH: usize = 80;
/// How many lines of the history are kept.
const MOST_HISTORY: usize = 1_000;

/// What came of editing a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypedLine {
    Text(String),
    /// The person dropped the line with Ctrl-C.
    Dropped,
    /// The person leaves: Ctrl-D on an empty line, Ctrl-C twice.
    End,
}

/// What a key has done to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyEffect {
    Edited,
    Entered,
    Dropped,
    End,
}

/// The line that is being typed.
#[derive(Debug, Default)]
struct Line {
    text: Vec<char>,
    /// The number of characters before the cursor.
    cursor: usize,
    /// The place in the history, counted from its end; 0 is the line itself.
    recalled: usize,
    /// The line as it was before the history was looked at.
    own: Vec<char>,
}

/// Reads lines from a terminal.
pub(super) struct LineEditor {
    /// The oldest first.
    history: Vec<String>,
}

/// Raw mode for as long as this exists.
struct RawMode;

impl RawMode {
    fn enter() -> io::Result<Self> {
        enable_raw_mode().map(|()| Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        drop(disable_raw_mode());
    }
}

impl LineEditor {
    /// Takes the terminal over, and makes sure that it is restored on signals and panics.
    pub(super) fn open(history: Vec<String>) -> io::Result<Self> {
        restore_terminal_on_exit()?;
        Ok(Self { history })
    }

    /// Reads a line after a prompt that is `prompt_width` columns wide.
    pub(super) fn read_line(&mut self, prompt: &str, prompt_width: usize) -> io::Result<TypedLine> {
        let _raw = RawMode::enter()?;
        let mut line = Line::default();
        line.draw(prompt, prompt_width)?;
        loop {
            let effect = match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => line.press(key, &self.history),
                _ => KeyEffect::Edited,
            };
            line.draw(prompt, prompt_width)?;
            let typed = match effect {
                KeyEffect::Edited => continue,
                KeyEffect::Entered => TypedLine::Text(line.text.iter().collect()),
                KeyEffect::Dropped => TypedLine::Dropped,
                KeyEffect::End => TypedLine::End,
            };
            let mut out = io::stdout().lock();
            out.write_all(b"\r\n")?;
            out.flush()?;
            if let TypedLine::Text(text) = &typed {
                self.remember(text);
            }
            return Ok(typed);
        }
    }

    fn remember(&mut self, text: &str) {
        if !text.trim().is_empty() && self.history.last().map(String::as_str) != Some(text) {
            self.history.push(text.to_owned());
        }
        let surplus = self.history.len().saturating_sub(MOST_HISTORY);
        self.history.drain(..surplus);
    }
}

impl Line {
    /// Does what the key stands for.
    fn press(&mut self, key: KeyEvent, history: &[String]) -> KeyEffect {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        match (key.code, is_control) {
            (KeyCode::Enter, _) | (KeyCode::Char('j' | 'm'), true) => return KeyEffect::Entered,
            (KeyCode::Char('c'), true) if self.text.is_empty() => return KeyEffect::End,
            (KeyCode::Char('c'), true) => return KeyEffect::Dropped,
            (KeyCode::Char('d'), true) if self.text.is_empty() => return KeyEffect::End,
            (KeyCode::Left, false) | (KeyCode::Char('b'), true) => self.cursor = self.cursor.saturating_sub(1),
            (KeyCode::Right, false) | (KeyCode::Char('f'), true) => self.cursor = self.text.len().min(self.cursor + 1),
            (KeyCode::Left, true) => self.cursor = self.word_start(),
            (KeyCode::Right, true) => self.cursor = self.word_end(),
            (KeyCode::Home, _) | (KeyCode::Char('a'), true) => self.cursor = 0,
            (KeyCode::End, _) | (KeyCode::Char('e'), true) => self.cursor = self.text.len(),
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) => self.recall(self.recalled + 1, history),
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) => self.recall(self.recalled.saturating_sub(1), history),
            (KeyCode::Backspace, false) | (KeyCode::Char('h'), true) => {
                self.remove(self.cursor.saturating_sub(1), self.cursor)
            }
            (KeyCode::Delete, _) | (KeyCode::Char('d'), true) => self.remove(self.cursor, self.cursor + 1),
            (KeyCode::Char('u'), true) => self.remove(0, self.cursor),
            (KeyCode::Char('k'), true) => self.remove(self.cursor, self.text.len()),
            (KeyCode::Char('w'), true) | (KeyCode::Backspace, true) => self.remove(self.word_start(), self.cursor),
            (KeyCode::Char(c), false) if !is_alt && !c.is_control() => {
                self.text.insert(self.cursor.min(self.text.len()), c);
                self.cursor += 1;
            }
            _ => {}
        }
        KeyEffect::Edited
    }

    fn remove(&mut self, from: usize, to: usize) {
        let to = to.min(self.text.len());
        if from < to {
            self.text.drain(from..to);
            self.cursor = from;
        }
    }

    /// Returns where the word before the cursor begins.
    fn word_start(&self) -> usize {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        let blanks = before.iter().rev().take_while(|c| c.is_whitespace()).count();
        let word = before.iter().rev().skip(blanks).take_while(|c| !c.is_whitespace()).count();
        self.cursor.saturating_sub(blanks + word)
    }

    /// Returns where the word after the cursor ends.
    fn word_end(&self) -> usize {
        let after = self.text.get(self.cursor..).unwrap_or_default();
        let blanks = after.iter().take_while(|c| c.is_whitespace()).count();
        let word = after.iter().skip(blanks).take_while(|c| !c.is_whitespace()).count();
        self.cursor + blanks + word
    }

    /// Shows the line of the history that was typed so many lines ago; 0 is the line itself.
    fn recall(&mut self, back: usize, history: &[String]) {
        if back > history.len() {
            return;
        }
        if self.recalled == 0 {
            self.own = self.text.clone();
        }
        let line = history.len().checked_sub(back).and_then(|at| history.get(at)).filter(|_| back > 0);
        self.text = line.map_or_else(|| self.own.clone(), |line| line.chars().filter(|c| !c.is_control()).collect());
        self.recalled = back;
        self.cursor = self.text.len();
    }

    /// Draws the part of the line that fits the screen, with the cursor in it.
    fn draw(&self, prompt: &str, prompt_width: usize) -> io::Result<()> {
        let width = size().map_or(DEFAULT_WIDTH, |(columns, _)| usize::from(columns)).max(prompt_width + 2);
        let (shown, cursor) = self.visible_part(width - prompt_width - 1);
        let column = prompt_width + cursor;
        let mut out = io::stdout().lock();
        write!(out, "\r\x1b[K{prompt}{shown}\r\x1b[{column}C")?;
        out.flush()
    }

    /// Returns as much of the line around the cursor as fits, and the column of the cursor in it.
    fn visible_part(&self, width: usize) -> (String, usize) {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        let mut start = before.len();
        let mut column = 0;
        while let Some(c) = start.checked_sub(1).and_then(|at| before.get(at)) {
            let wide = c.width().unwrap_or(0);
            if column + wide > width {
                break;
            }
            column += wide;
            start -= 1;
        }
        let mut shown: String = before.get(start..).unwrap_or_default().iter().collect();
        for c in self.text.get(self.cursor..).unwrap_or_default() {
            if shown.width() + c.width().unwrap_or(0) > width {
                break;
            }
            shown.push(*c);
        }
        (shown, column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &mut Line, text: &str) {
        for c in text.chars() {
            line.press(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), &[]);
        }
    }

    fn control(line: &mut Line, letter: char) -> KeyEffect {
        line.press(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL), &[])
    }

    fn text(line: &Line) -> String {
        line.text.iter().collect()
    }

    #[test]
    fn keys_edit_the_line_as_in_a_shell() {
        let mut line = Line::default();
        typed(&mut line, "add milk now");
        control(&mut line, 'w');
        assert_eq!(text(&line), "add milk ");
        control(&mut line, 'a');
        typed(&mut line, "please ");
        assert_eq!(text(&line), "please add milk ");
        control(&mut line, 'k');
        assert_eq!(text(&line), "please ");
        line.press(KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE), &[]);
        control(&mut line, 'u');
        assert_eq!((text(&line), line.cursor), (String::new(), 0));
        assert_eq!(control(&mut line, 'd'), KeyEffect::End);
        typed(&mut line, "הוסף חלב");
        line.press(KeyEvent::new(KeyCode::Left, KeyModifiers::CONTROL), &[]);
        line.press(KeyEvent::new(KeyCode::Delete, KeyModifiers::NONE), &[]);
        assert_eq!(text(&line), "הוסף לב");
        assert_eq!(control(&mut line, 'c'), KeyEffect::Dropped);
    }

    #[test]
    fn the_history_goes_back_and_forth_and_keeps_what_was_being_typed() {
        let history = ["add milk".to_owned(), "show tasks".to_owned()];
        let mut line = Line::default();
        typed(&mut line, "dele");
        let mut press = |code| {
            line.press(KeyEvent::new(code, KeyModifiers::NONE), &history);
            text(&line)
        };
        assert_eq!(press(KeyCode::Up), "show tasks");
        assert_eq!(press(KeyCode::Up), "add milk");
        assert_eq!(press(KeyCode::Up), "add milk");
        assert_eq!(press(KeyCode::Down), "show tasks");
        assert_eq!(press(KeyCode::Down), "dele");
    }

    #[test]
    fn a_long_line_is_shown_around_the_cursor() {
        let mut line = Line::default();
        typed(&mut line, "0123456789");
        assert_eq!(line.visible_part(4), ("6789".into(), 4));
        control(&mut line, 'a');
        assert_eq!(line.visible_part(4), ("0123".into(), 0));
    }
}
