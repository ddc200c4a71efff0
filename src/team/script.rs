//! Scripts of workers. They run in the sandbox, in a process of their own; what they ask for is answered here, read-only,
//! by the same requests as the actions of a worker.

use serde_json::{Value, json};

use super::data::{DataError, DataReader, DataRequest, MOST_SCRIPTED, parse_day};

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

/// Runs scripts, until they are stopped together.
#[derive(Clone, Default)]
pub(super) struct Scripts;

impl Scripts {
    /// Runs a script to its end. Returns its result with its log, or an error with line and stack.
    pub async fn run(&self, _code: &str, _data: DataReader) -> Result<Value, Value> {
        Err(json!({ "type": "unavailable", "message": "scripts cannot be run" }))
    }

    /// Stops all scripts that are running.
    pub fn stop(&self) {}
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
