#!/usr/bin/env python3
"""Fits the weights of the reader (src/reading/learned/weights.txt). Needs numpy 2.x and scipy 1.x (numpy 2.4.6, scipy 1.17.1 were used).

The rows come from the program itself (`examples/reader.rs`): this script never splits a text, it only fits numbers to
the names it is given, so that training sees what reading sees. Each head is one logistic regression with an L2 penalty,
which depends on the kind of signal. Words that are written with a capital inside sentences are names of people, firms and
products: they are left out, because they belong to the data sets and not to the language.

Data (none of it is in the repository; the weights are numbers fitted to it):
  parakweet    Apache-2.0, (c) 2014 Parakweet Labs, Inc.              sentences: asks
  mailex       CC BY-SA 4.0, Srivastava et al. 2023                   not used for fitting, only for testing
  gaia_triage  MIT, (c) Advanced Micro Devices, Inc.                  mails: all other heads
  spamassassin PDDL/CC0, Apache SpamAssassin public corpus            mails: spam, promotes
  letters      scripts/letters.psv, ours                            mails: all other heads
"""

import argparse
import collections
import csv
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy
from scipy import sparse
from scipy.optimize import minimize

REPO = Path(__file__).resolve().parent.parent
WEIGHTS = REPO / "src/reading/learned/weights.txt"
LETTERS = REPO / "scripts/letters.psv"
HEADS = ["asks", "urgent", "wants", "informs", "promotes", "personal", "spam", "phishing"]
CATEGORIES = {"urgent": "URGENT", "wants": "NEEDS_RESPONSE", "informs": "FYI", "promotes": "PROMOTIONAL", "personal": "PERSONAL"}
LEAST = 2  # rows a word must occur in
# Penalties by kind of signal: cues were chosen by hand and are penalised little, single words are penalised much.
PENALTY = {"cue": 0.5, "again": 1.0, "subject_cue": 1.0, "word": 6.0, "subject": 6.0, "pair": 8.0, "three": 8.0}
PENALTY_ASKS = {"cue": 2.0, "word": 2.0, "pair": 2.0, "three": 2.0}
# Offsets of the decision boundary, so that what matters most is missed least.
SHIFT = {"urgent": 1.25}
LOUDER = {"urgent": 2.0}
OURS = 1.0  # weight of one of our own letters, relative to a mail of a data set


def signals(program, kind, lines):
    """Returns the signals of each line, as the program computes them."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([program, kind], input=text, capture_output=True, text=True, encoding="utf-8", check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Names:
    """Words that are mostly capitalised in the middle of a sentence, so probably names."""

    def __init__(self, texts):
        capital, small = collections.Counter(), collections.Counter()
        for text in texts:
            for sentence in re.split(r"[.!?:\n•–—-]+\s*", text):
                for word in re.findall(r"[A-Za-z][A-Za-z'’]*", sentence)[1:]:
                    word, key = word.replace("’", "'"), word.lower().replace("’", "'")
                    shouted = len(word) > 1 and word.isupper()
                    if not shouted:
                        (capital if word[0].isupper() else small)[key] += 1
        known = "monday tuesday wednesday thursday friday saturday sunday i i'm i'll i'd i've english"
        self.words = {word for word in capital if capital[word] > small[word]} - set(known.split())

    def inside(self, name):
        """Returns whether a signal contains a name."""
        kind, _, words = name.partition(":")
        return kind in ("word", "pair", "three", "subject") and any(word in self.words for word in words.split())


def penalty(name, table):
    return table[name.partition(":")[0]]


class Rows:
    """Rows of signals as one sparse matrix."""

    def __init__(self, rows, names=None):
        rows = [sorted(set(row)) for row in rows]
        self.columns = sorted({name for row in rows for name in row if not (names and names.inside(name))})
        place = {name: at for at, name in enumerate(self.columns)}
        entries = [(at, place[name]) for at, row in enumerate(rows) for name in row if name in place]
        at, to = zip(*entries)
        self.matrix = sparse.csr_matrix((numpy.ones(len(at)), (at, to)), shape=(len(rows), len(self.columns)))


def fit(rows, chosen, labels, weights, table, hand=None):
    """Fits one head to the chosen rows. Returns its bias and its weights by name. `hand` is one more column with hardly any penalty."""
    matrix = rows.matrix[chosen]
    often = numpy.flatnonzero(matrix.getnnz(axis=0) >= LEAST)
    matrix, columns = matrix[:, often], [rows.columns[at] for at in often]
    held = numpy.array([penalty(name, table) for name in columns])
    if hand is not None:
        matrix = sparse.hstack([matrix, sparse.csr_matrix(numpy.array(hand)[:, None])]).tocsr()
        held, columns = numpy.append(held, 0.1), columns + ["cue:hand"]
    sign, weights, turned = numpy.where(labels, 1.0, -1.0), numpy.array(weights, dtype=float), matrix.T.tocsr()

    def loss(vector):
        margin = -sign * (matrix @ vector[:-1] + vector[-1])
        slope = -(weights * sign / (1 + numpy.exp(-margin)))
        value = (weights * numpy.logaddexp(0, margin)).sum() + 0.5 * (held * vector[:-1] ** 2).sum()
        return value, numpy.append(turned @ slope + held * vector[:-1], slope.sum())

    found = minimize(loss, numpy.zeros(len(columns) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 400}).x
    return found[-1], dict(zip(columns, found[:-1]))


def total(model, row, hand=0.0):
    """Returns the score of a row."""
    bias, weight = model
    return bias + sum(weight.get(name, 0.0) for name in set(row)) + weight.get("cue:hand", 0.0) * hand


def letters():
    """Returns our own letters in the form of the gaia_triage mails."""
    lines = [line for line in LETTERS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    fields = [line.split("|", 4) for line in lines]
    return [
        {
            "id": at,
            "from": sender,
            "to": ["Dana Levi <dana.levi@firma.example>"],
            "date": "2026-03-10T09:10:00+02:00",
            "subject": subject,
            "body": body.replace("\\n", "\n"),
            "category": category,
            "spam": "S" in flags,
            "phishing": "P" in flags,
        }
        for at, (category, flags, sender, subject, body) in enumerate(fields)
    ]


class Data:
    """All data sets, with the signals of their rows."""

    def __init__(self, program, data):
        lines = (data / "parakweet/dev.tsv").read_text(encoding="utf-8").splitlines()
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
        self.texts, self.sentences = [text for _, text in pairs], []
        for (label, text), found in zip(pairs, signals(program, "sentences", [{"text": text} for _, text in pairs])):
            # The program may split a line into several sentences; the one with the highest score represents the line.
            names, hand = max(found, key=lambda one: one[1]) if found else ([], -1.6)
            self.sentences.append((names, hand, label == "Yes"))
        self.gaia = [json.loads(line) for line in (data / "gaia_triage/dev.jsonl").read_text(encoding="utf-8").splitlines()]
        self.gaia_signals = signals(program, "mails", self.gaia)
        self.letters = letters()
        self.letters_signals = signals(program, "mails", self.letters)
        self.raw, self.raw_signals = [], []
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(data / "spamassassin/dev.zip").extractall(folder)
            files = {path.name: path for path in Path(folder).rglob("*.eml")}
            rows = list(csv.DictReader((data / "spamassassin/labels.csv").read_text().splitlines()))
            self.raw = [row["label"] for row in rows]
            self.raw_signals = signals(program, "mails", [{"id": 0, "file": str(files[row["file"]])} for row in rows])
        names = Names([mail["body"] for mail in self.gaia])
        self.sentence_rows = Rows([row[0] for row in self.sentences])
        self.mail_rows = Rows(self.gaia_signals + self.letters_signals + self.raw_signals, names)


def label(mail, head):
    return mail["category"] == CATEGORIES[head] if head in CATEGORIES else bool(mail[head])


# Weights of old mail: a mail of 2002 says little about one of today, and most are from the same few lists.
OLD_MAIL = {"spam": 0.3, "promotes": 0.6}


def train(data, sentences=None, gaia=None, raw=None, heads=HEADS):
    """Fits every head, to all rows or to those of the given indexes. Returns the models by head."""
    models = {}
    if "asks" in heads:
        chosen = list(range(len(data.sentences))) if sentences is None else sentences
        hand = [data.sentences[at][1] for at in chosen]
        labels = [data.sentences[at][2] for at in chosen]
        models["asks"] = fit(data.sentence_rows, chosen, labels, [1.0] * len(chosen), PENALTY_ASKS, hand)
    for head in [head for head in HEADS[1:] if head in heads]:
        chosen = list(range(len(data.gaia))) if gaia is None else list(gaia)
        labels = [label(data.gaia[at], head) for at in chosen]
        weights = [1.0] * len(chosen)
        for at, mail in enumerate(data.letters):
            # Whether a seller's pressure counts as phishing is a matter of taste, so our own letters do not decide it.
            if not (head == "phishing" and mail["category"] == "PROMOTIONAL" and not mail["spam"] and not mail["phishing"]):
                chosen, labels, weights = chosen + [len(data.gaia) + at], labels + [label(mail, head)], weights + [OURS]
        for at in range(len(data.raw)) if raw is None else raw:
            sort = data.raw[at]
            if head in OLD_MAIL and not (sort == "hard_ham" and head == "promotes"):
                chosen, labels = chosen + [len(data.gaia) + len(data.letters) + at], labels + [sort == "spam"]
                weights.append(OLD_MAIL[head])
        weights = [weight * (LOUDER.get(head, 1.0) if yes else 1.0) for weight, yes in zip(weights, labels)]
        bias, weight = fit(data.mail_rows, chosen, labels, weights, PENALTY)
        models[head] = (bias + SHIFT.get(head, 0.0), weight)
    return models


def written(models):
    """Returns the text of the weights file. Weights near zero are left out."""
    out = ["# Written by scripts/train_reader.py, which says from what. [head bias], then a weight and the signal it is for.\n"]
    for head in HEADS:
        bias, weight = models[head]
        out.append(f"[{head} {bias:.4g}]\n")
        kept = {name: value for name, value in weight.items() if abs(value) >= (0.02 if head == "asks" else 0.03)}
        out += [f"{value:.3g} {name}\n" for name, value in sorted(kept.items())]
    return "".join(out)


def folds(count, seed, parts=5):
    """Splits the indexes below `count` into random parts of nearly equal size."""
    order = numpy.random.RandomState(seed).permutation(count)
    return [[int(at) for at in order[part::parts]] for part in range(parts)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("--reader", required=True, help="the built examples/reader")
    options = options.parse_args()
    data = Data(options.reader, options.data)
    text = written(train(data))
    WEIGHTS.write_text(text, encoding="utf-8")
    print(f"{WEIGHTS}: {len(text)} bytes, {text.count(chr(10))} lines", file=sys.stderr)


if __name__ == "__main__":
    main()
