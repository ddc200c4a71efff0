"""Five-fold cross-validation of the learned parts: the weights are fitted to four fifths, and the program answers the remaining fifth.

The cues and phrases were chosen by hand by people who had seen the development data; no split undoes that.
"""

import statistics
import tempfile
from pathlib import Path

import train_reader
from eval_reading import answers, f1, raw_mails, triage_scores

HEADS = train_reader.HEADS


def ask(reader, kind, models, inputs):
    """Returns the answers of the reader with the weights of these models."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "weights.txt"
        file.write_text(train_reader.written(models), encoding="utf-8")
        return answers([reader, "eval", kind, str(file)], inputs)


def rest(count, part):
    """Returns the indexes below `count` that are not in `part`."""
    out = set(part)
    return [at for at in range(count) if at not in out]


def triage(reader, data, seed=1):
    """Returns the scores over all held-out mails, and their standard deviation over the folds."""
    shipped, held, folds = train_reader.train(data, heads=["asks"]), {}, []
    for part in train_reader.folds(len(data.gaia), seed):
        models = dict(shipped, **train_reader.train(data, gaia=rest(len(data.gaia), part), heads=HEADS[1:]))
        given = ask(reader, "triage", models, [data.gaia[at] for at in part])
        held.update(zip(part, given))
        folds.append(triage_scores([data.gaia[at] for at in part], given))
    mean = triage_scores(data.gaia, [held[at] for at in range(len(data.gaia))])
    return mean, {name: statistics.stdev(fold[name] for fold in folds) for name in mean}


def sentences(reader, data, seed=1):
    """Returns the pairs (predicted, true) of all held-out sentences, and the F1 of each fold."""
    shipped, pairs, each = train_reader.train(data, heads=HEADS[1:]), [], []
    for part in train_reader.folds(len(data.sentences), seed):
        models = dict(shipped, **train_reader.train(data, sentences=rest(len(data.sentences), part), heads=["asks"]))
        given = ask(reader, "tasks", models, [{"id": at, "text": data.texts[at]} for at in part])
        fold = [(answer["pred"], data.sentences[at][2]) for at, answer in zip(part, given)]
        pairs, each = pairs + fold, each + [f1(fold)]
    return pairs, each


def spam(reader, data, folder, seed=1):
    """Returns the share of held-out spam that becomes a task, and its standard deviation."""
    shipped, shares = train_reader.train(data), []

    def work(mails):
        for part in train_reader.folds(len(mails), seed):
            models = dict(shipped, **train_reader.train(data, raw=rest(len(mails), part), heads=["spam", "promotes"]))
            files = [{"file": str(mails[at][1])} for at in part if mails[at][0] == "spam"]
            shares.append([bool(answer["is_task"]) for answer in ask(reader, "plan", models, files)])

    raw_mails(folder, work)
    return statistics.mean(task for share in shares for task in share), statistics.stdev(map(statistics.mean, shares))
