"""CLIPScore and RefCLIPScore against cosines by hand and against torchmetrics."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.text.warnings import TruncatedTextWarning
from affectlab.models.text_metrics import ClipScore, RefClipScore, TextItem, rows as _towers
from affectlab.models.text_metrics.clip_formulas import clip_score, ref_clip_score
from affectlab.models.text_metrics.rows import KeptRows
from affectlab.models.text_metrics.sentences import candidate_sentence, check_template

from ..tiny_text_models import SENTENCES, pictures  # noqa: TID252

CANDIDATES = list(SENTENCES[:5])
REFERENCES = [[SENTENCES[(k + 1) % 6], SENTENCES[(k + 3) % 6]] for k in range(5)]


class ByHand:
    """The whole model, one text or image at a time."""

    def __init__(self, place: str) -> None:
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        self.prepare = transformers.AutoImageProcessor.from_pretrained(place, backend="pil")
        self.network = transformers.CLIPModel.from_pretrained(place).eval()

    @torch.inference_mode()
    def pair(self, image: Image.Image, text: str) -> tuple[np.ndarray, np.ndarray]:
        words = self.tokenizer(text, return_tensors="pt", truncation=True, max_length=77)
        given = self.network(
            input_ids=words["input_ids"],
            attention_mask=words["attention_mask"],
            pixel_values=self.prepare(images=[image], return_tensors="pt")["pixel_values"],
        )
        return given.image_embeds[0].double().numpy(), given.text_embeds[0].double().numpy()

    def cosine(self, image: Image.Image, text: str) -> float:
        return _cosine(*self.pair(image, text))

    def of_texts(self, a: str, b: str) -> float:
        image = pictures(1)[0]
        return _cosine(self.pair(image, a)[1], self.pair(image, b)[1])


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(sum(x * y for x, y in zip(a, b, strict=True))) / float(
        np.sqrt((a**2).sum() * (b**2).sum())
    )


@pytest.fixture(scope="module")
def by_hand(tiny_models: dict[str, str]) -> ByHand:
    return ByHand(tiny_models["clip"])


@pytest.fixture(scope="module")
def plain(tiny_models: dict[str, str]) -> ClipScore:
    return ClipScore(tiny_models["clip"], device="cpu")


def test_clip_score_by_hand(tiny_models: dict[str, str], by_hand: ByHand, plain: ClipScore) -> None:
    images = pictures(5)
    crossed = [(image, text) for image in images for text in SENTENCES]
    cosines = np.array([by_hand.cosine(image, text) for image, text in crossed])
    assert (cosines > 0).any()
    assert (cosines < 0).any()
    found = plain.score([text for _, text in crossed], [image for image, _ in crossed])
    np.testing.assert_allclose(found.scores, 2.5 * np.maximum(cosines, 0), atol=1e-6)
    assert found.mean == pytest.approx(found.scores.mean())
    assert found.metric == "CLIPScore [clip, w 2.5]"
    other = ClipScore(tiny_models["clip"], scale=1, prefix="A photo depicts", device="cpu")
    expected = [
        max(by_hand.cosine(i, f"A photo depicts {c}"), 0)
        for i, c in zip(images, CANDIDATES, strict=True)
    ]
    np.testing.assert_allclose(other.score(CANDIDATES, images).scores, expected, atol=1e-6)
    assert other.name == "CLIPScore [clip, w 1, prefix 'A photo depicts']"


def test_torchmetrics_agrees(tiny_models: dict[str, str], plain: ClipScore) -> None:
    """Its CLIPScore is 100 times the mean of cosines, 0 where it would be below."""
    from torchmetrics.functional.multimodal import clip_score as theirs

    images, place = pictures(5), tiny_models["clip"]
    network = transformers.CLIPModel.from_pretrained(place)
    # It expects the rows themselves, which transformers gives inside an object since version 5.
    for tower in ("get_image_features", "get_text_features"):
        own = getattr(network, tower)
        setattr(network, tower, lambda *a, own=own, **b: own(*a, **b).pooler_output)
    processor = transformers.CLIPProcessor(
        transformers.AutoImageProcessor.from_pretrained(place, backend="pil"),
        transformers.AutoTokenizer.from_pretrained(place),
    )
    cosines = []
    for image, text in zip(images, CANDIDATES, strict=True):
        pixels = torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1)
        score = theirs(pixels, text, model_name_or_path=lambda: (network, processor))
        cosines.append(float(score.detach()) / 100)
    np.testing.assert_allclose(
        plain.score(CANDIDATES, images).scores, 2.5 * np.array(cosines), atol=1e-5
    )


@pytest.mark.parametrize(("scale", "weight"), [("scaled", 2.5), ("unscaled", 1.0)])
def test_ref_clip_score_by_hand(
    tiny_models: dict[str, str], by_hand: ByHand, scale: str, weight: float
) -> None:
    images = pictures(5)
    metric = RefClipScore(tiny_models["clip"], reference_scale=scale, device="cpu")
    expected = []
    for image, text, several in zip(images, CANDIDATES, REFERENCES, strict=True):
        of_image = weight * max(by_hand.cosine(image, text), 0)
        nearest = max(0, *(by_hand.of_texts(text, one) for one in several))
        both = of_image > 0 and nearest > 0
        expected.append(2 / (1 / of_image + 1 / nearest) if both else 0.0)
    assert max(expected) > 0
    found = metric.score(CANDIDATES, images, REFERENCES)
    np.testing.assert_allclose(found.scores, expected, atol=1e-6)
    turned = metric.score(CANDIDATES, images, [several[::-1] for several in REFERENCES])
    np.testing.assert_allclose(turned.scores, found.scores, atol=1e-6)
    assert f"{scale} image" in found.metric
    assert [name.split(" [")[0] for name in found.parts] == ["CLIPScore", "nearest reference"]


def test_formulas() -> None:
    assert clip_score(np.array([0.3, -0.2])).tolist() == [0.75, 0.0]
    np.testing.assert_allclose(ref_clip_score(np.array([0.2]), np.array([0.6])), [0.3])
    assert ref_clip_score(np.zeros(1), np.zeros(1)).tolist() == [0.0]


@pytest.mark.parametrize("size", [1, 2, 64])
def test_batches_do_not_matter(tiny_models: dict[str, str], plain: ClipScore, size: int) -> None:
    images = [pictures(3)[k % 3] for k in range(5)]
    whole = plain.score(CANDIDATES, images).scores
    metric = ClipScore(tiny_models["clip"], batch_size=size, device="cpu")
    order = [3, 0, 4, 2, 1]
    found = metric.score([CANDIDATES[k] for k in order], [images[k] for k in order])
    np.testing.assert_allclose(found.scores, whole[order], atol=1e-6)


def test_images_and_texts_are_encoded_once(
    tiny_models: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from affectlab.models.text_metrics import rows as _towers

    files = []
    for k, image in enumerate(pictures(2)):
        image.save(tmp_path / f"{k}.png")
        image.save(tmp_path / f"copy{k}.png")
        files += [tmp_path / f"{k}.png", str(tmp_path / f"copy{k}.png")]
    seen: list[tuple[str, int]] = []
    own = _towers._Rows._encoded

    def counted(self: Any, given: Any) -> Any:
        seen.append((self.tower.kind, len(given)))
        return own(self, given)

    monkeypatch.setattr(_towers._Rows, "_encoded", counted)
    cache = tmp_path / "cache"
    metric = RefClipScore(tiny_models["clip"], device="cpu", cache=cache)
    told = (["a dog", "a dog", "a sea", "a dog"], files, ["a sea", "a dog", "a dog", "a sea"])
    first = metric.score(*told)
    assert sorted(seen) == [("image", 2), ("text", 2)]
    metric.score(*told)
    again = RefClipScore(tiny_models["clip"], device="cpu", cache=cache)
    np.testing.assert_array_equal(again.score(*told).scores, first.scores)
    assert len(seen) == 2, "nothing is encoded again, in this run or a later one"
    RefClipScore(tiny_models["clip"], device="cpu", cache=cache, max_tokens=20).score(*told)
    assert len(seen) == 3, "another length is another encoder of texts"
    for kept in cache.rglob("*.npz"):
        kept.write_bytes(kept.read_bytes()[:40])
    with pytest.raises(InputError, match="cannot be read; delete it"):
        RefClipScore(tiny_models["clip"], device="cpu", cache=cache)


def _zip_of(path: Path, **held: Any) -> None:
    with path.open("wb") as file:
        np.savez(file, **held)


def test_files_of_a_cache_that_others_made(tmp_path: Path) -> None:
    folder = tmp_path / "print"
    KeptRows(tmp_path, "print").add({"b": np.ones(4, dtype=np.float32)})
    good = next(folder.glob("*.npz"))
    bad = folder / "zz.npz"
    keys, rows = np.array(["a"]), np.ones((1, 4), dtype=np.float32)
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        huge, {"descr": "<f4", "fortran_order": False, "shape": (2**40, 2**10)}
    )
    for held in (
        {"keys": keys, "rows": np.ones((1, 5), dtype=np.float32)},
        {"keys": keys, "rows": np.ones((1, 4), dtype=np.complex64)},
        {"keys": keys, "rows": rows * np.nan},
        {"keys": keys, "rows": rows[0]},
        {"keys": keys, "rows": np.array([["x"] * 4])},
        {"keys": np.array([1]), "rows": rows},
        {"keys": np.array([["a", "b"]]), "rows": rows},
        {"rows": rows},
        {"keys": np.array([object()]), "rows": rows},
    ):
        _zip_of(bad, **held)
        with pytest.raises(InputError, match=r"zz\.npz cannot be read; delete it"):
            KeptRows(tmp_path, "print")
    with zipfile.ZipFile(bad, "w") as archive:
        buffer = io.BytesIO()
        np.save(buffer, keys)
        archive.writestr("keys.npy", buffer.getvalue())
        archive.writestr("rows.npy", huge.getvalue())
    with pytest.raises(InputError, match=r"zz\.npz cannot be read; delete it"):
        KeptRows(tmp_path, "print")
    bad.unlink()
    assert good.exists()
    kept = KeptRows(tmp_path, "print")
    np.testing.assert_array_equal(kept.take(["b"]), np.ones((1, 4)))
    with pytest.raises(InputError, match="holds rows of another width"):
        kept.add({"c": np.ones(5, dtype=np.float32)})


def test_large_images_do_not_pile_up(
    tiny_models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    images = pictures(4)
    metric = ClipScore(tiny_models["clip"], device="cpu")
    whole = metric.score(["a dog"] * 4, images).scores
    monkeypatch.setattr(_towers, "_PIXELS", images[0].width * images[0].height)
    sizes: list[int] = []
    own = _towers.ImageRows._encoded

    def counted(self: Any, given: Any) -> Any:
        sizes.append(len(given))
        return own(self, given)

    monkeypatch.setattr(_towers.ImageRows, "_encoded", counted)
    again = ClipScore(tiny_models["clip"], device="cpu").score(["a dog"] * 4, images)
    np.testing.assert_allclose(again.scores, whole, atol=1e-6)
    assert sizes == [1, 1, 1, 1]


@pytest.mark.parametrize("field", ["{explanation!x}", "{explanation:d}", "{explanation:{caption}}"])
def test_fields_of_a_sentence_say_nothing_of_layout(field: str) -> None:
    with pytest.raises(InputError, match="the field 'explanation' says how it is laid out"):
        check_template(f"They feel {field}")


def test_long_sentences_are_told(tiny_models: dict[str, str], by_hand: ByHand) -> None:
    metric = RefClipScore(tiny_models["clip"], sentence="socratis", device="cpu")
    items = [
        TextItem("they won", ("it is gold",), pictures(1)[0], "a", "proud", "a team"),
        TextItem("they won", ("it is gold",), pictures(1)[0], "b", "proud", "team " * 90),
    ]
    with pytest.warns(TruncatedTextWarning, match="1 of 2 items with a text longer than the 77"):
        found = metric.score(items)
    assert found.truncated.tolist() == [False, True]
    sentence = candidate_sentence("they won", emotion="proud", caption="a team")
    assert sentence == "Human feels proud, when seeing this image with a team because they won"
    assert found.n_tokens[0] == len(by_hand.tokenizer(sentence)["input_ids"])
    assert found.n_tokens[1] > 77 == found.limit
    assert found.parts["CLIPScore [clip, w 2.5, sentence socratis]"][0] == pytest.approx(
        2.5 * max(by_hand.cosine(pictures(1)[0], sentence), 0), abs=1e-6
    )
    with pytest.raises(InputError, match=r"item 0 \(c\): the emotion is empty"):
        metric.score([TextItem("they won", ("x",), pictures(1)[0], "c", "", "a team")])


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{emotion} only", "has no {explanation}"),
        ("{explanation} {who}", "has the field {who}"),
        ("{explanation.__class__}", "has the field"),
        ("{explanation", "expected '}'"),
    ],
)
def test_wrong_templates(template: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        candidate_sentence("x", emotion="y", caption="z", template=template)


def test_own_template_and_braces() -> None:
    text = candidate_sentence("{emotion}", emotion="sad", template="{emotion}: {explanation}")
    assert text == "sad: {emotion}"
    assert "sad" in candidate_sentence("x", emotion="sad", caption="y", template="plain")


def test_bad_images(plain: ClipScore, tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no image")
    for image, said in (
        (None, "item 0: there is no image; CLIPScore needs one"),
        (tmp_path / "none.png", r"item 0: .*none\.png: there is no such file"),
        (broken, r"item 0: .*broken\.png cannot be read as an image"),
        (3, "item 0: an image of type int"),
    ):
        with pytest.raises(InputError, match=said):
            plain.score(["a dog"], [image])
    with pytest.raises(InputError, match="item 0: the candidate is empty"):
        plain.score([""], pictures(1))


def test_bad_settings(tiny_models: dict[str, str]) -> None:
    for wrong, said in (
        ({"scale": 0}, "scale 0; expected a number above 0"),
        ({"scale": float("inf")}, "scale inf"),
        ({"sentence": "nothing"}, "has no {explanation}"),
        ({"batch_size": 0}, "batch_size 0"),
    ):
        with pytest.raises(InputError, match=said):
            ClipScore(tiny_models["clip"], **wrong)
    with pytest.raises(InputError, match="unknown reference_scale 'both'"):
        RefClipScore(tiny_models["clip"], reference_scale="both")
    with pytest.raises(InputError, match="takes no images"):
        ClipScore(tiny_models["bert"])
