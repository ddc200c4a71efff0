//! Checks the source itself: which module may use which, where rusqlite, the clock and the environment are read, and
//! the sizes of files and functions.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// From the top to the bottom: a row may use only rows below it.
const ROWS: &[&[&str]] = &[
    &["main"],
    &["cli", "daemon", "mcp", "web", "tui"],
    &["wording"],
    &["app"],
    &["ingest", "graph", "nightly", "assistant", "team"],
    &["reading", "planner"],
    &["outbox", "hitl", "reflection", "audit"],
    &["rules", "tool", "llm", "source", "memory", "store", "witness"],
    &["approval"],
    &["policy", "followup"],
    &["document", "icalendar", "date", "http_guard"],
    &["model", "plain_text", "clock", "failpoint", "regular_file", "durable_file", "tls"],
];
/// Arrows within a row, each with its reason.
const BESIDE: &[(&str, &str, &str)] = &[
    ("tool", "source", "a tool may be shown a mailbox"),
    ("tool", "memory", "a tool may recall"),
    ("memory", "store", "the vectors live beside the tasks"),
    ("clock", "model", "the time it tells is an Instant"),
    ("cli", "mcp", "`adjutant mcp` and `adjutant run` are the commands that serve clients"),
    ("cli", "tui", "`adjutant team` opens the screen of a team"),
    ("cli", "web", "`adjutant run` and `adjutant web` are the commands that serve the page and print links to it"),
    ("cli", "daemon", "`adjutant run` is the command that starts the loops and prints what they tell"),
];
/// Everyone else receives their own section.
const SEES_CONFIG: &[&str] = &["main", "cli", "app", "config"];
const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 70;

struct Source {
    path: PathBuf,
    module: String,
    /// Without comments and the inside of strings.
    code: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let inside = path.strip_prefix(&root).unwrap();
                let first = inside.components().next().unwrap().as_os_str().to_string_lossy();
                let module = first.trim_end_matches(".rs").to_owned();
                let code = bare(&fs::read_to_string(&path).unwrap());
                sources.push(Source { path: inside.to_owned(), module, code });
            }
        }
    }
    assert!(sources.len() > 100, "{}", sources.len());
    sources
}

/// Blanks comments, strings and characters, keeping every line where it was.
fn bare(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let end = at + skipped(rest, chars[..at].last().copied());
        if end == at {
            code.push(chars[at]);
            at += 1;
        } else {
            code.extend(chars[at..end].iter().filter(|c| **c == '\n'));
            code.push(' ');
            at = end;
        }
    }
    code
}

/// How many characters a comment or literal that begins here has; none when none begins.
fn skipped(rest: &[char], before: Option<char>) -> usize {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let find = |from: usize, end: &[char]| {
        (from..rest.len()).find(|i| rest[*i..].starts_with(end)).map_or(rest.len(), |i| i + end.len())
    };
    match rest {
        ['/', '/', ..] => find(2, &['\n']) - 1,
        ['/', '*', ..] => find(2, &['*', '/']),
        ['r', '#' | '"', ..] if !in_word => {
            let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
            if rest.get(1 + hashes) != Some(&'"') {
                return 0;
            }
            let mut end = vec!['"'];
            end.extend(std::iter::repeat_n('#', hashes));
            find(2 + hashes, &end)
        }
        ['"', ..] => {
            let mut i = 1;
            while i < rest.len() && rest[i] != '"' {
                i += if rest[i] == '\\' { 2 } else { 1 };
            }
            i + 1
        }
        ['\'', '\\', ..] => find(3, &['\'']),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

/// The first name after every `crate::`, groups taken apart.
fn used(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (start, _) in code.match_indices("crate::") {
        let before = code[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[start + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 1;
            let mut name = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                if depth == 1 && (c.is_alphanumeric() || c == '_') && !name.ends_with(':') {
                    name.push(c);
                } else if c == ',' && depth == 1 || depth == 0 {
                    names.insert(name.trim_end_matches(':').to_owned());
                    name.clear();
                } else if c == ':' && depth == 1 && !name.ends_with(':') {
                    name.push(':');
                }
                if depth == 0 {
                    break;
                }
            }
        } else {
            names.insert(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    names.remove("");
    names
}

fn row(module: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&module))
}

fn allowed(from: &str, to: &str) -> bool {
    if from == to || from == "lib" {
        return true;
    }
    if to == "config" {
        return SEES_CONFIG.contains(&from);
    }
    if from == "config" {
        return ["model", "regular_file"].contains(&to);
    }
    if BESIDE.iter().any(|(one, other, _)| (*one, *other) == (from, to)) {
        return true;
    }
    matches!((row(from), row(to)), (Some(above), Some(below)) if above < below)
}

#[test]
fn every_arrow_points_down() {
    let mut wrong = Vec::new();
    let mut arrows = 0;
    for source in sources() {
        for to in used(&source.code) {
            arrows += 1;
            // A macro or a constant at the crate's root is nobody's module.
            if !allowed(&source.module, &to) {
                wrong.push(format!("{}: {} → {to}", source.path.display(), source.module));
            }
        }
    }
    assert!(arrows > 200, "only {arrows} arrows were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_rules_about_arrows_can_say_no() {
    for (from, to) in [
        ("store", "graph"),
        ("model", "store"),
        ("reading", "graph"),
        ("graph", "app"),
        ("policy", "store"),
        ("approval", "store"),
        ("graph", "config"),
        ("source", "store"),
        ("tool", "store"),
        ("app", "cli"),
        ("daemon", "cli"),
        ("graph", "ingest"),
        ("store", "surprise"),
    ] {
        assert!(!allowed(from, to), "{from} → {to}");
    }
    let code = bare(
        "use crate::{\n a::{b, c}, d,\n e::f };\n// crate::no\nlet x = \"crate::neither\"; crate::g::h(); pub(in crate::i) '\"' 'a' crate::j",
    );
    let expected = ["a", "d", "e", "g", "i", "j"].map(str::to_owned);
    assert_eq!(used(&code), expected.into());
}

#[test]
fn rusqlite_stays_in_the_store() {
    let outside: Vec<String> = sources()
        .iter()
        .filter(|source| source.module != "store" && source.code.contains("rusqlite"))
        .map(|source| source.path.display().to_string())
        .collect();
    assert_eq!(outside, [""; 0]);
}

/// Rows are mapped by the helpers that leave out what cannot be read, and a value is taken out of JSON by the one that
/// asks whether it is any: one row would fail the statement.
#[test]
fn one_row_that_cannot_be_read_fails_no_statement() {
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| source.module == "store" && !source.path.ends_with("store/table/mod.rs"))
        .filter(|source| {
            let text =
                fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(&source.path)).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            text.contains("json_extract(") || text.contains("query_map(")
        })
        .map(|source| source.path.display().to_string())
        .collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn only_the_clock_reads_the_time_and_only_the_config_the_environment() {
    let mut wrong = Vec::new();
    for source in sources() {
        if ["Utc::now", "Local::now"].iter().any(|now| source.code.contains(now)) && source.module != "clock" {
            wrong.push(format!("{} reads the time", source.path.display()));
        }
        let reads = source.code.contains("env::var");
        // NO_COLOR is the terminal's word, not the program's configuration.
        if reads && !["config", "cli", "failpoint"].contains(&source.module.as_str()) {
            wrong.push(format!("{} reads the environment", source.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    for source in sources() {
        let lines = source.code.lines().filter(|line| !line.trim().is_empty()).count();
        assert!(lines <= FILE_LINES, "{} has {lines} lines of code", source.path.display());
    }
}

#[test]
fn no_function_is_too_long() {
    let mut seen = 0;
    for source in sources() {
        for (line, length) in functions(&source.code) {
            seen += 1;
            assert!(length <= FUNCTION_LINES, "{}:{line} is {length} lines long", source.path.display());
        }
    }
    assert!(seen > 1000, "{seen}");
}

/// Where each function starts and how many lines it has.
fn functions(code: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("fn ") {
        if code[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let mut depth = 0_i32;
        for (at, c) in code[start..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ';' if depth == 0 => break,
                _ => {}
            }
            if c == '}' && depth <= 0 {
                let first = code[..start].matches('\n').count() + 1;
                found.push((first, code[start..start + at].matches('\n').count() + 1));
                break;
            }
        }
    }
    found
}
