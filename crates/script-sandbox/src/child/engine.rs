//! The interpreter: the language, `console`, and functions that ask the parent.

use std::{
    cell::{Cell, RefCell},
    io,
    rc::Rc,
    time::Instant,
};

use rquickjs::{
    Context, Ctx, Error, Exception, Function, Object, Promise, Runtime, Value,
    context::{EvalOptions, intrinsic},
    function::Rest,
};

use super::{channel::Channel, failure, text};
use crate::{
    limits::Limits,
    message::{Ending, FromChild, Reply, Start},
    outcome::{ErrorKind, LogLevel, LogLine, ScriptError},
};

/// The name of the script in stacks.
pub(super) const SCRIPT_NAME: &str = "script.js";
const LEVELS: [(&str, LogLevel); 5] = [
    ("debug", LogLevel::Debug),
    ("log", LogLevel::Log),
    ("info", LogLevel::Info),
    ("warn", LogLevel::Warn),
    ("error", LogLevel::Error),
];

/// What the functions of the script share.
struct Shared {
    channel: RefCell<Channel>,
    limits: Limits,
    log_bytes: Cell<usize>,
    log_lines: Cell<usize>,
    dropped_log_lines: Cell<usize>,
    host_calls: Cell<usize>,
    /// Set by the interrupt handler: whatever the script made of it, it has run out of time.
    is_out_of_time: Cell<bool>,
}

/// Runs the script and tells the parent how it ended.
pub(super) fn execute(start: Start, channel: Channel) -> io::Result<()> {
    let deadline = Instant::now() + start.limits.deadline;
    let shared = Rc::new(Shared {
        channel: RefCell::new(channel),
        limits: start.limits,
        log_bytes: Cell::new(0),
        log_lines: Cell::new(0),
        dropped_log_lines: Cell::new(0),
        host_calls: Cell::new(0),
        is_out_of_time: Cell::new(false),
    });
    let context = create_context(&shared, deadline);
    let result = match &context {
        Ok(context) => context.with(|ctx| run_script(&ctx, &shared, &start.script, &start.functions)),
        Err(error) => Err(ScriptError::new(ErrorKind::ProcessDied, format!("the interpreter did not start: {error}"))),
    };
    // The interpreter does not know where it was interrupted, only the last call: a timeout has no position.
    let result = if shared.is_out_of_time.get() { Err(shared.limits.timeout()) } else { result };
    shared.send(&FromChild::End(Ending { result, dropped_log_lines: shared.dropped_log_lines.get() }))
}

/// Everything that the language has by itself, except the clock with a fine resolution.
type Language = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::WeakRef,
);

fn create_context(shared: &Rc<Shared>, deadline: Instant) -> rquickjs::Result<Context> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(shared.limits.heap_bytes);
    runtime.set_max_stack_size(shared.limits.stack_bytes);
    let observer = Rc::clone(shared);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        let is_over = Instant::now() >= deadline;
        if is_over {
            observer.is_out_of_time.set(true);
        }
        is_over
    })));
    Context::custom::<Language>(&runtime)
}

/// Runs the script and returns its result as JSON.
fn run_script(ctx: &Ctx<'_>, shared: &Rc<Shared>, script: &str, functions: &[String]) -> Result<String, ScriptError> {
    let described = |error: Error| describe(ctx, &error);
    install_console(ctx, shared).map_err(described)?;
    for name in functions {
        install_host_function(ctx, shared, name).map_err(described)?;
    }
    let completion = await_promise(ctx, shared, &compile(ctx, script)?)?;
    // The interpreter wraps the value, so that the value may be a promise itself.
    let value: Value<'_> =
        completion.get::<Object<'_>>().and_then(|wrapped| wrapped.get("value")).map_err(described)?;
    let value = match value.as_promise() {
        Some(promise) => await_promise(ctx, shared, promise)?,
        None => value,
    };
    let json = match ctx.json_stringify(value).map_err(described)? {
        Some(json) => text::replace_lone_surrogates(&json.to_string().map_err(described)?),
        None => "null".to_owned(),
    };
    let (length, limit) = (json.len(), shared.limits.result_bytes);
    if length > limit {
        let message =
            format!("the result has {length} bytes; at most {limit} are returned. Return fewer rows or fields");
        return Err(ScriptError::new(ErrorKind::TooLarge, message));
    }
    Ok(json)
}

/// Starts the script. One that ends with `return` instead of an expression is started as the body of a function.
fn compile<'js>(ctx: &Ctx<'js>, script: &str) -> Result<Promise<'js>, ScriptError> {
    let start = |script: String| {
        let mut options = EvalOptions::default();
        options.promise = true;
        options.filename = Some(SCRIPT_NAME.to_owned());
        ctx.eval_with_options(script, options).map_err(|error| {
            let error = describe(ctx, &error);
            // With a promise, only what cannot be read is thrown at once.
            let kind = if error.kind == ErrorKind::RuntimeError { ErrorKind::SyntaxError } else { error.kind };
            ScriptError { kind, ..error }
        })
    };
    match start(script.to_owned()) {
        Err(error) if error.message.contains("return not in a function") => {
            // On the line of the script, so that lines stay what they are.
            start(format!("(async () => {{{script}\n}})()"))
        }
        started => started,
    }
}

/// Runs what is pending until the promise is settled, and returns its value.
fn await_promise<'js>(ctx: &Ctx<'js>, shared: &Shared, promise: &Promise<'js>) -> Result<Value<'js>, ScriptError> {
    loop {
        if shared.is_out_of_time.get() {
            return Err(shared.limits.timeout());
        }
        if let Some(settled) = promise.result() {
            return settled.map_err(|error| describe(ctx, &error));
        }
        if !ctx.execute_pending_job() {
            let message = "the script waits for a promise that nothing will settle";
            return Err(ScriptError::new(ErrorKind::PromisePending, message));
        }
    }
}

fn install_console<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> rquickjs::Result<()> {
    let console = Object::new(ctx.clone())?;
    for (name, level) in LEVELS {
        let shared = Rc::clone(shared);
        let log = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| shared.log(&ctx, level, &values.0);
        console.set(name, Function::new(ctx.clone(), log)?.with_name(name)?)?;
    }
    ctx.globals().set("console", console)
}

fn install_host_function<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>, name: &str) -> rquickjs::Result<()> {
    let (shared, function) = (Rc::clone(shared), name.to_owned());
    let ask = move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| shared.ask_host(&ctx, &function, arguments.0);
    ctx.globals().set(name, Function::new(ctx.clone(), ask)?.with_name(name)?)
}

impl Shared {
    fn send(&self, message: &FromChild) -> io::Result<()> {
        self.channel.borrow_mut().write(message)
    }

    fn log<'js>(&self, ctx: &Ctx<'js>, level: LogLevel, values: &[Value<'js>]) {
        let left = self.limits.log_bytes.saturating_sub(self.log_bytes.get());
        if left == 0 || self.log_lines.get() >= self.limits.log_lines {
            self.dropped_log_lines.set(self.dropped_log_lines.get() + 1);
            return;
        }
        let mut text = String::new();
        for value in values {
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(&failure::describe_value(ctx, value));
        }
        text::cut(&mut text, left);
        self.log_bytes.set(self.log_bytes.get() + text.len());
        self.log_lines.set(self.log_lines.get() + 1);
        // Without a parent there is nobody to run for; its end of the pipe is noticed at the end.
        drop(self.send(&FromChild::Log(LogLine { level, text })));
    }

    /// Asks the parent and waits for its answer. What it refuses is thrown.
    fn ask_host<'js>(
        &self,
        ctx: &Ctx<'js>,
        function: &str,
        arguments: Vec<Value<'js>>,
    ) -> rquickjs::Result<Value<'js>> {
        let (calls, most) = (self.host_calls.get(), self.limits.host_calls);
        if calls >= most {
            return Err(throw(ctx, "too_many_calls", &format!("{function}: a script may ask at most {most} times")));
        }
        let arguments = match ctx.json_stringify(arguments)? {
            Some(json) => text::replace_lone_surrogates(&json.to_string()?),
            None => "[]".to_owned(),
        };
        let (length, most) = (arguments.len(), self.limits.argument_bytes);
        if length > most {
            let message = format!("{function}: the arguments have {length} bytes; at most {most} are allowed");
            return Err(throw(ctx, "too_large", &message));
        }
        // Reading the arguments can have run the script, and asked already.
        self.host_calls.set(self.host_calls.get() + 1);
        let name = function.to_owned();
        let asked = self.send(&FromChild::Call { name, arguments });
        let reply = asked.and_then(|()| self.channel.borrow_mut().read::<Reply>());
        match reply {
            Ok(Reply::Value(value)) => ctx.json_parse(value.to_string()),
            Ok(Reply::Refused(refusal)) => Err(throw(ctx, &refusal.code, &format!("{function}: {}", refusal.message))),
            Err(_) => Err(throw(ctx, "unavailable", &format!("{function}: nobody answers"))),
        }
    }
}

fn throw(ctx: &Ctx<'_>, code: &str, message: &str) -> Error {
    let exception = match Exception::from_message(ctx.clone(), message) {
        Ok(exception) => exception,
        Err(error) => return error,
    };
    match exception.as_object().set("code", code) {
        Ok(()) => exception.throw(),
        Err(error) => error,
    }
}

/// Describes an error of the interpreter, which for most is the exception that is pending.
fn describe(ctx: &Ctx<'_>, error: &Error) -> ScriptError {
    match error {
        Error::Exception => failure::describe_pending(ctx),
        Error::Allocation => ScriptError::new(ErrorKind::MemoryExceeded, "the script needed too much memory"),
        other => ScriptError::new(ErrorKind::RuntimeError, other.to_string()),
    }
}
