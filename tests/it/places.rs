//! Checks in the source that every commit, every call to a mailbox, a source or a transport, and every change of a file
//! that must survive has a failpoint.

use std::{fs, path::Path};

use adjutant::{failpoint, store::Write};

/// Values that are a mailbox, a source or a transport, by the names they have everywhere.
const OUTSIDE: [&str; 5] = ["mailbox", "source", "sendmail", "maildir", "gmail"];
/// What is asked of them, as the traits and the transport have it, beside what only says what they are.
const CALLS: [&str; 14] = [
    "apply",
    "probe",
    "draft",
    "send_draft",
    "find",
    "complete_send",
    "discard_draft",
    "busy",
    "undo",
    "poll",
    "fetch",
    "fetch_each",
    "transmit",
    "deliver",
];
/// Changes of files.
const CHANGES: [&str; 8] = [
    "fs::rename(",
    "fs::remove_file(",
    "fs::write(",
    "fs::copy(",
    "fs::hard_link(",
    ".sync_all(",
    ".sync_data(",
    ".rename_into(",
];

/// Part of a file, a call in it, and why it has no place of its own.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("ingest/intake.rs", "source.fetch_each(", "each message has a place in it"),
    ("app/preview/mod.rs", "gmail.fetch_each(", "each message has a place in it"),
    ("app/accounts/samples.rs", "maildir.deliver(", "writing and renaming have places in it"),
    ("app/mod.rs", "fs::write(", "`init` writes what is not there yet, and can be asked again"),
    (
        "durable_file.rs",
        "fs::remove_file(",
        "nothing reads a temporary file; the next replacement begins by removing it",
    ),
    (
        "source/maildir/keywords.rs",
        "fs::remove_file(",
        "a lock under which nothing was written; Dovecot takes one away that is left",
    ),
    (
        "web/guard/sign_in_code.rs",
        "fs::remove_file(",
        "a code that is not removed ends by itself; the next one removes it",
    ),
    (
        "web/server.rs",
        "fs::remove_file(",
        "the next start replaces the address, and one that does not answer is noticed",
    ),
    ("store/migration.rs", "fs::remove_file(", "a copy that a killed migration left; schema.rs kills migrations"),
];

/// A file without comments, texts and tests; a text's place is kept, empty.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let (mut code, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("r#\"") {
            rest.find("\"#").map_or(rest.len(), |end| end + 2)
        } else if c == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let end = end.map_or(rest.len(), |end| end + 2);
            // The names of places are all that is asked for.
            code.push_str(&rest[..end].replace(['(', ')', '{', '}'], ""));
            end
        } else if c == '\'' && matches!(rest.as_bytes().get(2), Some(b'\'')) {
            3
        } else if rest.starts_with("'\\") {
            rest[3..].find('\'').map_or(rest.len(), |end| end + 4)
        } else {
            // A call on a line of its own belongs to the value above it.
            if c == '.' {
                code.truncate(code.trim_end().len());
            }
            code.push(c);
            c.len_utf8()
        };
        rest = &rest[skip..];
    }
    // How a file is opened is no call of ours.
    code.replace(".append(true)", "").replace(".write(true)", "")
}

/// Whether a place in the code lies inside the arguments of `failpoint::around`.
fn is_around(code: &str, at: usize) -> bool {
    let mut depth = 0;
    for (index, c) in code[..at].char_indices().rev() {
        match c {
            ')' | '}' => depth += 1,
            '(' | '{' if depth > 0 => depth -= 1,
            '(' if code[..index].ends_with("around") => return true,
            _ => {}
        }
    }
    false
}

/// The function a place lies in.
struct Function<'a> {
    name: &'a str,
    is_method: bool,
    is_public: bool,
}

impl<'a> Function<'a> {
    fn at(code: &'a str, at: usize) -> Option<Self> {
        let (before, rest) = code.split_at(code[..at].rfind("fn ")?);
        let rest = &rest[3..];
        let name = &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_')?];
        let first = rest[rest.find('(')? + 1..].trim_start();
        let is_method = ["&self", "&mut self", "self", "mut self"].iter().any(|own| first.starts_with(own));
        let is_public = ["pub", "pub(super)", "pub(crate)"].iter().any(|kind| before.trim_end().ends_with(kind));
        Some(Self { name, is_method, is_public })
    }
}

/// Every place in the code where a text stands.
fn all(code: &str, text: &str) -> Vec<usize> {
    code.match_indices(text).map(|(at, _)| at).collect()
}

/// The code of every file below `src`.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut files) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "failpoint.rs" {
                files.push((name, code(&fs::read_to_string(path).unwrap())));
            }
        }
    }
    files.sort();
    files
}

/// A function that is called nowhere but inside places to die has one.
fn is_covered(files: &[(String, String)], (name, code): (&str, &str), at: usize, depth: u8) -> bool {
    if is_around(code, at) {
        return true;
    }
    let Some(function) = Function::at(code, at).filter(|_| depth > 0) else { return false };
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut called = files.iter().flat_map(|(other, code)| {
        // A module below may call what is private here.
        let is_child = other.starts_with(folder) && other != name;
        let call = match function.is_method {
            true => format!(".{}(", function.name),
            false if is_child && !function.is_public => format!("super::{}(", function.name),
            false => format!("{}(", function.name),
        };
        let is_near = function.is_public || other == name || is_child && !function.is_method;
        let is_call = |at: &usize| {
            let before = &code[..*at];
            let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            function.is_method || !before.ends_with("fn ") && !before.ends_with(part)
        };
        let places = all(code, &call).into_iter().filter(|at| is_near && is_call(at));
        places.map(|at| is_covered(files, (other, code), at, depth - 1)).collect::<Vec<_>>()
    });
    called.next() == Some(true) && called.all(|covered| covered)
}

/// A call on one of the values that are outside, whatever stands before the value.
fn calls(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for value in OUTSIDE {
        for call in CALLS {
            let text = format!("{value}.{call}(");
            let is_value = |at: &usize| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            found.extend(all(code, &text).into_iter().filter(is_value).map(|at| (at, text.clone())));
        }
    }
    for change in CHANGES {
        found.extend(all(code, change).into_iter().map(|at| (at, change.to_owned())));
    }
    found
}

/// Calls and changes without a place.
fn problems(files: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, code) in files {
        for (at, call) in calls(code) {
            let excepted = EXCEPTIONS.iter().any(|(file, text, _)| file == name && *text == call);
            if !excepted && !is_covered(files, (name, code), at, 3) {
                let function = Function::at(code, at).map_or("", |function| function.name);
                problems.push(format!("{name}, {function}: {call} has no place to die"));
            }
        }
    }
    problems
}

#[test]
fn every_call_and_every_change_of_a_file_has_a_place_to_die() {
    let files = files();
    assert_eq!(problems(&files), [""; 0]);
    for (file, call, _) in EXCEPTIONS {
        let is_there = files.iter().any(|(name, code)| name == file && code.contains(call));
        assert!(is_there, "{call} is no longer in {file}: strike the exception out");
    }
}

#[test]
fn every_place_is_listed_and_every_listed_place_is_there() {
    let code: String = files().into_iter().map(|(_, code)| code).collect();
    for call in failpoint::EXTERNAL_CALLS {
        let named =
            code.contains(&format!("around(\"{call}\"")) || code.contains(&format!("hit(\"{call}\", \"after\")"));
        assert!(named, "{call} is listed and not in the code");
    }
    for part in code.split("around(\"").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(failpoint::EXTERNAL_CALLS.contains(&name), "{name} is in the code and not listed");
    }
    // There is one way to commit, beside that of a migration, which has a test of its own.
    assert_eq!(code.matches("execute(session, \"COMMIT\")").count(), 1);
    assert!(Write::NAMES.len() >= 30);
}

#[test]
fn whoever_holds_a_mailbox_or_a_source_calls_it_so() {
    for (name, code) in files() {
        for kind in ["dyn Mailbox", "dyn Source"] {
            for at in all(&code, kind) {
                let before =
                    code[..at].trim_end_matches(['&', '<', ' ']).trim_end_matches("Arc").trim_end_matches("Box");
                let Some(before) = before.trim_end_matches(['&', '<', ' ']).strip_suffix(':') else { continue };
                let value = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                assert!(OUTSIDE.contains(&value), "{name}: a {kind} is called {value}");
            }
        }
    }
}

/// The rule finds what it is there for.
#[test]
fn a_call_without_a_place_is_found() {
    let around = |text: &str| vec![("a.rs".to_owned(), code(text))];
    for bad in [
        "fn a() { mailbox.send_draft(x) }",
        "fn a() { blocking(move || mailbox.send_draft(x)) }",
        "fn a() { around(\"b\", || 1); mailbox.send_draft(x) }",
        "fn a() { failpoint::around(\"b\", || c()).map(|d| { mailbox.send_draft(d) }) }",
        "fn a() { fs::rename(a, b) }",
        "fn a() { b(); around(\"x\", || b()) } fn b() { file.sync_all() }",
        "fn a() { mailbox\n    .send_draft(x) }",
        "fn a() { sendmail.transmit(x) } // around(",
    ] {
        assert_eq!(problems(&around(bad)).len(), 1, "{bad}");
    }
    for good in [
        "fn a() { around(\"b\", || mailbox.send_draft(x)) }",
        "fn a() { around(\"b (\", || { c(); fs::rename(a, b) }) }",
        "fn a() { around(\"x\", || b()) } fn b() { file.sync_all() }",
        "fn a() { list.send(x) } // mailbox.send_draft(x)",
    ] {
        assert_eq!(problems(&around(good)), [""; 0], "{good}");
    }
}
