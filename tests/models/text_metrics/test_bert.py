"""BERTScore by hand and beside torchmetrics; similarity of sentences by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

from affectlab.errors import InputError
from affectlab.models.text import TruncatedTextWarning
from affectlab.models.text_metrics import BertScore, SentenceSimilarity

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
        # Between the marks of start and end.
        x, y = (self.states(text, layer)[1:-1] for text in (candidate, reference))
        cosine = [[float(a @ b / np.sqrt((a @ a) * (b @ b))) for b in y] for a in x]
        precision = float(np.mean([max(row) for row in cosine]))
        recall = float(np.mean([max(column) for column in zip(*cosine, strict=True)]))
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
        ours = BertScore(tiny_models["bert"], layer=2, direction=way, device="cpu")
        np.testing.assert_allclose(
            ours.score(CANDIDATES, REFERENCES).scores,
            [float(one[name]) for one in theirs],
            atol=1e-5,
        )


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
