//! YAML text as a small tree in which every node knows its position.
//!
//! Nothing about rules is decided here. The tree is built from the parser's events on an explicit stack, so that no
//! depth of nesting can exhaust the thread's stack. Anchors, aliases and merge keys are refused: a rule must be
//! readable where it stands, the learned section must be replaceable on its own, and an alias bomb has nothing to grow
//! from.

use std::collections::HashSet;

use serde_saphyr::granit_parser::{Event, Marker, Options, Parser, ScalarStyle, ScanError};

use crate::rules::grammar::{
    error::{Fault, Position},
    limits::MAX_YAML_DEPTH,
};

/// A value of YAML, with plain scalars resolved.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum YamlValue {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Seq(Vec<PositionedNode>),
    Map(Vec<(PositionedKey, PositionedNode)>),
}

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PositionedNode {
    pub(in crate::rules) at: Position,
    pub(in crate::rules) value: YamlValue,
}

/// A key of a mapping and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::rules) struct PositionedKey {
    pub(in crate::rules) at: Position,
    pub(in crate::rules) text: String,
}

impl PositionedNode {
    /// Returns what stands here, for an error.
    fn describe_value(&self) -> String {
        match &self.value {
            YamlValue::Null => "nothing".to_owned(),
            YamlValue::Bool(value) => format!("{value}"),
            YamlValue::Number(value) => format!("the number {value}"),
            YamlValue::Text(text) => quote_truncated(text),
            YamlValue::Seq(_) => "a sequence".to_owned(),
            YamlValue::Map(_) => "a mapping".to_owned(),
        }
    }

    /// Returns the fault that this node is not what was expected.
    pub(in crate::rules) fn to_fault(&self, expected: impl Into<String>) -> Fault {
        let width = match &self.value {
            YamlValue::Text(text) => text.chars().count(),
            YamlValue::Number(value) => value.to_string().len(),
            YamlValue::Bool(value) => value.to_string().len(),
            _ => 1,
        };
        Fault::new(self.at, self.describe_value(), expected).with_width(width)
    }

    /// Returns a text that is not blank. A number or flag is refused with the hint to put it in quotes.
    pub(super) fn expect_text(&self, expected: &str) -> Result<&str, Fault> {
        match &self.value {
            YamlValue::Text(text) if !text.trim().is_empty() => Ok(text),
            YamlValue::Number(_) | YamlValue::Bool(_) => Err(self.to_fault(format!("{expected}, in quotes"))),
            _ => Err(self.to_fault(expected)),
        }
    }

    pub(super) fn expect_bool(&self) -> Result<bool, Fault> {
        match self.value {
            YamlValue::Bool(value) => Ok(value),
            _ => Err(self.to_fault("true or false")),
        }
    }

    pub(super) fn expect_seq(&self, expected: &str) -> Result<&[PositionedNode], Fault> {
        match &self.value {
            YamlValue::Seq(nodes) => Ok(nodes),
            _ => Err(self.to_fault(expected)),
        }
    }

    pub(super) fn expect_map(&self, expected: &str) -> Result<&[(PositionedKey, PositionedNode)], Fault> {
        match &self.value {
            YamlValue::Map(entries) => Ok(entries),
            _ => Err(self.to_fault(expected)),
        }
    }
}

impl PositionedKey {
    pub(in crate::rules) fn to_fault(&self, what: &str, expected: impl Into<String>) -> Fault {
        Fault::new(self.at, format!("{what} {}", quote_truncated(&self.text)), expected)
            .with_width(self.text.chars().count())
    }
}

/// Returns the text in quotes, cut to a length that an error can show.
pub(super) fn quote_truncated(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        None => format!("'{text}'"),
        Some(_) => format!("'{}…'", text.chars().take(SHOWN).collect::<String>()),
    }
}

/// Parses one document into a tree. Returns the first fault, with its position.
pub(super) fn parse_tree(text: &str) -> Result<PositionedNode, Fault> {
    let mut reader = YamlTreeBuilder::default();
    let mut options = Options::default();
    options.emit_comments = false;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| syntax_fault(&error))?;
        reader.handle_event(event, position(&span.start))?;
    }
    Ok(reader.root.unwrap_or(PositionedNode { at: Position::default(), value: YamlValue::Null }))
}

fn syntax_fault(error: &ScanError) -> Fault {
    Fault::new(position(error.marker()), error.info(), "valid YAML")
}

/// Converts a position of the parser, which counts lines from 1 and columns from 0.
fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

/// Builds the tree from the events of the parser.
#[derive(Default)]
struct YamlTreeBuilder {
    root: Option<PositionedNode>,
    /// The collections whose end has not been seen, the outermost first.
    open: Vec<OpenCollection>,
    documents: usize,
}

/// A sequence or mapping whose end has not been seen.
enum OpenCollection {
    Seq {
        at: Position,
        nodes: Vec<PositionedNode>,
    },
    Map {
        at: Position,
        entries: Vec<(PositionedKey, PositionedNode)>,
        key: Option<PositionedKey>,
        keys: HashSet<String>,
    },
}

impl YamlTreeBuilder {
    fn handle_event(&mut self, event: Event<'_>, at: Position) -> Result<(), Fault> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                let second = || Err(Fault::new(at, "a second document", "one document"));
                if self.documents > 1 { second() } else { Ok(()) }
            }
            Event::Alias(_) => Err(anchor_fault(at)),
            Event::Scalar(_, _, anchor, _) | Event::SequenceStart(_, anchor, _) | Event::MappingStart(_, anchor, _)
                if anchor != 0 =>
            {
                Err(anchor_fault(at))
            }
            Event::Scalar(.., Some(_)) | Event::SequenceStart(.., Some(_)) | Event::MappingStart(.., Some(_)) => {
                Err(Fault::new(at, "a tag", "plain YAML"))
            }
            Event::Scalar(text, style, ..) => self.add_scalar(&text, style, at),
            Event::SequenceStart(..) => self.open_collection(at, OpenCollection::Seq { at, nodes: Vec::new() }),
            Event::MappingStart(..) => self
                .open_collection(at, OpenCollection::Map { at, entries: Vec::new(), key: None, keys: HashSet::new() }),
            Event::SequenceEnd | Event::MappingEnd => self.close_collection(),
            _ => Ok(()),
        }
    }

    fn add_scalar(&mut self, text: &str, style: ScalarStyle, at: Position) -> Result<(), Fault> {
        if let Some(OpenCollection::Map { key: key @ None, keys, .. }) = self.open.last_mut() {
            let found = PositionedKey { at, text: text.to_owned() };
            if text == "<<" && style == ScalarStyle::Plain {
                return Err(found.to_fault("the merge key", "the keys themselves"));
            }
            if !keys.insert(text.to_owned()) {
                return Err(found.to_fault("a second key", "every key once"));
            }
            *key = Some(found);
            return Ok(());
        }
        let yaml =
            if style == ScalarStyle::Plain { resolve_plain_scalar(text) } else { YamlValue::Text(text.to_owned()) };
        self.add_node(PositionedNode { at, value: yaml })
    }

    fn open_collection(&mut self, at: Position, open: OpenCollection) -> Result<(), Fault> {
        if let Some(OpenCollection::Map { key: None, .. }) = self.open.last() {
            return Err(Fault::new(at, "a collection as a key", "a text"));
        }
        if self.open.len() == MAX_YAML_DEPTH {
            return Err(Fault::new(at, "too deep a nesting", format!("at most {MAX_YAML_DEPTH} levels of YAML")));
        }
        self.open.push(open);
        Ok(())
    }

    fn close_collection(&mut self) -> Result<(), Fault> {
        match self.open.pop() {
            Some(OpenCollection::Seq { at, nodes }) => {
                self.add_node(PositionedNode { at, value: YamlValue::Seq(nodes) })
            }
            Some(OpenCollection::Map { at, entries, .. }) => {
                self.add_node(PositionedNode { at, value: YamlValue::Map(entries) })
            }
            None => Ok(()),
        }
    }

    fn add_node(&mut self, node: PositionedNode) -> Result<(), Fault> {
        match self.open.last_mut() {
            Some(OpenCollection::Seq { nodes, .. }) => nodes.push(node),
            Some(OpenCollection::Map { entries, key, .. }) => entries.extend(key.take().map(|key| (key, node))),
            None => self.root = Some(node),
        }
        Ok(())
    }
}

fn anchor_fault(at: Position) -> Fault {
    Fault::new(at, "an anchor or alias", "every rule written out; a shared list goes under `lists`")
}

/// Returns what a word without quotes means. Only `true` and `false` are flags; otherwise the language `no` would be
/// one.
fn resolve_plain_scalar(text: &str) -> YamlValue {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let number = || text.parse::<f64>().ok().filter(|number| text.chars().all(numeric) && number.is_finite());
    match text {
        "" | "~" | "null" => YamlValue::Null,
        "true" => YamlValue::Bool(true),
        "false" => YamlValue::Bool(false),
        _ => number().map_or_else(|| YamlValue::Text(text.to_owned()), YamlValue::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, line: usize, column: usize, found: &str) {
        let fault = parse_tree(text).unwrap_err();
        assert_eq!((fault.at.line, fault.at.column), (line, column), "{text}: {fault:?}");
        assert!(fault.found.contains(found), "{text}: {fault:?}");
    }

    #[test]
    fn nodes_and_keys_know_where_they_stand() {
        let node = parse_tree("# note\na:\n  - { b: x }\n  - 2\n").unwrap();
        let (a, seq) = &node.expect_map("").unwrap()[0];
        assert_eq!((a.at.line, a.at.column), (2, 1));
        let nodes = seq.expect_seq("").unwrap();
        let (b, x) = &nodes[0].expect_map("").unwrap()[0];
        assert_eq!((b.at.line, b.at.column, x.at.line, x.at.column), (3, 7, 3, 10));
        assert_eq!((nodes[1].at.line, &nodes[1].value), (4, &YamlValue::Number(2.0)));
    }

    #[test]
    fn words_stay_words() {
        for text in ["no", "yes", "on", "24h", "'12'", "\"~\"", "2025-06-23", ".nan", "inf"] {
            assert!(matches!(parse_tree(text).unwrap().value, YamlValue::Text(_)), "{text}");
        }
        for (text, expected) in [
            ("true", YamlValue::Bool(true)),
            ("~", YamlValue::Null),
            ("", YamlValue::Null),
            ("-1.5e1", YamlValue::Number(-15.0)),
            ("1e999", YamlValue::Text("1e999".into())),
        ] {
            assert_eq!(parse_tree(text).unwrap().value, expected, "{text}");
        }
    }

    #[test]
    fn what_yaml_allows_and_a_rules_file_does_not() {
        check("a: &x [1]\nb: *x\n", 1, 7, "anchor");
        check("a: 1\na: 2\n", 2, 1, "a second key 'a'");
        check("{ [a]: 1 }", 1, 3, "as a key");
        check("a: !!str 1\n", 1, 10, "a tag");
        check("a: [1\nb: 2\n", 2, 2, "");
        check("a: 1\n---\nb: 2\n", 2, 1, "document");
        check("<<: {a: 1}\n", 1, 1, "merge");
        check(&format!("{}{}", "[".repeat(200), "]".repeat(200)), 1, 25, "deep");
    }

    #[test]
    fn a_bomb_of_aliases_is_refused_at_its_first_anchor() {
        let mut bomb = String::from("a0: &a0 [x, x]\n");
        for n in 1..30 {
            bomb.push_str(&format!("a{n}: &a{n} [*a{m}, *a{m}, *a{m}, *a{m}]\n", m = n - 1));
        }
        check(&bomb, 1, 9, "anchor");
    }
}
