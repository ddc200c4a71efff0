#!/usr/bin/env python3
"""Runs the long test campaigns and prints one table of what they did and found.

    scripts/crash.py           every campaign at a count that fits into 90 minutes
    scripts/crash.py --long    the full counts, in parts; finished parts are stored, and a second start continues after them

A campaign is a test whose counts are set by environment variables. It prints a line `campaign name=… asked=… …` with the
counts it looks for; the table shows a dash for those it does not. A campaign that fails has a row of its own and makes
the exit code 1.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

COLUMNS = ["asked", "run", "deaths", "places", "lost", "twice", "unapproved", "stuck"]

# The name, the test filter, the settings of `make crash`, those of `make crash-long`, and how many parts the latter is split into.
CAMPAIGNS = [
    ("whole homes", "test(whole_homes)", {"IT_CASES": 300}, {"IT_CASES": 2000}, 20),
    ("places to die, Maildir", "test(dying_at_every_place_loses)", {"IT_PLACES": 1000, "IT_MAILS": 4}, {"IT_PLACES": 1000, "IT_MAILS": 200}, 1),
    ("kills while sending, Maildir", "test(killed_at_random_while_it_sends)", {"IT_KILLS": 100, "IT_MAILS": 12}, {"IT_KILLS": 2000, "IT_MAILS": 40}, 20),
    ("kills while reading, Maildir", "test(/^crash::/)", {"IT_KILLS": 40}, {"IT_KILLS": 100}, 1),
    ("restores", "test(/^restore::/)", {"IT_CASES": 30}, {"IT_CASES": 300}, 3),
    ("lives of a Maildir", "test(whatever_becomes_of_the_files)", {"IT_CASES": 100}, {"IT_CASES": 500}, 5),
    ("ambiguous sends, Maildir", "test(ambiguous_sends_are)", {"IT_CASES": 50}, {"IT_CASES": 500}, 1),
    ("transports", "test(/^transport::/)", {"IT_CASES": 20, "IT_ROUNDS": 1, "IT_PATIENCE": 1}, {"IT_CASES": 200, "IT_ROUNDS": 10, "IT_PATIENCE": 60}, 1),
    ("second thoughts", "test(/^second_thoughts::/)", {"IT_CASES": 200}, {"IT_CASES": 2000}, 2),
    ("approvals by number", "test(what_is_approved_by_number)", {"IT_CASES": 300}, {"IT_CASES": 2000}, 4),
    ("attacker", "test(an_attacker_gets)", {"IT_CASES": 100_000}, {"IT_CASES": 100_000}, 1),
    ("tampering", "test(tampering::)", {"IT_CASES": 1000}, {"IT_CASES": 10_000}, 1),
    ("64 yeses at once", "test(many_doors_at_once)", {"IT_CASES": 50}, {"IT_CASES": 200}, 1),
    ("hostile names", "test(hostile_names)", {"IT_CASES": 2000}, {"IT_CASES": 5000}, 1),
    ("malformed replies", "test(malformed_replies)", {"IT_CASES": 200}, {"IT_CASES": 1000}, 1),
    ("kills of a team", "test(killed_with_five_workers)", {"IT_TEAM_KILLS": 50}, {"IT_TEAM_KILLS": 500}, 2),
    ("places to die, Gmail", "test(dying_at_every_place_on_gmail)", {"IT_PLACES": 40, "IT_MAILS": 4}, {"IT_PLACES": 1000, "IT_MAILS": 8}, 1),
    ("kills, Gmail", "test(killed_at_random_on_gmail)", {"IT_KILLS": 40, "IT_MAILS": 8}, {"IT_KILLS": 500, "IT_MAILS": 12}, 5),
    ("ambiguous sends, Gmail", "test(ambiguous_sends_through_gmail)", {"IT_CASES": 10}, {"IT_CASES": 500}, 5),
    ("schedules, Gmail", "test(gmail_schedules)", {"IT_CASES": 30}, {"IT_CASES": 300}, 3),
    ("reminders", "test(each_is_shown_at_its_time)", {"IT_CASES": 5000}, {"IT_CASES": 50000}, 5),
    ("broken rules files", "test(either_it_is_whole)", {"IT_CASES": 200}, {"IT_CASES": 2000}, 5),
    ("quota, Gmail", "test(gmail_quota)", {"IT_MAILS": 200}, {"IT_MAILS": 1000}, 1),
]

# Campaigns that count no mails: they pass or fail.
CHECKS = [
    ("a bad value in every column", "test(/^unreadable_rows::/)", {"IT_CASES": 100}, {"IT_CASES": 100_000}),
    ("doubling", "test(/^linear_time::/)", {"IT_TOKENS": "all", "IT_CASES": 50}, {"IT_TOKENS": "all", "IT_CASES": 300}),
    ("memory", "test(memory_contract::) | test(memory_server::)", {"IT_CASES": 200, "IT_KILLS": 10}, {"IT_CASES": 2000, "IT_KILLS": 30}),
    ("imitations and forgeries", "test(no_imitation_buries) | test(every_forgery) | test(injected_mails)", {"IT_CASES": 300}, {"IT_CASES": 1000}),
    ("edits of the rules", "test(fuzzed_edits) | test(killed_at_each_step) | test(night_calendar)", {"IT_CASES": 300}, {"IT_CASES": 5000}),
    ("a model's server", "test(worked_with_a_real_server)", {"IT_PEER": "short"}, {"IT_PEER": "long"}),
]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--long", action="store_true", help="the full counts, taken up again where they stopped")
    arguments.add_argument("--only", metavar="WORDS", help="only campaigns whose name has these words")
    arguments.add_argument("--again", action="store_true", help="forget what an earlier long run has done")
    options = arguments.parse_args()
    rows, failed = [], False
    for campaign in CAMPAIGNS:
        if options.only and options.only not in campaign[0]:
            continue
        row = run_long(campaign, options.again) if options.long else run_once(campaign[0], campaign[1], campaign[2], None)
        failed |= bool(row.get("failed"))
        rows.append(row)
        print_table(rows[-1:], header=False)
    for name, tests, short, full in CHECKS:
        if options.only and options.only not in name:
            continue
        row = run_once(name, tests, full if options.long else short, None, counts=False)
        failed |= bool(row.get("failed"))
        rows.append(row)
        print_table(rows[-1:], header=False)
    print()
    print_table(rows, header=True)
    sys.exit(1 if failed else 0)


def run_once(name, tests, knobs, seed, counts=True):
    """Runs the tests of one campaign. Returns the sum of what they report. With `counts`, a campaign that reports nothing has failed."""
    environment = {**os.environ, **{key: str(count) for key, count in knobs.items()}}
    if seed is not None:
        environment["IT_SEED"] = str(seed)
    command = ["cargo", "nextest", "run", "--locked", "--no-fail-fast", "--no-capture", "-E", tests]
    began = time.monotonic()
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    row = {"name": name, "minutes": (time.monotonic() - began) / 60}
    for line in ran.stdout.splitlines():
        if line.startswith("campaign "):
            for key, count in re.findall(r"(\w+)=(\d+)", line):
                row[key] = row.get(key, 0) + int(count)
    if ran.returncode != 0 or (counts and "run" not in row):
        row["failed"] = True
        log = cache() / f"crash-{re.sub(r'[^a-z]+', '-', name.lower())}.log"
        log.write_text(ran.stdout)
        print(f"{name} failed; everything it printed is in {log}", flush=True)
    return row


def run_long(campaign, again):
    """Runs the full count in parts and stores the result of each, so that a second start continues after the last one."""
    name, tests, _, knobs, parts = campaign
    commit = subprocess.run(["git", "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    kept = cache() / f"crash-long-{commit[:12]}.json"
    done = json.loads(kept.read_text()) if kept.exists() and not again else {}
    total = {"name": name}
    for part in range(parts):
        key = f"{name}/{part} of {parts}"
        if key not in done:
            done[key] = run_once(name, tests, share(knobs, parts), 1_000_003 * (part + 1))
            unfinished = kept.with_suffix(".tmp")
            unfinished.write_text(json.dumps(done, indent=1))
            unfinished.replace(kept)
        for field, count in done[key].items():
            if field in ("places", "reached"):
                total[field] = max(total.get(field, 0), count)
            elif field == "failed":
                total[field] = True
                done.pop(key, None)
                break
            elif field != "name":
                total[field] = total.get(field, 0) + count
    return total


def share(knobs, parts):
    """Returns the settings of one part. Only the first setting counts repetitions; the others say how large each one is."""
    first = next(iter(knobs))
    return {**knobs, first: -(-knobs[first] // parts)}


def print_table(rows, header):
    width = max(len(name) for name, *_ in CAMPAIGNS + CHECKS)
    if header:
        print(f"{'campaign':{width}}  " + "  ".join(f"{column:>11}" for column in COLUMNS) + f"  {'minutes':>8}")
    for row in rows:
        cells = [f"{row.get('reached')} of {row['places']}" if column == "places" and "places" in row else row.get(column, "-") for column in COLUMNS]
        end = "  FAILED" if row.get("failed") else ""
        print(f"{row['name']:{width}}  " + "  ".join(f"{str(cell):>11}" for cell in cells) + f"  {row.get('minutes', 0):8.1f}{end}", flush=True)


def cache():
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adjutant"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    main()
