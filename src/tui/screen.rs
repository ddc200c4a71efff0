use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::Value;

use super::{
    layout::{self, Areas},
    pane::{EntryKind, Pane, single_line},
    pane_list::PaneList,
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
pub enum ScreenCommand {
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
    pub(super) panes: PaneList,
    /// The worker whose end is being shown, and until when.
    ending: Option<(usize, Duration)>,
    /// A worker that takes the view as soon as the person does not type.
    next_in_view: Option<usize>,
    pub(super) notice: Option<(String, Duration)>,
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
            panes: PaneList::default(),
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
                self.set_asking(*agent, true);
                self.panes.push(*agent, EntryKind::Question, text);
            }
            TeamEvent::PersonSaid { agent, text } => {
                self.set_asking(*agent, false);
                self.panes.push(*agent, EntryKind::Person, text);
            }
            TeamEvent::WorkerFinished { agent, result, warning } => {
                self.panes.push(*agent, EntryKind::Result, result);
                if let Some(warning) = warning {
                    self.panes.push(*agent, EntryKind::Warning, warning);
                }
                self.end_worker(*agent, AgentState::Finished, now);
            }
            TeamEvent::WorkerFailed { agent, report } => {
                self.panes.push(*agent, EntryKind::Error, &describe_report(report));
                self.end_worker(*agent, AgentState::Failed, now);
            }
            TeamEvent::Stopped { summary } => {
                self.panes.push_to_manager(EntryKind::Summary, summary);
                self.show(0);
                self.notice = None;
            }
            TeamEvent::Answered { text } => self.panes.push_to_manager(EntryKind::Answer, text),
            TeamEvent::Notice { text } => {
                self.panes.push_to_manager(EntryKind::Warning, text);
                self.notify(single_line(text), now);
            }
            other => {
                if let Some((agent, kind, text)) = conversation_entry(other) {
                    self.panes.push(agent, kind, &text);
                }
            }
        }
        self.move_view(now);
    }

    /// Takes a key in.
    pub fn handle_key(&mut self, key: KeyEvent, now: Duration) -> Option<ScreenCommand> {
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
        self.panes.in_view().map(|pane| pane.agent)
    }

    /// Returns where the team stands.
    pub fn team_state(&self) -> TeamState {
        self.state
    }

    pub(super) fn areas(&self) -> Areas {
        // In a worker's view there is only the worker.
        let is_manager = self.panes.in_view().is_some_and(Pane::is_manager);
        let todo_rows = if is_manager { u16::try_from(self.todos.len()).unwrap_or(u16::MAX) } else { 0 };
        layout::divide(self.columns, self.rows, todo_rows)
    }

    fn handle_control(&mut self, code: KeyCode, now: Duration) -> Option<ScreenCommand> {
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

    fn handle_plain(&mut self, code: KeyCode, now: Duration) -> Option<ScreenCommand> {
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
    fn send(&mut self, now: Duration) -> Option<ScreenCommand> {
        let pane = self.panes.in_view_mut()?;
        if !pane.is_manager() && pane.state.has_ended() {
            let notice = format!("{} has ended. Ctrl-T goes to the manager.", pane.name());
            self.notify(notice, now);
            return None;
        }
        let text = pane.draft.take();
        pane.scroll_to_end();
        (!text.is_empty()).then_some(ScreenCommand::Send(TeamInput::Say { agent: pane.agent, text }))
    }

    /// Esc stops a team that works. In one that does not, it empties the draft, or else leaves.
    fn stop(&mut self, now: Duration) -> Option<ScreenCommand> {
        if self.state.is_open() {
            self.notify("Stopping all agents …".to_owned(), now);
            return Some(ScreenCommand::Send(TeamInput::Stop));
        }
        if self.state == TeamState::Stopped {
            self.notify("It is stopped. Say how to go on, or leave with Ctrl-C.".to_owned(), now);
            return None;
        }
        let pane = self.panes.in_view_mut();
        match pane.filter(|pane| !pane.draft.is_empty()) {
            Some(pane) => {
                pane.draft.clear();
                None
            }
            None => Some(ScreenCommand::Leave),
        }
    }

    /// Ctrl-C leaves. While the team works it is asked for twice.
    fn leave(&mut self, now: Duration) -> Option<ScreenCommand> {
        let is_again = self.leave_asked.is_some_and(|asked| now < asked + LEAVE_AGAIN);
        if !self.state.is_open() || is_again {
            return Some(ScreenCommand::Leave);
        }
        self.leave_asked = Some(now);
        self.notify("Ctrl-C again leaves. The team is kept: adjutant team --resume".to_owned(), now);
        None
    }

    /// Moves the view to the next or previous active worker, or through all agents when none is active any more.
    fn cycle(&mut self, step: isize) {
        if let Some(stop) = self.panes.next_stop(step) {
            self.show(stop);
        }
    }

    /// Shows an agent because the person wants it, or because there is nothing else to see.
    fn show(&mut self, view: usize) {
        self.panes.set_view(view);
        self.ending = None;
        self.next_in_view = None;
        self.fit();
    }

    fn add_agent(&mut self, agent: AgentId, agent_type: AgentType, number: u32, task: &str) {
        if self.panes.has(agent) {
            return;
        }
        let pane = Pane::new(agent, number, task);
        if agent_type.is_task_manager() {
            self.panes.add_manager(pane);
        } else {
            // The first of those at work takes the view; the others leave it where it is.
            let is_first = !self.panes.iter().any(Pane::is_active_worker);
            let sees_manager = self.panes.in_view().is_none_or(Pane::is_manager);
            let told = format!("{} started: {}", pane.name(), pane.task);
            let place = self.panes.add_worker(pane);
            if is_first && sees_manager {
                self.next_in_view = Some(place);
            }
            self.panes.push_to_manager(EntryKind::Progress, &told);
        }
        self.fit();
    }

    fn set_agent_state(&mut self, agent: AgentId, state: AgentState, now: Duration) {
        if state.has_ended() {
            self.end_worker(agent, state, now);
        } else {
            if let Some((_, pane)) = self.panes.get_mut(agent) {
                pane.state = state;
                // Whoever works again has got its answer.
                pane.is_asking &= state == AgentState::Waiting || state == AgentState::Stopped;
            }
        }
    }

    fn set_asking(&mut self, agent: AgentId, is_asking: bool) {
        if let Some((_, pane)) = self.panes.get_mut(agent) {
            pane.is_asking = is_asking;
        }
    }

    /// Notes that an agent has ended. The end of the one in view is shown for a moment; that of another is told.
    fn end_worker(&mut self, agent: AgentId, state: AgentState, now: Duration) {
        let Some((at, pane)) = self.panes.get_mut(agent).filter(|(_, pane)| !pane.state.has_ended()) else { return };
        pane.state = state;
        pane.is_asking = false;
        if pane.is_manager() {
            return;
        }
        let (icon, _) = self.theme.state(state);
        let told = format!("{icon} {} {}", pane.name(), describe_end(state));
        self.panes.push_to_manager(EntryKind::Progress, &told);
        if at == self.panes.view() {
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
        let has_draft = self.panes.in_view().is_some_and(|pane| !pane.draft.is_empty());
        if has_draft && self.last_key.is_some_and(|key| now < key + TYPING_PAUSE) {
            return;
        }
        if let Some(next) = self.next_in_view.take() {
            self.show(next);
        }
        if let Some((ended, until)) = self.ending
            && now >= until
        {
            self.show(self.panes.active_after(ended).unwrap_or(0));
        }
    }

    fn notify(&mut self, notice: String, now: Duration) {
        self.notice = Some((notice, now + MOMENT));
    }

    fn edit(&mut self, change: impl FnOnce(&mut Pane)) {
        if let Some(pane) = self.panes.in_view_mut() {
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

/// Returns what an event adds to the conversation of its agent.
fn conversation_entry(event: &TeamEvent) -> Option<(AgentId, EntryKind, String)> {
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
        _ => return None,
    };
    Some((*agent, kind, text))
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
