//! The terminal while a person decides: single keys, questions on one line, and the alternate screen.
//!
//! Whatever ends the session (quitting, an error, a panic, a signal) leaves the terminal as it was found. Where single
//! keys cannot be read (a dumb terminal), a whole line is read and its first letter is the key.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    sync::{
        Arc, Once,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crossterm::{
    cursor::MoveTo,
    event::{self, Event, KeyCode, KeyEvent, KeyModifiers},
    execute,
    style::Print,
    terminal::{
        Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
        is_raw_mode_enabled, window_size,
    },
};
use rustix::process::{Signal, kill_current_process_group};
use tokio::signal::unix::{SignalKind, signal};
use unicode_width::UnicodeWidthChar as _;

/// How long a wait for a key lasts before the screen looks at the queue again.
const TICK: Duration = Duration::from_millis(200);
/// Columns and rows where a terminal does not tell its size.
const DEFAULT_SIZE: (usize, usize) = (80, 24);

/// Whether the alternate screen is shown; the panic hook and the signal handlers must know it too.
static IS_ALTERNATE_SCREEN: AtomicBool = AtomicBool::new(false);

/// What the wait for a key brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyPress {
    Key(KeyCode),
    /// No key was pressed for one [`TICK`].
    Nothing,
    /// The window was resized, or the program was suspended and continued: the screen must be drawn again.
    Redraw,
    /// The person (Ctrl-C, Ctrl-D), the terminal or the system wants the session to end.
    Quit,
}

/// The terminal during a session. Dropping it restores the terminal.
pub(super) struct Terminal {
    /// Whether single keys can be read; otherwise whole lines are.
    has_raw_mode: bool,
    /// Set by an interrupt that arrives while an editor has the terminal.
    stop: Arc<AtomicBool>,
}

/// Returns whether standard input and output are both a terminal, so that there is somebody to ask.
pub(in crate::cli) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

impl Terminal {
    /// Takes the terminal over, and makes sure that it is restored on signals and panics.
    pub(super) fn open() -> io::Result<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let stop = Arc::new(AtomicBool::new(false));
        let (mut interrupt, flag) = (signal(SignalKind::interrupt())?, Arc::clone(&stop));
        tokio::spawn(async move {
            if interrupt.recv().await.is_some() {
                flag.store(true, Ordering::Relaxed);
            }
        });
        restore_terminal_on_exit()?;
        let terminal = Self { has_raw_mode: !is_dumb && enable_raw_mode().is_ok(), stop };
        terminal.enter_alternate_screen()?;
        Ok(terminal)
    }

    pub(super) const fn has_raw_mode(&self) -> bool {
        self.has_raw_mode
    }

    /// Returns columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        match window_size() {
            Ok(size) if size.columns > 0 && size.rows > 0 => (size.columns.into(), size.rows.into()),
            _ => DEFAULT_SIZE,
        }
    }

    pub(super) fn enter_alternate_screen(&self) -> io::Result<()> {
        if self.has_raw_mode {
            enable_raw_mode()?;
            execute!(io::stdout(), EnterAlternateScreen)?;
            IS_ALTERNATE_SCREEN.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Gives the terminal back as it was found, for an editor or for text that stays.
    pub(super) fn leave_alternate_screen(&self) -> io::Result<()> {
        restore_terminal()
    }

    /// Clears the screen and shows these lines.
    pub(super) fn show(&self, lines: &[String]) -> io::Result<()> {
        if self.has_raw_mode {
            execute!(io::stdout(), MoveTo(0, 0), Clear(ClearType::All), Print(lines.join("\r\n")))
        } else {
            write_stdout(&format!("\n{}\n", lines.join("\n")))
        }
    }

    /// Waits for a key for one [`TICK`]; on a dumb terminal, for a line.
    pub(super) fn read_key(&self) -> io::Result<KeyPress> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(KeyPress::Quit);
        }
        if !self.has_raw_mode {
            let line = self.prompt_line("> ")?;
            let key = |line: String| line.chars().next().map_or(KeyCode::PageDown, |c| KeyCode::Char(latin_key(c)));
            return Ok(line.map_or(KeyPress::Quit, |line| KeyPress::Key(key(line))));
        }
        if !event::poll(TICK)? {
            return Ok(KeyPress::Nothing);
        }
        match event::read()? {
            Event::Key(key) => match control_letter(key) {
                Some('c' | 'd') => Ok(KeyPress::Quit),
                Some('j') => Ok(KeyPress::Key(KeyCode::Enter)),
                Some('z') => self.suspend(),
                Some(_) => Ok(KeyPress::Nothing),
                None => Ok(KeyPress::Key(match plain_code(key) {
                    KeyCode::Char(c) => KeyCode::Char(latin_key(c)),
                    code => code,
                })),
            },
            Event::Resize(..) => Ok(KeyPress::Redraw),
            _ => Ok(KeyPress::Nothing),
        }
    }

    /// Stops the program as Ctrl-Z does, with the terminal as it was found, until the shell continues it.
    fn suspend(&self) -> io::Result<KeyPress> {
        self.leave_alternate_screen()?;
        kill_current_process_group(Signal::TSTP)?;
        self.enter_alternate_screen()?;
        Ok(KeyPress::Redraw)
    }

    /// Asks for one line of text. Returns None when the person changes their mind (Escape, Ctrl-C, Ctrl-D).
    pub(super) fn prompt_line(&self, question: &str) -> io::Result<Option<String>> {
        write_stdout(question)?;
        let typed = if self.has_raw_mode {
            let was_raw = is_raw_mode_enabled()?;
            enable_raw_mode()?;
            let typed = read_line_by_keys();
            if !was_raw {
                disable_raw_mode()?;
            }
            typed?
        } else {
            let mut bytes = Vec::new();
            io::stdin().lock().read_until(b'\n', &mut bytes)?;
            let is_dropped = bytes.is_empty() || bytes.contains(&b'\x1b') || self.stop.load(Ordering::Relaxed);
            (!is_dropped).then(|| String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(typed.map(|text| text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(restore_terminal());
    }
}

/// Reads and echoes a line in raw mode, so that Escape and Ctrl-C end the question and not the program.
fn read_line_by_keys() -> io::Result<Option<String>> {
    let mut text = String::new();
    loop {
        let Event::Key(key) = event::read()? else { continue };
        match (plain_code(key), control_letter(key)) {
            (KeyCode::Enter, _) | (_, Some('j')) => break write_stdout("\r\n").map(|()| Some(text)),
            (KeyCode::Esc, _) | (_, Some('c' | 'd')) => break write_stdout("\r\n").map(|()| None),
            (KeyCode::Backspace, _) | (_, Some('h')) => erase_last(&mut text, 1)?,
            (_, Some('u')) => erase_last(&mut text, usize::MAX)?,
            (KeyCode::Char(c), None) => {
                text.push(c);
                write_stdout(c.encode_utf8(&mut [0; 4]))?;
            }
            _ => {}
        }
    }
}

/// Removes the last characters from the text and from the screen.
fn erase_last(text: &mut String, count: usize) -> io::Result<()> {
    for _ in 0..count {
        let Some(c) = text.pop() else { break };
        write_stdout(&"\x08 \x08".repeat(c.width().unwrap_or_default()))?;
    }
    Ok(())
}

/// Makes sure that the terminal is as it was found after a signal or a panic.
pub(in crate::cli) fn restore_terminal_on_exit() -> io::Result<()> {
    for (kind, exit_code) in [(SignalKind::terminate(), 143), (SignalKind::hangup(), 129)] {
        let mut signal = signal(kind)?;
        tokio::spawn(async move {
            if signal.recv().await.is_some() {
                // What was decided or said is stored in whole rows, so there is nothing to finish; and a thread that
                // waits for a key cannot be interrupted otherwise.
                drop(restore_terminal());
                std::process::exit(exit_code);
            }
        });
    }
    restore_on_panic();
    Ok(())
}

/// Makes sure that the message of a panic is readable, and the shell after it usable.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            drop(restore_terminal());
            previous_hook(info);
        }));
    });
}

/// Leaves the alternate screen and raw mode; does nothing where neither is on.
fn restore_terminal() -> io::Result<()> {
    if IS_ALTERNATE_SCREEN.swap(false, Ordering::SeqCst) {
        execute!(io::stdout(), LeaveAlternateScreen)?;
    }
    disable_raw_mode()
}

fn write_stdout(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Returns the letter that was pressed together with Control.
fn control_letter(key: KeyEvent) -> Option<char> {
    key.code.as_char().filter(|_| key.modifiers.contains(KeyModifiers::CONTROL))
}

/// Returns the key, or Escape for a letter with Alt: a terminal sends both as Escape and the letter.
fn plain_code(key: KeyEvent) -> KeyCode {
    let is_alt_letter = key.modifiers.contains(KeyModifiers::ALT) && key.code.as_char().is_some();
    if is_alt_letter { KeyCode::Esc } else { key.code }
}

/// Returns the Latin letter of the same key while the keyboard is set to Hebrew, and any other letter as it is.
fn latin_key(c: char) -> char {
    const HEBREW: &[(char, char)] = &[
        ('ש', 'a'),
        ('נ', 'b'),
        ('ק', 'e'),
        ('ח', 'j'),
        ('ל', 'k'),
        ('צ', 'm'),
        ('מ', 'n'),
        ('פ', 'p'),
        ('ר', 'r'),
        ('ד', 's'),
        ('א', 't'),
        ('ו', 'u'),
        ('ז', 'z'),
    ];
    HEBREW.iter().find(|(hebrew, _)| *hebrew == c).map_or(c, |(_, latin)| *latin)
}

#[cfg(test)]
mod tests {
    use super::latin_key;

    #[test]
    fn a_keyboard_set_to_hebrew_has_the_same_keys() {
        for (typed, expected) in [('ש', 'a'), ('ר', 'r'), ('q', 'q'), ('R', 'R')] {
            assert_eq!(latin_key(typed), expected);
        }
    }
}
