"""Models that write texts, on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from PIL import Image

from affectlab import InputError
from affectlab.models.devices import quiet_transformers
from affectlab.models.vlm import AskSettings, VlmRater
from affectlab.models.vlm.asking.local import LocalModel, processor_of
from affectlab.protocols import load_protocol
from affectlab.simulate import draw_face

from .local_models import save_llama, save_llava, save_qwen

transformers = pytest.importorskip("transformers")


@pytest.fixture
def faces(tmp_path: Path) -> Path:
    folder = tmp_path / "faces"
    folder.mkdir()
    draw_face("joy", 1.0, size=64).save(folder / "joy.png")
    return folder


def one_label(name: str) -> object:
    found = load_protocol(name)
    return found.model_copy(update={"asks": found.asks.model_copy(update={"labels": ("Awe",)})})


@pytest.mark.parametrize("save", [save_llava, save_qwen])
def test_first_tokens_are_those_of_a_forward_pass(
    save: Callable[[Path], str], faces: Path, tmp_path: Path
) -> None:
    place = save(tmp_path / "model")
    rater = VlmRater(
        f"local/{place}", one_label("verification"), tmp_path / "run", readout="logprob"
    )
    run = rater.rate(faces)
    (entry,) = run.entries
    prompt = entry.question.prompt()
    with quiet_transformers():
        network = transformers.AutoModelForImageTextToText.from_pretrained(place).eval()
        processor = processor_of(place, network.config, sees=True)
    picture = Image.open(faces / "joy.png").convert("RGB")
    mark = processor.image_token
    text = "\n".join(
        [prompt.system, *(part if isinstance(part, str) else mark for part in prompt.parts), ""]
    )
    inputs = processor(text=[text], images=[picture], return_tensors="pt")
    with torch.inference_mode():
        shares = network(**inputs).logits[0, -1].softmax(-1)
    best = shares.topk(20)
    expected: dict[str, float] = {}
    for at, share in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        token = processor.tokenizer.decode([at])
        expected[token] = expected.get(token, 0.0) + share
    found = entry.record.alternatives
    if found is None:
        # A random model may begin with a blank, which says nothing yet.
        assert not processor.tokenizer.decode([int(best.indices[0])]).strip()
    else:
        assert dict(found) == pytest.approx(expected, abs=1e-4)
    # Neither word has half of the probability: a random model has no answer.
    assert entry.judged.outcome == "unparseable"


def test_a_model_of_texts(tmp_path: Path, faces: Path) -> None:
    place = save_llama(tmp_path / "model")
    file = tmp_path / "texts.csv"
    file.write_text("stimulus,text\na,so happy\n", encoding="utf-8")
    settings = AskSettings(max_tokens=20)
    run = VlmRater(f"local/{place}", "multilabel", tmp_path / "run", settings=settings).rate(file)
    assert run.usage.input is not None
    assert run.usage.input > 100
    assert run.usage.output is not None
    assert run.usage.output <= 20
    assert run.entries[0].judged.outcome in ("unparseable", "truncated")
    with pytest.raises(InputError, match="sees nothing"):
        VlmRater(f"local/{place}", "intensity", tmp_path / "other").rate(faces)


def test_what_writes_no_texts_is_refused(tmp_path: Path) -> None:
    from tests.models.raters.checkpoints import FER, save_text

    place = save_text(tmp_path / "model", FER)
    with pytest.raises(InputError, match="writes no texts"):
        LocalModel(place)
    with pytest.raises(InputError, match="no such folder"):
        LocalModel(str(tmp_path / "none"))
