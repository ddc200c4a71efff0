//! The files of the lexicon: features with their weights, and one file of phrases and lists per language.

use super::{Feature, WordList};

pub(super) const FEATURES: &str = include_str!("features.txt");
pub(super) const ENGLISH: &str = include_str!("english.txt");
pub(super) const GERMAN: &str = include_str!("german.txt");
pub(super) const HEBREW: &str = include_str!("hebrew.txt");

/// What the title of a section names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Phrases(Feature),
    Words(WordList),
}

/// A feature as `features.txt` defines it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeatureDefinition {
    pub(super) feature: Feature,
    pub(super) weight: f64,
    /// Its phrases are listened for in every language.
    pub(super) is_everywhere: bool,
}

pub(super) fn read_features() -> impl Iterator<Item = FeatureDefinition> {
    lines_of(FEATURES).filter_map(parse_feature)
}

pub(super) fn parse_feature(line: &str) -> Option<FeatureDefinition> {
    let mut parts = line.split(' ');
    let (feature, weight) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(FeatureDefinition { feature, weight, is_everywhere: parts.next() == Some("everywhere") })
}

/// The entries of a language's file, each with the section it stands in.
pub(super) fn read_entries(file: &'static str) -> impl Iterator<Item = (Section, &'static str)> {
    let mut section = None;
    lines_of(file)
        .filter_map(move |line| match line.strip_prefix('[') {
            Some(title) => {
                section = parse_section(title);
                None
            }
            None => section.map(|section| (section, line)),
        })
        .flat_map(|(section, line)| {
            let parted_by = match section {
                Section::Words(WordList::Verbs | WordList::Infinitives) => " ",
                _ => " | ",
            };
            line.split(parted_by).map(move |entry| (section, entry))
        })
}

pub(super) fn parse_section(title: &str) -> Option<Section> {
    let name = title.strip_suffix(']')?;
    let feature = || name.parse().ok().map(Section::Phrases);
    feature().or_else(|| name.parse().ok().map(Section::Words))
}

pub(super) fn lines_of(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}
