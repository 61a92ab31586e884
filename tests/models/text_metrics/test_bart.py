"""BARTScore against log-probabilities that are summed token by token, one pair at a time."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.text.warnings import TruncatedTextWarning
from affectlab.models.text_metrics import BartScore, TextItem
from affectlab.models.text_metrics.bart import Writer

from ..tiny_text_models import SENTENCES  # noqa: TID252

WORDS = st.text(st.sampled_from("the dog is sad, été 🎉!"), min_size=1, max_size=30).filter(
    lambda text: bool(text.strip())
)


class ByHand:
    """The network of a checkpoint, one pair and one token at a time."""

    def __init__(self, place: str) -> None:
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        self.network = transformers.BartForConditionalGeneration.from_pretrained(place).eval()

    @torch.inference_mode()
    def score(self, source: str, target: str) -> float:
        read = self.tokenizer(source, return_tensors="pt")
        wanted = self.tokenizer(target)["input_ids"]
        written = [self.network.config.decoder_start_token_id]
        total = 0.0
        for token in wanted:
            logits = self.network(
                input_ids=read["input_ids"],
                attention_mask=read["attention_mask"],
                decoder_input_ids=torch.tensor([written]),
            ).logits[0, -1]
            total += float(torch.log_softmax(logits.double(), dim=0)[token])
            written.append(token)
        return total / len(wanted)


@pytest.fixture(scope="module")
def by_hand(tiny_models: dict[str, str]) -> ByHand:
    return ByHand(tiny_models["bart"])


@pytest.fixture(scope="module")
def metrics(tiny_models: dict[str, str]) -> dict[str, BartScore]:
    return {
        way: BartScore(tiny_models["bart"], direction=way, device="cpu", batch_size=3)
        for way in ("precision", "recall", "f")
    }


@pytest.mark.long
def test_directions_by_hand(metrics: dict[str, BartScore], by_hand: ByHand) -> None:
    candidates, references = list(SENTENCES[:4]), [*SENTENCES[2:5], "Short."]
    precision = [by_hand.score(r, c) for c, r in zip(candidates, references, strict=True)]
    recall = [by_hand.score(c, r) for c, r in zip(candidates, references, strict=True)]
    assert not np.allclose(precision, recall, atol=1e-2)
    found = {way: metric.score(candidates, references) for way, metric in metrics.items()}
    np.testing.assert_allclose(found["precision"].scores, precision, atol=1e-5)
    np.testing.assert_allclose(found["recall"].scores, recall, atol=1e-5)
    np.testing.assert_allclose(found["f"].scores, np.add(precision, recall) / 2, atol=1e-5)
    parts = found["f"].parts
    np.testing.assert_allclose(parts[metrics["recall"].name], recall, atol=1e-5)
    assert found["f"].mean == pytest.approx(np.mean(found["f"].scores))
    assert found["precision"].direction == "reference -> candidate"
    assert found["recall"].direction == "candidate -> reference"
    assert metrics["recall"].name == "BARTScore recall [bart, mean of references]"


@pytest.mark.long
@pytest.mark.parametrize("over", ["mean", "max"])
def test_several_references(tiny_models: dict[str, str], by_hand: ByHand, over: str) -> None:
    references = [SENTENCES[1:4], SENTENCES[4:5]]
    found = BartScore(tiny_models["bart"], direction="precision", references=over, device="cpu")
    bring = {"mean": np.mean, "max": np.max}[over]
    expected = [
        bring([by_hand.score(r, c) for r in several])
        for c, several in zip(SENTENCES[:2], references, strict=True)
    ]
    scores = found.score(list(SENTENCES[:2]), references)
    np.testing.assert_allclose(scores.scores, expected, atol=1e-5)
    assert f"{over} of references" in scores.metric
    turned = found.score(list(SENTENCES[:2]), [several[::-1] for several in references])
    np.testing.assert_allclose(turned.scores, scores.scores, atol=1e-9)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(
    pairs=st.lists(
        st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=5
    ),
    size=st.sampled_from([1, 2, 5]),
    seed=st.integers(0, 5),
)
def test_company_does_not_matter(
    metrics: dict[str, BartScore],
    pairs: list[tuple[str, list[str]]],
    size: int,
    seed: int,
) -> None:
    """Batches, padding, the order of items and of references change nothing."""
    metric = metrics["f"]
    metric.writer.batch_size = 1
    alone = [metric.score([one], [several]).scores[0] for one, several in pairs]
    metric.writer.batch_size = size
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(pairs))
    found = metric.score(
        [pairs[row][0] for row in order],
        [[pairs[row][1][at] for at in rng.permutation(len(pairs[row][1]))] for row in order],
    )
    np.testing.assert_allclose(found.scores, np.array(alone)[order], atol=1e-5)


def test_sources_in_several_groups(
    metrics: dict[str, BartScore], monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = metrics["precision"]
    references = [[SENTENCES[(k + j) % 6] for j in range(3)] for k in range(6)]
    whole = metric.score(list(SENTENCES), references).scores
    monkeypatch.setattr("affectlab.models.text_metrics.bart._STATES", 6000)
    cut = metric.writer.cut(SENTENCES)
    order = np.sort(np.repeat(np.arange(6), 3))
    assert len(metric.writer._groups(cut, order)) > 2
    np.testing.assert_allclose(metric.score(list(SENTENCES), references).scores, whole, atol=1e-6)


def test_each_source_is_encoded_once(
    metrics: dict[str, BartScore], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    own = Writer._encoded

    def counted(self, texts, sources):  # type: ignore[no-untyped-def]
        seen.extend(sources.tolist())
        return own(self, texts, sources)

    monkeypatch.setattr(Writer, "_encoded", counted)
    metrics["precision"].score(list(SENTENCES), ["One."] * 6)
    assert len(seen) == 1


def test_long_texts_are_told(metrics: dict[str, BartScore], by_hand: ByHand) -> None:
    long = " ".join(SENTENCES)
    metric = metrics["precision"]
    with pytest.warns(TruncatedTextWarning, match=r"2 of 3 items with a text longer than the 64 "):
        found = metric.score([long, "Short.", "Short."], ["One.", "One.", long])
    assert found.truncated.tolist() == [True, False, True]
    assert found.n_tokens[0] == len(by_hand.tokenizer(long)["input_ids"]) > 64 == found.limit
    assert found.n_reference_tokens.tolist()[2] == found.n_tokens[0]
    kept = by_hand.tokenizer(long, truncation=True, max_length=64)["input_ids"]
    assert kept[-1] == by_hand.tokenizer.eos_token_id
    by_row = metric.writer.cut([long])
    assert by_row.ids[0].tolist() == kept
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric.score(["Short."], ["One."])


def test_table(metrics: dict[str, BartScore]) -> None:
    items = [TextItem(SENTENCES[0], (SENTENCES[1],), item="a"), TextItem("Yes.", ("No.",))]
    frame = metrics["f"].score(items).to_frame(parts=True)
    assert frame.columns == [
        *("item", "metric", "score", "n_tokens", "n_reference_tokens", "truncated"),
    ]
    assert frame["item"].to_list() == ["a", "1"] * 3
    assert frame["metric"].n_unique() == 3
    assert len(metrics["f"].score([], [])) == 0


@pytest.mark.parametrize(
    ("candidates", "references", "said"),
    [
        ([" "], ["x"], "item 0: the candidate is empty; expected a text for BARTScore"),
        (["x", "y"], ["x", ["y", ""]], "item 1: the reference is empty"),
        (["x"], [[]], "item 0: there is no reference"),
        (["x"], ["x", "y"], "1 candidates and 2 references"),
        ("x", ["x"], "candidates: expected a list of texts"),
        ([3], ["x"], "the candidate is of type int"),
        (["x"], [4], "references are of type int"),
    ],
)
def test_bad_input(
    metrics: dict[str, BartScore], candidates: list[str], references: list[str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        metrics["f"].score(candidates, references)


def test_bad_settings(tiny_models: dict[str, str], tmp_path: Path) -> None:
    place = tiny_models["bart"]
    for wrong, said in (
        ({"direction": "presision"}, "did you mean 'precision'"),
        ({"references": "median"}, "unknown references 'median'"),
        ({"batch_size": 0}, "batch_size 0"),
        ({"max_tokens": 900}, "reads at most 64 tokens"),
        ({"precision": "fp16", "device": "cpu"}, "needs a GPU"),
    ):
        with pytest.raises(InputError, match=said):
            BartScore(place, **wrong)
    with pytest.raises(InputError, match="expected an encoder with a decoder"):
        BartScore(tiny_models["bert"])
    broken = tmp_path / "broken"
    shutil.copytree(place, broken)
    config = (broken / "config.json").read_text(encoding="utf-8")
    wider = config.replace('"decoder_layers": 2', '"decoder_layers": 3')
    assert wider != config
    (broken / "config.json").write_text(wider, encoding="utf-8")
    with pytest.raises(InputError, match="lacks weights"):
        BartScore(broken)


def test_half_precision_is_in_the_name(tiny_models: dict[str, str]) -> None:
    half = BartScore(tiny_models["bart"], precision="bf16", device="cpu")
    assert half.name.endswith("mean of references, bf16]")
    whole = BartScore(tiny_models["bart"], device="cpu")
    a, b = (one.score(list(SENTENCES[:3]), list(SENTENCES[3:])).scores for one in (half, whole))
    np.testing.assert_allclose(a, b, atol=0.15)
    assert half.fingerprint() != whole.fingerprint()
