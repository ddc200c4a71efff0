#!/usr/bin/env python3
"""Prints the sizes of the code next to the limits of the style guide, and exits with 1 when a check with a limit fails."""

import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from rust_source import read_sources

MOST_LINES_IN_FILE = 400
MOST_LINES_IN_FUNCTION = 70
FEW_LINES_IN_FUNCTION = 35
MOST_METHODS = 25
MOST_FILES_IN_FOLDER = 20
COMMENT_SHARE_AIM = 12
TESTS_PER_CODE_AIM = 0.6

# Type names that may be used twice, each with its reason. A name is listed only while it is needed.
MOST_SHARED_NAMES = 12
SHARED_TYPE_NAMES = {}


def check_file_sizes(sources):
    return [f"{path} has {source.code} code lines; split it" for path, source in sources.items() if source.code > MOST_LINES_IN_FILE]


def check_function_sizes(sources):
    return [
        f"{function.name} has {function.length} lines; split it ({function.place})"
        for source in sources.values() for function in source.functions() if function.length > MOST_LINES_IN_FUNCTION
    ]


def defined_types(sources):
    """Returns the places of each type name of the crate."""
    found = defaultdict(list)
    for path, source in sources.items():
        if path.parts[0] == "src":
            for one in source.types():
                found[one.name].append(one.place)
    return found


def check_type_names(sources, allowed=None):
    allowed = SHARED_TYPE_NAMES if allowed is None else allowed
    types = defined_types(sources)
    wrong = [
        f"the type name {name} is used {len(places)} times: {', '.join(places)}"
        for name, places in sorted(types.items()) if len(places) > 1 and name not in allowed
    ]
    wrong += [f"{name} is used once; remove it from SHARED_TYPE_NAMES" for name in allowed if len(types.get(name, [])) < 2]
    if len(allowed) > MOST_SHARED_NAMES:
        wrong.append(f"SHARED_TYPE_NAMES has {len(allowed)} names; at most {MOST_SHARED_NAMES}")
    return wrong


def methods_by_type(sources):
    """Counts the methods of each type over all its inherent impl blocks. Of two types with one name, an impl block is
    counted for the one defined nearest to it."""
    types, count = defined_types(sources), Counter()
    for path, source in sources.items():
        if path.parts[0] != "src":
            continue
        for block in source.impls():
            def shared_folders(place):
                pairs = zip(path.parts, Path(place.split(":")[0]).parts)
                return next((depth for depth, (a, b) in enumerate(pairs) if a != b), len(path.parts))
            nearest = max(types.get(block.type, [block.place]), key=shared_folders)
            count[block.type, nearest] += len(block.methods)
    return count


def check_methods(sources):
    return [
        f"{name} has {count} methods; at most {MOST_METHODS} ({place})"
        for (name, place), count in methods_by_type(sources).most_common() if count > MOST_METHODS
    ]


def check_doc_openings(sources):
    return [f'a doc comment opens with "Of" ({place})' for source in sources.values() for text, place in source.doc_openings() if text.startswith("Of ")]


def files_by_folder(sources):
    return Counter(path.parent for path in sources if path.parts[0] == "src")


def check_folders(sources):
    return [
        f"{folder} has {count} files; at most {MOST_FILES_IN_FOLDER}"
        for folder, count in files_by_folder(sources).most_common() if count > MOST_FILES_IN_FOLDER
    ]


def check_module_style(sources):
    folders = {parent for path in sources for parent in path.parents}
    return [f"{path} stands beside its folder; make it {path.stem}/mod.rs" for path in sources if path.with_suffix("") in folders]


CHECKS = {
    "file sizes": check_file_sizes,
    "function sizes": check_function_sizes,
    "type names": check_type_names,
    "doc comments": check_doc_openings,
    "methods": check_methods,
    "folders": check_folders,
    "module style": check_module_style,
}


def print_sizes(sources, found):
    crate = {path: source for path, source in sources.items() if path.parts[0] == "src"}
    sizes = sorted((source.code, str(path)) for path, source in crate.items() if source.code)
    functions = sorted(function for source in crate.values() for function in source.functions())
    lengths = [function.length for function in functions]
    long = [function for function in functions if function.length > FEW_LINES_IN_FUNCTION]
    code = sum(size for size, _ in sizes)
    comments = sum(source.comment for source in crate.values())
    all_lines = code + comments + sum(source.test for source in crate.values())
    tests = sum(source.test for source in sources.values())
    methods = methods_by_type(sources).most_common(1)[0]
    crowded = files_by_folder(sources).most_common(1)[0]
    rows = [
        ("files in src", len(sizes), ""),
        ("code lines in src", code, ""),
        ("code lines per file, median", f"{statistics.median(size for size, _ in sizes):.0f}", "at most 100"),
        ("code lines of the largest file", sizes[-1][0], f"at most {MOST_LINES_IN_FILE}"),
        ("files over 250 code lines", sum(size > 250 for size, _ in sizes), "look again"),
        ("functions", len(lengths), ""),
        ("lines per function, median", f"{statistics.median(lengths):.0f}", "at most 10"),
        (f"functions over {FEW_LINES_IN_FUNCTION} lines", f"{len(long)} ({100 * len(long) / len(lengths):.1f} %)", "almost none"),
        ("lines of the longest function", lengths[-1], f"at most {MOST_LINES_IN_FUNCTION}"),
        ("types", sum(len(places) for places in defined_types(sources).values()), ""),
        ("type names used twice", len(found["type names"]), f"0, and at most {MOST_SHARED_NAMES} named exceptions"),
        ("most methods of one type", methods[1], f"at most {MOST_METHODS} ({methods[0][0]})"),
        ("most files in one folder", crowded[1], f"at most {MOST_FILES_IN_FOLDER} ({crowded[0]})"),
        ('doc comments that open with "Of"', len(found["doc comments"]), "0"),
        ("comment lines of all lines in src", f"{100 * comments / all_lines:.1f} %", f"aim {COMMENT_SHARE_AIM} %"),
        ("test lines per code line", f"{tests / code:.2f}", f"aim {TESTS_PER_CODE_AIM}"),
    ]
    for name, value, aim in rows:
        print(f"{name:<36} {value:>14}   {aim}".rstrip())
    print(f"largest: {', '.join(f'{name} ({size})' for size, name in reversed(sizes[-3:]))}")
    for function in reversed(long):
        print(f"long: {function.name} has {function.length} lines ({function.place})")


def main():
    listed = subprocess.run(["git", "ls-files", "*.rs"], capture_output=True, text=True, check=True).stdout.split()
    sources = read_sources(name for name in listed if Path(name).exists())
    found = {name: check(sources) for name, check in CHECKS.items()}
    print_sizes(sources, found)
    for name, lines in found.items():
        for line in lines:
            print(line, file=sys.stderr)
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
