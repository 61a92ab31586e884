"""BERTScore by hand and beside torchmetrics; similarity of sentences by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from affectlab.core.errors import InputError
from affectlab.models.text.warnings import TruncatedTextWarning
from affectlab.models.text_metrics import BertScore, SentenceSimilarity
from affectlab.models.text_metrics.bert import recommended_layer

from ..tiny_text_models import SENTENCES  # noqa: TID252

CANDIDATES = list(SENTENCES[:4])
REFERENCES = [*SENTENCES[2:5], "the dog."]


class ByHand:
    """States of one text at a time."""

    def __init__(self, place: str) -> None:
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        self.network = transformers.AutoModel.from_pretrained(place).eval()

    @torch.inference_mode()
    def states(self, text: str, layer: int) -> np.ndarray:
        given = self.network(**self.tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        return given.hidden_states[layer][0].double().numpy()

    def bert(self, candidate: str, reference: str, layer: int) -> tuple[float, float, float]:
        x, y = (self.states(text, layer) for text in (candidate, reference))
        cosine = [[float(a @ b / np.sqrt((a @ a) * (b @ b))) for b in y] for a in x]
        # The marks of start and end may be matched, but do not count.
        precision = float(np.mean([max(row) for row in cosine[1:-1]]))
        recall = float(np.mean([max(column) for column in list(zip(*cosine, strict=True))[1:-1]]))
        return precision, recall, 2 * precision * recall / (precision + recall)

    def sentence(self, a: str, b: str) -> float:
        x, y = (self.states(text, -1).mean(axis=0) for text in (a, b))
        return float(x @ y / np.sqrt((x @ x) * (y @ y)))


@pytest.fixture(scope="module")
def by_hand(tiny_models: dict[str, str]) -> ByHand:
    return ByHand(tiny_models["bert"])


@pytest.mark.parametrize("layer", [0, 2, 3])
def test_bert_score_by_hand(tiny_models: dict[str, str], by_hand: ByHand, layer: int) -> None:
    metric = BertScore(tiny_models["bert"], layer=layer, device="cpu", batch_size=2)
    found = metric.score(CANDIDATES, REFERENCES)
    expected = np.array(
        [by_hand.bert(c, r, layer) for c, r in zip(CANDIDATES, REFERENCES, strict=True)]
    )
    np.testing.assert_allclose(found.scores, expected[:, 2], atol=1e-6)
    ways = {name.split()[1]: values for name, values in found.parts.items()}
    np.testing.assert_allclose(ways["precision"], expected[:, 0], atol=1e-6)
    np.testing.assert_allclose(ways["recall"], expected[:, 1], atol=1e-6)
    assert found.metric == f"BERTScore f [bert, layer {layer}, max of references]"


@pytest.mark.filterwarnings("ignore")
def test_torchmetrics_agrees(tiny_models: dict[str, str]) -> None:
    from torchmetrics.functional.text.bert import bert_score

    # One pair at a time: several together get other numbers there (torchmetrics, issue 2728).
    theirs = [
        bert_score(
            [candidate],
            [reference],
            model_name_or_path=tiny_models["bert"],
            num_layers=2,
            max_length=64,
        )
        for candidate, reference in zip(CANDIDATES, REFERENCES, strict=True)
    ]
    for way, name in (("precision", "precision"), ("recall", "recall"), ("f", "f1")):
        ours = BertScore(
            tiny_models["bert"], layer=2, direction=way, match_marks=False, device="cpu"
        )
        assert "no marks" in ours.name
        np.testing.assert_allclose(
            ours.score(CANDIDATES, REFERENCES).scores,
            [float(one[name]) for one in theirs],
            atol=1e-5,
        )


def test_marks_are_matched_as_in_the_package_of_the_authors(tiny_models: dict[str, str]) -> None:
    place = tiny_models["bert"]
    both = [
        BertScore(place, layer=3, match_marks=marks, device="cpu").score(CANDIDATES, REFERENCES)
        for marks in (True, False)
    ]
    assert (both[0].scores >= both[1].scores - 1e-9).all()
    assert (both[0].scores > both[1].scores + 1e-6).any()
    with pytest.raises(InputError, match="match_marks 'no'; expected true or false"):
        BertScore(place, match_marks="no")


def test_pairs_of_bytes_have_a_space_first(tiny_models: dict[str, str]) -> None:
    metric = BertScore(tiny_models["bart"], device="cpu")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_models["bart"])
    network = transformers.AutoModel.from_pretrained(tiny_models["bart"]).get_encoder().eval()

    @torch.inference_mode()
    def states(text: str) -> np.ndarray:
        given = tokenizer(text, return_tensors="pt")
        return network(**given).last_hidden_state[0].double().numpy()

    x, y = (states(f" {text}") for text in SENTENCES[:2])
    cosine = (x @ y.T) / np.linalg.norm(x, axis=1)[:, None] / np.linalg.norm(y, axis=1)
    p, r = cosine.max(axis=1)[1:-1].mean(), cosine.max(axis=0)[1:-1].mean()
    found = metric.score([SENTENCES[0]], [SENTENCES[1]])
    np.testing.assert_allclose(found.scores, [2 * p * r / (p + r)], atol=1e-6)
    assert tokenizer(SENTENCES[0])["input_ids"] != tokenizer(f" {SENTENCES[0]}")["input_ids"]
    spaced = metric.score([f"  {SENTENCES[0]} "], [f"{SENTENCES[1]} "])
    np.testing.assert_allclose(spaced.scores, found.scores, atol=1e-12)


@pytest.mark.parametrize("held", [1, 3000, 20_000])
def test_what_is_held_at_once_does_not_matter(
    tiny_models: dict[str, str], monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    from affectlab.models.text_metrics import bert as _matching

    metric = BertScore(tiny_models["bert"], layer=2, device="cpu")
    several = [[r, SENTENCES[5], CANDIDATES[0]] for r in REFERENCES]
    whole = metric.score(CANDIDATES, several)
    monkeypatch.setattr(_matching, "_STATES", held)
    found = metric.score(CANDIDATES, several)
    np.testing.assert_allclose(found.scores, whole.scores, atol=1e-6)


def test_layers_that_the_authors_recommend(tmp_path: Path) -> None:
    folder = tmp_path / "roberta-large"
    folder.mkdir()
    for name in ("roberta-large", "FacebookAI/roberta-large", str(folder), f"{folder}/"):
        assert recommended_layer(name, 24) == 17
    assert recommended_layer(str(folder), 12) == 12
    assert recommended_layer("microsoft/deberta-xlarge-mnli", 48) == 40
    assert recommended_layer("somebody/roberta-large", 24) == 24


@pytest.mark.parametrize("over", ["max", "mean"])
def test_several_references(tiny_models: dict[str, str], by_hand: ByHand, over: str) -> None:
    several = [SENTENCES[1:4], SENTENCES[5:6]]
    metric = BertScore(
        tiny_models["bert"], layer=1, references=over, direction="recall", device="cpu"
    )
    bring = {"mean": np.mean, "max": np.max}[over]
    expected = [
        bring([by_hand.bert(c, r, 1)[1] for r in given])
        for c, given in zip(SENTENCES[:2], several, strict=True)
    ]
    found = metric.score(list(SENTENCES[:2]), several)
    np.testing.assert_allclose(found.scores, expected, atol=1e-6)
    turned = metric.score(list(SENTENCES[:2]), [given[::-1] for given in several])
    np.testing.assert_allclose(turned.scores, found.scores, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 64])
def test_batches_do_not_matter(tiny_models: dict[str, str], size: int) -> None:
    scores = {
        metric: metric(tiny_models["bert"], device="cpu").score(CANDIDATES, REFERENCES).scores
        for metric in (BertScore, SentenceSimilarity)
    }
    order = [2, 0, 3, 1]
    for metric, whole in scores.items():
        found = metric(tiny_models["bert"], device="cpu", batch_size=size).score(
            [CANDIDATES[k] for k in order], [REFERENCES[k] for k in order]
        )
        np.testing.assert_allclose(found.scores, whole[order], atol=1e-6)


def test_layers_and_texts_that_cannot_be(tiny_models: dict[str, str]) -> None:
    place = tiny_models["bert"]
    assert BertScore(place).layer == 3
    for layer in (4, -1, 1.5):
        with pytest.raises(InputError, match=r"expected a whole number from 0 .* to 3"):
            BertScore(place, layer=layer)
    with pytest.raises(InputError, match="unknown direction 'both'"):
        BertScore(place, direction="both")
    with pytest.raises(InputError, match="item 0: a text has no token that BERTScore"):
        BertScore(place).score(["\u200b"], ["the dog"])
    with pytest.warns(TruncatedTextWarning, match="1 of 1 item with"):
        found = BertScore(place).score([" ".join(SENTENCES)], ["the dog"])
    assert found.truncated.tolist() == [True]
    assert found.n_tokens[0] > found.limit == 64


@pytest.mark.parametrize("over", ["max", "mean"])
def test_sentences_by_hand(tiny_models: dict[str, str], by_hand: ByHand, over: str) -> None:
    several = [[r, SENTENCES[5]] for r in REFERENCES]
    metric = SentenceSimilarity(tiny_models["bert"], references=over, device="cpu")
    bring = {"mean": np.mean, "max": np.max}[over]
    expected = [
        bring([by_hand.sentence(c, r) for r in given])
        for c, given in zip(CANDIDATES, several, strict=True)
    ]
    found = metric.score(CANDIDATES, several)
    np.testing.assert_allclose(found.scores, expected, atol=1e-6)
    assert found.metric == f"sentence similarity [bert, mean, {over} of references]"
    itself = metric.score(CANDIDATES, CANDIDATES).scores
    np.testing.assert_allclose(itself, 1, atol=1e-9)
    assert SentenceSimilarity(tiny_models["clip"]).texts.tower.pooling == "text_features"
