#!/usr/bin/env python3
"""Scores `adjutant eval` on the shared data and prints one table. A missing data set is named and left out.

All answers come from the built program over JSON lines. Its parsing of mail is compared with that of mail-parser alone
(examples/plain_parser.rs); the oracle is what CPython's email package reads, which on broken mail is one opinion of several.
"""

import argparse
import html
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import unicodedata
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import eval_intents
import eval_mailboxes
import eval_reading
import eval_recall

REPO = Path(__file__).resolve().parent.parent
SLOWEST = 1.0  # seconds for one mail
HANG = 20.0  # seconds until a mail counts as never answered
DRAWS = 400  # of the bootstrap
WORDS = 60  # of the oracle's body that are looked for
ENOUGH = 0.8  # of them that must be there
EXAMPLES = ["plain_parser", "reader", "recall", "intents"]
FIELDS = ["subject", "from_addr", "date", "n_attachments", "body"]


def ask(command, value):
    """Sends one line to a new process. Returns the answer (None when it died, hung or printed nothing) and the seconds it took."""
    begun = time.perf_counter()
    try:
        line = json.dumps(value) + "\n"
        done = subprocess.run(command, input=line, capture_output=True, text=True, encoding="utf-8", timeout=HANG)
        answer = json.loads(done.stdout) if done.returncode == 0 and done.stdout else None
    except subprocess.TimeoutExpired:
        answer = None
    return answer, time.perf_counter() - begun


def row(name, value, spread="", beside="", verdict=""):
    print(f"{name:<44} {value:>9} {spread:>15} {beside:>13}  {verdict}".rstrip())


def missing(name, path):
    row(name, "no data", verdict=f"{path} is not there")


# Tasks --------------------------------------------------------------------------------------------------------------


def scores(pairs):
    """Returns F1, precision and recall of pairs (predicted, true)."""
    hit = sum(1 for pred, true in pairs if pred and true)
    said, there = sum(1 for pred, _ in pairs if pred), sum(1 for _, true in pairs if true)
    precision, recall = hit / said if said else 0.0, hit / there if there else 0.0
    return (2 * precision * recall / (precision + recall) if hit else 0.0), precision, recall


def spread(pairs):
    """Returns the 95 % bootstrap interval of F1."""
    dice = random.Random(20261115)
    drawn = sorted(scores(dice.choices(pairs, k=len(pairs)))[0] for _ in range(DRAWS))
    return f"{drawn[DRAWS * 25 // 1000]:.3f}..{drawn[DRAWS * 975 // 1000 - 1]:.3f}"


def print_scores(name, pairs):
    f1, precision, recall = scores(pairs)
    row(f"{name}: F1", f"{f1:.3f}", spread(pairs), f"n = {len(pairs)}")
    row(f"{name}: precision, recall", f"{precision:.3f}", f"{recall:.3f}")


def ask_all(program, kind, inputs):
    """Sends all lines to one process. Returns the answers by id."""
    text = "".join(json.dumps(value) + "\n" for value in inputs)
    done = subprocess.run([program, "eval", kind], input=text, capture_output=True, text=True, encoding="utf-8", check=True)
    answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
    lost = [value["id"] for value in inputs if value["id"] not in answers]
    if lost:
        sys.exit(f"eval {kind} left {len(lost)} lines unanswered, the first is {lost[0]}")
    return answers


def tasks_parakweet(program, data):
    path = data / "parakweet" / "dev.tsv"
    if not path.is_file():
        return missing("tasks, parakweet", path)
    lines = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines() if "\t" in line]
    answers = ask_all(program, "tasks", [{"id": n, "text": text} for n, (_, text) in enumerate(lines)])
    print_scores("tasks, parakweet, fitted to the same", [(answers[n]["pred"], label == "Yes") for n, (label, _) in enumerate(lines)])


def tasks_mailex(program, data):
    path = data / "mailex" / "dev.jsonl"
    if not path.is_file():
        return missing("tasks, mailex", path)
    mails = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    answers = ask_all(program, "tasks", [{"id": mail["id"], "text": mail["text"]} for mail in mails])
    print_scores("tasks, mailex mails, request", [(answers[m["id"]]["pred"], m["has_request"]) for m in mails])
    print_scores("tasks, mailex mails, meeting", [(answers[m["id"]]["meeting"], m["has_meeting"]) for m in mails])


# Mails --------------------------------------------------------------------------------------------------------------


def plain(text):
    """Returns a text for comparison: entities decoded, normalised to NFC, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", html.unescape(text or "")).split())


def instant(text):
    """Parses a time. Without an offset it is taken as UTC."""
    if not text:
        return None
    at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)


def agrees(field, oracle, answer):
    """Returns whether an answer agrees with the oracle in one field."""
    if field == "subject":
        return plain(oracle["subject"]) == plain(answer.get("subject"))
    if field == "from_addr":
        return (oracle["from_addr"] or "").lower() == (answer.get("from_addr") or "").lower()
    if field == "date":
        return instant(oracle["date"]) == instant(answer.get("date"))
    if field == "n_attachments":
        return oracle["n_attachments"] == answer.get("n_attachments")
    wanted = [word for raw in oracle["body_words"][:WORDS] for word in plain(raw).split()]
    text = plain(answer.get("body"))
    return sum(word in text for word in wanted) >= ENOUGH * len(wanted)


def read_set(name, data, program, parser):
    """Returns for each mail: the oracle, our answer, the seconds it took including the start of the program, and mail-parser's answer."""
    archive, truth = data / name / "dev.zip", data / name / "oracle.jsonl"
    if not (archive.is_file() and truth.is_file()):
        return missing(f"mails, {name}", archive.parent)
    oracles = {row["file"]: row for row in map(json.loads, truth.read_text(encoding="utf-8").splitlines())}
    read = []
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(archive).extractall(folder)
        files = {path.name: path for path in Path(folder).rglob("*") if path.is_file()}
        for file, oracle in oracles.items():
            if file not in files:
                sys.exit(f"{archive} has no {file}")
            value = {"file": str(files[file])}
            read.append((oracle, *ask([program, "eval", "mails"], value), ask([parser], value)[0] or {}))
    return read


def mails(program, parser, data, show):
    """Scores the parsing of mail. Returns whether any field agrees less often than with mail-parser alone."""
    together, below = [], False
    for name in ["mime_torture", "spamassassin"]:
        read = read_set(name, data, program, parser)
        if read is None:
            continue
        together += read
        lost = sum(answer is None for _, answer, _, _ in read)
        slowest, which = max((took, oracle["file"]) for oracle, _, took, _ in read)
        row(f"mails, {name}: panics, hangs, lost lines", f"{lost}", "", f"n = {len(read)}", "ok" if lost == 0 else "MISS")
        row(f"mails, {name}: slowest mail", f"{slowest * 1000:.1f} ms", "", "<= 1000 ms", "ok" if slowest <= SLOWEST else f"MISS {which}")
        refused = [oracle["file"] for oracle, answer, _, _ in read if answer and "error" in answer]
        row(f"mails, {name}: refused as no mail", f"{len(refused)}", "", "", " ".join(refused))
        agreement(f"mails, {name}", read, show, judged=False)
    if together:
        below = agreement("mails, both", together, False, judged=True)
    return below


def agreement(name, read, show, judged):
    """Prints how often each field agrees with the oracle, next to mail-parser. Returns whether any field is below it."""
    below = False
    for field in FIELDS:
        ours = [agrees(field, oracle, answer or {}) for oracle, answer, _, _ in read]
        theirs = [agrees(field, oracle, answer) for oracle, _, _, answer in read]
        verdict = ("ok" if sum(ours) >= sum(theirs) else "MISS") if judged else ""
        below |= judged and sum(ours) < sum(theirs)
        row(f"{name}: {field} as the oracle", f"{sum(ours)}/{len(read)}", f"{100 * sum(ours) / len(read):.1f} %", f"plain {sum(theirs)}", verdict)
        for own, other, (oracle, answer, _, beside) in zip(ours, theirs, read):
            if show and not own:
                given = oracle.get(field) if field != "body" else " ".join(oracle["body_words"])
                print(f"    {oracle['file']} ({'plain parser agrees' if other else 'neither agrees'})")
                print(f"      oracle {str(given)[:150]!r}\n      ours   {str((answer or {}).get(field))[:150]!r}\n      plain  {str(beside.get(field))[:150]!r}")
    return below


def built():
    """Builds the programs. Returns their paths."""
    examples = [word for name in EXAMPLES for word in ("--example", name)]
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "adjutant", *examples], cwd=REPO, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR") or REPO / "target") / "release"
    return [str(target / "adjutant"), *(str(target / "examples" / name) for name in EXAMPLES)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("data", nargs="?", type=Path, default=REPO.parent / "shared" / "data", help="the folder of the sets")
    arguments.add_argument("--show", action="store_true", help="print every mail on which we differ from the oracle")
    given = arguments.parse_args()
    if not given.data.is_dir():
        print(f"{given.data} is not there: nothing to score. Name the folder that holds parakweet, mailex, … as an argument.")
        return 0
    program, parser, reader, recall, intents = built()
    row("what", "value", "spread, share", "beside", "")
    tasks_parakweet(program, given.data)
    tasks_mailex(program, given.data)
    eval_reading.hebrew(program, row)
    eval_reading.triage(program, given.data, row)
    eval_reading.learned(reader, given.data, row)
    eval_reading.dates(program, given.data, row)
    eval_reading.injection(program, given.data, row)
    eval_reading.calls(program, given.data, row)
    eval_reading.spam(program, given.data, row)
    eval_intents.score(program, given.data, row)
    eval_intents.validate(intents, given.data)
    eval_mailboxes.score_all(program, row)
    eval_reading.speed(program, row)
    below = eval_recall.score(recall, program, given.data, row)
    return 1 if mails(program, parser, given.data, given.show) or below else 0


if __name__ == "__main__":
    sys.exit(main())
