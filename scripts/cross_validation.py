"""Five-fold cross-validation of the learned parts: the weights are fitted to four fifths, and the program answers the remaining fifth.

The cues and phrases were chosen by hand by people who had seen the development data; no split undoes that.
"""

import os
import statistics
import tempfile
from pathlib import Path

import train_reader
from eval_reading import answers, f1, raw_mails, triage_scores



def ask(reader, kind, models, inputs, encoder="none"):
    """Returns the answers of the reader with the weights of these models, and with an encoder that has not seen the inputs, none ("none"), or the shipped one (None)."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "weights.txt"
        file.write_text(train_reader.written(models), encoding="utf-8")
        return answers([reader, "eval", kind, str(file)] + ([] if encoder is None else [str(encoder)]), inputs)


def fold_encoder(nth):
    """Returns the encoder that was trained without a fold: a file in the folder that ENCODER_FOLDS names (see `scripts/train_encoder.py --fold-assets`)."""
    folder = os.environ.get("ENCODER_FOLDS")
    return Path(folder) / f"fold{nth}.bin" if folder else "none"


def rest(count, part):
    """Returns the indexes below `count` that are not in `part`."""
    out = set(part)
    return [at for at in range(count) if at not in out]


def triage(reader, data, seed=1):
    """Returns the scores over all held-out mails, and their spread over the folds. The shipped encoder was never trained on these mails, so it answers as it does in the product."""
    held, folds = {}, []
    for part in train_reader.folds(len(data.gaia), seed):
        models = train_reader.train(data, gaia=rest(len(data.gaia), part))
        given = ask(reader, "triage", models, [data.gaia[at] for at in part], encoder=None)
        held.update(zip(part, given))
        folds.append(triage_scores([data.gaia[at] for at in part], given))
    mean = triage_scores(data.gaia, [held[at] for at in range(len(data.gaia))])
    return mean, {name: statistics.stdev(fold[name] for fold in folds) for name in mean}


def held_out(reader, sentences, mail_models, name, inputs, groups, seed=1):
    """Answers every text of a set by weights that were fitted without its group. Returns the answers in order."""
    order = sorted(set(groups))
    given = [None] * len(inputs)
    for nth, part in enumerate(train_reader.folds(len(order), seed)):
        out = {order[at] for at in part}
        chosen = [at for at, group in enumerate(groups) if group in out]
        models = dict(mail_models, **sentences.train(lambda row: row["set"] == name and groups[row["at"]] in out))
        texts = [{"id": at, "text": inputs[at]} for at in chosen]
        for at, answer in zip(chosen, ask(reader, "tasks", models, texts, fold_encoder(nth))):
            given[at] = answer
    return given


def parakweet(reader, sentences, mail_models):
    """Returns (said, true) for every sentence, held out."""
    texts = [text for text, _ in sentences.parakweet]
    given = held_out(reader, sentences, mail_models, "parakweet", texts, list(range(len(texts))))
    return [(answer["pred"], yes) for answer, (_, yes) in zip(given, sentences.parakweet)]


def mailex(reader, sentences, mail_models):
    """Returns (said, true) of requests and of meetings for every mail, with its whole thread held out."""
    mails = sentences.mailex
    given = held_out(reader, sentences, mail_models, "mailex", [mail["text"] for mail in mails], [mail["thread"] for mail in mails])
    requests = [(answer["pred"], mail["has_request"]) for answer, mail in zip(given, mails)]
    return requests, [(answer["meeting"], mail["has_meeting"]) for answer, mail in zip(given, mails)]


def spam(reader, data, folder, seed=1):
    """Returns the share of held-out spam that becomes a task, and its standard deviation."""
    shares = []

    def work(mails):
        for part in train_reader.folds(len(mails), seed):
            models = train_reader.train(data, raw=rest(len(mails), part))
            files = [{"file": str(mails[at][1])} for at in part if mails[at][0] == "spam"]
            shares.append([bool(answer["is_task"]) for answer in ask(reader, "plan", models, files)])

    raw_mails(folder, work)
    return statistics.mean(task for share in shares for task in share), statistics.stdev(map(statistics.mean, shares))
