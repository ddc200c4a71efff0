//! Scripts of workers. They run in the sandbox, in a process of their own; what they ask for is answered here, read-only,
//! by the same requests as the actions of a worker.

use script_sandbox::{ErrorKind, Host, HostError, Limits, Outcome, Sandbox, Stop};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::data::{DataError, DataReader, DataRequest, MOST_SCRIPTED, parse_day};

/// The longest result of a script, in bytes of JSON. A model cannot be shown more.
const MOST_RESULT_BYTES: usize = 8 * 1024;
/// How much of the log of a script its worker is shown.
const MOST_LOG_LINES: usize = 20;
const LONGEST_LOG_LINE: usize = 300;

/// A function of scripts: how its arguments become a request.
pub(super) struct ScriptFunction {
    pub name: &'static str,
    request: fn(&[Value], chrono::NaiveDate) -> Result<DataRequest, DataError>,
}

/// The functions of scripts. A further source of data adds its lines here.
pub(super) const FUNCTIONS: &[ScriptFunction] = &[
    ScriptFunction { name: "date", request: |_, _| Ok(DataRequest::Date) },
    ScriptFunction { name: "mails", request: list_mails },
    ScriptFunction { name: "mail", request: |given, _| Ok(DataRequest::ReadMail { handle: text(given, "a handle")? }) },
    ScriptFunction { name: "tasks", request: list_tasks },
    ScriptFunction { name: "task", request: |given, _| Ok(DataRequest::ReadTask { handle: text(given, "a handle")? }) },
    ScriptFunction {
        name: "search",
        request: |given, _| Ok(DataRequest::Search { words: text(given, "words")?, limit: second_limit(given) }),
    },
    ScriptFunction {
        name: "memory",
        request: |given, _| Ok(DataRequest::Memory { text: text(given, "a text")?, limit: second_limit(given) }),
    },
];

/// Returns the request of a call. A function that does not exist, or arguments that it does not take, are errors that
/// the script can catch.
pub(super) fn read_call(name: &str, given: &[Value], today: chrono::NaiveDate) -> Result<DataRequest, DataError> {
    let function = FUNCTIONS.iter().find(|function| function.name == name);
    let function = function.ok_or_else(|| DataError::invalid(format!("there is no function {name:?}")))?;
    (function.request)(given, today)
}

fn list_mails(given: &[Value], today: chrono::NaiveDate) -> Result<DataRequest, DataError> {
    let options = options(given)?;
    let field = |name: &str| options.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(DataRequest::ListMails {
        since: parse_day(&field("since"), today)?,
        until: parse_day(&field("until"), today)?,
        words: field("words"),
        limit: limit(options.get("limit")),
    })
}

fn list_tasks(given: &[Value], _today: chrono::NaiveDate) -> Result<DataRequest, DataError> {
    let options = options(given)?;
    let all = options.get("all").and_then(Value::as_bool).unwrap_or_default();
    Ok(DataRequest::ListTasks { all, limit: limit(options.get("limit")) })
}

/// Returns the options of a call: an object, or nothing.
fn options(given: &[Value]) -> Result<serde_json::Map<String, Value>, DataError> {
    match given.first() {
        None | Some(Value::Null) => Ok(serde_json::Map::new()),
        Some(Value::Object(options)) => Ok(options.clone()),
        Some(_) => Err(DataError::invalid("the argument must be an object, such as {limit: 10}")),
    }
}

fn text(given: &[Value], what: &str) -> Result<String, DataError> {
    let text = given.first().and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| DataError::invalid(format!("the first argument must be {what} as a text")))
}

fn second_limit(given: &[Value]) -> usize {
    limit(given.get(1))
}

/// Returns how many entries are wanted: at most what a script gets, and a few where the script does not say.
fn limit(given: Option<&Value>) -> usize {
    let wanted = given.and_then(Value::as_u64).and_then(|wanted| usize::try_from(wanted).ok());
    wanted.unwrap_or(50).clamp(1, MOST_SCRIPTED)
}

/// Runs scripts in the sandbox, until they are stopped together.
#[derive(Clone, Default)]
pub(super) struct Scripts {
    stop: Stop,
}

impl Scripts {
    /// Runs a script to its end. Returns its result with its log, or an error with line and stack.
    pub(super) async fn run(&self, code: &str, data: DataReader) -> Result<Value, Value> {
        let (code, stop, runtime) = (code.to_owned(), self.stop.clone(), Handle::current());
        // The sandbox talks to its process by blocking pipes, so it has a thread of its own.
        let ended = tokio::task::spawn_blocking(move || {
            let sandbox = Sandbox::of_this_program(Limits { result_bytes: MOST_RESULT_BYTES, ..Limits::default() });
            sandbox.map(|sandbox| sandbox.run(&code, &mut ScriptHost { data, runtime }, &stop))
        });
        match ended.await {
            Ok(Ok(outcome)) => describe(outcome),
            Ok(Err(error)) => Err(unavailable(&error)),
            Err(error) => Err(unavailable(&error)),
        }
    }

    /// Stops all scripts that are running, and those that begin later.
    pub(super) fn stop(&self) {
        self.stop.request();
    }
}

fn unavailable(error: &dyn std::fmt::Display) -> Value {
    json!({ "type": "unavailable", "message": format!("the script could not be run: {error}") })
}

/// Returns an outcome as the worker is told it.
fn describe(outcome: Outcome) -> Result<Value, Value> {
    let lines = outcome.logs.iter().take(MOST_LOG_LINES).map(|line| line.text.as_str());
    let log: Vec<String> = lines.map(|line| line.chars().take(LONGEST_LOG_LINE).collect()).collect();
    match outcome.result {
        Ok(value) if log.is_empty() => Ok(json!({ "value": value })),
        Ok(value) => Ok(json!({ "value": value, "log": log })),
        Err(error) => Err(json!({
            "type": error.kind,
            "message": error.message,
            "line": error.line,
            "stack": error.stack,
            "log": log,
            "suggestion": suggest(error.kind),
        })),
    }
}

/// Returns what may help against an error of this kind.
const fn suggest(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Timeout => "It took too long. Narrow the scope: fewer days, fewer mails, no endless loop.",
        ErrorKind::SyntaxError => "The script has a syntax error. Look at the line.",
        ErrorKind::RuntimeError => "Check for null and undefined before you read their properties.",
        _ => "Do less in one script.",
    }
}

/// Answers what scripts ask for.
struct ScriptHost {
    data: DataReader,
    runtime: Handle,
}

impl Host for ScriptHost {
    fn functions(&self) -> Vec<&'static str> {
        FUNCTIONS.iter().map(|function| function.name).collect()
    }

    fn call(&mut self, function: &str, arguments: Vec<Value>) -> Result<Value, HostError> {
        let today = self.data.clock.now().utc().with_timezone(&self.data.me.time_zone).date_naive();
        let answer =
            read_call(function, &arguments, today).and_then(|request| self.runtime.block_on(self.data.answer(request)));
        answer.map_err(|error| HostError::new(error.kind, error.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_become_requests_or_errors_that_help() {
        let today = "2026-06-16".parse().unwrap();
        let read = |name: &str, given: Value| read_call(name, given.as_array().unwrap(), today);
        assert_eq!(read("date", json!([])), Ok(DataRequest::Date));
        assert_eq!(read("task", json!(["T1"])), Ok(DataRequest::ReadTask { handle: "T1".into() }));
        let listed = read("mails", json!([{ "since": "2026-06-01", "limit": 1e9 as u64, "words": "invoice" }]));
        let DataRequest::ListMails { since, limit, .. } = listed.unwrap() else { panic!() };
        assert_eq!((since, limit), ("2026-06-01".parse().ok(), MOST_SCRIPTED));
        for (name, given, why) in [
            ("fetch", json!(["https://evil.example"]), "no function"),
            ("mail", json!([]), "a handle"),
            ("mails", json!(["all"]), "an object"),
            ("mails", json!([{ "since": "soon" }]), "YYYY-MM-DD"),
        ] {
            assert!(read(name, given).unwrap_err().message.contains(why), "{name}");
        }
    }
}
