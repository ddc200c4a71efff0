//! The limits of a rules file. A file beyond any of them is refused with its position; none is ever silently cut.

/// A person reads this file. 500 rules with comments stay well below; more is a mistake or an attack.
pub const MAX_FILE_BYTES: usize = 256 * 1024;
/// Every rule is tried for every mail, and again for every open task when the file changes.
pub const MAX_RULES: usize = 500;
/// The nightly job adds a few entries a night and retires its own; beyond this it must retire first.
pub const MAX_LEARNED: usize = 200;
/// `all`, `any` and `not` inside each other. Nobody can read a deeper condition; recursion stays bounded.
pub const MAX_DEPTH: usize = 8;
/// A list of senders exported from an address book fits; a whole directory does not belong here.
pub const MAX_LIST_ENTRIES: usize = 10_000;
/// Names stand in traces, the history and the audit, one per line.
pub const MAX_NAME_CHARS: usize = 64;
/// One sentence beside a level.
pub const MAX_WHY_CHARS: usize = 200;
/// An expression a person can check by eye.
pub const MAX_REGEX_BYTES: usize = 512;
/// What a compiled expression may occupy: repetition inside repetition grows by multiplication. Unicode word
/// alternatives of a few hundred bytes fit; `(((a{100}){100}){100})` does not.
pub const MAX_REGEX_COMPILED_BYTES: usize = 256 * 1024;
/// The search cache of one expression, grown only while it is used. When full it is emptied, not exceeded.
pub const MAX_REGEX_CACHE_BYTES: usize = 256 * 1024;
/// Conditions one level deeper than [`MAX_DEPTH`], inside a rule inside the file: the plainer message comes first.
pub const MAX_YAML_DEPTH: usize = 24;
/// How often the search for the smallest change may judge: a person waits for `why`.
pub const MAX_SMALLEST_CHANGE_RANKINGS: usize = 20_000;
/// The same in single tests, so that the largest file costs no more than a usual one: well under a second.
pub const MAX_SMALLEST_CHANGE_TESTS: usize = 2_000_000;
