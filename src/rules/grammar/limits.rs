//! The limits of a rules file. A file beyond any of them is refused with its position; none is ever silently cut.

/// The size of the file. A person reads it: 500 rules with comments stay well below, and more is a mistake or an
/// attack.
pub const MAX_FILE_BYTES: usize = 256 * 1024;
/// Hand-written rules. Each is tried for every mail, and again for every open task when the file changes.
pub const MAX_RULES: usize = 500;
/// Learned entries. The nightly job adds a few at a time and retires its own; at this number it must retire first.
pub const MAX_LEARNED: usize = 200;
/// `all`, `any` and `not` inside each other. Nobody can read a deeper condition, and recursion stays bounded.
pub const MAX_DEPTH: usize = 8;
/// The entries of one list. The senders of an address book fit; a whole directory does not belong here.
pub const MAX_LIST_ENTRIES: usize = 10_000;
/// The name of a rule. It stands in traces, in the history and in the audit chain, one per line.
pub const MAX_NAME_CHARS: usize = 64;
/// The `why` of a rule: one sentence beside a level.
pub const MAX_WHY_CHARS: usize = 200;
/// The source of a regular expression, which a person should be able to check by eye.
pub const MAX_REGEX_BYTES: usize = 512;
/// The size of a compiled expression: repetition inside repetition grows by multiplication. Unicode word alternatives
/// of a few hundred bytes fit; `(((a{100}){100}){100})` does not.
pub const MAX_REGEX_COMPILED_BYTES: usize = 256 * 1024;
/// The search cache of one expression, grown only while it is used. When full it is emptied, not exceeded.
pub const MAX_REGEX_CACHE_BYTES: usize = 256 * 1024;
/// Nesting of YAML. A condition one level deeper than [`MAX_DEPTH`] still fits, so that its plainer message comes
/// first.
pub const MAX_YAML_DEPTH: usize = 24;
/// How often the search for the smallest change may rank the facts, because a person waits for `why`.
pub const MAX_SMALLEST_CHANGE_RANKINGS: usize = 20_000;
/// The same limit in single tests, so that the search in the largest file takes well under a second too.
pub const MAX_SMALLEST_CHANGE_TESTS: usize = 2_000_000;
