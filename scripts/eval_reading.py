"""The part of `make eval` that scores reading: triage, dates, Hebrew, spam, speed, and cross-validation of the learned weights."""

import csv
import json
import os
import statistics
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
STEPS = ["URGENT", "NEEDS_RESPONSE", "FYI", "PROMOTIONAL"]
PROMOTIONAL = {"bulk", "spam", "phishing"}
TRIAGE_GOALS = {"exact": 0.92, "within one": 0.95, "urgent against the rest": 0.92, "urgent recall": 0.95, "spam F1": 0.92, "phishing accuracy": 0.95}
INJECTION_SOURCES = {"llmail", "agentdojo", "spikee_mailbox"}
DUCKLING_NOW = "2013-02-12T04:30:00-02:00"
SHORT_MAILS = 20_000


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answers(command, inputs, out=None):
    """Sends lines to a program and returns its answers: one per line, unless `out` says how many to expect."""
    out = len(inputs) if out is None else out
    text = "".join(json.dumps(line) + "\n" for line in inputs)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) != out:
        raise SystemExit(f"{' '.join(command)}: {len(inputs)} lines in, {len(found)} out: {done.stderr[:300]}")
    return found


def f1(pairs):
    hit = sum(1 for said, true in pairs if said and true)
    both = sum(1 for said, _ in pairs if said) + sum(1 for _, true in pairs if true)
    return 2 * hit / both if both else 1.0


def category(answer):
    """Returns the category of the benchmark for an answer of `eval triage`."""
    if answer["personal"]:
        return "PERSONAL"
    if answer["task"]:
        return "URGENT" if answer["priority"] in ("high", "critical") else "NEEDS_RESPONSE"
    return "PROMOTIONAL" if answer["reason"] in PROMOTIONAL else "FYI"


def near(said, true):
    """Returns whether two categories are at most one step apart."""
    return said == true or (said in STEPS and true in STEPS and abs(STEPS.index(said) - STEPS.index(true)) <= 1)


def triage_scores(mails, given):
    both = [(category(answer), mail["category"]) for answer, mail in zip(given, mails)]
    urgent = [said == "URGENT" for said, true in both if true == "URGENT"]
    return {
        "exact": statistics.mean(said == true for said, true in both),
        "within one": statistics.mean(near(said, true) for said, true in both),
        "urgent against the rest": statistics.mean((said == "URGENT") == (true == "URGENT") for said, true in both),
        "urgent recall": statistics.mean(urgent) if urgent else 1.0,
        "spam F1": f1([(answer["spam"], mail["spam"]) for answer, mail in zip(given, mails)]),
        "phishing accuracy": statistics.mean(answer["phishing"] == mail["phishing"] for answer, mail in zip(given, mails)),
    }


def triage(program, data, row):
    path = data / "gaia_triage" / "dev.jsonl"
    if not path.is_file():
        return row("triage, gaia", "no data", verdict=f"{path} is not there")
    mails = lines_of(path)
    for name, value in triage_scores(mails, answers([program, "eval", "triage"], mails)).items():
        row(f"triage, fitted to the same mails: {name}", f"{value:.3f}", "", f"n = {len(mails)}")


def dates(program, data, row):
    for language in ["en", "he"]:
        path = data / "duckling_time" / f"{language}_dev.jsonl"
        if not path.is_file():
            row(f"dates, {language}", "no data", verdict=f"{path} is not there")
            continue
        said = [line for line in lines_of(path) if line["kind"] == "datetime"]
        given = answers([program, "eval", "dates"], [{"text": line["text"], "lang": language, "now": DUCKLING_NOW} for line in said])
        right = statistics.mean(answer["start"] == line["start"] for answer, line in zip(given, said))
        wrong = statistics.mean(answer["start"] is not None and answer["start"] != line["start"] for answer, line in zip(given, said))
        row(f"dates, {language}: right", f"{right:.3f}", "", f"n = {len(said)}", "ok" if right >= 0.8 else "MISS 0.80")
        row(f"dates, {language}: wrong", f"{wrong:.3f}", "", "", "ok" if wrong <= 0.02 else "MISS 0.02")


def hebrew(program, row):
    mails = lines_of(REPO / "tests" / "hebrew" / "mails.jsonl")
    given = answers([program, "eval", "triage"], mails)
    pairs = [(answer["task"], mail["task"]) for answer, mail in zip(given, mails)]
    row("tasks, frozen Hebrew mails: F1", f"{f1(pairs):.3f}", "", f"n = {len(mails)}")


def calls(program, data, row):
    """Scores the JSON that is read from texts of models: a wrong value is worse than a refused one."""
    path = data / "malformed_json" / "dev.jsonl"
    if not path.is_file():
        return row("calls", "no data", verdict=f"{path} is not there")
    texts = lines_of(path)
    given = answers([program, "eval", "calls"], texts)
    right = sum(1 for text, answer in zip(texts, given) if "value" in answer and answer["value"] == text["expected"])
    refused = sum(1 for answer in given if "error" in answer)
    wrong = len(texts) - right - refused
    row("calls: right", f"{right}", f"{wrong} wrong", f"n = {len(texts)}", "ok" if right >= 70 and wrong <= 5 else "MISS 70 and 5")


def injection(program, data, row):
    """Scores the warnings of text that is meant for a program: recall per source, and false alarms on benign mail."""
    path = data / "injection" / "dev.jsonl"
    if not path.is_file():
        return row("injection", "no data", verdict=f"{path} is not there")
    mails = lines_of(path)
    said = {mail["id"]: answer["pred"] for mail, answer in zip(mails, answers([program, "eval", "injection"], mails))}
    pooled = []
    for source in sorted({mail["source"] for mail in mails if mail["label"]}):
        found = [said[mail["id"]] for mail in mails if mail["source"] == source]
        is_judged = source in INJECTION_SOURCES
        pooled += found if is_judged else []
        row(f"injection, {source}: recall", f"{statistics.mean(found):.3f}", f"{sum(found)} mails", f"n = {len(found)}")
    recall = statistics.mean(pooled)
    row("injection, pooled: recall", f"{recall:.3f}", f"{sum(pooled)} mails", f"n = {len(pooled)}", "ok" if recall >= 0.6 else "MISS 0.60")
    benign = [mail for mail in mails if not mail["label"]]
    benign += [mail for path in sorted((REPO / "training" / "mails").glob("*.jsonl")) for mail in lines_of(path)]
    benign += [mail for mail in lines_of(REPO / "tests" / "warnings" / "mails.jsonl") if mail["warns"] != "injection"]
    if (data / "gaia_triage" / "dev.jsonl").is_file():
        benign += lines_of(data / "gaia_triage" / "dev.jsonl")
    if (data / "mailex" / "dev.jsonl").is_file():
        benign += [{"id": mail["id"], "body": mail["text"]} for mail in lines_of(data / "mailex" / "dev.jsonl")]
    false = [answer["pred"] for answer in answers([program, "eval", "injection"], benign)]
    if (data / "spamassassin" / "dev.zip").is_file():
        false += raw_mails(data, lambda mails: ham_warnings(program, [path for label, path in mails if label != "spam"], "injection"))
    share = statistics.mean(false)
    row("injection, benign mail: false alarms", f"{share:.4f}", f"{sum(false)} mails", f"n = {len(false)}", "ok" if share <= 0.01 else "MISS 0.01")


def ham_warnings(program, paths, kind):
    """Returns for each raw mail whether it is warned of, as `plan` reads it."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "adjutant.toml").write_text("")
        inputs = [{"id": at, "eml": path.read_bytes().decode("latin-1")} for at, path in enumerate(paths)]
        given = answers([program, "--home", home, "plan", "--jsonl"], inputs)
        return [any(warning["kind"] == kind for warning in answer.get("warnings", [])) for answer in given]


def raw_mails(data, work):
    """Calls `work` with the label and path of every SpamAssassin mail; the files exist only during the call."""
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(data / "spamassassin" / "dev.zip").extractall(folder)
        files = {path.name: path for path in Path(folder).rglob("*.eml")}
        labels = list(csv.DictReader((data / "spamassassin" / "labels.csv").read_text().splitlines()))
        return work([(line["label"], files[line["file"]]) for line in labels])


def listed(path):
    """Returns whether a mail names a mailing list in its headers."""
    head = path.read_bytes().split(b"\n\n", 1)[0].lower()
    return b"\nlist-id:" in head or b"\nlist-unsubscribe:" in head


def spam(program, data, row):
    if not (data / "spamassassin" / "dev.zip").is_file():
        return row("tasks from spam", "no data", verdict=f"{data / 'spamassassin'} is not there")

    def work(mails):
        with tempfile.TemporaryDirectory() as home:
            (Path(home) / "adjutant.toml").write_text("")
            # Latin-1 keeps every byte as one character, so bytes that are not UTF-8 survive.
            inputs = [{"id": at, "eml": path.read_bytes().decode("latin-1")} for at, (_, path) in enumerate(mails)]
            return [(label, listed(path), answer.get("is_task", False)) for (label, path), answer in zip(mails, answers([program, "--home", home, "plan", "--jsonl"], inputs))]

    read = raw_mails(data, work)
    for name, chosen in [
        ("spam", [task for label, _, task in read if label == "spam"]),
        ("hard_ham", [task for label, _, task in read if label == "hard_ham"]),
        ("easy_ham", [task for label, _, task in read if label == "easy_ham"]),
        ("List-Id or List-Unsubscribe", [task for _, is_listed, task in read if is_listed]),
    ]:
        share = statistics.mean(chosen)
        verdict = ("ok" if share <= 0.05 else "MISS 0.05") if name == "spam" else ""
        row(f"tasks from {name}", f"{share:.3f}", f"{sum(chosen)} mails", f"n = {len(chosen)}", verdict)


def took(command, inputs):
    """Returns the seconds that a program takes to answer."""
    begun = time.perf_counter()
    answers(command, inputs)
    return time.perf_counter() - begun


def speed(program, row):
    text = "Hi Alex, could you send me the Q3 report by Friday 5pm? We also need a room for the review on Monday. Thanks, Dana"
    # The whole life of a process: it starts, loads the weights, reads one line and ends.
    start = min(took([program, "eval", "tasks"], [{"id": 0, "text": text}]) for _ in range(9))
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "adjutant.toml").write_text("")
        command = [program, "--home", home, "plan", "--jsonl"]
        before = min(took(command, [{"id": 0, "text": "Hi"}]) for _ in range(3))
        inputs = [{"id": at, "text": f"{text} ({at})"} for at in range(SHORT_MAILS)]
        rate = SHORT_MAILS / (took(command, inputs) - before)
    row("reader: start, load, read a line, end", f"{start * 1000:.1f} ms", "", "<= 20 ms", "ok" if start <= 0.02 else "MISS")
    row("plan --jsonl: short mails", f"{rate:.0f}/s", "", ">= 2000/s", "ok" if rate >= 2000 else "MISS")


def learned(reader, data, row):
    """Scores the learned weights by five-fold cross-validation."""
    try:
        import cross_validation
        import train_reader
    except ModuleNotFoundError as missing:
        return row("cross-validation", "left out", verdict=f"needs {missing.name} (see scripts/train_reader.py)")
    sentences = train_reader.Sentences(reader, data)
    rows = train_reader.Data(reader, data, sentences.train())
    mean, spread = cross_validation.triage(reader, rows)
    for name, value in mean.items():
        goal = TRIAGE_GOALS[name]
        verdict = "ok" if value >= goal else f"MISS {goal}" + (", inside the spread" if value + spread[name] >= goal else "")
        row(f"triage, 5-fold: {name}", f"{value:.3f}", f"± {spread[name]:.3f}", f"n = {len(rows.gaia)}", verdict)
    mail_models = train_reader.train(rows)
    reads = "both readers" if os.environ.get("ENCODER_FOLDS") else "without the second reader: ENCODER_FOLDS is not set"
    requests, meetings = cross_validation.mailex(reader, sentences, mail_models)
    for name, pairs, goal in [
        ("tasks, parakweet", cross_validation.parakweet(reader, sentences, mail_models), 0.79),
        ("requests, mailex", requests, 0.87),
        ("meetings, mailex", meetings, 0.70),
    ]:
        value = f1(pairs)
        row(f"{name}, 5-fold: F1", f"{value:.3f}", "", f"n = {len(pairs)}", ("ok" if value >= goal else f"MISS {goal}") + f", {reads}")
    share, spread = cross_validation.spam(reader, rows, data)
    row("tasks from spam, 5-fold", f"{share:.3f}", f"± {spread:.3f}", "", "ok" if share <= 0.05 else "MISS 0.05")
