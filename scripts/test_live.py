"""Reads a real Gmail account in observe mode and checks the invariants that must hold. Changes nothing in the mailbox.

LIVE_CLIENT_FILE  the JSON file of the Google client
LIVE_TOKEN_FILE   data/accounts/NAME.token of a home that is signed in
LIVE_SINCE        how far back to read: "today" (default) or days such as "2d"
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BAD = 1


def need(name):
    """Returns the path in an environment variable; exits when there is no such file."""
    path = os.environ.get(name)
    if not path or not pathlib.Path(path).is_file():
        sys.exit(f"missing: {name} (a file). Sign in first; see docs/gmail.md, \"Testing against a real account\"")
    return pathlib.Path(path)


def adjutant(program, home, *arguments, code=0):
    """Runs a command. Returns its JSON and its stderr; exits when its exit code is another than `code`."""
    run = subprocess.run([program, "--home", home, "--json", *arguments], capture_output=True, text=True, check=False)
    if run.returncode != code:
        sys.exit(f"{' '.join(arguments)}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
    return json.loads(run.stdout), run.stderr


def main(program):
    client, token = need("LIVE_CLIENT_FILE"), need("LIVE_TOKEN_FILE")
    secrets = [value for value in json.loads(token.read_text()).values() if isinstance(value, str) and len(value) > 25]
    since = os.environ.get("LIVE_SINCE", "today")
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([program, "init", home], check=True, stdout=subprocess.DEVNULL)
        pathlib.Path(home, "adjutant.toml").write_text(
            f'[[account]]\nname = "live"\nkind = "gmail"\nsince = "{since}"\nclient_file = "client.json"\n'
        )
        shutil.copy(client, pathlib.Path(home, "client.json"))
        folder = pathlib.Path(home, "data", "accounts")
        folder.mkdir(parents=True, mode=0o700)
        shutil.copy(token, folder / "live.token")
        (folder / "live.token").chmod(0o600)

        preview, _ = adjutant(program, home, "preview", "live")
        print(f"preview: {preview['mails']} mails, {preview['tasks']} tasks, {preview['sent']} sent")
        first, log = adjutant(program, home, "-vv", "once")
        print(f"first look: {first['entered']} mails entered, {first['unreadable']} unreadable")
        again, _ = adjutant(program, home, "once")
        health, _ = adjutant(program, home, "doctor")
        ledger, _ = adjutant(program, home, "mail", "list", "--limit", "100000")
        account = next(account for account in health["accounts"] if account["account"] == "live")

        ids = [row["source_key"] for row in ledger]
        checks = {
            "nothing was sent by a preview": preview["sent"] == 0,
            "every id is in the ledger once": len(ids) == len(set(ids)),
            "what was entered is in the ledger": len(ids) == first["entered"] + again["entered"],
            "0 unaccounted": health["unaccounted"] == 0,
            "the account observes": account["mode"] == "observe",
            "it is signed in": account["condition"]["signed_in"],
            "no effect was carried out": all(
                state in ("withheld", "void") or count == 0
                for state, count in health["effects"]
                if state in ("applied", "drafted", "sending", "sent", "unknown")
            ),
            "no token is in the log": not any(secret in log for secret in secrets),
            "the token file is private": (folder / "live.token").stat().st_mode & 0o777 == 0o600,
        }
    for check, holds in checks.items():
        print(f"{'ok  ' if holds else 'FAIL'} {check}")
    return 0 if all(checks.values()) else BAD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
