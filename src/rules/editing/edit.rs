//! Editing the learned section of a rules file: everything outside the marker lines stays byte for byte.
//!
//! Pure. The section is edited in place, so that a person's comments beside an entry stay. The result is parsed again
//! and must say exactly what was meant. Where an edit in place does not, or there is nothing to edit yet, the section
//! is written anew.

use std::{collections::BTreeMap, str::FromStr as _};

use yaml_edit::{Document, Sequence};

use crate::rules::{
    BEGIN_MARKER, END_MARKER, RuleSet, RulesEdit, RulesError,
    editing::learned_section::learned_range,
    grammar::{limits::MAX_LEARNED, lint::canonical_form},
};

/// The learned section without an entry.
const EMPTY_SECTION: &str = "learned: []\n";

/// Why edits do not fit a file. The file stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum RulesEditError {
    #[error("the rules file is broken, so nothing is learned into it: {0}")]
    FileBroken(Box<RulesError>),
    #[error("the rules file is gone or empty, so nothing is learned into it")]
    FileMissing,
    #[error("the edits would break the rules file: {0}")]
    WouldBreakFile(Box<RulesError>),
    #[error("'{0}' cannot be written into a rules file safely")]
    UnsafeText(String),
    #[error("there is no learned entry '{0}'")]
    NoSuchEntry(String),
    #[error("there is a rule '{0}' already")]
    NameTaken(String),
    #[error("there are {MAX_LEARNED} learned entries already; one must be retired first")]
    TooManyEntries,
    #[error("the edited part does not say what was meant")]
    NotAsIntended,
}

/// Returns the text with these edits and no other change. Either all edits are made or none.
pub fn apply_edits(file_name: &str, text: &str, edits: &[RulesEdit]) -> Result<String, RulesEditError> {
    let before = RuleSet::parse(file_name, text).map_err(|error| RulesEditError::FileBroken(Box::new(error)))?;
    let meant = intended_meanings(&before, edits)?;
    let whole = ensure_markers(text);
    let range = learned_range(&whole).ok_or(RulesEditError::NotAsIntended)?;
    let part = whole.get(range.clone()).unwrap_or_default();
    let in_place = edit_in_place(part, edits).map(|part| splice_text(&whole, &range, &part));
    if let Some(text) = in_place.filter(|text| verify_meanings(file_name, text, &before, &meant).is_ok()) {
        return Ok(text);
    }
    let text = splice_text(&whole, &range, &rewrite_section(part, edits, &before)?);
    verify_meanings(file_name, &text, &before, &meant)?;
    Ok(text)
}

/// Returns what every rule and entry must say after the edits, by name. Refuses edits that contradict the file.
fn intended_meanings(before: &RuleSet, edits: &[RulesEdit]) -> Result<BTreeMap<String, String>, RulesEditError> {
    let mut names: Vec<String> = before.learned_names().into_iter().map(str::to_owned).collect();
    let mut meanings = collect_meanings(before);
    for edit in edits {
        if let Some(entry) = edit.entry().filter(|entry| !entry.reach.is_safe_to_write()) {
            return Err(RulesEditError::UnsafeText(entry.reach.describe()));
        }
        let name = edit.name();
        let known = names.iter().position(|known| *known == name);
        match (edit, known) {
            (RulesEdit::Add { .. }, Some(_)) => return Err(RulesEditError::NameTaken(name)),
            (RulesEdit::Add { .. }, None) if before.rules.iter().any(|rule| rule.name == name) => {
                return Err(RulesEditError::NameTaken(name));
            }
            (RulesEdit::Add { .. }, None) if names.len() >= MAX_LEARNED => return Err(RulesEditError::TooManyEntries),
            (RulesEdit::Add { .. }, None) => names.push(name.clone()),
            (_, None) => return Err(RulesEditError::NoSuchEntry(name)),
            (RulesEdit::Change { .. }, Some(_)) => {}
            (RulesEdit::Retire { .. }, Some(at)) => drop(names.remove(at)),
        }
        meanings.remove(&name);
        meanings.extend(meaning_of_edit(edit)?);
    }
    Ok(meanings)
}

/// Returns what the entry of an edit says when it stands alone in a file; nothing when the edit retires it.
fn meaning_of_edit(edit: &RulesEdit) -> Result<BTreeMap<String, String>, RulesEditError> {
    let Some(entry) = edit.entry() else { return Ok(BTreeMap::new()) };
    let text = replace_learned_section(
        "rules: []\n",
        Some(&format!("learned:\n{}", to_sequence_item(&entry.to_yaml(&edit.name(), edit.why())))),
    );
    let rules = RuleSet::parse("the entry", &text).map_err(|error| RulesEditError::WouldBreakFile(Box::new(error)))?;
    Ok(collect_meanings(&rules))
}

/// Returns the conditions and outcomes of all rules, hand-written and learned, by name. Position and `why` do not
/// count.
fn collect_meanings(rules: &RuleSet) -> BTreeMap<String, String> {
    let said = rules.rules.iter().map(|rule| {
        let says = format!("{} {:?} {}", canonical_form(&rule.condition), rule.outcome, rule.learned);
        (rule.name.clone(), says)
    });
    let taught = rules.task_rules.iter().map(|teaching| {
        let says = format!("{} opens {}", canonical_form(&teaching.condition), teaching.opens);
        (teaching.name.clone(), says)
    });
    said.chain(taught).collect()
}

/// Returns the text with another learned section, or with an empty one.
pub fn replace_learned_section(text: &str, part: Option<&str>) -> String {
    let whole = ensure_markers(text);
    match learned_range(&whole) {
        Some(range) => splice_text(&whole, &range, part.unwrap_or(EMPTY_SECTION)),
        None => whole,
    }
}

/// Returns the text with marker lines. Where a person took them out, they are added at the end.
fn ensure_markers(text: &str) -> String {
    if learned_range(text).is_some() {
        return text.to_owned();
    }
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{gap}\n{BEGIN_MARKER} >>>\n{EMPTY_SECTION}{END_MARKER} <<<\n")
}

fn splice_text(whole: &str, range: &std::ops::Range<usize>, part: &str) -> String {
    let (head, tail) = (whole.get(..range.start).unwrap_or_default(), whole.get(range.end..).unwrap_or_default());
    format!("{head}{part}{tail}")
}

/// Parses the edited text again. Every rule and entry must say what was meant, and the hand-written rules must keep
/// their order.
fn verify_meanings(
    file_name: &str,
    text: &str,
    before: &RuleSet,
    meant: &BTreeMap<String, String>,
) -> Result<(), RulesEditError> {
    let after = RuleSet::parse(file_name, text).map_err(|error| RulesEditError::WouldBreakFile(Box::new(error)))?;
    let own = |rules: &RuleSet| -> Vec<String> {
        rules.rules.iter().filter(|rule| !rule.learned).map(|rule| rule.name.clone()).collect()
    };
    let same = own(before) == own(&after) && before.default == after.default;
    if same && collect_meanings(&after) == *meant { Ok(()) } else { Err(RulesEditError::NotAsIntended) }
}

/// Returns the edited section; none when it has no block of entries that could be edited.
fn edit_in_place(part: &str, edits: &[RulesEdit]) -> Option<String> {
    let document = Document::from_str(part).ok()?;
    let entries = document.as_mapping()?.get_sequence("learned")?;
    if entries.is_flow_style() || entries.is_empty() {
        return None;
    }
    for edit in edits {
        match edit {
            RulesEdit::Add { entry, why } => entries.push(parse_mapping(&entry.to_yaml(&entry.name(), why))?),
            RulesEdit::Change { name, entry, why } => {
                let at = find_entry_index(&entries, name)?;
                entries.set(at, parse_mapping(&entry.to_yaml(name, why))?).then_some(())?;
            }
            RulesEdit::Retire { name, .. } => {
                let at = find_entry_index(&entries, name)?;
                entries.remove(at)?;
            }
        }
    }
    if entries.is_empty() {
        return Some(EMPTY_SECTION.to_owned());
    }
    let text = document.to_string();
    Some(if text.ends_with('\n') { text } else { format!("{text}\n") })
}

fn parse_mapping(yaml: &str) -> Option<yaml_edit::Mapping> {
    Document::from_str(yaml).ok()?.as_mapping()
}

/// Returns the position of the entry with this name.
fn find_entry_index(entries: &Sequence, name: &str) -> Option<usize> {
    let named = |value: yaml_edit::YamlNode| {
        value.as_mapping().and_then(|entry| entry.get("name")).is_some_and(|found| found.to_string().trim() == name)
    };
    entries.values().position(named)
}

/// Returns the section written anew. Entries that are not edited are carried over as they were written.
fn rewrite_section(part: &str, edits: &[RulesEdit], before: &RuleSet) -> Result<String, RulesEditError> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    if !before.learned_names().is_empty() {
        for (name, block) in split_entries(part).ok_or(RulesEditError::NotAsIntended)? {
            blocks.push((name, block));
        }
    }
    for edit in edits {
        let name = edit.name();
        let known = blocks.iter().position(|(known, _)| *known == name);
        let block = |why: &str| edit.entry().map(|entry| to_sequence_item(&entry.to_yaml(&name, why)));
        match (edit, known) {
            (RulesEdit::Add { why, .. }, None) => blocks.extend(block(why).map(|block| (name.clone(), block))),
            (RulesEdit::Change { why, .. }, Some(at)) => {
                if let (Some(slot), Some(block)) = (blocks.get_mut(at), block(why)) {
                    slot.1 = block;
                }
            }
            (RulesEdit::Retire { .. }, Some(at)) => drop(blocks.remove(at)),
            _ => return Err(RulesEditError::NoSuchEntry(name)),
        }
    }
    if blocks.is_empty() {
        return Ok(EMPTY_SECTION.to_owned());
    }
    Ok(format!("learned:\n{}", blocks.into_iter().map(|(_, block)| block).collect::<String>()))
}

/// Indents a mapping as an item of the sequence.
fn to_sequence_item(yaml: &str) -> String {
    let mut text = String::new();
    for (nth, line) in yaml.lines().enumerate() {
        text.push_str(if nth == 0 { "  - " } else { "    " });
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns the entries of the section by name, each as it was written.
fn split_entries(part: &str) -> Option<Vec<(String, String)>> {
    let document = Document::from_str(part).ok()?;
    let entries = document.as_mapping()?.get_sequence("learned")?;
    let block = |value: yaml_edit::YamlNode| {
        let entry = value.as_mapping()?.clone();
        let name = entry.get("name")?.to_string().trim().trim_matches(['"', '\'']).to_owned();
        let text = entry.to_string();
        let first = text.lines().next()?;
        // A flow mapping may span lines and is joined; the keys of a block share their column, except the first.
        let body: String = if first.trim_start().starts_with('{') {
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        } else {
            let indent = text
                .lines()
                .skip(1)
                .filter(|line| !line.trim().is_empty())
                .map(count_leading_spaces)
                .min()
                .unwrap_or(0);
            let cut = |line: &str| line.get(count_leading_spaces(line).min(indent)..).unwrap_or_default().to_owned();
            text.lines().map(cut).collect::<Vec<_>>().join("\n")
        };
        Some((name, to_sequence_item(&body)))
    };
    entries.values().map(block).collect()
}

fn count_leading_spaces(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::Priority,
        rules::{
            BUILT_IN, EntryAct, LearnedEntry, Reach,
            fixture::{facts, now},
        },
    };

    fn add(address: &str, act: EntryAct) -> RulesEdit {
        RulesEdit::Add {
            entry: LearnedEntry { reach: Reach::Sender(address.into()), act },
            why: "you said so: 1, 2, 3".into(),
        }
    }

    fn outside(text: &str) -> (String, String) {
        let range = learned_range(text).unwrap();
        (text.get(..range.start).unwrap().to_owned(), text.get(range.end..).unwrap().to_owned())
    }

    #[test]
    fn entries_come_change_and_go_and_the_rest_stays() {
        let high = add("ann@shop.example", EntryAct::Set(Priority::High));
        let none = add("bob@shop.example", EntryAct::Task(false));
        let one = apply_edits("f", BUILT_IN, &[high.clone(), none]).unwrap();
        assert_eq!(outside(BUILT_IN), outside(&one));
        let rules = RuleSet::parse("f", &one).unwrap();
        let mut known = facts();
        assert_eq!(rules.rank(&known, now()).level, Priority::High);
        known.sender = "bob@shop.example".into();
        assert!(rules.find_task_rule(&known, now()).is_some_and(|taught| !taught.opens));
        let name = high.name();
        let entry =
            LearnedEntry { reach: Reach::Sender("ann@shop.example".into()), act: EntryAct::Set(Priority::Critical) };
        let two =
            apply_edits("f", &one, &[RulesEdit::Change { name: name.clone(), entry, why: "more".into() }]).unwrap();
        assert_eq!(RuleSet::parse("f", &two).unwrap().rank(&facts(), now()).level, Priority::Critical);
        let three = apply_edits("f", &two, &[RulesEdit::Retire { name, why: String::new() }]).unwrap();
        let bob = add("bob@shop.example", EntryAct::Task(false)).name();
        let four = apply_edits("f", &three, &[RulesEdit::Retire { name: bob, why: String::new() }]).unwrap();
        assert_eq!(four, BUILT_IN, "what was learned and retired leaves no trace");
    }

    #[test]
    fn a_persons_words_between_the_marks_stay() {
        let text = "rules: []\n# >>> learned\n# mine\nlearned:\n  # keep this\n  - name: own.one\n    when: { kind: { is: bulk } }   # why not\n    cap: low\n# <<< learned\n";
        let added = apply_edits("f", text, &[add("ann@shop.example", EntryAct::Set(Priority::High))]).unwrap();
        for words in ["# mine", "# keep this", "# why not", "own.one"] {
            assert!(added.contains(words), "{added}");
        }
        let flow = "rules: []\n# >>> learned\nlearned: [{ name: own, when: { kind: { is: bulk } }, cap: low }]\n# <<< learned\n";
        let added = apply_edits("f", flow, &[add("ann@shop.example", EntryAct::Set(Priority::High))]).unwrap();
        assert_eq!(RuleSet::parse("f", &added).unwrap().learned_names().len(), 2, "{added}");
    }

    #[test]
    fn what_does_not_fit_is_refused_whole() {
        let high = add("ann@shop.example", EntryAct::Set(Priority::High));
        let once = apply_edits("f", BUILT_IN, std::slice::from_ref(&high)).unwrap();
        assert!(matches!(apply_edits("f", &once, std::slice::from_ref(&high)), Err(RulesEditError::NameTaken(_))));
        let nobody = RulesEdit::Retire { name: "nobody".into(), why: String::new() };
        assert!(matches!(apply_edits("f", &once, &[nobody]), Err(RulesEditError::NoSuchEntry(_))));
        let forged = add("ann@shop.example\"\n    lock: true #", EntryAct::Set(Priority::High));
        assert!(matches!(apply_edits("f", &once, &[forged]), Err(RulesEditError::UnsafeText(_))));
        assert!(matches!(apply_edits("f", "rules: 3\n", &[high]), Err(RulesEditError::FileBroken(_))));
    }

    #[test]
    fn marks_that_were_taken_out_come_back_at_the_end() {
        let added =
            apply_edits("f", "rules: []\ndefault: med", &[add("ann@shop.example", EntryAct::Set(Priority::High))])
                .unwrap();
        assert!(added.starts_with("rules: []\ndefault: med\n"), "{added}");
        assert_eq!(RuleSet::parse("f", &added).unwrap().learned_names().len(), 1);
    }
}
