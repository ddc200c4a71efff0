"""Reads Rust source as far as `stats.py` needs it: lines of code, tests and comments, functions, types and their methods.

It is not a parser: it relies on code that `cargo fmt` has formatted, and counts braces after literals and comments are
blanked out."""

import re
from collections import namedtuple
from pathlib import Path

FUNCTION = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+\S+\s+)?fn\s+(\w+)")
TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(struct|enum|union|trait|type)\s+(\w+)")
# The macros of the crate that define a type; its name follows the attributes.
MACRO_TYPE = re.compile(r"^\s*(text_enum|ulid_id|name_id)!\s*[({\[]\s*(?:#\[[^\]]*\]\s*)*(\w+)", re.M)
IMPL = re.compile(r"^\s*(?:unsafe\s+)?impl\b")
TRAIT = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?trait\b")
MACRO = re.compile(r"^\s*macro_rules!")
MODULE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
ATTRIBUTE = re.compile(r"^\s*#\[.*\]\s*$")
TESTS = re.compile(r"^\s*#\[cfg\(test\)\]")
DOC = re.compile(r"^\s*(///(?!/)|//!)\s?(.*)")
LITERAL = re.compile(r'b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\(?:x..|u\{[^}]*\}|.)|[^\'\\])\'', re.S)

Function = namedtuple("Function", "length name place")
Type = namedtuple("Type", "kind name place")
# `methods` are the names of the methods of one inherent impl block.
Impl = namedtuple("Impl", "type methods place")


def blank(text):
    """Returns the lines of `text` without comments and with literals as "x", and the numbers of the lines that contain a comment."""
    out, comment, i, line = [], set(), 0, 0
    while i < len(text):
        pair = text[i : i + 2]
        if pair == "//":
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            comment.add(line)
        elif pair == "/*":
            depth, end = 1, i + 2
            while depth and end < len(text):
                step = text[end : end + 2]
                depth += (step == "/*") - (step == "*/")
                end += 2 if step in ("/*", "*/") else 1
            comment.update(range(line, line + text.count("\n", i, end) + 1))
        else:
            inside_word = i and (text[i - 1].isalnum() or text[i - 1] == "_")
            found = LITERAL.match(text, i) if text[i] in "\"'rb" and not inside_word else None
            if not found:
                out.append(text[i])
                line += text[i] == "\n"
                i += 1
                continue
            end = found.end()
            out.append("x")
        newlines = text.count("\n", i, end)
        out.append("\n" * newlines)
        line += newlines
        i = end
    return "".join(out).split("\n"), comment


def closing_line(lines, start):
    """Returns the line on which the first brace opened from `start` on is closed, or None for an item without a body."""
    depth = 0
    for number in range(start, len(lines)):
        for char in lines[number]:
            if char == ";" and depth == 0:
                return None
            if char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
                if depth < 0:
                    return None
                if depth == 0:
                    return number
    return None


def implemented_type(header):
    """Returns the type of an inherent `impl` from its text before the brace, or None when a trait is implemented."""
    rest, depth, start = header.split("impl", 1)[1], 0, 0
    if rest.lstrip().startswith("<"):
        for place, char in enumerate(rest):
            depth += (char == "<") - (char == ">" and rest[place - 1] != "-")
            if char == ">" and depth == 0:
                start = place + 1
                break
    subject, depth, flat = rest[start:], 0, []
    for place, char in enumerate(subject):
        depth += char == "<"
        if depth == 0:
            flat.append(char)
        depth -= char == ">" and subject[place - 1] != "-"
    words = "".join(flat).split(" where ")[0].split()
    return None if "for" in words or not words else words[-1].split("::")[-1].lstrip("&")


class Source:
    """One Rust file. `code`, `test` and `comment` are counts of lines; everything else ignores tests."""

    def __init__(self, path, text, is_test=False):
        self.path = Path(path)
        self.raw = text.split("\n")
        self.lines, comments = blank(text)
        filled = [number for number, line in enumerate(self.lines) if line.strip()]
        self.test_modules = []
        self._test_lines = set(filled) if is_test else self._find_test_lines()
        self.code = sum(number not in self._test_lines for number in filled)
        self.test = len(filled) - self.code
        self.comment = sum(1 for n in comments if n < len(self.lines) and not self.lines[n].strip())

    def _place(self, number):
        return f"{self.path}:{number + 1}"

    def _find_test_lines(self):
        """Returns the lines under `#[cfg(test)]`, and records the modules in files of their own that are declared under it."""
        found = set()
        for number, line in enumerate(self.lines):
            if not TESTS.match(line) or number in found:
                continue
            item = number + 1
            while item < len(self.lines) and (ATTRIBUTE.match(self.lines[item]) or not self.lines[item].strip()):
                item += 1
            module = MODULE.match(self.lines[item]) if item < len(self.lines) else None
            if module:
                self.test_modules.append(module.group(1))
            end = closing_line(self.lines, item)
            found.update(range(number, (item if end is None else end) + 1))
        return found

    def _blocks(self, pattern):
        """Yields first and last line of the items with a body that `pattern` finds outside tests."""
        for number, line in enumerate(self.lines):
            if pattern.match(line) and number not in self._test_lines:
                end = closing_line(self.lines, number)
                if end is not None:
                    yield number, end

    def _lines_inside(self, pattern):
        return {number for start, end in self._blocks(pattern) for number in range(start + 1, end + 1)}

    def functions(self):
        """Returns the functions that have a body, with the number of their lines of code."""
        return [
            Function(sum(1 for n in range(start, end + 1) if self.lines[n].strip()), FUNCTION.match(self.lines[start]).group(1), self._place(start))
            for start, end in self._blocks(FUNCTION)
        ]

    def types(self):
        """Returns the types defined here, without associated types of a trait or an impl."""
        in_macro, in_impl = self._lines_inside(MACRO), self._lines_inside(IMPL) | self._lines_inside(TRAIT)
        found = []
        for number, line in enumerate(self.lines):
            match = TYPE.match(line)
            if match and number not in (in_macro | in_impl if match.group(1) == "type" else in_macro):
                found.append((number, *match.groups()))
        text = "\n".join(self.lines)
        found += [(text.count("\n", 0, match.start(1)), *match.groups()) for match in MACRO_TYPE.finditer(text)]
        return [Type(kind, name, self._place(number)) for number, kind, name in sorted(found) if number not in self._test_lines]

    def impls(self):
        """Returns the inherent impl blocks with the names of their methods, without functions inside methods."""
        found = []
        for start, end in self._blocks(IMPL):
            header = " ".join(self.lines[start : end + 1]).split("{", 1)[0]
            name = implemented_type(header)
            if name is None or name.startswith("$"):
                continue
            depth, methods = 0, []
            for number in range(start, end + 1):
                method = FUNCTION.match(self.lines[number])
                if method and depth == 1 and number not in self._test_lines:
                    methods.append(method.group(1))
                depth += self.lines[number].count("{") - self.lines[number].count("}")
            found.append(Impl(name, methods, self._place(start)))
        return found

    def doc_openings(self):
        """Returns the first line of every doc comment, tests included, with its place."""
        found, before = [], None
        for number, line in enumerate(self.raw):
            doc = DOC.match(line)
            kind = doc.group(1) if doc and not self.lines[number].strip() else None
            if kind and kind != before:
                found.append((doc.group(2), self._place(number)))
            before = kind
        return found


def read_sources(paths):
    """Reads all files. A file is a test if it is below `tests/`, or if its module is declared under `#[cfg(test)]`."""
    texts = {Path(path): Path(path).read_text(encoding="utf-8") for path in paths}
    sources = {path: Source(path, text, is_test=path.parts[0] == "tests") for path, text in texts.items()}
    test_modules = set()
    for path, source in sources.items():
        folder = path.parent if path.stem in ("mod", "lib", "main") else path.with_suffix("")
        test_modules.update(folder / name for name in source.test_modules)
    for path in sources:
        if {path.with_suffix(""), *path.parents} & test_modules:
            sources[path] = Source(path, texts[path], is_test=True)
    return sources
