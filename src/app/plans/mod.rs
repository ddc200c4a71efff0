//! The use cases of the task planner: preparing a request, opening its task, following it, and deciding on a step that
//! failed. The work itself is done by the graph, as for every other task.

mod request_file;

use std::sync::Arc;

pub use request_file::AttachedFile;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    app::{App, BadInput, LOCAL_ACCOUNT, NotFound},
    llm::{
        check_model_text,
        prompt::{TextAnswer, create_plan::CreatePlanData},
    },
    model::{
        AccountId, AccountMode, Complexity, DecisionKind, ItemId, ItemKind, ItemRow, NewRequest, NewRun, NodeName,
        PlanOrigin, PlanPerson, PlanRow, PlannedStep, Priority, RunId, RunKind, RunState, Task, TaskContext, TaskId,
        TaskKind, TaskPlan, TaskRow, TaskStatus,
    },
    planner::{
        PlannerRequest, detect_complexity,
        file_reference::{MOST_FILES, find_file_references},
        plan_text::{PlanTextError, WrittenStep, parse_plan, print_plan},
        request_split::{choose_call, new_step, split_request},
        tool_list::show_tools,
    },
    policy::recipient::normalise_address,
    reading::facts_of_typed_task,
    store::Write,
};

/// The longest objective of a task, in characters. The whole request is in its plan.
const LONGEST_OBJECTIVE: usize = 200;
/// The longest text of a step that a model may write, in characters.
const LONGEST_INSTRUCTION: usize = 1_000;
/// The longest request, in bytes.
const LONGEST_REQUEST: usize = 16 * 1024;

/// A request before its task is opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PreparedRequest {
    pub text: String,
    pub account: AccountId,
    pub complexity: Complexity,
    /// Whether the request gets a plan that a person is asked about; a simple one is executed directly.
    pub wants_plan: bool,
    pub plan: TaskPlan,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AttachedFile>,
    /// What a person should know before they agree.
    pub notes: Vec<String>,
}

impl PreparedRequest {
    /// Returns whether the request is a question that no tool answers.
    pub fn is_question(&self) -> bool {
        let no_tool = self.plan.steps.iter().all(|step| step.call.is_none());
        no_tool && !self.complexity.is_complex() && self.text.ends_with('?')
    }
}

/// The use cases of the task planner.
#[derive(Clone, Copy)]
pub struct PlanUseCases<'a> {
    pub(super) app: &'a App,
}

impl PlanUseCases<'_> {
    /// Reads a request: its files, its complexity, its steps and whom it names. Stores nothing.
    pub async fn prepare(self, text: &str, account: Option<&str>) -> anyhow::Result<PreparedRequest> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BadInput("say what is to be done: adjutant ask \"1. … 2. …\"".into()).into());
        }
        if text.len() > LONGEST_REQUEST {
            return Err(BadInput(format!("the request is longer than {} KB", LONGEST_REQUEST / 1024)).into());
        }
        let files = self.read_files(text)?;
        let attached_chars = files.iter().map(|file| file.text.chars().count()).sum();
        let complexity = detect_complexity(PlannerRequest { attached_chars, ..PlannerRequest::typed(text) });
        let wants_plan = complexity.is_complex() && self.app.config.planner.is_enabled;
        let steps = if wants_plan {
            split_request(text, choose_call, |tool| self.finds_data(tool))
        } else {
            vec![new_step(1, text, choose_call)]
        };
        // A step that no tool does by its words is put to the model, if there is one.
        let steps = steps.into_iter().map(|step| self.ask_model_where_needed(step)).collect();
        let plan = TaskPlan {
            original_request: text.to_owned(),
            origin: PlanOrigin::Words,
            complexity: complexity.clone(),
            people: Vec::new(),
            steps,
        };
        let mut prepared = PreparedRequest {
            text: text.to_owned(),
            account: AccountId::from(LOCAL_ACCOUNT),
            complexity,
            wants_plan,
            plan,
            files,
            notes: Vec::new(),
        };
        self.complete(&mut prepared, account).await?;
        if prepared.wants_plan && self.app.config.llm.is_some() {
            self.plan_with_model(&mut prepared, account).await?;
        }
        Ok(prepared)
    }

    /// Replaces the steps by those that the model plans. If it plans none that can be read, the request stays divided by
    /// its own words, or is executed directly; the notes say so.
    async fn plan_with_model(self, prepared: &mut PreparedRequest, account: Option<&str>) -> anyhow::Result<()> {
        let data = CreatePlanData {
            request: prepared.plan.with_handles(&prepared.text),
            files: prepared.files.iter().map(|file| prepared.plan.with_handles(&file.text)).collect(),
            tools: show_tools(&self.app.tools, false),
        };
        let Some(inquiry) = data.to_prompt_input() else { return Ok(()) };
        let Some(reply) = self.app.model().ask_about_plan(&inquiry).await? else { return Ok(()) };
        let written = match reply.answer::<TextAnswer>() {
            Some(answer) => parse_plan(&answer.text).map_err(|error| format!("cannot be read: {error}")),
            None => Err(format!("did not come ({})", reply.outcome)),
        };
        let checked = written.and_then(|steps| {
            let texts = steps.iter().flat_map(|step| [&step.description, &step.instruction]);
            texts.into_iter().try_for_each(|text| check_model_text(text, LONGEST_INSTRUCTION))?;
            Ok(steps)
        });
        match checked {
            Ok(steps) => {
                let people = prepared.plan.people.clone();
                prepared.plan.origin = PlanOrigin::Model;
                prepared.plan.steps = steps.into_iter().map(|step| model_step(step, &people)).collect();
                self.complete(prepared, account).await?;
            }
            Err(why) => {
                let kept = if prepared.plan.steps.len() > 1 {
                    "the request is divided by its own words"
                } else {
                    "the request is executed directly"
                };
                prepared.notes.push(format!("The model's plan {why}; {kept}."));
            }
        }
        Ok(())
    }

    fn ask_model_where_needed(self, step: PlannedStep) -> PlannedStep {
        let asks_model = step.call.is_none() && self.app.config.llm.is_some();
        PlannedStep { asks_model, ..step }
    }

    /// Returns the request as one step, as it is executed without a plan.
    pub async fn without_plan(
        self,
        prepared: &PreparedRequest,
        account: Option<&str>,
    ) -> anyhow::Result<PreparedRequest> {
        let mut direct = prepared.clone();
        direct.plan.origin = PlanOrigin::Words;
        direct.plan.steps = vec![self.ask_model_where_needed(new_step(1, &prepared.text, choose_call))];
        self.complete(&mut direct, account).await?;
        Ok(direct)
    }

    /// Returns the request with the steps that a person has edited.
    pub async fn with_steps(
        self,
        prepared: &PreparedRequest,
        edited: &str,
        account: Option<&str>,
    ) -> anyhow::Result<PreparedRequest> {
        let steps = parse_plan(edited).map_err(|error: PlanTextError| {
            BadInput(format!("these steps are no plan: {error}; nothing was changed"))
        })?;
        let mut changed = prepared.clone();
        changed.plan.origin = PlanOrigin::Person;
        changed.plan.steps = steps
            .into_iter()
            .map(|step| PlannedStep {
                description: step.description,
                after: step.after,
                ..self.ask_model_where_needed(new_step(step.number, &step.instruction, choose_call))
            })
            .collect();
        self.complete(&mut changed, account).await?;
        Ok(changed)
    }

    /// Returns the steps as the text in which a person edits them.
    pub fn print_steps(self, plan: &TaskPlan) -> String {
        print_plan(&plan.steps.iter().map(WrittenStep::from).collect::<Vec<_>>())
    }

    fn finds_data(self, tool: &str) -> bool {
        self.app.tools.get(tool).is_some_and(|tool| tool.access() == crate::tool::ToolAccess::Read)
    }

    fn read_files(self, text: &str) -> Result<Vec<AttachedFile>, BadInput> {
        let references = find_file_references(text);
        if references.len() > MOST_FILES {
            return Err(BadInput(format!("a request attaches at most {MOST_FILES} files")));
        }
        let allowed = &self.app.config.attachable_files;
        references.iter().map(|reference| request_file::read_request_file(&reference.path, allowed)).collect()
    }

    /// Finds the account that the plan works in and the people whom it names, and leaves to the person what cannot be
    /// done, with a note.
    async fn complete(self, prepared: &mut PreparedRequest, account: Option<&str>) -> anyhow::Result<()> {
        prepared.notes.clear();
        prepared.plan.people.clear();
        let needs_account = |step: &PlannedStep| {
            step.call
                .as_ref()
                .and_then(|call| self.app.tools.get(&call.tool))
                .is_some_and(crate::tool::Tool::needs_account)
        };
        let able = self.find_account(account).await?;
        prepared.account = AccountId::from(LOCAL_ACCOUNT);
        let may_need_account = prepared.plan.steps.iter().any(|step| step.asks_model && step.call.is_none());
        if prepared.plan.steps.iter().any(needs_account) || (may_need_account && able.is_some()) {
            match able {
                Some(account) => prepared.account = account,
                None => {
                    prepared.notes.push("There is no single mail account to work in; name one with --account.".into());
                    prepared.plan.steps.iter_mut().filter(|step| needs_account(step)).for_each(|step| step.call = None);
                }
            }
        }
        let known = self.app.store.read(|reader| reader.mails().known_people()).await?;
        let PreparedRequest { plan, notes, files, .. } = prepared;
        for step in &mut plan.steps {
            let Some(call) = &mut step.call else { continue };
            let named: Vec<String> = match call.arguments.get("to").and_then(Value::as_array) {
                Some(to) => to.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                None => continue,
            };
            attach_referenced_files(&step.instruction, call, files);
            for name in named {
                match find_address(&name, &known) {
                    Ok(address) => add_person(&mut plan.people, &name, address),
                    Err(why) => {
                        notes.push(format!("Step {}: {why}", step.step_number));
                        step.call = None;
                        break;
                    }
                }
            }
        }
        // A model may write to anybody whom the request names, and to nobody else.
        if self.app.config.llm.is_some() {
            for (name, address) in find_people(&prepared.text, &known) {
                add_person(&mut prepared.plan.people, &name, address);
            }
        }
        Ok(())
    }

    /// Returns the account that mail is sent from and searched in: the named one, or the only one.
    pub(in crate::app) async fn find_account(self, named: Option<&str>) -> anyhow::Result<Option<AccountId>> {
        let accounts = self.app.accounts().list().await?;
        let mut able =
            accounts.into_iter().filter(|known| known.kind.is_polled() && known.mode != AccountMode::Retired);
        match named {
            Some(name) => {
                let known = able.find(|known| known.account.as_str() == name);
                let missing = || NotFound(format!("there is no account '{name}'; `adjutant mail accounts` lists them"));
                Ok(Some(known.ok_or_else(missing)?.account))
            }
            None => match (able.next(), able.next()) {
                (Some(only), None) => Ok(Some(only.account)),
                _ => Ok(None),
            },
        }
    }

    /// Opens the task of a request with the run that works it, as one write.
    pub async fn open(self, prepared: PreparedRequest) -> anyhow::Result<TaskId> {
        let now = self.app.clock.now();
        // The random token keeps two equal requests of the same second apart.
        let token = ulid::Ulid::generate().to_string();
        let run_id = RunId::derive(now, &["ask", &prepared.text, &token]);
        let objective: String = one_line(&prepared.text).chars().take(LONGEST_OBJECTIVE).collect();
        let task_id = TaskId::derive(now, &[LOCAL_ACCOUNT, &objective, &token]);
        let facts = facts_of_typed_task(&self.app.config.me, &objective, TaskKind::Request, None);
        let mut context = TaskContext::default();
        prepared.plan.store_in(&mut context);
        let is_agents = prepared.plan.steps.iter().any(PlannedStep::is_agents);
        let task = Task {
            task_id,
            created_at: now,
            source: format!("ask:{run_id}"),
            objective,
            context,
            priority: Priority::Low,
            status: TaskStatus::New,
            subtasks: prepared.plan.subtasks(),
            assigned_agent: is_agents.then(|| Task::TOOLING_AGENT.to_owned()),
            last_updated: now,
            tool_output: None,
            result_summary: None,
        };
        let state = RunState { task: Some(Arc::new(task.clone())), facts: Some(facts.clone()), ..RunState::default() };
        let run = NewRun {
            run_id,
            account: prepared.account,
            user: self.app.user.clone(),
            kind: RunKind::Task,
            parent_run: None,
            fork: None,
            node: NodeName::Prioritise,
            task_id: Some(task_id),
            state,
        };
        let request = NewRequest { task, facts, run, at: now };
        self.app.store.write(Write::OpenRequest(Box::new(request))).await?;
        Ok(task_id)
    }

    /// Returns the task with its plan. Without a reference, the newest plan that has not ended.
    pub async fn find(self, reference: Option<&str>) -> anyhow::Result<(TaskRow, PlanRow)> {
        let plan = match reference {
            Some(reference) => {
                let row = self.app.tasks().find(reference).await?;
                let id = row.task.task_id;
                let missing = || NotFound(format!("task {reference} has no plan"));
                self.app.store.read(move |reader| reader.plans().of_task(id)).await?.ok_or_else(missing)?
            }
            None => {
                let newest = self.app.store.read(|reader| reader.plans().newest_open()).await?;
                newest.ok_or_else(|| NotFound("there is no plan to go on with".into()))?
            }
        };
        let row = self.app.tasks().find(&plan.task_id.to_string()).await?;
        Ok((row, plan))
    }

    /// Returns the newest plans with the numbers of their tasks, without their steps.
    pub async fn list(self, skipped: usize, limit: usize) -> anyhow::Result<Vec<(PlanRow, Option<i64>)>> {
        Ok(self.app.store.read(move |reader| reader.plans().newest(skipped, limit)).await?)
    }

    /// Returns where a plan stands: the plan, the steps whose runs are under way, and whether any run of it is.
    pub async fn progress(self, task_id: TaskId) -> anyhow::Result<(PlanRow, Vec<u32>, bool)> {
        let read = self.app.store.read(move |reader| {
            let plans = reader.plans();
            Ok((plans.of_task(task_id)?, plans.running_steps(task_id)?, plans.has_running_run(task_id)?))
        });
        let (plan, running, is_running) = read.await?;
        Ok((plan.ok_or_else(|| NotFound(format!("task {task_id} has no plan")))?, running, is_running))
    }

    /// Returns the open items of the approval queue about this plan.
    pub async fn items(self, task_id: TaskId) -> anyhow::Result<Vec<ItemRow>> {
        let items = self.app.approvals().list_with_snoozed().await?;
        Ok(items.into_iter().filter(|item| item.task_id == Some(task_id)).collect())
    }

    /// Decides on a failed step: retries it, skips it, or cancels the plan.
    pub async fn decide(self, item: &ItemRow, verdict: DecisionKind) -> anyhow::Result<ItemId> {
        anyhow::ensure!(item.kind == ItemKind::FailedStep, "item {} is about no failed step", item.number);
        let reason = if verdict == DecisionKind::Skip { "skipped after it failed" } else { "" };
        self.app.approvals().answer(&item.item_id.to_string(), verdict, reason).await
    }
}

/// Returns a step that the model has planned, with the names of people in the place of their handles. The model is asked
/// for its calls when it is worked.
fn model_step(step: WrittenStep, people: &[PlanPerson]) -> PlannedStep {
    let named = |text: &str| people.iter().fold(text.to_owned(), |text, one| text.replace(&one.handle, &one.name));
    PlannedStep {
        step_number: step.number,
        description: named(&step.description),
        instruction: named(&step.instruction),
        after: step.after,
        asks_model: true,
        ..PlannedStep::default()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Uses the text of the files that an instruction names as the text of its message.
fn attach_referenced_files(instruction: &str, call: &mut crate::model::ToolCall, files: &[AttachedFile]) {
    let named = find_file_references(instruction);
    let texts: Vec<&str> = files
        .iter()
        .filter(|file| named.iter().any(|reference| reference.path == file.path))
        .map(|file| file.text.trim_end())
        .collect();
    if !texts.is_empty() && !call.arguments.contains_key("text") {
        call.arguments.insert("text".to_owned(), Value::from(texts.join("\n\n")));
    }
}

/// Returns the address of somebody whom a request names: an address as it stands, or the one known contact of that name.
fn find_address(name: &str, known: &[(String, Option<String>)]) -> Result<String, String> {
    if let Some(address) = normalise_address(name) {
        return Ok(address);
    }
    let wanted = name.to_lowercase();
    let is_named = |(address, display): &&(String, Option<String>)| {
        let local = address.split('@').next().unwrap_or_default();
        let display = display.as_deref().unwrap_or_default().to_lowercase();
        let has_word = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == wanted);
        display == wanted || has_word(&display) || has_word(local)
    };
    let mut found: Vec<&str> = known.iter().filter(is_named).map(|(address, _)| address.as_str()).collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [only] => Ok(only.to_owned()),
        [] => Err(format!("no address of '{name}' is known; write it in the request, and the step is done for you")),
        _ => Err(format!("'{name}' may be {}; write the address in the request", found.join(" or "))),
    }
}

/// Returns the people whom a request names by an address, or by a name that one known contact has.
fn find_people(text: &str, known: &[(String, Option<String>)]) -> Vec<(String, String)> {
    let is_edge = |c: char| !c.is_alphanumeric();
    let words = text.split_whitespace().map(|word| word.trim_matches(is_edge)).filter(|word| word.chars().count() > 1);
    let named = words.filter_map(|word| {
        let bare = word.strip_prefix('ל').unwrap_or(word);
        let may_be_name = word.contains('@') || word.starts_with(char::is_uppercase) || bare.len() < word.len();
        let address = find_address(bare, known).ok().filter(|_| may_be_name)?;
        Some((bare.to_owned(), address))
    });
    named.take(MOST_PEOPLE).collect()
}

/// The most people of a request.
const MOST_PEOPLE: usize = 20;

fn add_person(people: &mut Vec<PlanPerson>, name: &str, address: String) {
    if !people.iter().any(|person| person.name == name) {
        people.push(PlanPerson { handle: format!("P{}", people.len() + 1), name: name.to_owned(), address });
    }
}
