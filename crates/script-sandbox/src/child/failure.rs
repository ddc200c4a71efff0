//! What was thrown, as a [`ScriptError`]. Reading a thrown object can run more of the script, and can throw again.

use rquickjs::{Ctx, Exception, Value, convert::Coerced};

use super::{engine::SCRIPT_NAME, text};
use crate::outcome::{ErrorKind, ScriptError};

/// What is kept of a message and of a stack.
const MESSAGE_BYTES: usize = 2000;
const STACK_BYTES: usize = 4000;

/// Describes the exception that is pending.
pub(super) fn describe_pending(ctx: &Ctx<'_>) -> ScriptError {
    let thrown = ctx.catch();
    let mut error = match thrown.as_object().and_then(|object| Exception::from_object(object.clone())) {
        Some(exception) => describe_exception(&exception),
        None => ScriptError::new(ErrorKind::RuntimeError, format!("the script threw {}", describe_value(ctx, &thrown))),
    };
    // Whatever was thrown meanwhile is nobody's concern.
    drop(ctx.catch());
    text::cut(&mut error.message, MESSAGE_BYTES);
    error
}

fn describe_exception(exception: &Exception<'_>) -> ScriptError {
    let name = read(exception, "name").unwrap_or_default();
    let message = exception.message().unwrap_or_default();
    let kind = match (name.as_str(), message.as_str()) {
        ("InternalError", "out of memory") => ErrorKind::MemoryExceeded,
        ("InternalError", "stack overflow") | ("RangeError", "Maximum call stack size exceeded") => {
            ErrorKind::StackOverflow
        }
        _ => ErrorKind::RuntimeError,
    };
    let message = match (name.is_empty(), message.is_empty()) {
        (true, _) => message,
        (false, true) => name,
        (false, false) => format!("{name}: {message}"),
    };
    let stack = exception.stack().map(|mut stack| {
        text::cut(&mut stack, STACK_BYTES);
        stack.trim_end().to_owned()
    });
    let position = stack.as_deref().and_then(find_position);
    ScriptError {
        code: read(exception, "code"),
        line: position.map(|(line, _)| line),
        column: position.and_then(|(_, column)| column),
        stack: stack.filter(|stack| !stack.is_empty()),
        ..ScriptError::new(kind, message)
    }
}

fn read(exception: &Exception<'_>, property: &str) -> Option<String> {
    exception.as_object().get::<_, Option<String>>(property).ok().flatten()
}

/// Describes a value for a person: text as it is, data as JSON, the rest as the language writes it.
pub(super) fn describe_value<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    if let Some(text) = value.as_string().and_then(|text| text.to_string().ok()) {
        return text;
    }
    if let Some(exception) = value.as_object().and_then(|object| Exception::from_object(object.clone())) {
        return describe_exception(&exception).message;
    }
    let described = match ctx.json_stringify(value.clone()) {
        Ok(Some(json)) => json.to_string().ok().map(|json| text::replace_lone_surrogates(&json)),
        Ok(None) => value.get::<Coerced<String>>().ok().map(|text| text.0),
        Err(_) => None,
    };
    described.unwrap_or_else(|| {
        drop(ctx.catch());
        format!("[{}]", value.type_name())
    })
}

/// Finds the innermost line of the script in a stack.
fn find_position(stack: &str) -> Option<(u32, Option<u32>)> {
    let (_, after) = stack.split_once(&format!("{SCRIPT_NAME}:"))?;
    let mut numbers = after.split(|c: char| !c.is_ascii_digit());
    let line = numbers.next()?.parse().ok()?;
    Some((line, numbers.next().and_then(|column| column.parse().ok())))
}
