//! The screen of a team as a state machine: what is in view, what keys do, and what stands on terminals of several sizes.

use std::time::Duration;

use adjutant::{
    model::{AgentId, AgentState, AgentType, TeamState, TodoItem, TodoStatus},
    team::event::{TeamEvent, TeamInput},
    tui::{Screen, ScreenCommand},
};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use ratatui::{Terminal, backend::TestBackend, buffer::Buffer, style::Color};

/// Longer than anything is shown for a moment, and than a pause in typing.
const LATER: Duration = Duration::from_secs(4);

/// A screen, and the time that has passed at it.
struct Desk {
    screen: Screen,
    now: Duration,
    size: (u16, u16),
}

/// 0 is the manager.
fn agent(number: u32) -> AgentId {
    format!("01ARZ3NDEKTSV4RRFFQ69G5F{number:02}").parse().unwrap()
}

fn say(number: u32, text: &str) -> Option<ScreenCommand> {
    Some(ScreenCommand::Send(TeamInput::Say { agent: agent(number), text: text.to_owned() }))
}

impl Desk {
    fn open(columns: u16, rows: u16) -> Self {
        let mut desk = Self { screen: Screen::new(columns, rows, true), now: Duration::ZERO, size: (columns, rows) };
        desk.event(TeamEvent::TeamOpened {
            team: "01ARZ3NDEKTSV4RRFFQ69G5FZZ".parse().unwrap(),
            number: 4,
            request: String::new(),
        });
        desk.event(TeamEvent::TeamStateChanged { state: TeamState::Running });
        desk.event(TeamEvent::AgentStarted {
            agent: agent(0),
            agent_type: AgentType::TaskManager,
            number: 0,
            task: "List every open invoice".to_owned(),
        });
        desk
    }

    /// A team whose workers are at work.
    fn with_workers(count: u32) -> Self {
        let mut desk = Self::open(80, 24);
        (1..=count).for_each(|number| desk.start(number));
        desk
    }

    fn event(&mut self, event: TeamEvent) {
        self.screen.handle_event(&event, self.now);
    }

    fn start(&mut self, number: u32) {
        let agent_type = AgentType::TaskWorker { parent_id: agent(0) };
        self.event(TeamEvent::AgentStarted { agent: agent(number), agent_type, number, task: format!("Job {number}") });
    }

    fn finish(&mut self, number: u32) {
        self.event(TeamEvent::WorkerFinished {
            agent: agent(number),
            result: format!("found {number}"),
            warning: None,
        });
        self.event(TeamEvent::AgentStateChanged { agent: agent(number), state: AgentState::Finished });
    }

    fn ask(&mut self, number: u32) {
        self.event(TeamEvent::Question { agent: agent(number), text: "Which account?".to_owned() });
        self.event(TeamEvent::AgentStateChanged { agent: agent(number), state: AgentState::Waiting });
    }

    fn press(&mut self, code: KeyCode) -> Option<ScreenCommand> {
        self.screen.handle_key(KeyEvent::new(code, KeyModifiers::NONE), self.now)
    }

    fn control(&mut self, c: char) -> Option<ScreenCommand> {
        self.screen.handle_key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL), self.now)
    }

    fn type_text(&mut self, text: &str) {
        text.chars().for_each(|c| assert_eq!(self.press(KeyCode::Char(c)), None));
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.screen.tick(self.now);
    }

    fn buffer(&self) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal.draw(|frame| self.screen.draw(frame)).unwrap();
        terminal.backend().buffer().clone()
    }

    /// The rows of the screen.
    fn rows(&self) -> Vec<String> {
        let buffer = self.buffer();
        let row = |y| (0..self.size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..self.size.1).map(row).collect()
    }

    fn shown(&self) -> String {
        self.rows().join("\n")
    }

    #[track_caller]
    fn sees(&self, number: u32) {
        assert_eq!(self.screen.agent_in_view(), Some(agent(number)), "{}", self.shown());
    }

    #[track_caller]
    fn must_show(&self, words: &str) {
        assert!(self.shown().contains(words), "no '{words}' in:\n{}", self.shown());
    }
}

#[test]
fn the_first_worker_takes_the_view_and_later_ones_do_not() {
    let mut desk = Desk::open(80, 24);
    desk.event(TeamEvent::Thought { agent: agent(0), text: "Three suppliers, three tasks.".to_owned() });
    desk.sees(0);
    desk.must_show("Three suppliers, three tasks.");
    desk.start(1);
    desk.sees(1);
    desk.must_show("Task 1 of 1 - Press Tab to cycle");
    desk.start(2);
    desk.start(3);
    desk.sees(1);
    desk.must_show("Task 1 of 3 - Press Tab to cycle");
}

#[test]
fn the_manager_shows_what_it_thinks_and_its_todo_list() {
    for size in [(80, 24), (120, 30), (40, 12)] {
        let mut desk = Desk::open(size.0, size.1);
        let todo = |content: &str, active_form: &str, status| TodoItem {
            content: content.to_owned(),
            active_form: active_form.to_owned(),
            status,
        };
        desk.event(TeamEvent::TodoListChanged {
            todos: vec![
                todo("Read supplier mail", "Reading supplier mail", TodoStatus::Completed),
                todo("List invoices", "Listing invoices", TodoStatus::InProgress),
            ],
        });
        desk.event(TeamEvent::Thought { agent: agent(0), text: "Begin with Acme.".to_owned() });
        for words in ["Begin with Acme.", "✔ Read supplier mail", "▶ Listing invoices", "◆ Manager"] {
            desk.must_show(words);
        }
    }
}

#[test]
fn tab_cycles_through_the_workers_that_are_active() {
    let mut desk = Desk::with_workers(4);
    desk.finish(3);
    for number in [2, 4, 1, 2] {
        desk.press(KeyCode::Tab);
        desk.sees(number);
    }
    for number in [1, 4, 2] {
        desk.press(KeyCode::BackTab);
        desk.sees(number);
    }
    desk.control('t');
    desk.sees(0);
    desk.press(KeyCode::Tab);
    desk.sees(1);
    desk.control('t');
    desk.press(KeyCode::BackTab);
    desk.sees(4);
}

#[test]
fn without_an_active_worker_tab_goes_through_all_results() {
    let mut desk = Desk::with_workers(2);
    desk.finish(1);
    desk.finish(2);
    desk.wait(LATER);
    desk.sees(0);
    for number in [1, 2, 0, 1] {
        desk.press(KeyCode::Tab);
        desk.sees(number);
        desk.wait(LATER);
        desk.sees(number);
    }
    desk.must_show("found 1");
}

#[test]
fn half_typed_text_stays_with_its_worker() {
    let mut desk = Desk::with_workers(2);
    desk.type_text("the first ha");
    desk.press(KeyCode::Tab);
    desk.must_show("message to Task 2");
    desk.type_text("second");
    assert_eq!(desk.press(KeyCode::Enter), say(2, "second"));
    desk.press(KeyCode::Tab);
    desk.must_show("› the first ha");
    desk.type_text("lf");
    assert_eq!(desk.press(KeyCode::Enter), say(1, "the first half"));
    assert_eq!(desk.press(KeyCode::Enter), None, "nothing is left to send");
}

#[test]
fn the_view_never_moves_by_itself_while_a_person_types() {
    let mut desk = Desk::open(80, 24);
    desk.type_text("only from");
    desk.start(1);
    desk.sees(0);
    desk.wait(Duration::from_millis(1000));
    desk.type_text(" May");
    desk.wait(Duration::from_millis(1000));
    desk.sees(0);
    desk.wait(Duration::from_secs(1));
    desk.sees(1);
    desk.must_show("message to Task 1");
    desk.control('t');
    desk.must_show("› only from May");

    let mut desk = Desk::with_workers(2);
    desk.finish(1);
    desk.wait(Duration::from_secs(2));
    desk.type_text("x");
    desk.wait(Duration::from_secs(1));
    desk.sees(1);
    desk.control('u');
    desk.sees(2);
}

#[test]
fn a_waiting_worker_is_announced_and_answered_where_it_asks() {
    let mut desk = Desk::with_workers(3);
    desk.ask(2);
    desk.must_show("⚠ Task 2 waiting for input");
    desk.press(KeyCode::Tab);
    assert!(!desk.shown().contains("waiting for input"), "{}", desk.shown());
    desk.must_show("Which account?");
    desk.must_show("answer Task 2");
    desk.ask(1);
    desk.ask(3);
    desk.must_show("⚠ Tasks 1, 3 waiting for input");
    desk.type_text("the second");
    assert_eq!(desk.press(KeyCode::Enter), say(2, "the second"));
    desk.event(TeamEvent::PersonSaid { agent: agent(2), text: "the second".to_owned() });
    desk.event(TeamEvent::AgentStateChanged { agent: agent(2), state: AgentState::Working });
    desk.must_show("message to Task 2");
    desk.press(KeyCode::Tab);
    desk.must_show("⚠ Task 1 waiting for input");
}

#[test]
fn the_end_of_the_worker_in_view_is_shown_for_a_moment() {
    let mut desk = Desk::with_workers(3);
    desk.press(KeyCode::Tab);
    desk.finish(2);
    desk.sees(2);
    desk.must_show("✔ found 2");
    desk.wait(Duration::from_secs(1));
    desk.sees(2);
    desk.wait(LATER);
    desk.sees(3);
    // Another one's end is told where the person is.
    desk.finish(1);
    desk.sees(3);
    desk.must_show("✔ Task 1 finished");
    desk.wait(LATER);
    assert!(!desk.shown().contains("Task 1 finished"));
    let report = serde_json::json!({ "error_summary": "timeout", "error_details": { "suggestion": "one month only" } });
    desk.event(TeamEvent::WorkerFailed { agent: agent(3), report });
    desk.must_show("✖ timeout");
    desk.must_show("suggestion: one month only");
    desk.event(TeamEvent::Answered { text: "Two invoices are open.".to_owned() });
    desk.event(TeamEvent::TeamStateChanged { state: TeamState::Answered });
    desk.sees(3);
    desk.wait(LATER);
    desk.sees(0);
    for words in ["★ Two invoices are open.", "✖ Task 3 failed", "answered"] {
        desk.must_show(words);
    }
    assert_eq!(desk.press(KeyCode::Esc), Some(ScreenCommand::Leave));
}

#[test]
fn the_end_goes_from_the_last_worker_to_the_first_that_is_left() {
    let mut desk = Desk::with_workers(3);
    desk.press(KeyCode::BackTab);
    desk.finish(3);
    desk.wait(LATER);
    desk.sees(1);
}

#[test]
fn a_person_who_looks_elsewhere_is_left_there() {
    let mut desk = Desk::with_workers(2);
    desk.finish(1);
    desk.control('t');
    desk.wait(LATER);
    desk.sees(0);
    // The next worker of a running team takes nothing over; after a pause in the work it does.
    desk.start(3);
    desk.sees(0);
    desk.finish(2);
    desk.finish(3);
    desk.start(4);
    desk.sees(4);
}

#[test]
fn an_ended_worker_hears_nothing_and_the_text_is_kept() {
    let mut desk = Desk::with_workers(1);
    desk.type_text("one more thing");
    desk.finish(1);
    assert_eq!(desk.press(KeyCode::Enter), None);
    desk.must_show("Task 1 has ended. Ctrl-T goes to the manager.");
    desk.must_show("› one more thing");
}

#[test]
fn escape_stops_everything_and_the_person_says_how_to_go_on() {
    let mut desk = Desk::with_workers(3);
    desk.must_show("Esc stop all");
    assert_eq!(desk.press(KeyCode::Esc), Some(ScreenCommand::Send(TeamInput::Stop)));
    desk.must_show("Stopping all agents");
    for number in 1..=3 {
        desk.event(TeamEvent::AgentStateChanged { agent: agent(number), state: AgentState::Stopped });
    }
    let summary = "[SYSTEM INTERRUPTION]\nUser pressed Stop at 14:32:15\n\n- Task 1: \"Job 1\" - executing JavaScript";
    desk.event(TeamEvent::Stopped { summary: summary.to_owned() });
    desk.event(TeamEvent::TeamStateChanged { state: TeamState::Stopped });
    desk.sees(0);
    for words in ["■ [SYSTEM INTERRUPTION]", "- Task 1: \"Job 1\"", "continue, cancel remaining, or new instructions"]
    {
        desk.must_show(words);
    }
    assert_eq!(desk.press(KeyCode::Esc), None, "a second press of the same key is not a wish to leave");
    desk.type_text("continue");
    assert_eq!(desk.press(KeyCode::Enter), say(0, "continue"));
    assert_eq!(desk.control('c'), Some(ScreenCommand::Leave));
}

#[test]
fn leaving_a_team_at_work_is_asked_for_twice() {
    let mut desk = Desk::with_workers(1);
    assert_eq!(desk.control('c'), None);
    desk.must_show("adjutant team --resume");
    desk.wait(Duration::from_secs(10));
    assert_eq!(desk.control('c'), None);
    assert_eq!(desk.control('c'), Some(ScreenCommand::Leave));
}

#[test]
fn a_narrow_terminal_shows_what_matters() {
    let mut desk = Desk::open(40, 10);
    for number in 1..=3 {
        desk.start(number);
    }
    desk.ask(2);
    desk.event(TeamEvent::ToolCalled {
        agent: agent(1),
        tool: "execute_javascript".to_owned(),
        summary: "mails({since: '2026-05-01'}).mails.filter(m => m.attachments)".to_owned(),
    });
    let rows = desk.rows();
    assert_eq!(rows[0], "● Task 1 of 3 - Press Tab to cycle");
    assert_eq!(rows[1], "⚠ Task 2 waiting for input");
    assert_eq!(rows[8], "› message to Task 1");
    assert!(rows[9].starts_with("Esc stop all  Tab next task"), "{rows:?}");
    desk.must_show("→ execute_javascript  mails({since:");
}

#[test]
fn a_wide_terminal_shows_todo_list_and_tasks_beside_the_conversation() {
    let mut desk = Desk::open(120, 30);
    (1..=2).for_each(|number| desk.start(number));
    desk.ask(2);
    desk.event(TeamEvent::TodoListChanged {
        todos: vec![TodoItem {
            content: "List invoices".to_owned(),
            active_form: "Listing invoices".to_owned(),
            status: TodoStatus::Pending,
        }],
    });
    desk.sees(1);
    for words in ["○ List invoices", "● 1 Job 1", "⚠ 2 Job 2"] {
        desk.must_show(words);
    }
}

#[test]
fn right_to_left_text_is_left_in_its_order() {
    let mut desk = Desk::open(40, 10);
    desk.event(TeamEvent::Thought { agent: agent(0), text: "חשבונית מספר 12 לדנה".to_owned() });
    desk.type_text("רק ממאי");
    desk.must_show("… חשבונית מספר 12 לדנה");
    desk.must_show("› רק ממאי");
    assert_eq!(desk.press(KeyCode::Enter), say(0, "רק ממאי"));
}

#[test]
fn nothing_that_a_mail_says_acts_on_the_terminal() {
    let mut desk = Desk::open(80, 24);
    let hostile = "pay\u{1b}[2J\u{1b}]0;owned\u{7} now\u{202e}txt\u{9b}31m\r\nnext\ttab";
    desk.event(TeamEvent::Remark { agent: agent(0), text: hostile.to_owned() });
    desk.event(TeamEvent::Notice { text: hostile.to_owned() });
    desk.event(TeamEvent::AgentStarted {
        agent: agent(1),
        agent_type: AgentType::TaskWorker { parent_id: agent(0) },
        number: 1,
        task: hostile.to_owned(),
    });
    for number in [0, 1] {
        if number == 0 {
            desk.control('t');
        } else {
            desk.press(KeyCode::Tab);
        }
        desk.sees(number);
        let shown = desk.shown();
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{shown:?}");
        assert!(shown.contains("pay\\u{1b}[2J"), "{shown}");
    }
}

#[test]
fn scrolling_back_stays_where_it_is_until_the_end() {
    let mut desk = Desk::open(80, 24);
    let remark = |nth: u32| TeamEvent::Remark { agent: agent(0), text: format!("remark {nth}.") };
    (0..100).for_each(|nth| desk.event(remark(nth)));
    desk.must_show("remark 99.");
    desk.press(KeyCode::PageUp);
    assert!(!desk.shown().contains("remark 99."));
    let before = desk.shown();
    let first = before.lines().nth(3).unwrap().to_owned();
    (100..120).for_each(|nth| desk.event(remark(nth)));
    assert_eq!(desk.shown().lines().nth(3).unwrap(), first);
    desk.must_show("more below");
    (0..10).for_each(|_| drop(desk.press(KeyCode::PageDown)));
    desk.must_show("remark 119.");
    desk.event(remark(120));
    desk.must_show("remark 120.");
    desk.press(KeyCode::Up);
    desk.size = (50, 18);
    desk.screen.resize(50, 18);
    desk.must_show("remark 11");
}

#[test]
fn states_differ_by_icon_and_by_colour_and_agents_by_frame() {
    let states = [
        AgentState::Queued,
        AgentState::Working,
        AgentState::Waiting,
        AgentState::Stopped,
        AgentState::Finished,
        AgentState::Failed,
        AgentState::Cancelled,
    ];
    let icons: std::collections::HashSet<String> = states
        .iter()
        .map(|state| {
            let mut desk = Desk::with_workers(1);
            desk.event(TeamEvent::AgentStateChanged { agent: agent(1), state: *state });
            desk.buffer()[(0, 0)].symbol().to_owned()
        })
        .collect();
    assert_eq!(icons.len(), states.len());

    let mut desk = Desk::with_workers(1);
    let colours = |desk: &Desk| {
        let buffer = desk.buffer();
        buffer.content().iter().map(|cell| cell.fg).filter(|colour| *colour != Color::Reset).collect::<Vec<_>>()
    };
    assert!(colours(&desk).contains(&Color::Cyan));
    desk.must_show("╭");
    desk.control('t');
    assert!(colours(&desk).contains(&Color::Magenta));
    desk.must_show("╔");
    desk.screen = Screen::new(80, 24, false);
    assert_eq!(colours(&desk), []);
}

/// Something that can happen at a screen.
#[derive(Debug, Clone)]
enum Happening {
    Event(u8, u32, String),
    Key(u8, char),
    Wait(u64),
    Resize(u16, u16),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        (0..14_u8, 0..7_u32, "\\PC{0,60}|[\\x00-\\x1f]{3}")
            .prop_map(|(kind, agent, text)| Happening::Event(kind, agent, text)),
        (0..18_u8, any::<char>()).prop_map(|(kind, c)| Happening::Key(kind, c)),
        (0..4000_u64).prop_map(Happening::Wait),
        (0..150_u16, 0..50_u16).prop_map(|(columns, rows)| Happening::Resize(columns, rows)),
    ]
}

fn event_of(kind: u8, number: u32, text: String) -> TeamEvent {
    let one = agent(number);
    let parent = AgentType::TaskWorker { parent_id: agent(0) };
    match kind {
        0 | 1 => TeamEvent::AgentStarted {
            agent: one,
            agent_type: if number == 0 { AgentType::TaskManager } else { parent },
            number,
            task: text,
        },
        2 => TeamEvent::AgentStateChanged { agent: one, state: AgentState::Working },
        3 => TeamEvent::AgentStateChanged { agent: one, state: AgentState::Cancelled },
        4 => TeamEvent::Question { agent: one, text },
        5 => TeamEvent::WorkerFinished { agent: one, result: text.clone(), warning: Some(text) },
        6 => TeamEvent::WorkerFailed { agent: one, report: text.into() },
        7 => TeamEvent::Stopped { summary: text },
        8 => TeamEvent::TeamStateChanged { state: TeamState::Stopped },
        9 => TeamEvent::TeamStateChanged { state: TeamState::Running },
        10 => TeamEvent::TeamStateChanged { state: TeamState::Answered },
        11 => TeamEvent::Notice { text },
        12 => TeamEvent::PersonSaid { agent: one, text },
        _ => TeamEvent::Thought { agent: one, text },
    }
}

const KEYS: [KeyCode; 14] = [
    KeyCode::Tab,
    KeyCode::BackTab,
    KeyCode::Enter,
    KeyCode::Esc,
    KeyCode::Backspace,
    KeyCode::Delete,
    KeyCode::Left,
    KeyCode::Right,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::Up,
    KeyCode::PageUp,
    KeyCode::PageDown,
    KeyCode::F(1),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever happens, the screen can be drawn, the view stays on an agent, and text goes to the one in view.
    #[test]
    fn no_order_of_events_breaks_the_screen(happenings in prop::collection::vec(happening(), 0..80)) {
        let mut desk = Desk::open(80, 24);
        for happening in happenings {
            match happening {
                Happening::Event(kind, number, text) => desk.event(event_of(kind, number, text)),
                Happening::Key(kind, c) => {
                    let before = desk.screen.agent_in_view();
                    let code = KEYS.get(usize::from(kind)).copied().unwrap_or(KeyCode::Char(c));
                    if let Some(ScreenCommand::Send(TeamInput::Say { agent, text })) = desk.press(code) {
                        prop_assert_eq!(Some(agent), before);
                        prop_assert!(!text.trim().is_empty());
                    }
                }
                Happening::Wait(time) => desk.wait(Duration::from_millis(time)),
                Happening::Resize(columns, rows) => {
                    desk.size = (columns, rows);
                    desk.screen.resize(columns, rows);
                }
            }
            prop_assert!(desk.screen.agent_in_view().is_some());
            desk.buffer();
        }
    }
}
