#!/usr/bin/env python3
"""Fits the weights of the reader (src/reading/learned/weights.txt). Needs numpy 2.x and scipy 1.x (numpy 2.4.6, scipy 1.17.1 were used).

The rows come from the program itself (`examples/reader.rs`): this script never splits a text, it only fits numbers to
the names it is given, so that training sees what reading sees. Each head is one logistic regression with an L2 penalty,
which depends on the kind of signal. Words that are written with a capital inside sentences are names of people, firms and
products: they are left out, because they belong to the data sets and not to the language.

Data (only `training/` and `scripts/letters.psv` are in the repository; the weights are numbers fitted to all of it):
  training     ours: sentences and mails in English, German, Hebrew   sentences: asks, task, meets, others
  sentences    ours, one author (shared data)                         sentences: asks, task, meets
  parakweet    Apache-2.0, (c) 2014 Parakweet Labs, Inc.              sentences: task
  mailex       CC BY-SA 4.0, Srivastava et al. 2023                   sentences: asks, meets
  gaia_triage  MIT, (c) Advanced Micro Devices, Inc.                  mails: all other heads
  spamassassin PDDL/CC0, Apache SpamAssassin public corpus            mails: spam, promotes
  letters      scripts/letters.psv, ours                            mails: all other heads
  training     ours: mails in English, German, Hebrew                 mails: all other heads
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
SENTENCE_HEADS = ["asks", "task", "meets", "others"]
MAIL_HEADS = ["urgent", "wants", "informs", "promotes", "personal", "spam", "phishing"]
HEADS = SENTENCE_HEADS + MAIL_HEADS
TRAINING = REPO / "training"
CATEGORIES = {"urgent": "URGENT", "wants": "NEEDS_RESPONSE", "informs": "FYI", "promotes": "PROMOTIONAL", "personal": "PERSONAL"}
LEAST = 2  # rows of mails a word must occur in
LEAST_SENTENCES = 3  # sentences a word must occur in
# Penalties by kind of signal: cues were chosen by hand and may speak up, words must agree with many others.
PENALTY = {"cue": 0.5, "again": 1.0, "subject_cue": 1.0, "word": 6.0, "subject": 6.0, "pair": 8.0, "three": 8.0}
PENALTY_SENTENCE = {"cue": 1.0, "word": 3.0, "pair": 4.0, "three": 6.0}
# What a sentence of each set counts for, beside one of parakweet or mailex.
SENTENCE_WEIGHT = {"training": 0.7, "mails": 0.7, "sentences": 0.7, "parakweet": 1.0, "mailex": 1.0}
# What the boundary is moved by, so that what matters most is missed least.
SHIFT = {"urgent": 1.0}
LOUDER = {"urgent": 2.0}
OURS = 1.0  # weight of one of our own letters, relative to a mail of a data set
TRAINING_MAIL = 0.6  # and of a mail of `training/`: there are many, and their authors had other inboxes in mind


def signals(program, kind, lines):
    """Returns the signals of each line, as the program computes them."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    words = [kind] if isinstance(kind, str) else kind
    done = subprocess.run([program, *words], input=text, capture_output=True, text=True, encoding="utf-8", check=True)
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


def fit(rows, chosen, labels, weights, table, hand=None, least=LEAST):
    """(bias, weight by name) from the chosen rows. `hand` is a column of its own, hardly held back."""
    matrix = rows.matrix[chosen]
    often = numpy.flatnonzero(matrix.getnnz(axis=0) >= least)
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


class Sentences:
    """Labelled sentences of every set: for each its set, signals, hand-made sum, and a label per head or None."""

    def __init__(self, program, data):
        self.rows = []
        self.program = program
        self.add_lines("training", training_sentences(), program)
        self.add_lines("sentences", [(line["text"], {"asks": line["ask"], "task": line["p"], "meets": line["meet"]}) for line in lines_of(data / "sentences/dev.jsonl")], program)
        lines = (data / "parakweet/dev.tsv").read_text(encoding="utf-8").splitlines()
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
        self.parakweet = [(text, label == "Yes") for label, text in pairs]
        self.add_lines("parakweet", [(text, {"task": yes}) for text, yes in self.parakweet], program)
        self.mailex = lines_of(data / "mailex/dev.jsonl")
        self.add_mails("mailex", [({"id": 0, "body": mail["text"]}, mailex_labels(mail)) for mail in self.mailex], program)
        self.add_mails("mails", [(mail, training_labels(mail)) for mail in training_mails()], program)
        self.matrix = Rows([row["names"] for row in self.rows])

    def add_lines(self, name, lines, program):
        found = signals(program, "sentences", [{"text": text} for text, _ in lines])
        for at, ((_, labels), sentences) in enumerate(zip(lines, found)):
            # A line may be more than one sentence to us; the one that speaks up most stands for it.
            names, hand, _ = max(sentences, key=lambda one: one[1]) if sentences else ([], -1.6, "")
            self.rows.append({"set": name, "at": at, "names": names, "hand": hand, "labels": labels})

    def add_mails(self, name, mails, program):
        found = signals(program, "sentences", [mail for mail, _ in mails])
        for at, ((_, labels), sentences) in enumerate(zip(mails, found)):
            for names, hand, text in sentences:
                self.rows.append({"set": name, "at": at, "names": names, "hand": hand, "labels": labels(text)})

    def train(self, left_out=lambda row: False):
        """The model of every head of a sentence, from all rows but those left out."""
        models = {}
        for head in SENTENCE_HEADS:
            chosen = [at for at, row in enumerate(self.rows) if row["labels"].get(head) is not None and not left_out(row)]
            rows = [self.rows[at] for at in chosen]
            weights = [SENTENCE_WEIGHT[row["set"]] for row in rows]
            models[head] = fit(self.matrix, chosen, [bool(row["labels"][head]) for row in rows], weights, PENALTY_SENTENCE, [row["hand"] for row in rows], LEAST_SENTENCES)
        return models


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def training_sentences():
    """Returns the sentences of `training/` with the labels that count."""
    return list(read_training_sentences())


def read_training_sentences():
    settled = {line["id"]: line for line in lines_of(TRAINING / "disagreements.jsonl")}
    for path in sorted((TRAINING / "sentences").glob("*.jsonl")):
        for line in lines_of(path):
            line = {**line, **{key: settled[line["id"]][key] for key in ("ask", "p", "meet", "who")}} if line["id"] in settled else line
            yield line["text"], {"asks": line["ask"], "task": line["p"], "meets": line["meet"], "others": int(line["who"] == "other")}


def training_mails():
    return [mail for path in sorted((TRAINING / "mails").glob("*.jsonl")) for mail in lines_of(path)]


def labelled_mails():
    """Returns the mails of `training/` with their categories, as the sets of mails have them."""
    labels = {line["id"]: line for line in lines_of(TRAINING / "mail_labels.jsonl")}
    chosen = ("category", "spam", "phishing")
    return [{**mail, **{key: labels[mail["id"]][key] for key in chosen}, "weight": TRAINING_MAIL} for mail in training_mails()]


def squeezed(text):
    return re.sub(r"\W+", " ", text).strip().lower()


def overlap(text, marked):
    """Whether one of the marked stretches is this sentence, part of it, or holds it."""
    text = squeezed(text)
    return int(any(text and (one in text or text in one) for one in map(squeezed, marked) if one))


def training_labels(mail):
    return lambda text: {"asks": overlap(text, mail["asks"]), "meets": overlap(text, mail["meet"]), "others": overlap(text, mail["others"])}


def mailex_labels(mail):
    def spans(wanted):
        return [trigger["span"] for trigger in mail["triggers"] if wanted(trigger["type"])]

    asked, met = spans(lambda kind: kind.startswith("Request")), spans(lambda kind: "Meeting" in kind)
    return lambda text: {"asks": int(any(span in text for span in asked)), "meets": int(any(span in text for span in met))}


class Data:
    """Every set of mails, with the signals of its rows. Sentences in them are scored by the given weights."""

    def __init__(self, program, data, sentence_models):
        self.program, self.sentence_models = program, sentence_models
        self.gaia = lines_of(data / "gaia_triage/dev.jsonl")
        self.letters = letters() + labelled_mails()
        with tempfile.TemporaryDirectory() as folder:
            weights = Path(folder) / "weights.txt"
            weights.write_text(written(sentence_models), encoding="utf-8")
            read = lambda mails: signals(program, ["mails", str(weights)], mails)
            self.gaia_signals, self.letters_signals = read(self.gaia), read(self.letters)
            zipfile.ZipFile(data / "spamassassin/dev.zip").extractall(folder)
            files = {path.name: path for path in Path(folder).rglob("*.eml")}
            rows = list(csv.DictReader((data / "spamassassin/labels.csv").read_text().splitlines()))
            self.raw = [row["label"] for row in rows]
            self.raw_signals = read([{"id": 0, "file": str(files[row["file"]])} for row in rows])
        names = Names([mail["body"] for mail in self.gaia])
        self.mail_rows = Rows(self.gaia_signals + self.letters_signals + self.raw_signals, names)


def label(mail, head):
    return mail["category"] == CATEGORIES[head] if head in CATEGORIES else bool(mail[head])


# Weights of old mail: a mail of 2002 says little about one of today, and most are from the same few lists.
OLD_MAIL = {"spam": 0.3, "promotes": 0.6}


def train(data, gaia=None, raw=None, heads=MAIL_HEADS):
    """The model of every head: those of sentences as given, those of mails from some of the rows (indexes) or all."""
    models = dict(data.sentence_models)
    for head in heads:
        chosen = list(range(len(data.gaia))) if gaia is None else list(gaia)
        labels = [label(data.gaia[at], head) for at in chosen]
        weights = [1.0] * len(chosen)
        for at, mail in enumerate(data.letters):
            # What is spam or phishing in the public sets, these mails know nothing of.
            if head in ("spam", "phishing") and "weight" in mail:
                continue
            # Whether a seller's pressure counts as phishing is a matter of taste, so our own letters do not decide it.
            if not (head == "phishing" and mail["category"] == "PROMOTIONAL" and not mail["spam"] and not mail["phishing"]):
                chosen, labels, weights = chosen + [len(data.gaia) + at], labels + [label(mail, head)], weights + [mail.get("weight", OURS)]
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
        bias, weight = models.get(head, (0.0, {}))
        out.append(f"[{head} {bias:.4g}]\n")
        kept = {name: value for name, value in weight.items() if abs(value) >= 0.03}
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
    models = Sentences(options.reader, options.data).train()
    text = written(train(Data(options.reader, options.data, models)))
    WEIGHTS.write_text(text, encoding="utf-8")
    print(f"{WEIGHTS}: {len(text)} bytes, {text.count(chr(10))} lines", file=sys.stderr)


if __name__ == "__main__":
    main()
