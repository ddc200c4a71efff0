"""Tests of `rust_source.py` and of the checks in `stats.py`. Run by `make stats`."""

import tempfile
import unittest
from pathlib import Path

import stats
from rust_source import Source, blank, implemented_type, read_sources

SAMPLE = '''//! Of what this module owns.

/// A word
/// Of two lines.
pub struct Word<'a> {
    text: &'a str, // with a comment behind it
}

text_enum! {
    /// One of two.
    #[derive(Default)]
    Side { Left = "left", Right = "right" }
}

impl<'a, F: Fn(&str) -> bool> Word<'a> {
    pub fn new(text: &'a str) -> Self {
        fn inner() {}
        struct Local;
        Self { text }
    }

    #[cfg(test)]
    fn only_for_tests() {}

    pub(crate) const fn brace() -> char {
        '{'
    }
}

impl Iterator for Word<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let text = r#"} fn not_a_function() { "quoted" "#;
        None
    }
}

type Pair = (u8, u8);

#[cfg(test)]
#[allow(dead_code, reason = "a test of the attribute in between")]
mod samples;

#[cfg(test)]
mod tests {
    struct Word;
}
'''


class RustSource(unittest.TestCase):
    def setUp(self):
        self.source = Source("src/word.rs", SAMPLE)

    def test_literals_and_comments_hold_no_code(self):
        lines, comments = blank('let a = "{ // }"; // {\n/* { /* } */ */ let b = \'{\';\nlet c: &\'a str;')
        self.assertEqual([line.strip() for line in lines], ["let a = x;", "let b = x;", "let c: &'a str;"])
        self.assertEqual(comments, {0, 1})

    def test_functions_end_at_their_brace(self):
        lengths = {f.name: f.length for f in self.source.functions()}
        self.assertEqual(lengths, {"new": 5, "inner": 1, "brace": 3, "next": 4})

    def test_types_are_those_of_the_module_and_of_its_macros(self):
        self.assertEqual([t.name for t in self.source.types()], ["Word", "Side", "Local", "Pair"])

    def test_methods_are_those_of_inherent_impls(self):
        self.assertEqual([(i.type, i.methods) for i in self.source.impls()], [("Word", ["new", "brace"])])

    def test_the_type_of_an_impl_is_found_behind_generics(self):
        self.assertEqual(implemented_type("impl<T> super::Queue<T> where T: for<'a> Fn(&'a str) "), "Queue")
        self.assertEqual(implemented_type("impl Queue "), "Queue")
        self.assertIsNone(implemented_type("impl<T> From<Vec<T>> for Queue<T> "))

    def test_doc_comments_open_once(self):
        self.assertEqual([text for text, _ in self.source.doc_openings()], ["Of what this module owns.", "A word", "One of two."])

    def test_lines_under_cfg_test_are_tests(self):
        self.assertEqual(self.source.test, 9)
        self.assertEqual(self.source.comment, 4)

    def test_files_of_test_modules_are_tests(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ("mod.rs", "samples.rs", "samples/deep.rs", "plain.rs"):
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(SAMPLE if name == "mod.rs" else "fn one() {}\n")
            sources = read_sources(root.rglob("*.rs"))
            counted = {str(path.relative_to(root)): source.code for path, source in sources.items()}
        self.assertEqual({name: lines for name, lines in counted.items() if name != "mod.rs"}, {"samples.rs": 0, "samples/deep.rs": 0, "plain.rs": 1})


def sources(files):
    return {Path(name): Source(name, text) for name, text in files.items()}


class Checks(unittest.TestCase):
    def test_a_type_name_used_twice_is_found(self):
        twice = sources({"src/a.rs": "struct Word;\n", "src/b.rs": "enum Word {}\n", "src/c.rs": "struct Other;\n"})
        self.assertEqual(len(stats.check_type_names(twice, allowed={})), 1)
        self.assertEqual(stats.check_type_names(twice, allowed={"Word": "two back ends"}), [])

    def test_an_exception_that_is_not_needed_is_found(self):
        self.assertEqual(len(stats.check_type_names(sources({"src/a.rs": "struct Word;\n"}), allowed={"Word": "two back ends"})), 1)

    def test_methods_are_counted_over_all_impls_of_one_type(self):
        impl = "impl Word {\n" + "".join(f"    fn f{n}() {{}}\n" for n in range(13)) + "}\n"
        split = {"src/a/mod.rs": "struct Word;\n" + impl, "src/a/more.rs": impl}
        self.assertEqual(len(stats.check_methods(sources(split))), 1)
        apart = {"src/a/mod.rs": "struct Word;\n" + impl, "src/b/mod.rs": "struct Word;\n", "src/b/more.rs": impl}
        self.assertEqual(stats.check_methods(sources(apart)), [])

    def test_crowded_folders_and_mixed_module_styles_are_found(self):
        crowded = sources({f"src/a/f{n}.rs": "" for n in range(stats.MOST_FILES_IN_FOLDER + 1)})
        self.assertEqual(len(stats.check_folders(crowded)), 1)
        mixed = sources({"src/a.rs": "", "src/a/b.rs": "", "src/c/mod.rs": ""})
        self.assertEqual(len(stats.check_module_style(mixed)), 1)

    def test_a_doc_comment_that_opens_with_of_is_found(self):
        self.assertEqual(len(stats.check_doc_openings(sources({"src/a.rs": "/// Of the folder.\nfn a() {}\n/// Often\nfn b() {}\n"}))), 1)


if __name__ == "__main__":
    unittest.main()
