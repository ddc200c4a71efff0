//! The use cases of teams: starting one, following it, speaking to it, and working it. What agents do is in
//! [`crate::team`]; this module gives them what they may touch, and sees to it that one process works a team.

mod lock;
mod proposed;

use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    app::{App, BadInput, NotFound},
    model::{AccountId, AgentId, AgentRow, NewTeam, TeamId, TeamOrigin, TeamRow, TeamState, TeamWrite, TodoItem},
    store::{Receipt, Write},
    team::{
        DataReader, Handles, TeamContext, TeamPrompts, TeamRunner,
        event::{StoredTeamEvent, TeamInput},
    },
};

/// The longest request, in bytes.
const LONGEST_REQUEST: usize = 16 * 1024;
/// How many teams a list shows.
const MOST_LISTED: usize = 100;
/// What a person is told without a model.
const NO_MODEL: &str = "a team needs a language model, and none is configured ([llm] in adjutant.toml); `adjutant ask \"…\"` plans a request without one";

/// How a team is worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamMode {
    /// Whether questions go into the approval queue, because nobody is at a screen.
    pub asks_in_queue: bool,
    /// Whether a team that has answered or was stopped is kept, because the person may say more.
    pub stays: bool,
}

/// Everything about a team that is shown at once.
#[derive(Debug, Serialize)]
pub struct TeamDetail {
    #[serde(flatten)]
    pub team: TeamRow,
    pub agents: Vec<AgentRow>,
    pub todos: Vec<TodoItem>,
    pub events: Vec<StoredTeamEvent>,
}

/// The use cases of teams.
#[derive(Clone, Copy)]
pub struct TeamUseCases<'a> {
    pub(super) app: &'a App,
}

impl TeamUseCases<'_> {
    /// Returns why no team can work; none when one can.
    pub fn obstacle(self) -> Option<&'static str> {
        self.app.config.llm.is_none().then_some(NO_MODEL)
    }

    /// Stores a request for a team. Whoever runs it works it: this process, or the daemon.
    pub async fn open(self, text: &str, account: Option<&str>, origin: TeamOrigin) -> anyhow::Result<TeamRow> {
        let text = text.trim();
        if let Some(obstacle) = self.obstacle() {
            return Err(BadInput(obstacle.into()).into());
        }
        if text.is_empty() {
            return Err(BadInput("say what is to be done: adjutant team \"…\"".into()).into());
        }
        if text.len() > LONGEST_REQUEST {
            return Err(BadInput(format!("the request is longer than {} KB", LONGEST_REQUEST / 1024)).into());
        }
        let account = match account {
            Some(name) => self.app.plans().find_account(Some(name)).await?,
            None => None,
        };
        self.store_new(text, account, origin).await
    }

    async fn store_new(self, text: &str, account: Option<AccountId>, origin: TeamOrigin) -> anyhow::Result<TeamRow> {
        let now = self.app.clock.now();
        let token = ulid::Ulid::generate().to_string();
        let team_id = TeamId::derive(now, &["team", text, &token]);
        let new = NewTeam {
            team_id,
            user: self.app.user.clone(),
            account,
            request: text.to_owned(),
            origin,
            task_id: None,
            question: None,
            at: now,
        };
        self.app.store.write(Write::Team(Box::new(TeamWrite::Open(Box::new(new))))).await?;
        self.get(team_id).await
    }

    async fn get(self, team_id: TeamId) -> anyhow::Result<TeamRow> {
        let row = self.app.store.read(move |reader| reader.teams().get(team_id)).await?;
        row.with_context(|| format!("team {team_id} is gone"))
    }

    /// Returns the newest teams, the newest first.
    pub async fn list(self) -> anyhow::Result<Vec<TeamRow>> {
        Ok(self.app.store.read(|reader| reader.teams().list(MOST_LISTED)).await?)
    }

    /// Returns the team of this number; without one, the newest.
    pub async fn find(self, number: Option<&str>) -> anyhow::Result<TeamRow> {
        let Some(number) = number.filter(|number| !number.is_empty()) else {
            let newest = self.app.store.read(|reader| reader.teams().list(1)).await?.pop();
            return Ok(newest.ok_or_else(|| NotFound("there is no team yet".into()))?);
        };
        let missing = || NotFound(format!("there is no team '{number}'; `adjutant team --list` shows them"));
        let parsed: i64 = number.parse().map_err(|_| missing())?;
        let found = self.app.store.read(move |reader| reader.teams().by_number(parsed)).await?;
        Ok(found.ok_or_else(missing)?)
    }

    /// Returns everything about a team.
    pub async fn detail(self, team_id: TeamId) -> anyhow::Result<TeamDetail> {
        let team = self.get(team_id).await?;
        let read =
            self.app.store.read(move |reader| Ok((reader.teams().agents(team_id)?, reader.teams().todos(team_id)?)));
        let (agents, todos) = read.await?;
        Ok(TeamDetail { team, agents, todos, events: self.events_after(team_id, 0).await? })
    }

    /// Returns what happened in a team after a place, in order. An event that cannot be read is left out.
    pub async fn events_after(self, team_id: TeamId, seq: i64) -> anyhow::Result<Vec<StoredTeamEvent>> {
        let rows = self.app.store.read(move |reader| reader.teams().events_after(team_id, seq)).await?;
        let decode = |(seq, at, text): (i64, _, String)| {
            serde_json::from_str(&text).ok().map(|event| StoredTeamEvent { seq, at, event })
        };
        Ok(rows.into_iter().filter_map(decode).collect())
    }

    /// Leaves what a person says for the process that works the team. Without an agent, it is for the manager.
    pub async fn say(self, team: &TeamRow, agent: Option<AgentId>, text: &str) -> anyhow::Result<()> {
        if team.state == TeamState::Proposed {
            return Err(BadInput(format!("team {} waits for your consent: adjutant hitl", team.number)).into());
        }
        let agent = match agent {
            Some(agent) => agent,
            None => self.manager_of(team).await?,
        };
        self.send(team.team_id, &TeamInput::Say { agent, text: text.to_owned() }).await
    }

    async fn manager_of(self, team: &TeamRow) -> anyhow::Result<AgentId> {
        let team_id = team.team_id;
        let agents = self.app.store.read(move |reader| reader.teams().agents(team_id)).await?;
        let manager = agents.into_iter().find(|agent| agent.agent_type.is_task_manager());
        let manager = manager.ok_or_else(|| BadInput(format!("team {} has not begun", team.number)))?;
        Ok(manager.agent_id)
    }

    /// Leaves an input of a screen for the process that works the team.
    pub async fn send(self, team_id: TeamId, input: &TeamInput) -> anyhow::Result<()> {
        let input = serde_json::to_string(input)?;
        let write = TeamWrite::AddInput { team_id, input, at: self.app.clock.now() };
        self.app.store.write(Write::Team(Box::new(write))).await?;
        Ok(())
    }

    /// Works a team until it has answered, is stopped, or the process ends. Returns the state that it is left in; none
    /// when another process works it.
    pub async fn run(
        self,
        team: &TeamRow,
        mode: TeamMode,
        shutdown: &CancellationToken,
    ) -> anyhow::Result<Option<TeamState>> {
        let Some(_lock) = lock::try_lock(&self.app.home.team_lock_file(team.number))? else { return Ok(None) };
        let model = self.app.model().start_for_team(team.number).await?;
        let model = Arc::new(model.ok_or_else(|| BadInput(NO_MODEL.into()))?);
        let context = self.context(team, Arc::clone(&model), mode).await?;
        let runner = TeamRunner::load(team.team_id, context, mode.stays).await?;
        let ended = runner.run(shutdown).await;
        // Also after an error: the cost of what was cut off must not be forgotten.
        self.app.model().stop_for_team(team.number, &model).await?;
        ended.map(Some)
    }

    async fn context(
        self,
        team: &TeamRow,
        model: Arc<crate::llm::BudgetedModel>,
        mode: TeamMode,
    ) -> anyhow::Result<TeamContext> {
        let app = self.app;
        let sending_account = match &team.account {
            Some(account) => Some(account.clone()),
            None => app.plans().find_account(None).await?,
        };
        let data = DataReader {
            store: app.store.clone(),
            memory: app.memory.clone(),
            clock: app.clock.clone(),
            me: Arc::new(app.config.me.clone()),
            account: team.account.clone(),
            handles: Arc::new(Mutex::new(Handles::default())),
        };
        Ok(TeamContext {
            data,
            model,
            guidelines: app.home.guidelines_file(),
            prompts: Arc::new(TeamPrompts::load(&app.home.prompts(), &app.tools)?),
            tools: Arc::clone(&app.tools),
            user: app.user.clone(),
            sending_account,
            asks_in_queue: mode.asks_in_queue,
        })
    }

    /// Returns whether a process works the team at this moment.
    pub fn is_worked(self, team: &TeamRow) -> bool {
        matches!(lock::try_lock(&self.app.home.team_lock_file(team.number)), Ok(None))
    }

    /// Returns the teams that the daemon should work now, after settling those that waited for a person's consent.
    pub async fn due(self) -> anyhow::Result<Vec<TeamRow>> {
        if self.obstacle().is_some() {
            return Ok(Vec::new());
        }
        self.propose_for_mails().await?;
        let mut due = Vec::new();
        for team in self.app.store.read(|reader| reader.teams().open()).await? {
            let team = if team.state == TeamState::Proposed { self.settle_proposed(team).await? } else { Some(team) };
            due.extend(team);
        }
        Ok(due)
    }
}

/// Returns the number in a receipt.
fn number_of(receipt: &Receipt) -> Option<i64> {
    match receipt {
        Receipt::Number(number) => Some(*number),
        _ => None,
    }
}
