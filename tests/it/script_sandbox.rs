//! The sandbox of scripts from outside: what a script gets, what it can reach, and what is left of its process.

use std::{
    fs::{self, File},
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use rustix::io::{FdFlags, fcntl_setfd};
use script_sandbox::{ErrorKind, Host, HostError, Limits, LogLevel, NoHost, Outcome, Sandbox, ScriptError, Stop};
use serde_json::{Value, json};

use crate::support::test_home::PATIENCE;

const PROGRAM: &str = env!("CARGO_BIN_EXE_adjutant");

/// Everything that a script finds, sorted. A name that appears here by an update is a reason to look at it.
const GLOBALS: &str = "AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array \
    BigUint64Array Boolean DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array \
    Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math \
    NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String \
    SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap \
    WeakRef WeakSet console decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis \
    isFinite isNaN parseFloat parseInt queueMicrotask undefined unescape";

pub(crate) fn sandbox(deadline: Duration) -> Sandbox {
    Sandbox::of_program(PathBuf::from(PROGRAM), Limits { deadline, ..Limits::default() })
}

fn run(script: &str) -> Outcome {
    sandbox(Duration::from_secs(20)).run(script, &mut NoHost, &Stop::default())
}

fn value(script: &str) -> Value {
    run(script).result.unwrap()
}

fn error(script: &str) -> ScriptError {
    run(script).result.unwrap_err()
}

/// A host of one function that does what it is told.
struct One<F>(F);

impl<F: FnMut(Vec<Value>) -> Result<Value, HostError>> Host for One<F> {
    fn functions(&self) -> Vec<&'static str> {
        vec!["ask"]
    }

    fn call(&mut self, function: &str, arguments: Vec<Value>) -> Result<Value, HostError> {
        assert_eq!(function, "ask");
        (self.0)(arguments)
    }
}

#[test]
fn the_result_is_the_last_expression_or_what_return_gives() {
    assert_eq!(value("const rows = [1, 2]; rows.map(n => n * 2);"), json!([2, 4]));
    assert_eq!(value("const rows = [1, 2];\nreturn rows;"), json!([1, 2]));
    assert_eq!(value("const later = await Promise.resolve({ a: 'שלום' }); later"), json!({ "a": "שלום" }));
    assert_eq!(value("(async () => 7)()"), json!(7));
    assert_eq!(value("undefined"), Value::Null);
    assert_eq!(value("() => 1"), Value::Null);
    assert_eq!(value("new Date(0)"), json!("1970-01-01T00:00:00.000Z"));
    assert_eq!(value("new Date(0).getTimezoneOffset()"), json!(0));
    assert_eq!(
        value("({ half: '\\ud83d', whole: '😀', n: 1e21 })"),
        json!({ "half": "\u{fffd}", "whole": "😀", "n": 1e21 })
    );
}

#[test]
fn an_error_names_its_line_and_the_calls_that_led_there() {
    let thrown = error("const a = 1;\nfunction read(task) {\n  return task.due.date;\n}\nread({});");
    assert_eq!((thrown.kind, thrown.line), (ErrorKind::RuntimeError, Some(3)));
    assert!(thrown.message.starts_with("TypeError: "), "{thrown}");
    assert!(thrown.stack.unwrap().contains("read (script.js:3"));

    let unread = error("const a = 1;\nconst = 2;");
    assert_eq!((unread.kind, unread.line), (ErrorKind::SyntaxError, Some(2)));

    let returning = error("const a = 1;\nif (a) missing();\nreturn a;");
    assert_eq!((returning.kind, returning.line), (ErrorKind::RuntimeError, Some(2)));

    let value = error("throw { reason: 'no rows' }");
    assert_eq!(value.message, "the script threw {\"reason\":\"no rows\"}");
    let rejected = error("await Promise.reject(new Error('later'))");
    assert_eq!(rejected.message, "Error: later");
}

#[test]
fn the_console_is_kept_in_order_up_to_its_limit() {
    let outcome = run("console.log('a', 1, [2], { b: null }, undefined); console.warn(new Error('odd')); 1");
    let lines: Vec<_> = outcome.logs.iter().map(|line| (line.level, line.text.as_str())).collect();
    assert_eq!(lines, [(LogLevel::Log, "a 1 [2] {\"b\":null} undefined"), (LogLevel::Warn, "Error: odd")]);
    assert_eq!(outcome.dropped_log_lines, 0);

    let long = run("for (let i = 0; i < 100; i++) console.log('x'.repeat(1000)); 'done'");
    assert_eq!(long.result.unwrap(), "done");
    let kept: usize = long.logs.iter().map(|line| line.text.len()).sum();
    assert_eq!(kept, Limits::default().log_bytes);
    assert_eq!(long.logs.len() + long.dropped_log_lines, 100);
}

#[test]
fn the_host_is_asked_with_plain_data_and_its_refusals_can_be_caught() {
    let mut asked = Vec::new();
    let mut host = One(|arguments: Vec<Value>| {
        asked.push(Value::from(arguments.clone()));
        match arguments.first() {
            Some(Value::Null) => Err(HostError::new("not_found", "no such account; there is 'work'")),
            _ => Ok(json!({ "rows": [1, 2], "text": "שלום\u{2028}" })),
        }
    });
    let script = "const found = ask({ status: 'READY' }, 'x');\n\
        let code; try { ask(null) } catch (error) { code = error.code }\n\
        ({ sum: found.rows[0] + found.rows[1], text: found.text, code })";
    let outcome = sandbox(PATIENCE).run(script, &mut host, &Stop::default());
    assert_eq!(outcome.result.unwrap(), json!({ "sum": 3, "text": "שלום\u{2028}", "code": "not_found" }));
    assert_eq!(asked, [json!([{ "status": "READY" }, "x"]), json!([null])]);

    let mut refusing = One(|_| Err(HostError::new("permission_denied", "that account is not yours to read")));
    let refused = sandbox(PATIENCE).run("1;\nask()", &mut refusing, &Stop::default()).result.unwrap_err();
    assert_eq!(refused.code.as_deref(), Some("permission_denied"));
    assert_eq!((refused.kind, refused.line), (ErrorKind::RuntimeError, Some(2)));
    assert_eq!(refused.message, "Error: ask: that account is not yours to read");

    let mut generous = One(|_| Ok(Value::from("x".repeat(5 << 20))));
    let too_much = sandbox(PATIENCE).run("ask()", &mut generous, &Stop::default()).result.unwrap_err();
    assert_eq!(too_much.code.as_deref(), Some("too_large"));
}

#[test]
fn a_script_finds_the_language_and_nothing_else() {
    let found = value("Object.getOwnPropertyNames(globalThis).sort().join(' ')");
    assert_eq!(found, GLOBALS.split_whitespace().collect::<Vec<_>>().join(" "));
    let absent = value(
        "['require', 'process', 'fetch', 'XMLHttpRequest', 'setTimeout', 'setInterval', 'std', 'os', 'Deno', 'Bun', \
          'WebAssembly', 'Worker', 'performance', 'load', 'read', 'open', 'print', 'scriptArgs', 'gc']\
         .filter(name => name in globalThis)",
    );
    assert_eq!(absent, json!([]));
    for script in ["await import('fs')", "await import('/etc/passwd')", "await import('data:text/javascript,1')"] {
        assert_eq!(error(script).kind, ErrorKind::RuntimeError, "{script}");
    }
}

/// The child's process as the system shows it, while the script waits for the host.
#[test]
fn the_process_has_no_environment_no_files_and_hard_limits() {
    // A careless ancestor: a file that is passed on to every child.
    let inherited = File::open("/etc/passwd").unwrap();
    fcntl_setfd(&inherited, FdFlags::empty()).unwrap();
    let mut seen = String::new();
    let mut host = One(|_| {
        let process = only_child();
        assert_eq!(fs::read(process.join("environ")).unwrap(), b"");
        assert_eq!(fs::read_link(process.join("cwd")).unwrap(), PathBuf::from("/"));
        let mut open: Vec<_> =
            fs::read_dir(process.join("fd")).unwrap().map(|file| file.unwrap().file_name()).collect();
        open.sort();
        assert_eq!(open, ["0", "1", "2"]);
        assert_eq!(fs::read_link(process.join("fd/2")).unwrap(), PathBuf::from("/dev/null"));
        seen = fs::read_to_string(process.join("limits")).unwrap();
        assert!(fs::read_to_string(process.join("status")).unwrap().contains("NoNewPrivs:\t1\n"));
        Ok(Value::Null)
    });
    sandbox(PATIENCE).run("ask()", &mut host, &Stop::default()).result.unwrap();
    for (name, most) in [
        ("Max open files", 3),
        ("Max processes", 0),
        ("Max file size", 0),
        ("Max core file size", 0),
        ("Max cpu time", 61),
    ] {
        let line = seen.lines().find(|line| line.starts_with(name)).unwrap();
        let hard: u64 = line[name.len()..].split_whitespace().nth(1).unwrap().parse().unwrap();
        assert_eq!(hard, most, "{line}");
    }
    let space = seen.lines().find(|line| line.starts_with("Max address space")).unwrap();
    assert!(!space.contains("unlimited"), "{space}");
    drop(inherited);
}

/// The folder in /proc of the only sandbox that this process has.
fn only_child() -> PathBuf {
    let of_ours = |folder: &PathBuf| {
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        let command = fs::read_to_string(folder.join("cmdline")).unwrap_or_default();
        status.contains(&format!("PPid:\t{}\n", std::process::id())) && command.contains("--script-sandbox")
    };
    let found: Vec<_> = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(of_ours).collect();
    let [one] = found.as_slice() else { panic!("{found:?}") };
    one.clone()
}

#[test]
fn a_stop_ends_the_run_at_once() {
    let stop = Stop::default();
    let began = Instant::now();
    let outcome = thread::scope(|scope| {
        let running = scope.spawn(|| sandbox(PATIENCE).run("for (;;) {}", &mut NoHost, &stop));
        thread::sleep(Duration::from_millis(300));
        stop.request();
        running.join().unwrap()
    });
    assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Cancelled);
    assert!(began.elapsed() < PATIENCE / 4, "{:?}", began.elapsed());
    // What was stopped stays stopped.
    let later = sandbox(PATIENCE).run("for (;;) {}", &mut NoHost, &stop);
    assert_eq!(later.result.unwrap_err().kind, ErrorKind::Cancelled);
}

#[test]
fn a_program_that_is_no_sandbox_is_reported() {
    let of = |program: &str| Sandbox::of_program(PathBuf::from(program), Limits::default());
    let missing = of("/no/such/program").run("1", &mut NoHost, &Stop::default());
    assert_eq!(missing.result.unwrap_err().kind, ErrorKind::Unavailable);
    for other in ["/bin/false", "/bin/echo", "/bin/cat"] {
        let outcome = of(other).run("1", &mut NoHost, &Stop::default());
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::ProcessDied, "{other}");
    }
}

#[test]
fn the_role_ends_with_its_parent() {
    let mut child = std::process::Command::new(PROGRAM)
        .arg("--script-sandbox")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    assert!(!child.wait().unwrap().success());
}
