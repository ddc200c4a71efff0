"""`make fuzz`: runs every fuzz target, one after the other, and prints a line for each: runs, runs per second, panics, over budget.

The targets are built with libFuzzer's instrumentation by the stable compiler (cargo-fuzz without a sanitizer). An input that
takes over 250 ms of CPU time there is tried again in an ordinary release build, which decides whether it is too slow.
An input that panics or is too slow is added to `fuzz/corpus`, so that `make test` tries it again.

SECONDS_EACH  per target (60)     RUNS   per target, whichever comes first (0: as many as there is time for)
TARGETS       which ones (all)    CACHE  where cargo-fuzz, the builds and the grown corpora are kept
"""

import hashlib, json, os, pathlib, re, shutil, subprocess, sys, time, tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZ = ROOT / "fuzz"
CARGO_FUZZ = "0.13.1"
LARGEST = 65536
ALL = ["mail", "ics", "authentication_results", "rules", "policy", "decision_file", "model_answer"]


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("CACHE") or pathlib.Path(home) / "adjutant")


def cargo_fuzz(folder):
    """Returns the path of the pinned cargo-fuzz, installing it into the cache if necessary."""
    binary = folder / "bin" / "cargo-fuzz"
    if not binary.exists():
        install = ["cargo", "install", "cargo-fuzz", "--version", CARGO_FUZZ, "--locked", "--root", str(folder)]
        subprocess.run(install, check=True)
    return binary


def build(folder):
    """Builds the instrumented targets and the plain replay. Returns the folder of the targets and the path of the replay."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(folder / "target")}
    subprocess.run([cargo_fuzz(folder), "fuzz", "build", "--sanitizer", "none"], cwd=ROOT, check=True, env=environment)
    plain = os.environ | {"CARGO_TARGET_DIR": str(folder / "plain")}
    subprocess.run(["cargo", "build", "--release", "--locked", "--example", "replay"], cwd=FUZZ, check=True, env=plain)
    host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True)).group(1)
    return folder / "target" / host / "release", folder / "plain" / "release" / "examples" / "replay"


def dictionary(folder):
    """Writes the dictionary of the fuzzer: everything that a mail may contain many times. Returns its path."""
    tokens = tomllib.loads((FUZZ / "tokens.toml").read_text())
    words = {word for place in tokens["place"] for word in [place["before"], *place["tokens"]]}
    lines = ["\"" + "".join(f"\\x{byte:02x}" for byte in word.encode()) + "\"" for word in sorted(words) if word]
    path = folder / "words.dict"
    path.write_text("\n".join(lines) + "\n")
    return path


def keep(target, content):
    """Adds an input to the corpus in the repository, under the hash of its content. Returns its path."""
    path = FUZZ / "corpus" / target / hashlib.sha256(content).hexdigest()[:16]
    path.write_bytes(content)
    return os.path.relpath(path, ROOT)


def campaign(target, targets, replay, folder, words, seconds, runs):
    """Runs one target until its time or its number of runs is used up. After a panic a new process continues."""
    grown, found = folder / "corpus" / target, folder / "found" / target
    for place in (grown, found):
        place.mkdir(parents=True, exist_ok=True)
    done, spent, panics = 0, 0.0, set()
    while spent < seconds and (not runs or done < runs):
        slow = found / "slow"
        slow.mkdir(exist_ok=True)
        command = [
            targets / target, grown, FUZZ / "corpus" / target, f"-max_len={LARGEST}", f"-dict={words}", "-print_final_stats=1",
            f"-max_total_time={max(1, round(seconds - spent))}", f"-artifact_prefix={found}/", "-timeout=60", "-rss_limit_mb=4096",
        ] + ([f"-runs={runs - done}"] if runs else [])
        start = time.monotonic()
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ | {"FUZZ_SLOW": str(slow)})
        spent += time.monotonic() - start
        log = ended.stderr.decode(errors="replace")
        count = re.search(r"stat::number_of_executed_units:\s*(\d+)", log) or (re.findall(r"#(\d+)", log) or [None])[-1]
        done += int(count.group(1) if hasattr(count, "group") else count or 0)
        if ended.returncode:
            artifacts = sorted(found.glob("crash-*")) + sorted(found.glob("timeout-*")) + sorted(found.glob("oom-*"))
            if not artifacts:
                sys.exit(f"{target} ended with {ended.returncode}:\n{log[-2000:]}")
            # Not added to the corpus yet: the next process would start with it and end at once.
            panics.update(artifact.read_bytes() for artifact in artifacts)
            for artifact in artifacts:
                artifact.unlink()
            print(log[-1500:], file=sys.stderr)
    over = []
    for suspect in sorted((found / "slow").glob("*")):
        if subprocess.run([replay, target, suspect], stdout=subprocess.DEVNULL).returncode:
            over.append(keep(target, suspect.read_bytes()))
        suspect.unlink()
    kept = [keep(target, content) for content in panics]
    return {"target": target, "runs": done, "runs_per_second": round(done / spent), "panics": kept, "over": over}


def main():
    seconds, runs = int(os.environ.get("SECONDS_EACH", "60")), int(os.environ.get("RUNS", "0"))
    chosen = os.environ.get("TARGETS", "").split() or ALL
    folder = cache() / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    targets, replay = build(folder)
    words = dictionary(folder)
    bad = 0
    print(f"{'target':<24} {'runs':>12} {'runs/s':>8} {'panics':>7} {'over budget':>12}", flush=True)
    for target in chosen:
        told = campaign(target, targets, replay, folder, words, seconds, runs)
        panics, over = len(told["panics"]), len(told["over"])
        print(f"{target:<24} {told['runs']:>12,} {told['runs_per_second']:>8,} {panics:>7} {over:>12}", flush=True)
        for path in told["panics"] + told["over"]:
            print(f"  {path}", flush=True)
        with open(folder / "results.jsonl", "a") as results:
            results.write(json.dumps(told) + "\n")
        bad += panics + over
    sys.exit(1 if bad else 0)


main()
