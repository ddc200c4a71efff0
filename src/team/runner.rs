//! Works a team: gives every agent its next turn, runs what takes time side by side, and applies what comes back, one
//! step at a time and each stored before the next begins.
//!
//! All state changes happen on one task, so that there is no order to get wrong. A team that was killed is loaded and
//! goes on: an action without a result is carried out again, which is the same as doing it once.

use std::time::{Duration, Instant as Stopwatch};

use anyhow::Context as _;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{
    event::{TeamEvent, TeamInput},
    job::{FinishedJob, JobOutcome, TeamContext, ask_model, build_prompt, run_tool},
    manager_turn::apply_manager_turn,
    message::AgentMessage,
    person, question,
    report::WorkerError,
    script::Scripts,
    session::{TeamSession, load_handles},
    stop::stop_team,
    turn::TurnContext,
    worker_turn::{apply_tool_result, apply_worker_turn, fail_worker},
};
use crate::{
    llm::{
        ModelReply,
        prompt::team_turn::{ManagerTurn, WorkerAction, WorkerTurn},
    },
    model::{AgentId, AgentState, AgentType, MailId, TaskId, TeamChange, TeamId, TeamOrigin, TeamState, llm::Outcome},
};

/// The pause between two looks at what a person said. A look is one cheap read.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How many actions a worker may take, so that a model in a loop ends.
const MOST_WORKER_TURNS: usize = 30;
/// How many actions the manager may take.
const MOST_MANAGER_TURNS: usize = 400;
/// How many unusable answers in a row an agent is forgiven. Small models often need a second try.
const MOST_UNUSABLE_ANSWERS: u32 = 3;

/// Works one team. The caller holds the lock of the team, so that no other process works it.
pub struct TeamRunner {
    context: TeamContext,
    session: TeamSession,
    jobs: JoinSet<FinishedJob>,
    scripts: Scripts,
    /// Until when to go on: a screen keeps a team that has answered, because the person may say more.
    stays: bool,
}

impl TeamRunner {
    /// Loads a team. One that was requested gets its manager and starts.
    pub async fn load(team_id: TeamId, context: TeamContext, stays: bool) -> anyhow::Result<Self> {
        let read = context.data.store.read(move |reader| {
            let Some(team) = reader.teams().get(team_id)? else { return Ok(None) };
            let handles = load_handles(reader, &team)?;
            let task = team.task_id.map(|task| reader.tasks().get(task)).transpose()?.flatten();
            let mail = task.and_then(|task| task.mail_id);
            Ok(Some((TeamSession::load(reader, team)?, handles, mail)))
        });
        let (session, handles, mail) = read.await?.with_context(|| format!("there is no team {team_id}"))?;
        *context.data.handles() = handles;
        let mut runner = Self { context, session, jobs: JoinSet::new(), scripts: Scripts::default(), stays };
        runner.begin(mail);
        runner.commit().await?;
        Ok(runner)
    }

    /// Starts a team that has not begun, and puts questions that only a screen has shown into the queue if nobody is at
    /// a screen any more.
    fn begin(&mut self, mail: Option<MailId>) {
        let request = self.first_request(mail);
        let session = &mut self.session;
        if session.agents.is_empty() {
            let (team, number) = (session.team.team_id, session.team.number);
            let shown = session.team.request.clone();
            session.record(TeamEvent::TeamOpened { team, number, request: shown });
            session.add_agent(AgentType::TaskManager, &request, None, AgentState::Working);
        }
        if session.team.state == TeamState::Requested {
            session.set_team_state(TeamState::Running);
        }
        if self.context.asks_in_queue {
            self.queue_open_questions();
        }
    }

    /// Returns what the manager is told to do. The words of a mail are never an instruction: where a mail asks for the
    /// team, the manager gets handles of the task and the mail, and reads them as quoted data.
    fn first_request(&self, mail: Option<MailId>) -> String {
        let team = &self.session.team;
        let (Some(task), TeamOrigin::Mail) = (team.task_id, team.origin) else { return team.request.clone() };
        let mut handles = self.context.data.handles();
        let task = handles.of_task(task);
        let mail = mail.map(|mail| format!(" and mail {}", handles.of_mail(mail))).unwrap_or_default();
        format!(
            "Have task {task}{mail} read, which ask for several things at once. Prepare what is asked for as far as that \
             is harmless, propose what must be sent, and tell me what you found and what is left to me."
        )
    }

    fn queue_open_questions(&mut self) {
        let asking: Vec<(AgentId, String)> = self
            .session
            .agents
            .iter()
            .filter(|agent| agent.row.state == AgentState::Waiting && agent.row.item_id.is_none())
            .filter_map(|agent| Some((agent.row.agent_id, open_question(&agent.messages)?)))
            .collect();
        for (agent, text) in asking {
            self.apply(|session, context| question::put_in_queue(session, agent, &context.explain(&text), context));
        }
    }

    /// Works the team until it has answered, is stopped, or the process ends. Returns the state that it is left in.
    pub async fn run(mut self, shutdown: &CancellationToken) -> anyhow::Result<TeamState> {
        loop {
            self.take_inputs().await?;
            self.take_decisions().await?;
            if self.session.team.state == TeamState::Running {
                self.session.start_queued_workers();
                self.start_jobs();
                self.commit().await?;
            } else if !self.stays {
                return Ok(self.session.team.state);
            }
            tokio::select! {
                () = shutdown.cancelled() => {
                    // Nothing is said about the end: the next process goes on from what is stored.
                    self.abort_jobs().await;
                    return Ok(self.session.team.state);
                }
                Some(finished) = self.jobs.join_next() => match finished {
                    Ok(job) => self.finish_job(job).await?,
                    Err(error) if error.is_cancelled() => {}
                    Err(error) => return Err(anyhow::Error::new(error).context("an agent of the team failed")),
                },
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
        }
    }

    /// Calls a function with the session and what applying a turn needs to know.
    fn apply(&mut self, change: impl FnOnce(&mut TeamSession, &TurnContext<'_>)) {
        let store = self.context.data.store.clone();
        let task_number = |id: TaskId| {
            let row = store.read_blocking(|reader| reader.tasks().get(id)).ok().flatten();
            row.and_then(|row| row.number)
        };
        let handles = self.context.data.handles();
        let context = TurnContext {
            handles: &handles,
            task_number: &task_number,
            asks_in_queue: self.context.asks_in_queue,
            now: self.context.data.clock.now(),
            since_answer: Stopwatch::now(),
        };
        change(&mut self.session, &context);
    }

    async fn commit(&mut self) -> anyhow::Result<()> {
        let handles = self.context.data.handles().take_fresh();
        let now = self.context.data.clock.now();
        self.session.commit(&self.context.data.store, handles, now).await
    }

    /// Applies what a person said since the last look, each input in a step of its own.
    async fn take_inputs(&mut self) -> anyhow::Result<()> {
        let team_id = self.session.team.team_id;
        let inputs = self.context.data.store.read(move |reader| reader.teams().open_inputs(team_id)).await?;
        for (number, text) in inputs {
            self.session.change(TeamChange::TakeInput(number));
            match serde_json::from_str::<TeamInput>(&text) {
                Ok(input) if person::is_stop(&input) => self.stop().await,
                Ok(TeamInput::Say { agent, text }) => person::apply_saying(&mut self.session, agent, &text),
                Ok(TeamInput::Stop) => {}
                Err(_) => tracing::warn!(team = self.session.team.number, "an input cannot be read and is skipped"),
            }
            self.commit().await?;
        }
        Ok(())
    }

    /// Hands answers from the approval queue to the agents that asked.
    async fn take_decisions(&mut self) -> anyhow::Result<()> {
        let asked: Vec<_> = self
            .session
            .agents
            .iter()
            .filter(|agent| agent.row.state == AgentState::Waiting)
            .filter_map(|agent| Some((agent.row.agent_id, agent.row.item_id?)))
            .collect();
        for (agent, item) in asked {
            let found = self.context.data.store.read(move |reader| reader.approvals().item(item)).await?;
            if let Some(item) = found {
                question::take_decision(&mut self.session, agent, &item);
                self.commit().await?;
            }
        }
        Ok(())
    }

    async fn stop(&mut self) {
        if !matches!(self.session.team.state, TeamState::Running | TeamState::Answered) {
            return;
        }
        self.abort_jobs().await;
        let (now, zone) = (self.context.data.clock.now(), self.context.data.me.time_zone);
        stop_team(&mut self.session, now, zone);
    }

    /// Ends what is under way. Its results are discarded.
    async fn abort_jobs(&mut self) {
        self.scripts.stop();
        self.scripts = Scripts::default();
        self.jobs.shutdown().await;
        self.session.agents.iter_mut().for_each(|agent| agent.is_busy = false);
    }

    /// Gives every agent that is working and has nothing under way its next turn.
    fn start_jobs(&mut self) {
        let idle: Vec<AgentId> = self
            .session
            .agents
            .iter()
            .filter(|agent| agent.row.state == AgentState::Working && !agent.is_busy)
            .map(|agent| agent.row.agent_id)
            .collect();
        for agent in idle {
            self.start_job(agent);
        }
    }

    fn start_job(&mut self, id: AgentId) {
        if self.session.agent(id).is_some_and(|agent| agent.open_action().is_none()) {
            self.session.deliver_messages(id);
        }
        let Some(agent) = self.session.agent(id) else { return };
        let turns = agent.turns();
        let open = agent.open_action().and_then(|turn| WorkerTurn::deserialize(turn).ok());
        if let Some(turn) = open.filter(|_| !agent.is_manager()) {
            let key = format!("{id}:{turns}");
            let (team, scripts, context) = (self.session.team.clone(), self.scripts.clone(), self.context.clone());
            self.jobs.spawn(run_tool(id, turn, key, team, scripts, context));
        } else {
            let limit = if agent.is_manager() { MOST_MANAGER_TURNS } else { MOST_WORKER_TURNS };
            if turns >= limit {
                return self.end_agent_at_limit(id, limit);
            }
            match build_prompt(agent, &self.context) {
                Ok(input) => {
                    let ordinal = u32::try_from(turns).unwrap_or(u32::MAX);
                    self.jobs.spawn(ask_model(id, input, ordinal, self.context.clone()));
                }
                Err(error) => return self.give_up(id, &WorkerError::new("internal", error.to_string(), "Skip it.")),
            }
        }
        if let Some(agent) = self.session.agent_mut(id) {
            agent.is_busy = true;
        }
    }

    fn end_agent_at_limit(&mut self, id: AgentId, limit: usize) {
        let message = format!("no end after {limit} steps");
        let suggestion = "The task is too large or unclear. Split it, or describe its end more exactly.";
        self.give_up(id, &WorkerError::new("turn_limit", message, suggestion));
    }

    /// Applies what came of a job, and stores it together with what follows from it.
    async fn finish_job(&mut self, job: FinishedJob) -> anyhow::Result<()> {
        let Some(agent) = self.session.agent_mut(job.agent) else { return Ok(()) };
        agent.is_busy = false;
        match job.outcome {
            JobOutcome::Broken(error) => return Err(error),
            JobOutcome::Tool { tool, result } => {
                let proposed = (tool == proposal_tool()).then(|| result.as_ref().ok().cloned()).flatten();
                apply_tool_result(&mut self.session, job.agent, &tool, result);
                if let Some(proposed) = proposed {
                    self.record_proposal(job.agent, &proposed);
                }
            }
            JobOutcome::Turn { reply, call } => {
                let note = call.call.note.clone();
                if call.call.outcome.was_attempted() {
                    self.session.change(TeamChange::RecordModelCall(call));
                }
                self.apply_reply(job.agent, &reply, &note);
            }
        }
        self.commit().await
    }

    fn record_proposal(&mut self, agent: AgentId, proposed: &Value) {
        let text = |key: &str| proposed.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (what, task) = (text("what"), text("task"));
        self.apply(|session, context| {
            let outcome = format!("proposed as {}", context.explain(&task));
            session.record(TeamEvent::ActionProposed { agent, text: context.explain(&what), outcome });
        });
    }

    /// Applies an answer of the model. An answer that cannot be used is asked for again, a few times.
    fn apply_reply(&mut self, id: AgentId, reply: &ModelReply, note: &str) {
        let Some(agent) = self.session.agent_mut(id) else { return };
        let Some(answer) = reply.answer.clone() else {
            let may_repeat = matches!(reply.outcome, Outcome::Malformed | Outcome::Refused);
            agent.unusable_answers += 1;
            if !may_repeat || agent.unusable_answers >= MOST_UNUSABLE_ANSWERS {
                self.give_up(id, &WorkerError::of_model(reply.outcome, note));
            }
            return;
        };
        agent.unusable_answers = 0;
        let is_manager = agent.is_manager();
        self.session.add_message(id, AgentMessage::Action { turn: answer.clone() });
        self.apply(|session, context| {
            if is_manager {
                if let Ok(turn) = ManagerTurn::deserialize(&answer) {
                    apply_manager_turn(session, id, &turn, context);
                }
            } else if let Ok(turn) = WorkerTurn::deserialize(&answer) {
                apply_worker_turn(session, id, &turn, context);
            }
        });
    }

    /// Ends an agent that cannot go on. A worker reports to its manager; without its manager the team waits for the
    /// person, with everything that there is.
    fn give_up(&mut self, id: AgentId, error: &WorkerError) {
        if self.session.agent(id).is_some_and(|agent| !agent.is_manager()) {
            return fail_worker(&mut self.session, id, error);
        }
        let number = self.session.team.number;
        let text = format!(
            "The task manager cannot go on: {}. Nothing is lost; `adjutant team --resume {number}` goes on.",
            error.message
        );
        self.session.record(TeamEvent::Notice { text });
        // Dropping the jobs ends them: what they would have returned must not reach agents that are stopped.
        self.jobs = JoinSet::new();
        let (now, zone) = (self.context.data.clock.now(), self.context.data.me.time_zone);
        self.session.agents.iter_mut().for_each(|agent| agent.is_busy = false);
        stop_team(&mut self.session, now, zone);
    }
}

/// Returns the name of the action that proposes.
fn proposal_tool() -> String {
    super::worker_turn::tool_name(WorkerAction::ProposeAction)
}

/// Returns the question that an agent asked last, if nothing was said since.
fn open_question(messages: &[AgentMessage]) -> Option<String> {
    let turn = messages.iter().rev().find_map(|message| match message {
        AgentMessage::Action { turn } => Some(turn),
        _ => None,
    })?;
    let is_question = turn.get("action").and_then(Value::as_str) == Some("ask_user");
    is_question.then(|| turn.get("text").and_then(Value::as_str).unwrap_or_default().to_owned())
}
