#!/usr/bin/env python3
"""Sizes of the code, as the house style counts them. Exits 1 only for a file over 400 code lines or a function over 70."""

import re
import statistics
import subprocess
import sys
from pathlib import Path

LONGEST_FILE = 400
LONGEST_FUNCTION = 70
ALMOST_ALL = 35

FUNCTION = re.compile(r"^\s*(pub(\([^)]*\))?\s+)?(const\s+)?(async\s+)?(unsafe\s+)?(extern\s+\S+\s+)?fn\s+(\w+)")
TESTS = re.compile(r"^\s*#\[cfg\(test\)\]")
LITERAL = re.compile(r'r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\(?:x..|u\{[^}]*\}|.)|[^\'\\])\'', re.S)


def blank(text):
    """The text with the insides of literals and comments blanked out, line for line; and which lines are comment."""
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
            found = LITERAL.match(text, i) if text[i] in "\"'rb" and not (i and (text[i - 1].isalnum() or text[i - 1] == "_")) else None
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


def close(lines, start):
    """The line on which the first brace opened from `start` on is closed; None for a declaration without a body."""
    depth = 0
    for number in range(start, len(lines)):
        for char in lines[number]:
            if char == ";" and depth == 0:
                return None
            if char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    return number
    return None


def measure(path):
    """Code lines, test lines, comment lines, and the length of every function outside tests."""
    text = path.read_text(encoding="utf-8")
    lines, comments = blank(text)
    code = [n for n, line in enumerate(lines) if line.strip()]
    apart = path.parts[0] == "tests" or path.stem == "tests" or path.stem.endswith("_tests")
    test = set(code) if apart else set()
    for number, line in enumerate(lines):
        if TESTS.match(line) and number not in test:
            end = close(lines, number + 1)
            test.update(range(number, (end if end is not None else number + 1) + 1))
    functions = []
    for number, line in enumerate(lines):
        found = FUNCTION.match(line)
        if found and number not in test:
            end = close(lines, number)
            if end is not None:
                inside = sum(1 for n in range(number, end + 1) if lines[n].strip())
                functions.append((inside, found.group(7), f"{path}:{number + 1}"))
    only_comment = len([n for n in comments if n < len(lines) and not lines[n].strip()])
    return len([n for n in code if n not in test]), len([n for n in code if n in test]), only_comment, functions


def main():
    listed = subprocess.run(["git", "ls-files", "*.rs"], capture_output=True, text=True, check=True).stdout.split()
    measured = {Path(name): measure(Path(name)) for name in listed if Path(name).exists()}
    source = {path: m for path, m in measured.items() if path.parts[0] == "src" and m[0]}
    functions = sorted(f for path, m in measured.items() if path.parts[0] == "src" for f in m[3])
    lengths = [length for length, _, _ in functions]
    code = sum(m[0] for m in source.values())
    tests = sum(m[1] for m in measured.values())
    inside = sum(m[1] for path, m in measured.items() if path.parts[0] == "src")
    comments = sum(m[2] for path, m in measured.items() if path.parts[0] == "src")
    sizes = sorted((m[0], str(path)) for path, m in source.items())
    over = [f for f in functions if f[0] > ALMOST_ALL]
    rows = [
        ("files in src", f"{len(sizes)}", ""),
        ("code lines in src", f"{code}", ""),
        ("code lines per file, median", f"{statistics.median(size for size, _ in sizes):.0f}", "<= 100"),
        ("code lines of the largest file", f"{sizes[-1][0]}", f"<= {LONGEST_FILE}"),
        ("files over 250 code lines", f"{sum(size > 250 for size, _ in sizes)}", "look again"),
        ("functions", f"{len(lengths)}", ""),
        ("lines per function, median", f"{statistics.median(lengths):.0f}", "<= 10"),
        (f"functions over {ALMOST_ALL} lines", f"{len(over)} ({100 * len(over) / len(lengths):.1f} %)", "almost none"),
        (f"functions over {LONGEST_FUNCTION} lines", f"{sum(length > LONGEST_FUNCTION for length in lengths)}", "0"),
        ("test lines per code line", f"{tests / code:.2f}", "about 1"),
        ("comment lines of all lines in src", f"{100 * comments / (code + inside + comments):.0f} %", "10 to 20 %"),
    ]
    for name, value, goal in rows:
        print(f"{name:<36} {value:>14}   {goal}".rstrip())
    print(f"largest: {', '.join(f'{name} ({size})' for size, name in reversed(sizes[-3:]))}")
    for length, name, place in reversed(over):
        print(f"long: {name} has {length} lines ({place})")
    wrong = [f"{path} has {m[0]} code lines; split it" for path, m in measured.items() if m[0] > LONGEST_FILE]
    wrong += [
        f"{name} has {length} lines; split it ({place})"
        for m in measured.values() for length, name, place in m[3] if length > LONGEST_FUNCTION
    ]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
