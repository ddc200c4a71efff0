//! What takes time: one question to the model, or one tool of a worker. A job changes nothing in the session; it returns
//! what came of it.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Value, json};

use super::{
    data::{DataError, DataReader, DataRequest, MOST_LISTED, parse_day},
    message::show_conversation,
    prompts::TeamPrompts,
    proposal::{ProposalOwner, check_proposal, new_request},
    session::Agent,
    worker_turn::tool_name,
};
use crate::{
    llm::{
        BudgetedModel, ModelReply, PromptCall, PromptInput,
        prompt::{
            Prompt,
            team_turn::{TeamTurnData, WorkerAction, WorkerTurn},
        },
    },
    model::{AccountId, AgentId, NewModelCall, ReplyJson, TeamRow, UserId, ids::sha256_hex, llm::ModelCall},
    reading::LOCAL_ACCOUNT,
    rules::guidelines,
    store::Write,
    tool::Registry,
};

/// Everything that the agents of one team may touch.
#[derive(Clone)]
pub struct TeamContext {
    pub data: DataReader,
    pub model: Arc<BudgetedModel>,
    /// The file with the person's guidelines, read anew for each call.
    pub guidelines: PathBuf,
    pub prompts: Arc<TeamPrompts>,
    pub tools: Arc<Registry>,
    pub user: UserId,
    /// The account that proposed mails are sent from; none when there is no single one.
    pub sending_account: Option<AccountId>,
    /// Whether questions go into the approval queue, because nobody is at a screen.
    pub asks_in_queue: bool,
}

/// What came of a job.
pub(super) struct FinishedJob {
    pub agent: AgentId,
    pub outcome: JobOutcome,
}

/// What a job returned.
pub(super) enum JobOutcome {
    /// The model was asked. The call with its cost is stored before the answer is used.
    Turn { reply: ModelReply, call: Box<NewModelCall> },
    /// A tool of a worker ended, well or with an error as JSON.
    Tool { tool: String, result: Result<Value, Value> },
    /// The database could not be used, so the team cannot go on.
    Broken(anyhow::Error),
}

/// Returns the prompt of an agent's next turn.
pub(super) fn build_prompt(agent: &Agent, context: &TeamContext) -> anyhow::Result<PromptInput> {
    let is_worker = !agent.is_manager();
    let (prompt, instructions) = match is_worker {
        true => (Prompt::TaskWorker, &context.prompts.worker),
        false => (Prompt::TaskManager, &context.prompts.manager),
    };
    let local = context.data.clock.now().utc().with_timezone(&context.data.me.time_zone);
    let data = TeamTurnData {
        instructions: instructions.clone(),
        now: local.format("%A, %Y-%m-%d %H:%M").to_string(),
        task: if is_worker { agent.row.task.clone() } else { String::new() },
        expected_output_format: agent.row.expected_format.clone().unwrap_or_default(),
        conversation: show_conversation(&agent.messages, is_worker),
    };
    data.to_prompt_input(prompt).ok_or_else(|| anyhow::anyhow!("the prompt of an agent cannot be written down"))
}

/// Puts the next turn of an agent to the model. Each agent pays from the budget of a task of its own.
pub(super) async fn ask_model(agent: AgentId, input: PromptInput, ordinal: u32, context: TeamContext) -> FinishedJob {
    let outcome = match call_model(agent, &input, ordinal, &context).await {
        Ok((reply, call)) => JobOutcome::Turn { reply, call: Box::new(call) },
        Err(error) => JobOutcome::Broken(error),
    };
    FinishedJob { agent, outcome }
}

async fn call_model(
    agent: AgentId,
    input: &PromptInput,
    ordinal: u32,
    context: &TeamContext,
) -> anyhow::Result<(ModelReply, NewModelCall)> {
    let about = agent.to_string();
    let key = about.clone();
    let spent_before = context.data.store.read(move |reader| reader.model_calls().usage_about(&key)).await?;
    let guidelines = guidelines::load(&context.guidelines);
    let day = context.data.clock.now().day_in(context.data.me.time_zone);
    let question = PromptCall { input, guidelines: &guidelines.text, about: &about, spent_before, day: &day };
    let (reply, call): (ModelReply, ModelCall) = context.model.request_answer(&question).await;
    let new = NewModelCall {
        run: None,
        node: "team".into(),
        input_hash: sha256_hex(serde_json::to_string(input)?.as_bytes()),
        ordinal,
        reply: ReplyJson::encode(&reply)?,
        call,
        input_replies: Vec::new(),
        at: context.data.clock.now(),
    };
    Ok((reply, new))
}

/// Carries out an action of a worker that reads or proposes. `key` names the action within the team.
pub(super) async fn run_tool(
    agent: AgentId,
    turn: WorkerTurn,
    key: String,
    team: TeamRow,
    scripts: super::script::Scripts,
    context: TeamContext,
) -> FinishedJob {
    let tool = tool_name(turn.action);
    let outcome = match turn.action {
        WorkerAction::ExecuteJavascript => {
            JobOutcome::Tool { tool, result: scripts.run(&turn.code, context.data.clone()).await }
        }
        WorkerAction::ProposeAction => match propose(&turn, &key, &team, &context).await {
            Ok(result) => JobOutcome::Tool { tool, result },
            Err(error) => JobOutcome::Broken(error),
        },
        _ => {
            let request = data_request(&turn, &context.data);
            let result = match request {
                Ok(request) => context.data.answer(request).await,
                Err(error) => Err(error),
            };
            JobOutcome::Tool { tool, result: result.map_err(|error| data_error(&error)) }
        }
    };
    FinishedJob { agent, outcome }
}

/// Returns an error as a worker is told it.
pub(super) fn data_error(error: &DataError) -> Value {
    json!({ "type": error.kind, "message": error.message })
}

/// Returns what a worker asks to read.
fn data_request(turn: &WorkerTurn, data: &DataReader) -> Result<DataRequest, DataError> {
    let today = data.clock.now().utc().with_timezone(&data.me.time_zone).date_naive();
    match turn.action {
        WorkerAction::Search => Ok(DataRequest::Search { words: turn.query.clone(), limit: MOST_LISTED }),
        WorkerAction::ListMails => Ok(DataRequest::ListMails {
            since: parse_day(&turn.since, today)?,
            until: parse_day(&turn.until, today)?,
            words: turn.query.clone(),
            limit: MOST_LISTED,
        }),
        WorkerAction::ReadMail => Ok(DataRequest::ReadMail { handle: turn.handle.clone() }),
        WorkerAction::ReadTask => Ok(DataRequest::ReadTask { handle: turn.handle.clone() }),
        WorkerAction::ListTasks => {
            Ok(DataRequest::ListTasks { all: turn.query.trim().eq_ignore_ascii_case("all"), limit: MOST_LISTED })
        }
        _ => Err(DataError::invalid("this action reads nothing")),
    }
}

/// Opens the task of a proposal. A refusal is a result for the worker; a database that fails is an error.
async fn propose(
    turn: &WorkerTurn,
    key: &str,
    team: &TeamRow,
    context: &TeamContext,
) -> anyhow::Result<Result<Value, Value>> {
    let refused = |message: String| Ok(Err(json!({ "type": "permission_denied", "message": message })));
    let checked = check_proposal(turn, &context.tools, &context.data.handles());
    let proposal = match checked {
        Ok(proposal) => proposal,
        Err(why) => return refused(why),
    };
    let needs_account = context.tools.get(&proposal.call.tool).is_some_and(crate::tool::Tool::needs_account);
    let account = match (&context.sending_account, needs_account) {
        (Some(account), _) => account.clone(),
        (None, false) => AccountId::from(LOCAL_ACCOUNT),
        (None, true) => return refused("there is no single mail account to send from".into()),
    };
    let owner = ProposalOwner {
        team_id: team.team_id,
        team_created_at: team.created_at,
        key,
        account,
        user: context.user.clone(),
        me: &context.data.me,
        now: context.data.clock.now(),
    };
    let request = new_request(&proposal, &owner);
    let task_id = request.task.task_id;
    context.data.store.write(Write::OpenRequest(Box::new(request))).await?;
    let handle = context.data.handles().of_task(task_id);
    Ok(Ok(json!({
        "status": "proposed",
        "task": handle,
        "what": context.data.handles().redact(&proposal.description, 200),
        "next": "the program judges it by its policy; what needs an approval waits in the person's approval queue",
    })))
}
