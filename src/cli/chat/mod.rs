//! `chat`: a conversation about tasks, at a terminal, from a pipe, or as JSON lines for programs.

mod editor;

use std::{
    io::{self, BufRead as _, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;
use crossterm::style::Stylize as _;
use serde_json::json;

use self::editor::{LineEditor, TypedLine};
use super::{
    EXIT_FINDINGS,
    args::ChatOptions,
    description::format_date_time,
    hitl::is_interactive,
    printer::{Printer, escape_and_truncate},
};
use crate::{
    app::{App, ChatInput, ChatOutput, new_conversation_id},
    model::{ChatMessageRow, ChatRole, TeamOrigin},
};

/// The name of the person in front of what they type.
const PROMPT: &str = "you> ";
/// How many messages of an earlier conversation are loaded, for the history of the line editor.
const LOADED_MESSAGES: usize = 200;
/// What a person can type beside messages.
const COMMANDS: &str = "/profile direct|guided, /team TEXT, /undo, /help, /new, /quit (or Ctrl-D)";

/// Holds a conversation.
pub(super) async fn execute(app: &App, screen: Printer, options: ChatOptions) -> anyhow::Result<ExitCode> {
    if options.jsonl {
        return answer_json_lines(app, &options).await;
    }
    let mut session = ChatSession::open(app, screen, options).await?;
    if is_interactive() && !screen.is_json {
        session.converse().await?;
    } else {
        session.answer_lines().await?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads JSON lines from stdin and prints the reply to each as soon as it is known. The exit code is 4 when a line could
/// not be answered.
async fn answer_json_lines(app: &App, options: &ChatOptions) -> anyhow::Result<ExitCode> {
    let mut has_failed = false;
    while let Some(line) = read_line()? {
        if line.trim().is_empty() {
            continue;
        }
        let input = serde_json::from_str::<ChatInput>(&line).context("not a message: expected {\"text\": …}");
        let answer = match input {
            Ok(input) => {
                let profile = input.profile.or(options.profile);
                let user_id = input.user_id.or_else(|| options.user.clone());
                app.conversations().say(ChatInput { profile, user_id, ..input }).await
            }
            Err(error) => Err(error),
        };
        let mut out = io::stdout().lock();
        match answer {
            Ok(output) => serde_json::to_writer(&mut out, &output)?,
            Err(error) => {
                has_failed = true;
                serde_json::to_writer(&mut out, &json!({ "error": format!("{error:#}") }))?;
            }
        }
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(if has_failed { ExitCode::from(EXIT_FINDINGS) } else { ExitCode::SUCCESS })
}

/// Reads a line from stdin, whatever bytes it has; none at the end.
fn read_line() -> anyhow::Result<Option<String>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_until(b'\n', &mut bytes).context("stdin cannot be read")?;
    Ok((!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// A conversation at a terminal or from a pipe.
struct ChatSession<'a> {
    app: &'a App,
    screen: Printer,
    options: ChatOptions,
    conversation: String,
    /// What was said before, the newest first.
    before: Vec<ChatMessageRow>,
}

impl<'a> ChatSession<'a> {
    /// Goes on with the last conversation, or begins the one that the options ask for.
    async fn open(app: &'a App, screen: Printer, options: ChatOptions) -> anyhow::Result<Self> {
        let last = match (&options.conversation, options.new) {
            (None, false) => app.conversations().newest(options.user.as_deref(), LOADED_MESSAGES).await?,
            _ => None,
        };
        let (conversation, before) = match (last, &options.conversation) {
            (Some((row, messages)), _) => (row.conversation.to_string(), messages),
            (None, Some(name)) => (name.clone(), Vec::new()),
            (None, None) => (new_conversation_id()?.to_string(), Vec::new()),
        };
        Ok(Self { app, screen, options, conversation, before })
    }

    async fn say(&mut self, text: &str) -> anyhow::Result<ChatOutput> {
        let input = ChatInput {
            text: text.to_owned(),
            conversation_id: Some(self.conversation.clone()),
            user_id: self.options.user.clone(),
            // Given once; after that, the conversation has it.
            profile: self.options.profile.take(),
        };
        self.app.conversations().say(input).await
    }

    /// Answers every line of stdin.
    async fn answer_lines(&mut self) -> anyhow::Result<()> {
        while let Some(line) = read_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let output = self.say(line.trim_end_matches(['\n', '\r'])).await?;
            if self.screen.is_json {
                self.screen.print_unbroken(&serde_json::to_string(&output)?)?;
            } else {
                self.screen.print_line(&safe_for_screen(&output.reply))?;
            }
        }
        Ok(())
    }

    /// Talks with a person at a terminal until they leave.
    async fn converse(&mut self) -> anyhow::Result<()> {
        self.greet()?;
        let typed = self.before.iter().rev().filter(|message| message.role == ChatRole::User);
        let mut editor = LineEditor::open(typed.map(|message| message.text.clone()).collect())?;
        loop {
            let prompt = if self.screen.has_colour { PROMPT.cyan().to_string() } else { PROMPT.to_owned() };
            let line = match tokio::task::block_in_place(|| editor.read_line(&prompt, PROMPT.len()))? {
                TypedLine::Text(line) => line,
                TypedLine::Dropped => continue,
                TypedLine::End => break,
            };
            match line.trim() {
                "" => continue,
                "/quit" | "/exit" => break,
                "/new" => {
                    self.conversation = new_conversation_id()?.to_string();
                    self.print_note("A new conversation has begun.")?;
                    continue;
                }
                command if command.starts_with("/team ") => {
                    let text = self.start_team(command).await.unwrap_or_else(|error| format!("{error:#}"));
                    self.print_note(&text)?;
                    continue;
                }
                _ => {}
            }
            match self.say(&line).await {
                Ok(output) => self.screen.print_line(&safe_for_screen(&output.screen))?,
                // One message that fails ends no conversation.
                Err(error) => self.print_note(&format!("{error:#}"))?,
            }
        }
        Ok(())
    }

    /// Leaves the request behind `/team` to the daemon, and says where it is followed.
    async fn start_team(&self, command: &str) -> anyhow::Result<String> {
        let text = command.strip_prefix("/team ").unwrap_or_default();
        let team = self.app.teams().open(text, None, TeamOrigin::Chat).await?;
        Ok(format!(
            "Team {0} works on it as soon as the daemon runs. `adjutant team --resume {0}` follows it here; its questions wait in \
             the approval queue.",
            team.number
        ))
    }

    /// Says which conversation goes on, and what can be typed.
    fn greet(&self) -> anyhow::Result<()> {
        let Some(last) = self.before.first() else {
            return self.print_note(&format!("Talk to me about your tasks. {COMMANDS}"));
        };
        let at = format_date_time(last.at, self.app.config.me.time_zone);
        self.print_note(&format!("Going on with the conversation of {at}; /new begins another. {COMMANDS}"))?;
        if let Some(reply) = self.before.iter().find(|message| message.role == ChatRole::Assistant) {
            self.screen.print_line(&safe_for_screen(&reply.text))?;
        }
        Ok(())
    }

    /// Prints what the program says, and not the assistant.
    fn print_note(&self, note: &str) -> anyhow::Result<()> {
        let note = escape_and_truncate(note, 400);
        let shown = if self.screen.has_colour { note.as_str().dark_grey().to_string() } else { note };
        self.screen.print_unbroken(&shown)?;
        Ok(())
    }
}

/// Returns a reply without characters that act on a terminal. The isolates around titles stay.
fn safe_for_screen(reply: &str) -> String {
    let acts =
        |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200e}'..='\u{200f}');
    reply.chars().filter(|c| !acts(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::safe_for_screen;

    #[test]
    fn nothing_in_a_reply_acts_on_the_screen() {
        assert_eq!(safe_for_screen("a\u{1b}[2Jb\u{202e}c\nd"), "a[2Jbc\nd");
        assert_eq!(safe_for_screen("'\u{2068}חלב\u{2069}'"), "'\u{2068}חלב\u{2069}'");
    }
}
