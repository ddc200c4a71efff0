#!/usr/bin/env python3
"""Scores what the program makes of the mailboxes in tests/mailboxes, through the path that mail takes.

Each mailbox is laid out as a Maildir with its Sent folder, read by `adjutant once` at the moment its person sits down,
and compared with the expectations that were frozen before the reading was tuned. The program is asked only what a
person would ask it: `tasks --json` and `mail --json`.

    scripts/eval_mailboxes.py BINARY [NAME ...] [--show]
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from datetime import datetime
from email import message_from_bytes
from email.policy import default as POLICY
from email.utils import parsedate_to_datetime
from pathlib import Path
from zoneinfo import ZoneInfo

REPO = Path(__file__).resolve().parent.parent
MAILBOXES = REPO / "tests" / "mailboxes"
GOALS = {"wanted tasks found": 0.90, "opened tasks wanted": 0.85, "quiet mails quiet": 0.92, "named dates right": 0.90, "high found": 0.85, "high deserved": 0.85,
         "drafts usable as written": 0.80, "no draft elsewhere": 1.00, "settled matters closed or flagged": 0.90, "invitations at the time asked": 0.95}
WITHOUT_GOAL = ("wanted drafts made",)
FAKETIME = [Path(f"/usr/lib/{arch}-linux-gnu/faketime/libfaketimeMT.so.1") for arch in ("x86_64", "aarch64")]


def lay_out(source, home):
    """Writes the mails as a Maildir with a Sent folder, each file dated as its mail is."""
    for part in ("inbox", "sent"):
        folder = home / "mail" / (".Sent" if part == "sent" else "")
        for sub in ("new", "cur", "tmp"):
            (folder / sub).mkdir(parents=True, exist_ok=True)
        for path in sorted((source / part).glob("*.eml")):
            raw = path.read_bytes()
            date = message_from_bytes(raw, policy=POLICY)["Date"]
            at = parsedate_to_datetime(str(date)).timestamp()
            target = folder / "cur" / f"{int(at)}.{path.stem}.host:2,S"
            target.write_bytes(raw)
            os.utime(target, (at, at))
    if (source / "files").is_dir():
        shutil.copytree(source / "files", home / "data" / "files")


def configure(source, home, name):
    me = tomllib.loads((source / "me.toml").read_text(encoding="utf-8"))
    now = datetime.fromisoformat(me.pop("now"))
    lines = ["[me]"] + [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in me.items()]
    lines += ["", "[[account]]", 'name = "mail"', 'path = "mail"', f'address = "{me["addresses"][0]}"', f'trusted_servers = ["mx.{name}.example"]']
    (home / "adjutant.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return me, now


class Program:
    def __init__(self, binary, home, now):
        library = next((path for path in FAKETIME if path.exists()), None)
        if library is None:
            sys.exit("libfaketime is missing: apt-get install libfaketime")
        self.command = [str(binary), "--home", str(home)]
        utc = now.astimezone(ZoneInfo("UTC"))
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "TZ": "UTC", "LD_PRELOAD": str(library),
                            "FAKETIME": utc.strftime("@%Y-%m-%d %H:%M:%S"), "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def run(self, *words):
        ran = subprocess.run([*self.command, *words], env=self.environment, capture_output=True, text=True, encoding="utf-8")
        if ran.returncode not in (0, 4):
            sys.exit(f"{' '.join(words)} ended with {ran.returncode}:\n{ran.stderr}")
        return ran.stdout

    def ask(self, *words):
        return json.loads(self.run("--json", *words))


def plain(text):
    return re.sub(r"[\W_]+", " ", (text or "").lower()).strip()


def tells(task, words):
    """Whether the task's title or deciding sentence holds one of the words."""
    context = task.get("context") or {}
    said = plain(" ".join([task["objective"], str(context.get("evidence") or ""), str(context.get("subject") or "")]))
    return any(plain(word) in said for word in words)


def right_date(task, due, zone):
    deadline = (task.get("context") or {}).get("deadline")
    if not deadline:
        return False
    if "T" not in deadline:
        return deadline == due[:10]
    at = datetime.fromisoformat(deadline.replace("Z", "+00:00"))
    at = at.astimezone(zone) if at.tzinfo else at
    return at.strftime("%Y-%m-%dT%H:%M") == due if "T" in due else at.strftime("%Y-%m-%d") == due


def message_ids(source):
    ids = {}
    for path in [*source.glob("inbox/*.eml"), *source.glob("sent/*.eml")]:
        found = message_from_bytes(path.read_bytes(), policy=POLICY)["Message-ID"]
        ids[str(found or "").strip().strip("<>")] = f"{path.parent.name}/{path.name}"
    return ids


def moved_dates(expected):
    """Returns the dates to which later mails move the tasks of a mail, as the expectations of those mails say."""
    moved = {}
    for line in expected:
        if line.get("change", "").startswith("new date "):
            moved.setdefault(line["follows"], []).append(line["change"].removeprefix("new date "))
    return moved


# What tells in a draft that a mail has arrived.
ARRIVED = re.compile(r"arrived|received|angekommen|erhalten|התקבל|קיבלתי")
MONTHS = "January February March April May June July August September October November December".split()


# In front of the names of attached files in the text of a draft.
ATTACHED = "\nattached: "


def drafts_of(task):
    """Returns the texts of the answers that were prepared for a task, whether they are stored or only planned, with the files that go with
    them."""
    texts = []
    for step, key in (("draft_reply", "draft"), ("answer_invitation", "text"), ("send_reply", "text")):
        output = (task.get("tool_output") or {}).get(step) or {}
        output = output.get("planned") or output
        if isinstance(output, dict) and output.get(key) and (step != "send_reply" or output.get("attached")):
            texts.append(output[key] + "".join(ATTACHED + name for name in output.get("attached") or []))
    return texts


def names_time(text, at):
    """Whether a draft names this day and hour on one line, in any of the usual forms."""
    at = datetime.fromisoformat(at)
    days = [f"{at.day}.{at.month}.", f"{at.day:02}.{at.month:02}.", f"{at.day} {MONTHS[at.month - 1]}", f"{at.day:02} {MONTHS[at.month - 1]}",
            f"{MONTHS[at.month - 1]} {at.day}", at.strftime("%Y-%m-%d")]
    hours = [f"{at.hour:02}:{at.minute:02}", f"{at.hour}:{at.minute:02}", f"{at.hour}.{at.minute:02}"]
    said = lambda line, words: any(re.search(rf"(?<![\d–]){re.escape(word)}", line) for word in words)
    return any(said(line, days) and said(line, hours) for line in text.splitlines())


def is_usable(text, line, mail):
    """Whether a draft could be sent as it stands: it does what a careful assistant would do, says what is true, leaves no gap, and is in the
    language of the mail."""
    kind, meeting = line.get("draft", "none"), line.get("meeting") or {}
    is_hebrew = lambda said: sum("א" <= letter <= "ת" for letter in said) * 3 > sum(letter.isalpha() for letter in said)
    if "…" in text or is_hebrew(text) != is_hebrew(mail):
        return False
    if kind == "send file":
        return f"{ATTACHED}{line['says']}" in text if "says" in line else False
    if kind == "earlier answer":
        return line["says"] in text
    if kind == "decline":
        return bool(re.search("Declined|not possible|have to decline|nicht möglich|leider|לצערי", text))
    if kind == "confirm":
        return bool(ARRIVED.search(text))
    if kind in ("accept", "propose") and meeting.get("best"):
        return names_time(text, meeting["best"])
    if kind == "propose":
        return bool(re.search(r"\d[:.]\d\d", text)) and not any(names_time(text, asked) for asked in meeting["asked"])
    return False


def message_texts(task, step, key):
    """Returns the text of a message that was prepared in a step, whether it waits, was sent or is only planned."""
    output = (task.get("tool_output") or {}).get(step) or {}
    output = output.get("planned") or output
    return [output[key]] if isinstance(output, dict) and output.get(key) else []


def judge_meetings(expected, opened, add, tell):
    """Counts the mails about a meeting that wait for an answer and are answered for the time that suits: the invitation, or else the answer,
    names it. Where none of the times suits, nobody is invited to one of them."""
    for line in expected:
        meeting = line.get("meeting")
        if not meeting or line.get("draft", "none") == "none":
            continue
        tasks = opened.get(line["file"], [])
        invited = [text for task in tasks for text in message_texts(task, "send_calendar_invite", "text")]
        answered = [text for task in tasks for text in drafts_of(task)]
        if meeting.get("best"):
            right = any(names_time(text, meeting["best"]) for text in invited or answered)
        else:
            right = not any(names_time(text, asked) for text in invited for asked in meeting["asked"])
        add("invitations at the time asked", right)
        if not right:
            tell(f"MEETING  {line['file']}: {meeting}, got: {invited or answered} {[task['objective'] for task in tasks]}")


def judge_settled(expected, opened, add, tell):
    """Counts the tasks whose matter a later mail settles (answered, withdrawn, solved): the task is closed, or a note on it says so."""
    for line in expected:
        tasks = opened.get(line.get("follows"), [])
        if line.get("change") not in ("answered", "withdrawn", "solved") or not tasks:
            continue
        settled = any(task["status"] in ("DONE", "CANCELLED") or (task.get("context") or {}).get("notes") for task in tasks)
        add("settled matters closed or flagged", settled)
        if not settled:
            tell(f"OPEN     {line['follows']}: {line['change']} by {line['file']}, got: {[(task['status'], task['objective']) for task in tasks]}")


def judge_drafts(expected, opened, texts, add, tell):
    """Counts the drafts that can be sent as written, and the mails that rightly have none."""
    for line in expected:
        file, kind = line["file"], line.get("draft", "none")
        drafts = [text for task in opened.get(file, []) for text in drafts_of(task)]
        for text in drafts:
            usable = is_usable(text, line, texts[file])
            add("drafts usable as written", usable)
            if not usable:
                tell(f"DRAFT    {file}: {kind} expected, got: {text!r}")
        if kind == "none":
            add("no draft elsewhere", not drafts)
        else:
            add("wanted drafts made", drafts)


def judge(expected, opened, texts, zone, tell):
    """Counts (right, of) for each measure over one mailbox."""
    count = {name: [0, 0] for name in [*GOALS, *WITHOUT_GOAL]}
    moved = moved_dates(expected)

    def add(name, right):
        count[name][0] += bool(right)
        count[name][1] += 1

    for line in expected:
        file, wanted = line["file"], line["tasks"]
        left = list(opened.get(file, []))
        for want in wanted:
            alone = len(wanted) == 1 and len(left) == 1
            found = next((task for task in left if tells(task, want["words"])), left[0] if alone and not line["quiet"] else None)
            add("wanted tasks found", found)
            if found is None:
                tell(f"MISSED   {file}: {want['about']}  (opened: {[task['objective'] for task in left]})")
                continue
            left.remove(found)
            add("opened tasks wanted", True)
            if want["due"]:
                right = any(right_date(found, due, zone) for due in [want["due"], *moved.get(file, [])])
                add("named dates right", right)
                if not right:
                    tell(f"DATE     {file}: {want['due']} expected, {(found.get('context') or {}).get('deadline')}: {found['objective']}")
            high = found["priority"] in ("high", "critical")
            if want["high"]:
                add("high found", high)
            if high:
                add("high deserved", want["high"])
            if high != want["high"]:
                tell(f"PRIORITY {file}: {found['priority']}, {'high' if want['high'] else 'not high'} expected: {found['objective']}")
        for task in left:
            add("opened tasks wanted", False)
            if task["priority"] in ("high", "critical"):
                add("high deserved", False)
            tell(f"UNWANTED {file}: {task['objective']}  ({line['why']})")
        if line["quiet"]:
            add("quiet mails quiet", not opened.get(file))
    judge_settled(expected, opened, add, tell)
    judge_drafts(expected, opened, texts, add, tell)
    judge_meetings(expected, opened, add, tell)
    return count


def mail_texts(source):
    """Returns the own words of each mail."""
    texts = {}
    for path in [*source.glob("inbox/*.eml"), *source.glob("sent/*.eml")]:
        body = message_from_bytes(path.read_bytes(), policy=POLICY).get_body(("plain", "html"))
        texts[f"{path.parent.name}/{path.name}"] = body.get_content() if body else ""
    return texts


def score(binary, name, show):
    source = MAILBOXES / name
    expected = [json.loads(line) for line in (source / "expected.jsonl").read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "home"
        home.mkdir()
        lay_out(source, home)
        me, now = configure(source, home, name)
        program = Program(binary, home, now)
        program.run("once")
        tasks = program.ask("tasks", "list", "--all", "--limit", "1000")
        ids, opened = message_ids(source), {}
        for task in tasks if isinstance(tasks, list) else tasks["tasks"]:
            file = ids.get(task["source"].removeprefix("email:").strip("<>"))
            opened.setdefault(file or task["source"], []).append(task)
        return judge(expected, opened, mail_texts(source), ZoneInfo(me["time_zone"]), (lambda line: print(f"  {line}")) if show else (lambda line: None))


def print_row(label, count, row):
    for name, goal in GOALS.items():
        right, of = count[name]
        share = right / of if of else 1.0
        row(f"{label}: {name}", f"{share:.3f}", f"{right} of {of}", f">= {goal:.2f}", "ok" if share >= goal else "MISS")
    for name in WITHOUT_GOAL:
        right, of = count[name]
        row(f"{label}: {name}", f"{right / of if of else 1.0:.3f}", f"{right} of {of}")


def score_all(binary, row, names=None, show=False):
    """Prints every measure for each mailbox and for all together."""
    pooled = {name: [0, 0] for name in [*GOALS, *WITHOUT_GOAL]}
    for name in names or sorted(path.name for path in MAILBOXES.iterdir() if path.is_dir()):
        count = score(binary, name, show)
        for measure, (right, of) in count.items():
            pooled[measure] = [pooled[measure][0] + right, pooled[measure][1] + of]
        print_row(f"mailbox {name}", count, row)
    print_row("mailboxes, pooled", pooled, row)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("binary", type=Path)
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--show", action="store_true", help="print every difference")
    options = arguments.parse_args()

    def row(name, value, spread="", beside="", verdict=""):
        print(f"{name:<44} {value:>9} {spread:>15} {beside:>13}  {verdict}".rstrip())

    score_all(options.binary.resolve(), row, options.names, options.show)


if __name__ == "__main__":
    main()
