#!/usr/bin/env python3
"""Fits the weights of the intents (src/assistant/intent/weights.txt). Needs numpy 2.x and scipy 1.x (numpy 2.4.6, scipy 1.17.1 were used).

The rows come from the program itself (`examples/intents.rs`): this script never splits a text, it only fits numbers to the
names it is given, so that training sees what the assistant sees. The model is one multinomial logistic regression with an
L2 penalty that depends on the kind of signal. It tells five sorts of clauses apart: a change, a list, help, a greeting,
nothing clear. Which change it is, the rules say; a change that no rule proposes is never made of one.

Data (only `training/intents` is in the repository; the weights are numbers fitted to all of it):
  training  ours: messages in English and Hebrew, with slots that are filled by a fixed seed
  clinc150  CC BY 3.0, Larson et al. 2019 (its development half)
  hwu64     CC BY 4.0, Liu et al. 2019 (its development half)
The same data, the same seed and the same program give the same file.

With --validate nothing is written. Then the figures are printed of weights that never saw the messages they are judged by:
five folds of all data, and each public set judged by weights that were fitted without that whole set.
"""

import argparse
import collections
import hashlib
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp

REPO = Path(__file__).resolve().parent.parent
WEIGHTS = REPO / "src/assistant/intent/weights.txt"
TRAINING = REPO / "training/intents"
PUBLIC = ["clinc150", "hwu64"]
SORTS = ["change", "list", "help", "greeting", "unclear"]
CHANGES = {"CREATE", "COMPLETE", "DELETE", "UPDATE"}
SORT_OF = {"LIST": "list", "HELP": "help", "GREETING": "greeting", "UNCLEAR": "unclear"}
FILLINGS = 5  # times that a message with slots is used
LEAST = 2  # rows that a signal must occur in
SMALLEST = 0.03  # weights nearer to nought are left out
PENALTY = {"cue": 0.3, "word": 1.0, "stem": 1.5, "pair": 1.5, "three": 2.0}
# What a message of each set counts for. The calendar of hwu64 is near to tasks, but not what is judged.
WEIGHT = {"training": 0.7, "clinc150": 1.0, "hwu64": 1.0, "calendar": 0.4}
FOLDS = 5


def own_messages(dice):
    """Yields the messages of `training/intents`, as (group, text, intent). The group is the line it comes from."""
    for path in sorted(TRAINING.glob("*.txt")):
        slots, heading = collections.defaultdict(list), ""
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            line = line.strip()
            if line.startswith("["):
                heading = line.strip("[]")
            elif line and not line.startswith("#"):
                (slots[heading.removeprefix("slot ")] if heading.startswith("slot ") else lines).append((heading, line))
        for number, (intent, line) in enumerate(lines):
            texts = {fill(line, slots, dice) for _ in range(FILLINGS if "{" in line else 1)}
            for text in sorted(texts):
                yield f"{path.stem}-{number}", text, intent


def fill(line, slots, dice):
    """Puts a random phrase in the place of every slot. A phrase may have slots of its own."""
    while "{" in line:
        start, rest = line.split("{", 1)
        name, end = rest.split("}", 1)
        line = start + dice.choice(slots[name])[1] + end
    return line


def messages(data):
    """Returns all messages: set, group, text, accepted intents, tier."""
    dice = random.Random(20261115)
    rows = [{"set": "training", "group": group, "text": text, "gold": [intent], "tier": group.split("-")[0]} for group, text, intent in own_messages(dice)]
    for name in PUBLIC:
        path = data / name / "dev.jsonl"
        if not path.is_file():
            sys.exit(f"{path} is not there; the weights are fitted to it")
        print(f"{name}: sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}", file=sys.stderr)
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows.append({"set": name, "group": row["id"], "text": row["text"], "gold": row["gold"], "tier": row["tier"]})
    return rows


def sort_of(row):
    return "change" if row["gold"][0] in CHANGES else SORT_OF[row["gold"][0]]


def answers(command, rows):
    text = "".join(json.dumps({"text": row["text"]}) + "\n" for row in rows)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def fit(rows, signals):
    """Returns the biases and the weights by signal."""
    seen = collections.Counter(name for names in signals for name in set(names))
    columns = sorted(name for name, count in seen.items() if count >= LEAST)
    place = {name: at for at, name in enumerate(columns)}
    entries = [(at, place[name]) for at, names in enumerate(signals) for name in sorted(set(names)) if name in place]
    at, to = zip(*entries)
    matrix = sparse.csr_matrix((numpy.ones(len(at)), (at, to)), shape=(len(rows), len(columns)))
    turned = matrix.T.tocsr()
    truth = numpy.zeros((len(rows), len(SORTS)))
    truth[numpy.arange(len(rows)), [SORTS.index(sort_of(row)) for row in rows]] = 1
    counts = numpy.array([WEIGHT["calendar" if row["tier"] == "calendar" else row["set"]] for row in rows])[:, None]
    held = numpy.array([PENALTY[name.partition(":")[0]] for name in columns])[:, None]

    def loss(vector):
        weights = vector.reshape(len(columns) + 1, len(SORTS))
        sums = matrix @ weights[:-1] + weights[-1]
        logs = sums - logsumexp(sums, axis=1, keepdims=True)
        slope = counts * (numpy.exp(logs) - truth)
        value = -(counts * truth * logs).sum() + 0.5 * (held * weights[:-1] ** 2).sum()
        return value, numpy.vstack([turned @ slope + held * weights[:-1], slope.sum(axis=0)]).ravel()

    start = numpy.zeros((len(columns) + 1) * len(SORTS))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x.reshape(-1, len(SORTS))
    return found[-1], dict(zip(columns, found[:-1]))


def write(path, biases, weights):
    with open(path, "w", encoding="utf-8") as out:
        out.write("# Written by scripts/train_intents.py, which says from what. [sort bias], then a weight and the signal it is for.\n")
        for at, sort in enumerate(SORTS):
            out.write(f"[{sort} {biases[at]:.3g}]\n")
            for name, row in weights.items():
                if abs(row[at]) >= SMALLEST:
                    out.write(f"{row[at]:.2g} {name}\n")


def judged(program, rows, biases, weights):
    """Returns the answers of the program with these weights."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        write(file.name, biases, weights)
        return answers([program, "classify", file.name], rows)


def report(title, rows, found, show):
    """Prints accuracy per set and tier, and the share of changes where nothing was asked of the assistant."""
    kinds = collections.defaultdict(list)
    for row, answer in zip(rows, found):
        kinds[f"{row['set']} {row['tier']}"].append((row, answer))
    for kind, pairs in sorted(kinds.items()):
        right = sum(answer["intent"] in row["gold"] for row, answer in pairs) / len(pairs)
        wrong = sum(answer["intent"] in CHANGES and not CHANGES & set(row["gold"]) for row, answer in pairs) / len(pairs)
        print(f"{title:24} {kind:24} n = {len(pairs):5}  right {right:.3f}  wrong changes {100 * wrong:.2f} %", flush=True)
        for row, answer in pairs:
            if show and answer["intent"] not in row["gold"]:
                is_wrong = answer["intent"] in CHANGES and not CHANGES & set(row["gold"])
                print(f"    {'!' if is_wrong else ' '} {answer['intent']:8} for {'/'.join(row['gold']):12} {answer['clauses'][0][1]:8} {row['text']}")


def validate(program, rows, signals, show):
    groups = sorted({(row["set"], row["group"]) for row in rows})
    random.Random(1).shuffle(groups)
    fold_of = {group: at % FOLDS for at, group in enumerate(groups)}
    found = [None] * len(rows)
    for fold in range(FOLDS):
        out = [at for at, row in enumerate(rows) if fold_of[row["set"], row["group"]] == fold]
        kept = [at for at, row in enumerate(rows) if fold_of[row["set"], row["group"]] != fold]
        model = fit([rows[at] for at in kept], [signals[at] for at in kept])
        for at, answer in zip(out, judged(program, [rows[at] for at in out], *model)):
            found[at] = answer
    report(f"{FOLDS} folds", rows, found, show)
    for name in PUBLIC:
        out = [at for at, row in enumerate(rows) if row["set"] == name]
        kept = [at for at, row in enumerate(rows) if row["set"] != name]
        model = fit([rows[at] for at in kept], [signals[at] for at in kept])
        report(f"without {name}", [rows[at] for at in out], judged(program, [rows[at] for at in out], *model), False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder with clinc150 and hwu64")
    parser.add_argument("--program", required=True, help="examples/intents, built")
    parser.add_argument("--validate", action="store_true", help="print the figures of held-out data and write nothing")
    parser.add_argument("--show", action="store_true", help="with --validate, print every wrong answer")
    options = parser.parse_args()
    rows = messages(options.data)
    seen = answers([options.program, "signals"], rows)
    signals = [answer["signals"] for answer in seen]
    if options.validate:
        return validate(options.program, rows, signals, options.show)
    biases, weights = fit(rows, signals)
    write(WEIGHTS, biases, weights)
    print(f"{len(rows)} messages, {len(weights)} signals, {WEIGHTS.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
