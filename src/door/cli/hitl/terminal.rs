//! The terminal while a person decides: single keys, questions on one line, and everything as it was afterwards.
//!
//! It is given back by `Drop`, by the panic hook, on a signal to end, and before every editor. Where single keys cannot be
//! had (a dumb terminal), a whole line is read and its first letter is the key.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    sync::{
        Arc, Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use tokio::signal::unix::{SignalKind, signal};

/// How long a wait for a key lasts before the screen looks at the queue again, in tenths of a second.
const TICK_TENTHS: u8 = 2;
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const ESCAPE: u8 = 27;
/// Where a terminal does not say how large it is.
const DEFAULT_SIZE: (usize, usize) = (80, 24);

const ENTER_SCREEN: &str = "\x1b[?1049h";
const LEAVE_SCREEN: &str = "\x1b[?1049l";
const CLEAR: &str = "\x1b[H\x1b[2J";

/// As the terminal was found, until it is given back.
static ORIGINAL_MODES: Mutex<Option<Termios>> = Mutex::new(None);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyPress {
    Letter(char),
    Enter,
    Escape,
    Down,
    Up,
    PageDown,
    PageUp,
    Home,
    End,
    /// Nothing was pressed; time to look around.
    Nothing,
    /// The person, the terminal or the system wants an end.
    Quit,
}

pub(super) struct Terminal {
    /// None where only whole lines can be read.
    original_modes: Option<Termios>,
    stop: Arc<AtomicBool>,
}

/// Both ends are a terminal: somebody is there to be asked.
pub(super) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

impl Terminal {
    pub(super) fn open() -> io::Result<Self> {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let found = if dumb { None } else { tcgetattr(rustix::stdio::stdin()).ok() };
        let stop = Arc::new(AtomicBool::new(false));
        let (mut interrupt, flag) = (signal(SignalKind::interrupt())?, Arc::clone(&stop));
        // Comes only while an editor has the terminal: it is meant for the editor first.
        tokio::spawn(async move {
            if interrupt.recv().await.is_some() {
                flag.store(true, Ordering::Relaxed);
            }
        });
        for (kind, code) in [(SignalKind::terminate(), 143), (SignalKind::hangup(), 129)] {
            let mut signal = signal(kind)?;
            tokio::spawn(async move {
                if signal.recv().await.is_some() {
                    // Decisions are whole rows: there is nothing to finish, and a question on the screen cannot be
                    // interrupted otherwise.
                    restore_terminal();
                    std::process::exit(code);
                }
            });
        }
        let mut terminal = Self { original_modes: found, stop };
        if let Some(found) = &terminal.original_modes {
            *ORIGINAL_MODES.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.clone());
            restore_on_panic();
        }
        terminal.enter_alternate_screen()?;
        Ok(terminal)
    }

    pub(super) const fn has_raw_mode(&self) -> bool {
        self.original_modes.is_some()
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        match tcgetwinsize(rustix::stdio::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
            _ => DEFAULT_SIZE,
        }
    }

    /// Takes the screen for itself.
    pub(super) fn enter_alternate_screen(&mut self) -> io::Result<()> {
        if let Some(found) = &self.original_modes {
            set_modes(&raw_modes(found))?;
            write_stdout(ENTER_SCREEN)?;
        }
        Ok(())
    }

    /// Gives it back, for an editor or for good.
    pub(super) fn leave_alternate_screen(&mut self) -> io::Result<()> {
        if let Some(found) = &self.original_modes {
            write_stdout(LEAVE_SCREEN)?;
            set_modes(found)?;
        }
        Ok(())
    }

    /// Puts these lines on an empty screen.
    pub(super) fn show(&self, lines: &[String]) -> io::Result<()> {
        let text = lines.join("\n");
        if self.has_raw_mode() { write_stdout(&format!("{CLEAR}{text}")) } else { write_stdout(&format!("\n{text}\n")) }
    }

    pub(super) fn read_key(&self) -> io::Result<KeyPress> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(KeyPress::Quit);
        }
        if self.original_modes.is_none() {
            return match self.prompt_line("> ")? {
                None => Ok(KeyPress::Quit),
                Some(line) => Ok(line.trim().chars().next().map_or(KeyPress::PageDown, key_of_char)),
            };
        }
        let Some(byte) = next_byte()? else {
            // Nothing for a while, or nobody any more.
            return Ok(if tcgetattr(rustix::stdio::stdin()).is_ok() { KeyPress::Nothing } else { KeyPress::Quit });
        };
        match byte {
            CTRL_C | CTRL_D => Ok(KeyPress::Quit),
            ESCAPE => read_escape_sequence(),
            b'\n' | b'\r' => Ok(KeyPress::Enter),
            byte if byte.is_ascii() => Ok(key_of_char(byte.into())),
            byte => Ok(read_utf8_char(byte)?.map_or(KeyPress::Nothing, key_of_char)),
        }
    }

    /// One line of text. None when the person thought better of it (Escape, Ctrl-C, Ctrl-D).
    pub(super) fn prompt_line(&self, question: &str) -> io::Result<Option<String>> {
        write_stdout(question)?;
        if let Some(found) = &self.original_modes {
            set_modes(&line_mode(found))?;
        }
        let mut bytes = Vec::new();
        let read = read_line(&mut bytes);
        if let Some(found) = &self.original_modes {
            set_modes(&raw_modes(found))?;
        }
        read?;
        let ended = |end: &u8| matches!(*end, CTRL_C | ESCAPE | CTRL_D);
        if bytes.is_empty() || bytes.last().is_some_and(ended) || self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&bytes);
        Ok(Some(text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// The message of a panic must be readable, and so must the shell after it.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore_terminal();
            before(info);
        }));
    });
}

fn restore_terminal() {
    if let Some(found) = ORIGINAL_MODES.lock().unwrap_or_else(PoisonError::into_inner).take() {
        drop(write_stdout(LEAVE_SCREEN));
        drop(set_modes(&found));
    }
}

fn set_modes(modes: &Termios) -> io::Result<()> {
    // Drain, not flush: what was typed ahead counts.
    Ok(tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, modes)?)
}

/// Keys one by one, and a read that comes back when there are none.
fn raw_modes(found: &Termios) -> Termios {
    let mut modes = found.clone();
    modes.make_raw();
    // Enter is the same byte as on a line, whichever mode reads it.
    modes.input_modes |= InputModes::ICRNL;
    modes.output_modes = found.output_modes;
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = TICK_TENTHS;
    modes
}

/// The terminal's own line editing, in which Escape and Ctrl-C end the line instead of the program.
fn line_mode(found: &Termios) -> Termios {
    let mut modes = found.clone();
    modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHOE;
    modes.local_modes -= LocalModes::ISIG;
    modes.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
    modes.special_codes[SpecialCodeIndex::VEOL2] = ESCAPE;
    modes
}

fn write_stdout(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn next_byte() -> io::Result<Option<u8>> {
    let mut input = io::stdin().lock();
    let byte = match input.fill_buf() {
        Ok(buffer) => buffer.first().copied(),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
        Err(error) => return Err(error),
    };
    input.consume(byte.iter().count());
    Ok(byte)
}

fn read_line(bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut input = io::stdin().lock();
    loop {
        let (taken, ended) = match input.fill_buf() {
            Ok([]) => (0, true),
            Ok(buffer) => {
                let end = buffer.iter().position(|byte| matches!(*byte, b'\n' | b'\r' | CTRL_C | ESCAPE));
                let taken = end.map_or(buffer.len(), |end| end + 1);
                bytes.extend(buffer.iter().take(taken));
                (taken, end.is_some())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (0, false),
            Err(error) => return Err(error),
        };
        input.consume(taken);
        if ended {
            return Ok(());
        }
    }
}

/// Arrows and their like; a lone Escape is itself.
fn read_escape_sequence() -> io::Result<KeyPress> {
    if !matches!(next_byte()?, Some(b'[' | b'O')) {
        return Ok(KeyPress::Escape);
    }
    let mut parameter = 0;
    while let Some(byte) = next_byte()? {
        match byte {
            b'0'..=b'9' => parameter = byte,
            b';' => {}
            b'A' => return Ok(KeyPress::Up),
            b'B' => return Ok(KeyPress::Down),
            b'H' => return Ok(KeyPress::Home),
            b'F' => return Ok(KeyPress::End),
            b'~' => {
                return Ok(match parameter {
                    b'5' => KeyPress::PageUp,
                    b'6' => KeyPress::PageDown,
                    b'1' | b'7' => KeyPress::Home,
                    b'4' | b'8' => KeyPress::End,
                    _ => KeyPress::Nothing,
                });
            }
            _ => return Ok(KeyPress::Nothing),
        }
    }
    Ok(KeyPress::Escape)
}

/// The rest of a letter outside ASCII.
fn read_utf8_char(first: u8) -> io::Result<Option<char>> {
    let mut bytes = vec![first];
    let length = first.leading_ones().clamp(1, 4) as usize;
    while bytes.len() < length
        && let Some(byte) = next_byte()?
    {
        bytes.push(byte);
    }
    Ok(std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next()))
}

fn key_of_char(c: char) -> KeyPress {
    /// What the same keys give while the keyboard is set to Hebrew.
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
    KeyPress::Letter(HEBREW.iter().find(|(hebrew, _)| *hebrew == c).map_or(c, |(_, latin)| *latin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyboard_set_to_hebrew_has_the_same_keys() {
        for (typed, expected) in [('ש', 'a'), ('ר', 'r'), ('q', 'q'), ('R', 'R')] {
            assert_eq!(key_of_char(typed), KeyPress::Letter(expected));
        }
    }
}
