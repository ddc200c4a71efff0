//! Hostile scripts. Each is stopped within its deadline, and the program that started it goes on unharmed.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use script_sandbox::{ErrorKind, Host, HostError, Limits, NoHost, Outcome, ScriptError, Stop};
use serde_json::{Value, json};

use crate::script_sandbox::sandbox;

const DEADLINE: Duration = Duration::from_secs(1);
/// How much later than the deadline a run may end on a machine that is busy with other tests.
const TOLERANCE: Duration = Duration::from_secs(4);
/// How many scripts run at the same time.
const PARALLEL: usize = 3;

use ErrorKind::{MemoryExceeded, PromisePending, RuntimeError, StackOverflow, SyntaxError, Timeout, TooLarge};

/// How a script may end. Where several are named, the interpreter decides which limit is met first.
enum End {
    With(&'static [ErrorKind]),
    Value(fn() -> Value),
}
use End::{Value as Gives, With};

impl End {
    fn includes(&self, outcome: &Outcome) -> bool {
        match (self, &outcome.result) {
            (With(kinds), Err(error)) => kinds.contains(&error.kind),
            (Gives(value), Ok(result)) => *result == value(),
            _ => false,
        }
    }
}

const LOOPS: &[(&str, End)] = &[
    ("while (true) {}", With(&[Timeout])),
    ("for (;;) { try { for (;;) {} } finally { continue } }", With(&[Timeout])),
    ("for (;;) { try { throw 1 } catch { } }", With(&[Timeout])),
    ("a: for (;;) { for (;;) continue a }", With(&[Timeout])),
    ("async function f() { for (;;) await null } await f()", With(&[Timeout])),
    ("function spin() { Promise.resolve().then(spin) } spin(); await new Promise(() => {})", With(&[Timeout])),
    ("for (;;) { (async () => { for (;;) {} })().catch(() => {}) }", With(&[Timeout])),
    ("await new Promise(() => {})", With(&[PromisePending])),
    ("new Promise(() => {})", With(&[PromisePending])),
    ("await { then() {} }", With(&[PromisePending])),
    ("await { then(done) { done(this) } }", With(&[Timeout])),
    ("[...(function* () { for (;;) yield 1 })()]", With(&[Timeout, MemoryExceeded])),
    (
        "for await (const x of { [Symbol.asyncIterator]: () => ({ next: () => ({ done: false }) }) }) ;",
        With(&[Timeout]),
    ),
    ("const m = new Map([[0, 0]]); for (const [k] of m) { m.delete(k); m.set(k + 1, 0) }", With(&[Timeout])),
    ("[...Array(1000).keys()].sort(() => { for (;;) {} })", With(&[Timeout])),
    ("'x'.replace(/x/, () => { for (;;) {} })", With(&[Timeout])),
    ("eval('for (;;) {}')", With(&[Timeout])),
    ("new Function('for (;;) {}')()", With(&[Timeout])),
    ("(async () => {}).constructor('for (;;) {}')()", With(&[Timeout])),
    ("(function f() { try { f() } finally { f() } })()", With(&[Timeout, StackOverflow])),
];

const PATTERNS: &[(&str, End)] = &[
    ("/^(a+)+$/.test('a'.repeat(60) + 'b')", With(&[Timeout])),
    ("/(x+x+)+y/.test('x'.repeat(100))", With(&[Timeout])),
    ("'a'.repeat(5e4).match(/(?:a|a?)+b/)", With(&[Timeout, RuntimeError, MemoryExceeded])),
    ("/(?=(a+))*b/.test('a'.repeat(1e6)); /^(?:(?:a*)*)*$/.test('a'.repeat(40) + '!')", With(&[Timeout])),
    ("new RegExp('(?:'.repeat(50000) + 'a' + ')'.repeat(50000))", With(&[RuntimeError, StackOverflow, SyntaxError])),
    ("/^(a{1,99}){1,99}(a{1,99}){1,99}$/.test('a'.repeat(15000) + 'b')", With(&[Timeout, MemoryExceeded])),
];

const MEMORY: &[(&str, End)] = &[
    ("let s = 'a'; for (;;) s += s", With(&[MemoryExceeded, RuntimeError])),
    ("const a = []; for (;;) a.push(new Array(1000).fill(7))", With(&[MemoryExceeded])),
    ("const a = []; for (;;) a.push(new Uint8Array(1 << 20))", With(&[MemoryExceeded, RuntimeError])),
    (
        "const a = []; for (;;) { try { for (;;) a.push(Array(99).fill({})) } catch { } }",
        With(&[Timeout, MemoryExceeded]),
    ),
    ("new ArrayBuffer(2 ** 40)", With(&[MemoryExceeded, RuntimeError])),
    ("'a'.repeat(2 ** 30 - 1)", With(&[MemoryExceeded, RuntimeError])),
    ("'x'.padEnd(2 ** 29)", With(&[MemoryExceeded, RuntimeError])),
    ("new Array(2 ** 32 - 1).join('x')", With(&[MemoryExceeded, RuntimeError, Timeout])),
    ("Array(5e7).fill(0).toString()", With(&[MemoryExceeded, RuntimeError, Timeout])),
    ("Array.from({ length: 2 ** 53 - 1 })", With(&[MemoryExceeded, RuntimeError, Timeout])),
    ("Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0)", With(&[MemoryExceeded, Timeout])),
    ("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", With(&[Timeout])),
    ("2n ** (2n ** 40n)", With(&[MemoryExceeded, RuntimeError, Timeout])),
    ("let n = 3n; for (;;) n *= n", With(&[MemoryExceeded, RuntimeError, Timeout])),
    ("Math.max(...Array(5e6))", With(&[StackOverflow, MemoryExceeded, RuntimeError])),
    ("'\\u0344'.repeat(1e7).normalize('NFD').length", With(&[MemoryExceeded, RuntimeError, Timeout])),
    ("const s = []; for (;;) s.push(Symbol('x'.repeat(1000)))", With(&[MemoryExceeded, RuntimeError])),
    ("globalThis.keep = []; for (;;) keep.push(() => keep)", With(&[MemoryExceeded, Timeout])),
];

const STACKS: &[(&str, End)] = &[
    ("function f() { return f() } f()", With(&[StackOverflow])),
    ("const f = () => g(), g = () => [0].map(f); f()", With(&[StackOverflow])),
    ("new Proxy({}, { get(target, key, receiver) { return receiver[key] } }).x", With(&[StackOverflow])),
    ("({ toString() { return '' + this } }) + ''", With(&[StackOverflow])),
    ("class A { constructor() { new this.constructor() } } new A()", With(&[StackOverflow])),
    ("JSON.parse('['.repeat(1e6))", With(&[StackOverflow, RuntimeError])),
    ("let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; JSON.stringify(o)", With(&[StackOverflow])),
    ("let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); f()", With(&[StackOverflow, MemoryExceeded])),
    ("let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x", With(&[StackOverflow, MemoryExceeded])),
    ("eval('('.repeat(1e5) + ')'.repeat(1e5))", With(&[StackOverflow, RuntimeError])),
    ("eval('-'.repeat(1e5).split('').join(' ') + '1')", With(&[StackOverflow, RuntimeError])),
    ("let r = []; r[0] = r; r.flat(Infinity)", With(&[StackOverflow, MemoryExceeded, Timeout])),
];

const TRICKS: &[(&str, End)] = &[
    ("({ get x() { for (;;) {} } })", With(&[Timeout])),
    ("({ toJSON() { for (;;) {} } })", With(&[Timeout])),
    ("Object.defineProperty(Object.prototype, 'toJSON', { get() { for (;;) {} } }); ({ a: 1 })", With(&[Timeout])),
    ("Array.prototype.toJSON = () => { for (;;) {} }; tasks([1])", With(&[Timeout])),
    ("new Proxy({}, { ownKeys() { for (;;) {} } })", With(&[Timeout])),
    ("new Proxy([], { get: (t, key) => key === 'length' ? 2 ** 53 - 1 : 1 })", With(&[Timeout, MemoryExceeded])),
    ("new Proxy({}, { getPrototypeOf() { for (;;) {} } }) instanceof Object", With(&[Timeout])),
    ("throw { toJSON() { for (;;) {} } }", With(&[Timeout])),
    (
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;) {} } }); throw e",
        With(&[Timeout]),
    ),
    (
        "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw e } }); throw e",
        With(&[RuntimeError]),
    ),
    ("throw new (class extends Error { get name() { throw this } })('deep')", With(&[RuntimeError])),
    ("Error.prepareStackTrace = () => { for (;;) {} }; throw new Error('x')", With(&[Timeout])),
    ("throw undefined", With(&[RuntimeError])),
    ("throw new Proxy(new Error('x'), { get() { throw 1 } })", With(&[RuntimeError])),
    ("const o = {}; o.self = o; o", With(&[RuntimeError])),
    ("10n", With(&[RuntimeError])),
    ("Promise.prototype.then = null; Object.prototype.value = 'forged'; 7", Gives(|| json!(7))),
    ("Object.prototype.value = 'forged'; Object.prototype.code = 'forged'; undefined", Gives(|| Value::Null)),
    ("JSON.stringify = JSON.parse = () => 'forged'; Array.prototype.join = null; [1]", Gives(|| json!([1]))),
    ("globalThis.tasks = () => 'forged'; delete globalThis.console; tasks()", Gives(|| json!("forged"))),
    ("Object.setPrototypeOf(tasks, null); Function.prototype.call = null; tasks(1)", Gives(|| json!([[1]]))),
    ("tasks.constructor('return typeof process + typeof require')()", Gives(|| json!("undefinedundefined"))),
    ("Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)", With(&[RuntimeError])),
    ("import fs from 'fs'", With(&[SyntaxError])),
    ("require('fs')", With(&[RuntimeError])),
    ("1; \u{0} 2", With(&[SyntaxError])),
    ("}); for (;;) {} (() => {", With(&[SyntaxError])),
    ("'\\ud800'", Gives(|| json!("\u{fffd}"))),
];

const OUTPUT: &[(&str, End)] = &[
    ("for (;;) console.log('x'.repeat(1000))", With(&[Timeout])),
    ("console.log('x'.repeat(3e7))", Gives(|| Value::Null)),
    ("console.log({ toJSON() { for (;;) {} } })", With(&[Timeout])),
    ("console.log(new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } }))", Gives(|| Value::Null)),
    ("'x'.repeat(1e6)", With(&[TooLarge])),
    ("Array(2e5).fill('\\u0001').join('')", With(&[TooLarge])),
    ("'x'.repeat(3e7)", With(&[TooLarge, MemoryExceeded])),
    ("let o = {}; for (let i = 0; i < 300; i++) o = { o }; o", With(&[TooLarge])),
    ("let o = {}; for (let i = 0; i < 300; i++) o = { o }; tasks(o)", With(&[RuntimeError])),
    ("throw new Error('x'.repeat(1e7))", With(&[RuntimeError])),
    ("for (;;) tasks()", With(&[RuntimeError])),
    ("for (;;) { try { tasks() } catch { } }", With(&[Timeout])),
    ("tasks('x'.repeat(1e6))", With(&[RuntimeError])),
    ("tasks(...Array(40000).fill(1))", With(&[RuntimeError])),
    ("tasks({ get a() { return tasks(this) } })", With(&[StackOverflow, RuntimeError])),
    ("tasks(tasks, Symbol('x'), undefined)", Gives(|| json!([[null, null, null]]))),
];

/// Answers with what it was asked.
struct Echo;

impl Host for Echo {
    fn functions(&self) -> Vec<&'static str> {
        vec!["tasks"]
    }

    fn call(&mut self, _: &str, arguments: Vec<Value>) -> Result<Value, HostError> {
        Ok(json!([arguments]))
    }
}

/// Runs the scripts and returns what is wrong.
fn check(scripts: &'static [(&'static str, End)]) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some((script, end)) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut outcome = sandbox(DEADLINE).run(script, &mut Echo, &Stop::default());
            let was_bounded = is_bounded(&outcome);
            let is_late = |error: &ScriptError| error.kind == Timeout;
            if outcome.result.as_ref().is_err_and(is_late) && !end.includes(&outcome) {
                // It was stopped, but by a machine that is busy: what it does is seen with more time.
                outcome = sandbox(DEADLINE * 20).run(script, &mut Echo, &Stop::default());
            }
            if !end.includes(&outcome) || !was_bounded {
                wrong.lock().unwrap().push(format!("{script}\n    {:?} in {:?}", outcome.result, outcome.elapsed));
            }
        }
    };
    thread::scope(|scope| (0..PARALLEL).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), scripts.len(), wrong.join("\n"));
    // The next script of the same program is none the wiser.
    let after = sandbox(DEADLINE * 20).run("tasks(1).length + typeof keep", &mut Echo, &Stop::default());
    assert_eq!(after.result.unwrap(), "1undefined");
}

fn is_bounded(outcome: &Outcome) -> bool {
    let limits = Limits::default();
    let logged: usize = outcome.logs.iter().map(|line| line.text.len()).sum();
    let told = outcome.result.as_ref().map_or_else(|error| error.message.len(), |value| value.to_string().len());
    outcome.elapsed < DEADLINE + TOLERANCE && logged <= limits.log_bytes && told <= limits.result_bytes
}

#[test]
fn endless_loops_and_promises_are_stopped() {
    check(LOOPS);
}

#[test]
fn patterns_that_explode_are_stopped() {
    check(PATTERNS);
}

#[test]
fn scripts_that_want_all_memory_are_stopped() {
    check(MEMORY);
}

#[test]
fn scripts_that_nest_without_end_are_stopped() {
    check(STACKS);
}

#[test]
fn tricks_with_the_language_change_nothing_outside() {
    check(TRICKS);
}

#[test]
fn output_without_end_is_cut_or_refused() {
    check(OUTPUT);
    assert!([LOOPS, PATTERNS, MEMORY, STACKS, TRICKS, OUTPUT].iter().map(|part| part.len()).sum::<usize>() >= 60);
}

#[test]
fn a_script_too_long_to_be_one_is_refused() {
    let script = format!("'{}'", "x".repeat(Limits::default().script_bytes));
    let outcome = sandbox(DEADLINE).run(&script, &mut NoHost, &Stop::default());
    assert_eq!(outcome.result.unwrap_err().kind, TooLarge);
    for deep in ["(", "[", "{", "-(", "`${", "!", "if(1)", "()=>", "a?", "new "] {
        let script = deep.repeat(250_000 / deep.len());
        let outcome = sandbox(DEADLINE).run(&script, &mut NoHost, &Stop::default());
        let error = outcome.result.unwrap_err();
        assert!([SyntaxError, StackOverflow, MemoryExceeded, Timeout].contains(&error.kind), "{deep}: {error:?}");
    }
}

/// The deadline that a team's workers have.
#[test]
fn thirty_seconds_are_thirty_seconds() {
    let began = Instant::now();
    let outcome = sandbox(Limits::default().deadline).run("let n = 0;\nfor (;;) n++;", &mut NoHost, &Stop::default());
    let error = outcome.result.unwrap_err();
    assert_eq!((error.kind, error.line), (Timeout, None));
    assert_eq!(error.message, "the script ran longer than 30s and was stopped");
    let took = began.elapsed();
    assert!((Duration::from_secs(30)..Duration::from_secs(30) + TOLERANCE).contains(&took), "{took:?}");
}
