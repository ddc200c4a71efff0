"""The part of `make eval` that scores the intents of messages, also by weights that never saw them."""

import json
import subprocess
import sys
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
CHANGES = {"CREATE", "COMPLETE", "DELETE", "UPDATE"}
QUIET = ("oos", "other_domain")
GOAL, MOST_WRONG, CLEAR_GOAL = 0.90, 0.005, 0.95
MOST_TIME = 200e-6  # seconds for one message


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answers(program, lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([program, "eval", "intents"], input=text, capture_output=True, text=True, encoding="utf-8", check=True)
    found = [json.loads(line)["intent"] for line in done.stdout.splitlines()]
    if len(found) != len(lines):
        sys.exit(f"eval intents: {len(lines)} lines in, {len(found)} out")
    return found


def verdict(is_good, goal):
    return "ok" if is_good else f"MISS {goal}"


def score(program, data, row):
    for language in ["en", "he"]:
        lines = [line for line in lines_of(REPO / "tests/intents/clear.jsonl") if line["lang"] == language]
        right = sum(said == line["intent"] for said, line in zip(answers(program, lines), lines)) / len(lines)
        row(f"intents, frozen clear messages, {language}", f"{right:.3f}", "", f"n = {len(lines)}", verdict(right > CLEAR_GOAL, CLEAR_GOAL))
    for name in ["clinc150", "hwu64"]:
        path = data / name / "dev.jsonl"
        if not path.is_file():
            row(f"intents, {name}", "no data", verdict=f"{path} is not there")
            continue
        lines = lines_of(path)
        both = list(zip(answers(program, lines), lines))
        core = [said in line["gold"] for said, line in both if line["tier"] == "core"]
        right = sum(core) / len(core)
        row(f"intents, {name}, fitted to the same: accuracy", f"{right:.3f}", "", f"n = {len(core)}", verdict(right >= GOAL, GOAL))
        for tier in QUIET:
            wrong = [said in CHANGES for said, line in both if line["tier"] == tier]
            if wrong:
                share = sum(wrong) / len(wrong)
                row(f"intents, {name}, {tier}: wrong changes", f"{100 * share:.2f} %", f"{sum(wrong)} messages", f"n = {len(wrong)}", verdict(share <= MOST_WRONG, "0.5 %"))
        begun = time.perf_counter()
        answers(program, lines * 10)
        each = (time.perf_counter() - begun) / (len(lines) * 10)
        row(f"intents, {name}: time for a message", f"{each * 1e6:.0f} us", "", "<= 200 us", verdict(each <= MOST_TIME, "200 us"))


def validate(program, data):
    """Cross-validates the weights, if numpy and scipy are there: `make eval PYTHON=...`."""
    try:
        import numpy  # noqa: F401
        import scipy  # noqa: F401
    except ImportError:
        print("intents, held out: numpy and scipy are not there")
        return
    script = REPO / "scripts/train_intents.py"
    subprocess.run([sys.executable, script, data, "--program", program, "--validate"], check=True, stderr=subprocess.DEVNULL)
