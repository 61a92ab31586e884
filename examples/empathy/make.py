"""Write what invented people said about invented news, and train two tiny models on a part of it.

reactions.json has the layout in which Socratis is published. writer/ is a T5 that says why people
feel something, bart/ a BART that says how likely one reason is after another. Both learn from the
first 60 pairs; questions.csv asks about the other 80. Run it in this folder: python make.py
"""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from affectlab.models.reactions.prompt import PROMPT

HERE = Path(__file__).parent
THINGS = "the ferry|the library|the old mill|the school|the bridge|the choir|the market|the garden"
PLACES = "Elmford|Saltby|Upper Wick|Marrow|Dunmere"
NEWS = (
    "{place} closes {thing} after forty years",
    "{place} sells {thing} behind closed doors",
    "Volunteers in {place} have rebuilt {thing}",
    "In {place} {thing} opens tomorrow",
)
FELT = {
    "sad": ("it hurts to lose {thing}", "many will miss {thing}"),
    "angry": ("it is unfair what they did to {thing}", "nobody asked those who need {thing}"),
    "proud": ("so much skill went into {thing}", "they did it for {thing} by themselves"),
    "excited": ("they cannot wait to see {thing}", "something new begins at {thing}"),
}
"""What people feel at each of the news, first of all, and what they say of it."""
OPENINGS = ("They feel so because {}.", "Because {}.", "They would think that {}.")
SEEN, ASKED, PEOPLE = 60, 80, 6
WIDTH = 48


def people() -> tuple[dict[str, list[list[object]]], dict[str, str]]:
    """Let people react: mostly as the news tells, each in words of their own."""
    rng = random.Random(0)
    said: dict[str, list[list[object]]] = {}
    about = {}
    for k in range(SEEN + ASKED):
        pair, event = f"news{k:03d}", rng.randrange(len(NEWS))
        thing = rng.choice(THINGS.split("|"))
        caption = NEWS[event].format(thing=thing, place=rng.choice(PLACES.split("|")))
        about[pair] = thing
        said[pair] = []
        for worker in rng.sample(range(24), PEOPLE):
            kinds = list(FELT)
            word = kinds[event] if rng.random() < 0.6 else rng.choice(kinds)
            text = rng.choice(OPENINGS).format(rng.choice(FELT[word]).format(thing=thing))
            if rng.random() < 0.02:
                text += " Ask Emily Clark at emily.clark@example.org."
            written = word if rng.random() < 0.7 else rng.choice((word.title(), f"very {word}"))
            said[pair].append(
                [f"{pair}.jpg", caption, [written], [text], {"worker": f"w{worker:02d}"}]
            )
    return said, about


def cut(texts: list[str], specials: tuple[str, ...]) -> list[tuple[str, float]]:
    """Give whole words with log frequencies, and letters for what is not known."""
    counts = Counter(f"▁{word}" for text in texts for word in re.findall(r"\w+", text))
    letters = sorted({letter for text in texts for letter in text} - {" "})
    words = [(word, math.log(n / counts.total())) for word, n in counts.most_common()]
    known = {word for word, _ in words}
    rare = [(one, -20.0) for one in ("▁", *letters) if one not in known]
    return [(name, 0.0) for name in specials] + words + rare


def writer(prompts: list[str], texts: list[str]) -> None:
    """Train a T5 that has read these reasons, and save it."""
    words = transformers.T5TokenizerFast(
        vocab=cut([*prompts, *texts], ("<pad>", "</s>", "<unk>")), extra_ids=0
    )
    network = transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=len(words), d_model=WIDTH, d_kv=12, d_ff=96, num_layers=2, num_heads=4,
            dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
        )
    )  # fmt: skip
    train(network, [words(text)["input_ids"] for text in prompts],
          [words(text)["input_ids"] for text in texts], 0, 85, 4e-3)  # fmt: skip
    network.save_pretrained(HERE / "writer")
    words.save_pretrained(HERE / "writer")


def bart(texts: list[str], others: list[str]) -> None:
    """Train a BART to say one reason after another of the same, and save it."""
    specials = ("<s>", "<pad>", "</s>", "<unk>")
    found = Tokenizer(models.Unigram(cut([*texts, *others], specials), unk_id=3))
    found.pre_tokenizer = pre_tokenizers.Metaspace()
    found.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    words = transformers.PreTrainedTokenizerFast(
        tokenizer_object=found, bos_token="<s>", eos_token="</s>", cls_token="<s>",
        sep_token="</s>", pad_token="<pad>", unk_token="<unk>", model_max_length=64,
    )  # fmt: skip
    network = transformers.BartForConditionalGeneration(
        transformers.BartConfig(
            vocab_size=len(words), d_model=WIDTH, encoder_layers=2, decoder_layers=2,
            encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=96,
            decoder_ffn_dim=96, max_position_embeddings=64, bos_token_id=0, pad_token_id=1,
            eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2, dropout=0.0,
        )
    )  # fmt: skip
    train(network, [words(text)["input_ids"] for text in texts],
          [words(text)["input_ids"] for text in others], 1, 200, 2e-3)  # fmt: skip
    network.save_pretrained(HERE / "bart")
    words.save_pretrained(HERE / "bart")


def train(network, read, write, pad: int, steps: int, rate: float) -> None:
    """Take some steps on small batches."""
    rng = random.Random(1)
    chooser = torch.optim.AdamW(network.parameters(), lr=rate)
    pace = torch.optim.lr_scheduler.OneCycleLR(chooser, rate, total_steps=steps, pct_start=0.1)
    network.train()
    for _ in range(steps):
        rows = rng.choices(range(len(read)), k=24)
        tokens = padded([read[k] for k in rows], pad)
        loss = network(
            input_ids=tokens,
            attention_mask=(tokens != pad).long(),
            labels=padded([write[k] for k in rows], -100),
        ).loss
        chooser.zero_grad()
        loss.backward()
        chooser.step()
        pace.step()
    network.eval()


def padded(rows: list[list[int]], pad: int) -> torch.Tensor:
    """Make a table of rows of tokens."""
    longest = max(map(len, rows))
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])


def main() -> None:
    """Write the reactions, the questions and the models."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)
    said, about = people()
    (HERE / "reactions.json").write_text(json.dumps(said, indent=1), encoding="utf-8")
    (HERE / "about.json").write_text(json.dumps(about), encoding="utf-8")
    learnt, asked, cells = [], {}, {}
    for pair, entries in said.items():
        for _, caption, (written,), (text,), _ in entries:
            word = written.split()[-1].lower()
            if pair >= f"news{SEEN:03d}":
                asked[pair, word] = caption
                continue
            learnt.append((PROMPT.format(emotion=word, caption=caption), text))
            cells.setdefault((pair, word), []).append(text)
    with (HERE / "questions.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("stimulus", "emotion", "caption"))
        table.writerows((*key, caption) for key, caption in asked.items())
    print("training two small models, for about half a minute ...", flush=True)
    writer([prompt for prompt, _ in learnt], [text for _, text in learnt])
    two = [(a, b) for cell in cells.values() for a in cell for b in cell if a is not b]
    bart([a for a, _ in two], [b for _, b in two])
    print(f"{len(said)} pairs, {len(asked)} questions about {ASKED} of them; two models trained")


if __name__ == "__main__":
    main()
