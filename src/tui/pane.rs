use super::draft::Draft;
use crate::{
    ingest::escape_for_display,
    model::{AgentId, AgentState},
    plain_text::wrapping::wrap,
};

/// The most characters kept of one entry, and the most entries of one agent: a screen is no archive.
const MOST_CHARS: usize = 20_000;
const MOST_ENTRIES: usize = 2_000;

/// One agent as the screen shows it.
#[derive(Debug)]
pub(super) struct Pane {
    pub agent: AgentId,
    /// 0 for the manager, the number of its task for a worker.
    pub number: u32,
    pub task: String,
    pub state: AgentState,
    /// Whether the agent has asked the person and has no answer yet.
    pub is_asking: bool,
    pub draft: Draft,
    entries: Vec<Entry>,
    /// The entries broken to [`Pane::width`].
    rows: Vec<Row>,
    width: usize,
    /// The first row in view; none while the view follows the newest.
    top: Option<usize>,
}

/// What an entry of a conversation is, which decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Task,
    Thought,
    Call,
    Returned,
    Error,
    Question,
    Person,
    Remark,
    Proposal,
    Result,
    Warning,
    Summary,
    Answer,
    /// Something that happened to another agent.
    Progress,
}

#[derive(Debug)]
struct Entry {
    kind: EntryKind,
    text: String,
}

/// One row of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub kind: EntryKind,
    /// Whether the entry begins here.
    pub is_first: bool,
    pub text: String,
}

impl Pane {
    pub(super) fn new(agent: AgentId, number: u32, task: &str) -> Self {
        let mut pane = Self {
            agent,
            number,
            task: single_line(task),
            state: AgentState::Working,
            is_asking: false,
            draft: Draft::default(),
            entries: Vec::new(),
            rows: Vec::new(),
            width: 80,
            top: None,
        };
        pane.push(EntryKind::Task, task);
        pane
    }

    pub(super) fn is_manager(&self) -> bool {
        self.number == 0
    }

    /// Returns whether the person is expected to say something.
    pub(super) fn is_waiting_for_input(&self) -> bool {
        self.is_asking && !self.state.has_ended()
    }

    /// Returns whether Tab stops here while the team works.
    pub(super) fn is_active_worker(&self) -> bool {
        !self.is_manager() && !self.state.has_ended()
    }

    /// How the agent is called on the screen.
    pub(super) fn name(&self) -> String {
        if self.is_manager() { "Manager".to_owned() } else { format!("Task {}", self.number) }
    }

    pub(super) fn push(&mut self, kind: EntryKind, text: &str) {
        let entry = Entry { kind, text: clean(text) };
        if self.entries.len() == MOST_ENTRIES {
            self.entries.remove(0);
            let gone = self.rows.iter().skip(1).position(|row| row.is_first).map_or(0, |rest| rest + 1);
            self.rows.drain(..gone);
            self.top = self.top.map(|top| top.saturating_sub(gone));
        }
        self.rows.extend(entry.rows(self.width));
        self.entries.push(entry);
    }

    /// Breaks the conversation to another width, and keeps about the same place in view.
    pub(super) fn set_width(&mut self, width: usize) {
        if self.width == width {
            return;
        }
        let before = self.rows.len().max(1);
        self.width = width;
        self.rows = self.entries.iter().flat_map(|entry| entry.rows(width)).collect();
        self.top = self.top.map(|top| top * self.rows.len() / before);
    }

    /// Moves the view by so many rows. At the end it follows what comes.
    pub(super) fn scroll(&mut self, rows: isize, height: usize) {
        let last = self.rows.len().saturating_sub(height);
        let top = self.top.unwrap_or(last).min(last).saturating_add_signed(rows);
        self.top = (top < last).then_some(top);
    }

    pub(super) fn scroll_to_end(&mut self) {
        self.top = None;
    }

    /// Returns the rows in view, and how many are below them.
    pub(super) fn visible(&self, height: usize) -> (&[Row], usize) {
        let last = self.rows.len().saturating_sub(height);
        let top = self.top.unwrap_or(last).min(last);
        let end = (top + height).min(self.rows.len());
        (self.rows.get(top..end).unwrap_or_default(), self.rows.len() - end)
    }
}

impl Entry {
    fn rows(&self, width: usize) -> impl Iterator<Item = Row> {
        // The first columns show what kind of entry it is.
        let width = width.saturating_sub(2).max(1);
        let rows: Vec<String> = self.text.lines().flat_map(|line| wrap(line, width, 0)).collect();
        let kind = self.kind;
        rows.into_iter().enumerate().map(move |(nth, text)| Row { kind, is_first: nth == 0, text })
    }
}

/// Text of an agent or a mail as it may stand on a terminal.
fn clean(text: &str) -> String {
    let end = text.char_indices().nth(MOST_CHARS).map(|(end, _)| end);
    let mut clean = escape_for_display(end.map_or(text, |end| text.get(..end).unwrap_or_default()));
    if end.is_some() {
        clean.push_str("\n[…]");
    }
    clean.replace('\t', "    ").trim_end().to_owned()
}

/// The same in one line.
pub(super) fn single_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
