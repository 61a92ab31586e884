"""What generators write, beside loops over single tokens and transformers' own generation."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.models.reactions.tiny import QUERIES

from affectlab.core.errors import InputError
from affectlab.models.devices import quiet_transformers
from affectlab.models.reactions import Decoding, FewShot, ReactionGenerator
from affectlab.models.reactions.items import PersonReaction, ReactionItem
from affectlab.models.reactions.prompt import reaction_prompt
from affectlab.protocols import load_protocol

REACTIONS = ("Homes are lost.", "It is a baby, and babies make people happy", "why", "Cup won.")
SAMPLED = Decoding(temperature=1.2, top_p=0.9, n=3, seed=5)


def parts(place: str) -> tuple[Any, Any]:
    """The network and what prepares its inputs, as transformers loads them."""
    import transformers

    with quiet_transformers():
        if "blip2" in place:
            return (
                transformers.Blip2ForConditionalGeneration.from_pretrained(place).eval(),
                transformers.Blip2Processor.from_pretrained(place),
            )
        return (
            transformers.T5ForConditionalGeneration.from_pretrained(place).eval(),
            transformers.AutoTokenizer.from_pretrained(place),
        )


def inputs_of(processor: Any, item: ReactionItem) -> dict[str, Any]:
    """One item alone, by the processor of the checkpoint."""
    text = reaction_prompt(item)
    if hasattr(processor, "image_processor"):
        picture = Image.open(str(item.image)).convert("RGB")
        return dict(processor(images=picture, text=text, return_tensors="pt"))
    return dict(processor(text, return_tensors="pt"))


def by_hand(network: Any, inputs: dict[str, Any], most: int) -> tuple[list[int], float]:
    """Take the likeliest token again and again, all computed anew each time."""
    written, total = [0], 0.0
    while len(written) <= most:
        with torch.no_grad():
            logits = network(**inputs, decoder_input_ids=torch.tensor([written])).logits[0, -1]
        log_p = logits.double() - torch.logsumexp(logits.double(), 0)
        token = int(log_p.argmax())
        total += float(log_p[token])
        written.append(token)
        if token == 1:
            break
    return written[1:], total


@pytest.mark.parametrize("kind", ["blip2", "t5"])
def test_greedy_is_the_loop_by_hand(
    kind: str, items: list[ReactionItem], request: pytest.FixtureRequest
) -> None:
    place, items = request.getfixturevalue(kind), items[::2]
    network, processor = parts(place)
    words = getattr(processor, "tokenizer", processor)
    found = ReactionGenerator(place, text_only=kind == "t5", batch_size=4).write(items)
    assert len({one.written.text for one in found}) > 2
    for item, one in zip(items, found, strict=True):
        tokens, total = by_hand(network, inputs_of(processor, item), 19)
        assert one.item == item
        assert one.written.text == words.decode(tokens, skip_special_tokens=True).strip()
        assert one.written.n_tokens == len(tokens)
        assert one.written.ended == (tokens[-1] == 1)
        assert one.written.log_likelihood == pytest.approx(total, abs=1e-3)
        theirs = network.generate(
            **inputs_of(processor, item), max_length=20, do_sample=False, num_beams=1
        )
        assert theirs[0, 1:].tolist() == tokens


@pytest.mark.parametrize("kind", ["blip2", "t5"])
def test_likelihoods_are_sums_of_single_tokens(
    kind: str, items: list[ReactionItem], request: pytest.FixtureRequest
) -> None:
    place, items = request.getfixturevalue(kind), items[::2]
    network, processor = parts(place)
    words = getattr(processor, "tokenizer", processor)
    texts = [REACTIONS[k % len(REACTIONS)] for k in range(len(items))]
    found = ReactionGenerator(place, text_only=kind == "t5", batch_size=4).log_likelihood(
        items, texts
    )
    for k, (item, text) in enumerate(zip(items, texts, strict=True)):
        target = words(text)["input_ids"]
        assert target[-1] == 1
        total = 0.0
        for j, token in enumerate(target):
            begun = torch.tensor([[0, *target[:j]]])
            with torch.no_grad():
                logits = network(**inputs_of(processor, item), decoder_input_ids=begun).logits
            p = torch.softmax(logits[0, -1].double(), 0)
            total += float(np.log(float(p[token])))
        assert found.total[k] == pytest.approx(total, abs=1e-3)
        assert found.n_tokens[k] == len(target)
        assert found.mean[k] == pytest.approx(total / len(target), abs=1e-4)
    assert (found.total < 0).all()


@pytest.mark.parametrize("decoding", [Decoding(), SAMPLED], ids=["greedy", "sampled"])
def test_batches_and_order_change_nothing(
    blip2: str, items: list[ReactionItem], decoding: Decoding
) -> None:
    def written(order: list[ReactionItem], size: int) -> dict[tuple[str, str, int], Any]:
        generator = ReactionGenerator(blip2, decoding=decoding, batch_size=size)
        return {
            (one.item.stimulus, one.item.label, one.sample): one.written
            for one in generator.write(order)
        }

    one, many, alone = written(items, 1), written(items[::-1], 64), written(items[3:4], 7)
    assert one.keys() == many.keys()
    assert len(one) == len(items) * decoding.n
    pairs = [
        (known, other[key]) for key, known in one.items() for other in (many, alone) if key in other
    ]
    same = [pair for pair in pairs if pair[0].text == pair[1].text]
    # Of a thousand draws, one may fall where the last digits of a sum decide.
    assert len(same) >= len(pairs) - (0 if decoding.greedy else 1)
    for known, other in same:
        assert other.n_tokens == known.n_tokens
        assert other.log_likelihood == pytest.approx(known.log_likelihood, abs=1e-3)
    texts = [REACTIONS[k % len(REACTIONS)] for k in range(len(items))]
    single = ReactionGenerator(blip2, batch_size=1).log_likelihood(items, texts)
    padded = ReactionGenerator(blip2, batch_size=64).log_likelihood(items, texts)
    np.testing.assert_allclose(single.total, padded.total, atol=1e-3)


def test_samples_differ_by_number_and_seed_and_have_their_likelihood(
    blip2: str, items: list[ReactionItem]
) -> None:
    found = ReactionGenerator(blip2, decoding=SAMPLED).write(items)
    by_sample = [{one.written.text for one in found if one.sample == k} for k in (1, 2, 3)]
    assert by_sample[0] != by_sample[1] != by_sample[2]
    other = ReactionGenerator(blip2, decoding=replace(SAMPLED, seed=6)).write(items)
    assert [one.written.text for one in found] != [one.written.text for one in other]
    greedy = ReactionGenerator(blip2).write(items)
    cold = ReactionGenerator(blip2, decoding=Decoding(temperature=1e-4)).write(items)
    assert [one.written.text for one in greedy] == [one.written.text for one in cold]
    # At a temperature the likelihood is still that of the model itself.
    for a, b in zip(greedy, cold, strict=True):
        assert a.written.log_likelihood == pytest.approx(b.written.log_likelihood, abs=1e-3)


def test_the_image_is_seen_by_blip2_alone(
    blip2: str, items: list[ReactionItem], tmp_path: Path
) -> None:
    Image.new("RGB", (30, 30), "white").save(tmp_path / "white.png")
    white = [replace(item, image=tmp_path / "white.png") for item in items]
    texts = ["Homes are lost."] * len(items)
    sees = ReactionGenerator(blip2)
    apart = sees.log_likelihood(items, texts).total - sees.log_likelihood(white, texts).total
    assert (np.abs(apart) > 1e-2).all()
    # Without images there is nothing to open: the files do not even exist.
    missing = [replace(item, image=tmp_path / "no such image.png") for item in items]
    blind = ReactionGenerator(blip2, text_only=True)
    found = blind.log_likelihood(items, texts).total
    np.testing.assert_array_equal(found, blind.log_likelihood(missing, texts).total)
    said = [one.written for one in blind.write(missing)]
    assert said == [one.written for one in blind.write(items)]
    assert [one.text for one in said] != [one.written.text for one in sees.write(items)]


def test_text_only_is_the_language_model_inside(blip2: str, items: list[ReactionItem]) -> None:
    network, processor = parts(blip2)
    words = processor.tokenizer
    found = ReactionGenerator(blip2, text_only=True).write(items[::2])
    for item, one in zip(items[::2], found, strict=True):
        ids = words(reaction_prompt(item), return_tensors="pt")["input_ids"]
        tokens, _ = by_hand(network.language_model, {"input_ids": ids}, 19)
        assert one.written.text == words.decode(tokens, skip_special_tokens=True).strip()
    assert network.config.num_query_tokens == QUERIES


def test_ratings_keep_to_the_protocol(blip2: str, items: list[ReactionItem]) -> None:
    generator = ReactionGenerator(blip2, decoding=SAMPLED)
    ratings = generator.rate(items)
    frame = ratings.to_frame()
    assert len(frame) == len(items) * 3
    assert ratings.rater_kinds == ("model",)
    assert ratings.scale.kind == "text"
    assert frame["value"].null_count() == len(frame)
    assert set(frame["label"]) == {"sad", "hope", "happy"}
    assert set(frame["emotion"]) == {"sad", "Hope", "happy"}
    assert frame["trial"].to_list() == [1, 2, 3] * len(items)
    assert set(frame["trial_kind"]) == {"main", "repeat"}
    assert ratings.stimuli["caption"].to_list()[1] == "Storm hits coast"
    told = ratings.raters.row(0, named=True)
    assert told["model"] == "tiny-blip2"
    assert told["model_hash"] == generator.fingerprint
    assert told["decoding"] == "sampled, temperature 1.2, top_p 0.9, n 3, seed 5"
    protocol = load_protocol("reaction")
    # Random weights say little on some processors; what they say is no shorter than it has to be.
    row = max(frame.iter_rows(named=True), key=lambda row: len(row["text"] or ""))
    assert protocol.check([{"emotion": row["emotion"], "reason": row["text"]}]) == []


def test_the_fingerprint_is_of_weights_and_of_what_prepares(
    blip2: str, t5: str, tmp_path: Path
) -> None:
    known = ReactionGenerator(blip2).fingerprint
    copy = tmp_path / "moved"
    shutil.copytree(blip2, copy)
    assert ReactionGenerator(str(copy)).fingerprint == known
    assert ReactionGenerator(blip2, text_only=True).fingerprint != known
    place = next(file for file in copy.glob("*.json") if "image_mean" in file.read_text())
    content = json.loads(place.read_text())
    inner = content.get("image_processor", content)
    inner["image_mean"] = [0.5, 0.5, 0.5]
    place.write_text(json.dumps(content))
    assert ReactionGenerator(str(copy)).fingerprint != known


def test_half_precision_is_another_rater(
    t5: str, items: list[ReactionItem], tmp_path: Path
) -> None:
    ledger = tmp_path / "kept.jsonl"
    full = ReactionGenerator(t5, text_only=True, precision="fp32", ledger=ledger)
    half = ReactionGenerator(t5, text_only=True, precision="bf16", ledger=ledger)
    a = full.log_likelihood(items, ["why"] * len(items)).total
    b = half.log_likelihood(items, ["why"] * len(items)).total
    assert not np.array_equal(a, b)
    np.testing.assert_allclose(a, b, rtol=0.1)
    with pytest.raises(InputError, match="'fp16' needs a GPU"):
        ReactionGenerator(t5, text_only=True, precision="fp16", device="cpu").write(items)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_says_the_same(blip2: str, items: list[ReactionItem]) -> None:
    texts = ["Homes are lost."] * len(items)
    there = ReactionGenerator(blip2, device="cuda", precision="fp32").log_likelihood(items, texts)
    here = ReactionGenerator(blip2, device="cpu").log_likelihood(items, texts)
    np.testing.assert_allclose(there.total, here.total, atol=0.05)


def test_few_shot_examples_change_what_is_asked(t5: str, items: list[ReactionItem]) -> None:
    said = [
        PersonReaction(f"other{k}", f"Caption {k}", "sad", f"Reason {k}.", f"p{k}")
        for k in range(6)
    ]
    few = FewShot(said, shots=2, seed=1)
    generator = ReactionGenerator(t5, text_only=True, few_shot=few)
    prompt = generator.prompt(items[0])
    assert prompt.count("Question:") == 3
    assert prompt.endswith(reaction_prompt(items[0]))
    texts = ["why"] * len(items)
    plain = ReactionGenerator(t5, text_only=True).log_likelihood(items, texts).total
    assert (plain != generator.log_likelihood(items, texts).total).all()
    assert generator.name == "tiny-t5 text-only greedy 2-shot"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"caption": "  "}, r"item 1 \('pair0'\): the caption is empty"),
        ({"emotion": ""}, "the emotion is empty"),
        ({"stimulus": ""}, "the stimulus is empty"),
        ({"image": None}, "names no image; expected one, or a model of texts alone"),
        ({"image": Path("gone.png")}, "stimulus 'pair0': gone.png: there is no such file"),
    ],
)
def test_what_an_item_lacks(
    blip2: str, items: list[ReactionItem], change: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        ReactionGenerator(blip2).write([replace(items[0], **change)])


def test_other_bad_input(blip2: str, t5: str, items: list[ReactionItem], tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(Path(str(items[0].image)).read_bytes()[:60])
    with pytest.raises(InputError, match=r"a batch with pair0: .*broken\.png"):
        ReactionGenerator(blip2).write([replace(items[0], image=broken)])
    with pytest.raises(InputError, match=r"is t5, which reads no images; expected BLIP-2"):
        ReactionGenerator(t5).write(items)
    with pytest.raises(InputError, match="no pair is given"):
        ReactionGenerator(t5, text_only=True).write([])
    with pytest.raises(InputError, match="has another caption than an item of the same name"):
        ReactionGenerator(t5, text_only=True).write(
            [items[0], replace(items[0], caption="Another", emotion="awe")]
        )
    with pytest.raises(InputError, match=r"the reaction to 'pair0' \(sad\) is empty"):
        ReactionGenerator(t5, text_only=True).log_likelihood(items[:1], [" "])
    with pytest.raises(InputError, match="2 reactions to 1 items"):
        ReactionGenerator(t5, text_only=True).log_likelihood(items[:1], ["a", "b"])
    with pytest.raises(InputError, match="no such folder"):
        ReactionGenerator(str(tmp_path / "none"), text_only=True).write(items)
    with pytest.raises(InputError, match="batch_size 0"):
        ReactionGenerator(t5, batch_size=0)


def test_weights_that_are_missing_are_said(
    t5: str, items: list[ReactionItem], tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "lacking"
    shutil.copytree(t5, copy)
    weights = load_file(copy / "model.safetensors")
    del weights["decoder.final_layer_norm.weight"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks weights .decoder\.final_layer_norm\.weight"):
        ReactionGenerator(str(copy), text_only=True).write(items)


def test_numbers_beyond_the_range_are_said(
    t5: str, items: list[ReactionItem], tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "beyond"
    shutil.copytree(t5, copy)
    weights = load_file(copy / "model.safetensors")
    weights["lm_head.weight"][3] = float("inf")
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="beyond the range of its precision"):
        ReactionGenerator(str(copy), text_only=True).write(items)
