"""The part of `make eval` that scores the memory: recall@10 of paraphrases hidden among all texts of the development data."""

import random
import tempfile
import zipfile
from pathlib import Path

import eval_reading

REPO = Path(__file__).resolve().parent.parent
PAIRS = REPO / "tests" / "paraphrases"
SETS = {"english": "2026-11-16-english", "everyday": "2026-11-16-everyday", "hebrew": "2026-11-16-hebrew"}
WAYS = ["words", "meaning", "both"]
DRAWS = 2000  # of the bootstrap
LONGEST = 8_000  # characters of a text
GOAL = 0.05  # by how much both together should exceed the better of the two


def pairs():
    """Yields (set, line number from 1, query, text) of every pair."""
    for name, file in SETS.items():
        for number, line in enumerate((PAIRS / f"{file}.psv").read_text(encoding="utf-8").splitlines(), 1):
            query, text = line.split("|")
            yield name, number, query, text


def sentences(data):
    """Yields the texts of every data set that exists, with its name."""
    for name in ["clinc150", "hwu64", "mailex", "duckling_time", "gaia_triage", "malformed_json"]:
        for path in sorted((data / name).glob("*dev.jsonl")):
            for row in eval_reading.lines_of(path):
                text = row.get("text") or row.get("input") or f"{row.get('subject')}\n{row.get('body')}"
                yield name, text
    path = data / "parakweet" / "dev.tsv"
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield "parakweet", line.split("\t", 1)[-1]
    for line in eval_reading.lines_of(REPO / "tests" / "hebrew" / "mails.jsonl"):
        yield "hebrew", " ".join(str(line.get(field) or "") for field in ["subject", "body", "text"])


def mails(program, data):
    """Yields the mails of the archives as the program parses them."""
    for name in ["mime_torture", "spamassassin"]:
        archive = data / name / "dev.zip"
        if not archive.is_file():
            continue
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(archive).extractall(folder)
            files = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
            for answer in eval_reading.answers([program, "eval", "mails"], [{"file": file} for file in files]):
                if "error" not in answer:
                    yield name, f"{answer['subject']}\n{answer['reply']}"


def interval(values):
    """Returns the 95 % bootstrap interval of the mean."""
    dice = random.Random(20261116)
    drawn = sorted(sum(dice.choices(values, k=len(values))) / len(values) for _ in range(DRAWS))
    return drawn[DRAWS * 25 // 1000], drawn[DRAWS * 975 // 1000 - 1]


def asked(recall, program, data):
    """Returns for each pair its set, its line and which ways of searching found it; and the number of other texts."""
    known = list(pairs())
    hidden = [text for _, text in [*sentences(data), *mails(program, data)] if text and text.strip()]
    lines = [{"id": f"p{n}", "text": text} for n, (_, _, _, text) in enumerate(known)]
    lines += [{"id": f"d{n}", "text": text[:LONGEST]} for n, text in enumerate(hidden)]
    lines += [{"id": f"p{n}", "query": query} for n, (_, _, query, _) in enumerate(known)]
    answers = eval_reading.answers([recall], lines, out=len(known))
    found = [{way: answer["id"] in answer[way] for way in WAYS} for answer in answers]
    return [(name, number, hit) for (name, number, _, _), hit in zip(known, found)], len(hidden)


def score(recall, program, data, row):
    """Prints the recall of all parts. Returns whether both ways together are anywhere worse than one of them alone."""
    hits, hidden = asked(recall, program, data)
    row("recall: texts the pairs are hidden among", f"{hidden}")
    below = False
    english = {"english", "everyday"}
    parts = [
        ("recall@10, English, hard", [hit for name, _, hit in hits if name == "english"]),
        ("recall@10, English, everyday", [hit for name, _, hit in hits if name == "everyday"]),
        ("recall@10, English", [hit for name, _, hit in hits if name in english]),
        ("recall@10, English, even lines only", [hit for name, number, hit in hits if name in english and number % 2 == 0]),
        ("recall@10, Hebrew", [hit for name, _, hit in hits if name == "hebrew"]),
        ("recall@10, all", [hit for _, _, hit in hits]),
    ]
    for title, part in parts:
        shares = {way: sum(hit[way] for hit in part) / len(part) for way in WAYS}
        for way in WAYS:
            low, high = interval([hit[way] for hit in part])
            row(f"{title}: by {way}", f"{shares[way]:.3f}", f"{low:.3f}..{high:.3f}", f"n = {len(part)}")
        better = max(shares["words"], shares["meaning"])
        miss = shares["both"] < better
        below |= miss
        verdict = "MISS, below a half" if miss else "ok" if shares["both"] - better >= GOAL else "not below, goal missed"
        row(f"{title}: both above the better half", f"{100 * (shares['both'] - better):+.1f}", gain(part, shares), "goal +5", verdict)
    return below


def gain(part, shares):
    """Returns the interval of the gain of both ways over the better one alone, in percentage points."""
    half = max(["words", "meaning"], key=lambda way: shares[way])
    low, high = interval([100.0 * (hit["both"] - hit[half]) for hit in part])
    return f"{low:+.1f}..{high:+.1f}"
