use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::Value;

use super::{
    layout::{self, Areas},
    pane::{EntryKind, Pane, single_line},
    theme::Theme,
};
use crate::{
    model::{AgentId, AgentState, AgentType, TeamState, TodoItem},
    team::event::{TeamEvent, TeamInput},
};

/// How long the end of the worker in view is shown before the view goes on, and how long a notice is.
const MOMENT: Duration = Duration::from_millis(2500);
/// The view never moves by itself while a person is typing: this long after the last key of a text that is not sent.
const TYPING_PAUSE: Duration = Duration::from_millis(1500);
/// How soon a second Ctrl-C must follow the first.
const LEAVE_AGAIN: Duration = Duration::from_secs(5);

/// What the screen wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Send(TeamInput),
    /// The person leaves the screen. The team is stored and can be resumed.
    Leave,
}

/// What is on the screen of a team, and how it changes. Times are counted from the opening of the screen.
#[derive(Debug)]
pub struct Screen {
    pub(super) theme: Theme,
    pub(super) columns: u16,
    pub(super) rows: u16,
    /// The number by which a person names the team.
    pub(super) number: i64,
    pub(super) state: TeamState,
    pub(super) todos: Vec<TodoItem>,
    /// The manager first, then the workers in the order of their start.
    pub(super) panes: Vec<Pane>,
    view: usize,
    /// The worker whose end is being shown, and until when.
    ending: Option<(usize, Duration)>,
    /// A worker that takes the view as soon as the person does not type.
    next_in_view: Option<usize>,
    notice: Option<(String, Duration)>,
    last_key: Option<Duration>,
    /// When Ctrl-C was pressed while the team works.
    leave_asked: Option<Duration>,
}

impl Screen {
    pub fn new(columns: u16, rows: u16, has_colour: bool) -> Self {
        Self {
            theme: Theme { has_colour },
            columns,
            rows,
            number: 0,
            state: TeamState::Requested,
            todos: Vec::new(),
            panes: Vec::new(),
            view: 0,
            ending: None,
            next_in_view: None,
            notice: None,
            last_key: None,
            leave_asked: None,
        }
    }

    /// Takes an event of the team in.
    pub fn handle_event(&mut self, event: &TeamEvent, now: Duration) {
        match event {
            TeamEvent::TeamOpened { number, .. } => self.number = *number,
            TeamEvent::TeamStateChanged { state } => self.state = *state,
            TeamEvent::AgentStarted { agent, agent_type, number, task } => {
                self.add_agent(*agent, *agent_type, *number, task);
            }
            TeamEvent::AgentStateChanged { agent, state } => self.set_agent_state(*agent, *state, now),
            TeamEvent::TodoListChanged { todos } => self.todos.clone_from(todos),
            TeamEvent::Question { agent, text } => {
                self.push(*agent, EntryKind::Question, text);
                self.with(*agent, |pane| pane.is_asking = true);
            }
            TeamEvent::PersonSaid { agent, text } => {
                self.push(*agent, EntryKind::Person, text);
                self.with(*agent, |pane| pane.is_asking = false);
            }
            TeamEvent::WorkerFinished { agent, result, warning } => {
                self.push(*agent, EntryKind::Result, result);
                if let Some(warning) = warning {
                    self.push(*agent, EntryKind::Warning, warning);
                }
                self.end_worker(*agent, AgentState::Finished, now);
            }
            TeamEvent::WorkerFailed { agent, report } => {
                self.push(*agent, EntryKind::Error, &describe_report(report));
                self.end_worker(*agent, AgentState::Failed, now);
            }
            TeamEvent::Stopped { summary } => {
                self.push_to_manager(EntryKind::Summary, summary);
                self.show(0);
                self.notice = None;
            }
            TeamEvent::Answered { text } => self.push_to_manager(EntryKind::Answer, text),
            TeamEvent::Notice { text } => {
                self.push_to_manager(EntryKind::Warning, text);
                self.notify(single_line(text), now);
            }
            entry => self.push_entry(entry),
        }
        self.move_view(now);
    }

    /// Takes a key in.
    pub fn handle_key(&mut self, key: KeyEvent, now: Duration) -> Option<Command> {
        self.last_key = Some(now);
        let command = if key.modifiers.contains(KeyModifiers::CONTROL) {
            self.handle_control(key.code, now)
        } else {
            self.handle_plain(key.code, now)
        };
        self.move_view(now);
        command
    }

    /// Takes a new size of the terminal in.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        (self.columns, self.rows) = (columns, rows);
        self.fit();
    }

    /// Lets time pass: what was shown for a moment goes away.
    pub fn tick(&mut self, now: Duration) {
        if self.notice.as_ref().is_some_and(|(_, until)| *until <= now) {
            self.notice = None;
        }
        self.move_view(now);
    }

    /// Returns the agent in view.
    pub fn agent_in_view(&self) -> Option<AgentId> {
        self.pane().map(|pane| pane.agent)
    }

    /// Returns where the team stands.
    pub fn team_state(&self) -> TeamState {
        self.state
    }

    pub(super) fn pane(&self) -> Option<&Pane> {
        self.panes.get(self.view)
    }

    pub(super) fn workers(&self) -> impl Iterator<Item = &Pane> {
        self.panes.iter().filter(|pane| !pane.is_manager())
    }

    pub(super) fn areas(&self) -> Areas {
        // In a worker's view there is only the worker.
        let is_manager = self.pane().is_some_and(Pane::is_manager);
        let todo_rows = if is_manager { u16::try_from(self.todos.len()).unwrap_or(u16::MAX) } else { 0 };
        layout::divide(self.columns, self.rows, todo_rows)
    }

    /// Returns the line below the header: who waits for the person, or else a passing notice.
    pub(super) fn alert(&self) -> Option<String> {
        let waits = |pane: &&Pane| pane.is_waiting_for_input() && Some(pane.agent) != self.agent_in_view();
        let waiting: Vec<&Pane> = self.panes.iter().filter(waits).collect();
        let workers: Vec<String> =
            waiting.iter().filter(|pane| !pane.is_manager()).map(|pane| pane.number.to_string()).collect();
        match workers.as_slice() {
            [] if !waiting.is_empty() => Some("⚠ Manager waiting for input".to_owned()),
            [] => self.notice.as_ref().map(|(notice, _)| notice.clone()),
            [one] => Some(format!("⚠ Task {one} waiting for input")),
            several => Some(format!("⚠ Tasks {} waiting for input", several.join(", "))),
        }
    }

    fn handle_control(&mut self, code: KeyCode, now: Duration) -> Option<Command> {
        match code {
            KeyCode::Char('c' | 'd') => return self.leave(now),
            KeyCode::Char('t') => self.show(0),
            KeyCode::Char('u') => self.edit(|pane| pane.draft.clear()),
            KeyCode::Char('w') => self.edit(|pane| pane.draft.delete_word()),
            KeyCode::Char('a') => self.edit(|pane| pane.draft.move_to_start()),
            KeyCode::Char('e') => self.edit(|pane| pane.draft.move_to_end()),
            KeyCode::Home => self.scroll_by(isize::MIN),
            KeyCode::End => self.edit(Pane::scroll_to_end),
            _ => {}
        }
        None
    }

    fn handle_plain(&mut self, code: KeyCode, now: Duration) -> Option<Command> {
        let page = isize::try_from(self.areas().text.height.saturating_sub(1)).unwrap_or(1).max(1);
        match code {
            KeyCode::Tab => self.cycle(1),
            KeyCode::BackTab => self.cycle(-1),
            KeyCode::Esc => return self.stop(now),
            KeyCode::Enter => return self.send(now),
            KeyCode::Char(c) => self.edit(|pane| pane.draft.insert(c)),
            KeyCode::Backspace => self.edit(|pane| pane.draft.delete_before()),
            KeyCode::Delete => self.edit(|pane| pane.draft.delete_after()),
            KeyCode::Left => self.edit(|pane| pane.draft.move_left()),
            KeyCode::Right => self.edit(|pane| pane.draft.move_right()),
            KeyCode::Home => self.edit(|pane| pane.draft.move_to_start()),
            KeyCode::End => self.edit(|pane| pane.draft.move_to_end()),
            KeyCode::Up => self.scroll_by(-1),
            KeyCode::Down => self.scroll_by(1),
            KeyCode::PageUp => self.scroll_by(-page),
            KeyCode::PageDown => self.scroll_by(page),
            _ => {}
        }
        None
    }

    /// Sends the draft to the agent in view. An agent that has ended hears nothing, so its draft stays.
    fn send(&mut self, now: Duration) -> Option<Command> {
        let pane = self.panes.get_mut(self.view)?;
        if !pane.is_manager() && pane.state.has_ended() {
            let notice = format!("{} has ended. Ctrl-T goes to the manager.", pane.name());
            self.notify(notice, now);
            return None;
        }
        let text = pane.draft.take();
        pane.scroll_to_end();
        (!text.is_empty()).then_some(Command::Send(TeamInput::Say { agent: pane.agent, text }))
    }

    /// Esc stops a team that works. In one that does not, it empties the draft, or else leaves.
    fn stop(&mut self, now: Duration) -> Option<Command> {
        if self.state.is_open() {
            self.notify("Stopping all agents …".to_owned(), now);
            return Some(Command::Send(TeamInput::Stop));
        }
        if self.state == TeamState::Stopped {
            self.notify("It is stopped. Say how to go on, or leave with Ctrl-C.".to_owned(), now);
            return None;
        }
        let pane = self.panes.get_mut(self.view);
        match pane.filter(|pane| !pane.draft.is_empty()) {
            Some(pane) => {
                pane.draft.clear();
                None
            }
            None => Some(Command::Leave),
        }
    }

    /// Ctrl-C leaves. While the team works it is asked for twice.
    fn leave(&mut self, now: Duration) -> Option<Command> {
        let is_again = self.leave_asked.is_some_and(|asked| now < asked + LEAVE_AGAIN);
        if !self.state.is_open() || is_again {
            return Some(Command::Leave);
        }
        self.leave_asked = Some(now);
        self.notify("Ctrl-C again leaves. The team is kept: adjutant team --resume".to_owned(), now);
        None
    }

    /// Moves the view to the next or previous active worker, or through all of them when none is active any more.
    fn cycle(&mut self, step: isize) {
        let mut stops: Vec<usize> = self.positions(Pane::is_active_worker);
        if stops.is_empty() {
            stops = self.positions(|_| true);
        }
        let Ok(count) = isize::try_from(stops.len()) else { return };
        if count == 0 {
            return;
        }
        let next = match stops.iter().position(|stop| *stop == self.view) {
            Some(at) => at.cast_signed() + step,
            // From elsewhere, forwards to the first that comes after it and backwards to the last before it.
            None => {
                let before = stops.iter().filter(|stop| **stop < self.view).count().cast_signed();
                if step > 0 { before } else { before - 1 }
            }
        };
        if let Some(stop) = stops.get(next.rem_euclid(count).cast_unsigned()) {
            self.show(*stop);
        }
    }

    fn positions(&self, is_wanted: impl Fn(&Pane) -> bool) -> Vec<usize> {
        self.panes.iter().enumerate().filter(|(_, pane)| is_wanted(pane)).map(|(at, _)| at).collect()
    }

    /// Shows an agent because the person wants it, or because there is nothing else to see.
    fn show(&mut self, view: usize) {
        if view < self.panes.len() {
            self.view = view;
        }
        self.ending = None;
        self.next_in_view = None;
        self.fit();
    }

    fn add_agent(&mut self, agent: AgentId, agent_type: AgentType, number: u32, task: &str) {
        if self.panes.iter().any(|pane| pane.agent == agent) {
            return;
        }
        let pane = Pane::new(agent, number, task);
        if agent_type.is_task_manager() {
            // Should a worker have been announced before, its place moves.
            self.panes.insert(0, pane);
        } else {
            // The first of those at work takes the view; the others leave it where it is.
            let is_first = !self.panes.iter().any(Pane::is_active_worker);
            let sees_manager = self.pane().is_none_or(Pane::is_manager);
            let told = format!("{} started: {}", pane.name(), pane.task);
            self.panes.push(pane);
            if is_first && sees_manager {
                self.next_in_view = Some(self.panes.len() - 1);
            }
            self.push_to_manager(EntryKind::Progress, &told);
        }
        self.fit();
    }

    fn set_agent_state(&mut self, agent: AgentId, state: AgentState, now: Duration) {
        if state.has_ended() {
            self.end_worker(agent, state, now);
        } else {
            self.with(agent, |pane| {
                pane.state = state;
                // Whoever works again has got its answer.
                pane.is_asking &= state == AgentState::Waiting || state == AgentState::Stopped;
            });
        }
    }

    /// Notes that an agent has ended. The end of the one in view is shown for a moment; that of another is told.
    fn end_worker(&mut self, agent: AgentId, state: AgentState, now: Duration) {
        let Some(at) = self.panes.iter().position(|pane| pane.agent == agent) else { return };
        let Some(pane) = self.panes.get_mut(at).filter(|pane| !pane.state.has_ended()) else { return };
        pane.state = state;
        pane.is_asking = false;
        if pane.is_manager() {
            return;
        }
        let (icon, _) = self.theme.state(state);
        let told = format!("{icon} {} {}", pane.name(), describe_end(state));
        self.push_to_manager(EntryKind::Progress, &told);
        if at == self.view {
            self.ending = Some((at, now + MOMENT));
        } else {
            self.notify(told, now);
        }
        if self.next_in_view == Some(at) {
            self.next_in_view = None;
        }
    }

    /// Moves the view where it goes by itself, unless the person is typing.
    fn move_view(&mut self, now: Duration) {
        let has_draft = self.pane().is_some_and(|pane| !pane.draft.is_empty());
        if has_draft && self.last_key.is_some_and(|key| now < key + TYPING_PAUSE) {
            return;
        }
        if let Some(next) = self.next_in_view.take() {
            self.show(next);
        }
        if let Some((ended, until)) = self.ending
            && now >= until
        {
            let active = self.positions(Pane::is_active_worker);
            let next = active.iter().find(|at| **at > ended).or(active.first());
            self.show(next.copied().unwrap_or(0));
        }
    }

    fn notify(&mut self, notice: String, now: Duration) {
        self.notice = Some((notice, now + MOMENT));
    }

    fn push_entry(&mut self, event: &TeamEvent) {
        let (agent, kind, text) = match event {
            TeamEvent::Thought { agent, text } => (agent, EntryKind::Thought, text.clone()),
            TeamEvent::Remark { agent, text } => (agent, EntryKind::Remark, text.clone()),
            TeamEvent::ToolCalled { agent, tool, summary } => (agent, EntryKind::Call, format!("{tool}  {summary}")),
            TeamEvent::ToolReturned { agent, is_error, summary, .. } => {
                (agent, if *is_error { EntryKind::Error } else { EntryKind::Returned }, summary.clone())
            }
            TeamEvent::ActionProposed { agent, text, outcome } => {
                (agent, EntryKind::Proposal, format!("{text}\n{outcome}"))
            }
            _ => return,
        };
        self.push(*agent, kind, &text);
    }

    fn push(&mut self, agent: AgentId, kind: EntryKind, text: &str) {
        self.with(agent, |pane| pane.push(kind, text));
    }

    fn push_to_manager(&mut self, kind: EntryKind, text: &str) {
        if let Some(manager) = self.panes.first_mut().filter(|pane| pane.is_manager()) {
            manager.push(kind, text);
        }
    }

    fn with(&mut self, agent: AgentId, change: impl FnOnce(&mut Pane)) {
        if let Some(pane) = self.panes.iter_mut().find(|pane| pane.agent == agent) {
            change(pane);
        }
    }

    fn edit(&mut self, change: impl FnOnce(&mut Pane)) {
        if let Some(pane) = self.panes.get_mut(self.view) {
            change(pane);
        }
    }

    fn scroll_by(&mut self, rows: isize) {
        let height = usize::from(self.areas().text.height);
        self.edit(|pane| pane.scroll(rows, height));
    }

    /// Breaks the conversation in view to the width that it has.
    fn fit(&mut self) {
        let width = usize::from(self.areas().text.width);
        self.edit(|pane| pane.set_width(width));
    }
}

fn describe_end(state: AgentState) -> &'static str {
    match state {
        AgentState::Failed => "failed",
        AgentState::Cancelled => "was cancelled",
        _ => "finished",
    }
}

/// Returns what a person wants to know of an error report.
fn describe_report(report: &Value) -> String {
    let word = |path: &str| report.pointer(path).and_then(Value::as_str).filter(|word| !word.is_empty());
    let lines = [
        word("/error_summary").map(str::to_owned),
        word("/error_details/context/last_successful_step").map(|step| format!("last step: {step}")),
        word("/error_details/suggestion").map(|hint| format!("suggestion: {hint}")),
    ];
    let told: Vec<String> = lines.into_iter().flatten().collect();
    if told.is_empty() { report.to_string() } else { told.join("\n") }
}
