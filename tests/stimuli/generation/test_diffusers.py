"""Pipelines of diffusers: a tiny one with random weights, saved and loaded as any other."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.stimuli import face_prompts
from affectlab.stimuli.generation import ImagePrompt, generate_images, load_generator
from affectlab.stimuli.generation.generator import RefusedPictureError

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a pipeline of a few thousand random weights."""
    from diffusers import (
        AutoencoderKL,
        DDIMScheduler,
        StableDiffusionPipeline,
        UNet2DConditionModel,
    )
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    folder = tmp_path_factory.mktemp("pipeline")
    letters = [chr(code) for code in range(33, 127)]
    words = [*letters, *(f"{one}</w>" for one in letters), "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: place for place, word in enumerate(words)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer(
        str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=77
    )
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        text = CLIPTextModel(
            CLIPTextConfig(
                vocab_size=len(words),
                hidden_size=16,
                intermediate_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                bos_token_id=len(words) - 2,
                eos_token_id=len(words) - 1,
            )
        )
        unet = UNet2DConditionModel(
            sample_size=8,
            block_out_channels=(8, 16),
            layers_per_block=1,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=16,
            norm_num_groups=4,
            attention_head_dim=4,
        )
        vae = AutoencoderKL(block_out_channels=(8,), norm_num_groups=4, sample_size=16)
    pipeline = StableDiffusionPipeline(
        vae=vae,
        text_encoder=text,
        tokenizer=tokenizer,
        unet=unet,
        scheduler=DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.save_pretrained(folder / "tiny")
    return folder / "tiny"


def prompts(*seeds: int) -> list[ImagePrompt]:
    return [
        ImagePrompt(f"p{place}", "a face full of awe", "Awe", seed)
        for place, seed in enumerate(seeds)
    ]


def pixels(image: Any) -> np.ndarray:
    return np.asarray(image).astype(int)


def test_a_picture_depends_on_its_seed_alone(checkpoint: Path) -> None:
    generator = load_generator(f"diffusers:{checkpoint}", steps=2, batch=3, device="cpu")
    assert generator.batch == 3
    one, other, again = generator(prompts(1, 2, 1))
    assert np.array_equal(pixels(one), pixels(again))
    assert np.abs(pixels(one) - pixels(other)).mean() > 5
    # Whatever was made beside it, and whatever torch was asked for in between.
    torch.rand(3)
    (alone,) = generator(prompts(1))
    assert np.abs(pixels(one) - pixels(alone)).max() <= 1


def test_settings_reach_the_pipeline(checkpoint: Path) -> None:
    name = f"diffusers:{checkpoint}"
    (first,) = load_generator(name, steps=2, device="cpu")(prompts(1))
    (more,) = load_generator(name, steps=5, device="cpu")(prompts(1))
    assert not np.array_equal(pixels(first), pixels(more))
    sized = load_generator(name, steps=2, width=24, height=16, guidance=0.0, negative="blurred")
    (image,) = sized(prompts(1))
    assert image.size == (24, 16)
    assert sized.settings == {
        "steps": 2,
        "width": 24,
        "height": 16,
        "guidance": 0.0,
        "negative": "blurred",
        "dtype": "fp32" if not torch.cuda.is_available() else sized.settings["dtype"],
    }


def test_a_manifest_of_its_pictures(checkpoint: Path, tmp_path: Path) -> None:
    wanted = face_prompts(3, weights={"Awe": 1})
    name = f"diffusers:{checkpoint}"
    made = generate_images(
        wanted, tmp_path / "out", generator=name, settings={"steps": 1, "batch": 2}
    )
    assert len(made) == 3
    row = made.images.row(0, named=True)
    assert row["generator"] == name
    assert row["generator_version"].startswith("StableDiffusionPipeline ")
    # How many are made at once is no other way to make them, other weights are.
    again = generate_images(
        wanted, tmp_path / "out", generator=name, settings={"steps": 1, "batch": 3}
    )
    assert again.n_made == 0
    other = tmp_path / "other"
    shutil.copytree(checkpoint, other)
    config = other / "scheduler" / "scheduler_config.json"
    config.write_text(config.read_text().replace("0.02", "0.03"))
    version = load_generator(f"diffusers:{other}").version
    assert version != row["generator_version"]


def test_pictures_that_a_safety_check_holds_back() -> None:
    """A pipeline that answers as documented, with one picture blacked out."""
    from affectlab.stimuli.generation.diffusers import _run

    def pipeline(prompt: list[str], generator: list[Any], **given: Any) -> SimpleNamespace:
        assert given == {"num_inference_steps": 4, "negative_prompt": ["no", "no"]}
        assert [one.initial_seed() for one in generator] == [5, 6]
        images = [Image.new("RGB", (4, 4)) for _ in prompt]
        return SimpleNamespace(images=images, nsfw_content_detected=[False, True])

    first, second = _run(
        torch, pipeline, prompts(5, 6), {"num_inference_steps": 4, "negative_prompt": "no"}
    )
    assert isinstance(first, Image.Image)
    assert isinstance(second, RefusedPictureError)


def with_index(checkpoint: Path, folder: Path, **changes: object) -> Path:
    """Copy a checkpoint, with other entries in its index."""
    shutil.copytree(checkpoint, folder)
    index = json.loads((folder / "model_index.json").read_text())
    (folder / "model_index.json").write_text(json.dumps(index | changes))
    return folder


def test_code_that_a_checkpoint_brings_is_not_run(checkpoint: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    folder = with_index(checkpoint, tmp_path / "own-code", _class_name=["pipeline", "Mine"])
    (folder / "pipeline.py").write_text(
        f"open({str(mark)!r}, 'w')\n"
        "from diffusers import StableDiffusionPipeline\n"
        "class Mine(StableDiffusionPipeline): pass\n"
    )
    with pytest.raises(InputError, match=r"brings code of its own, pipeline\.py, which is never"):
        load_generator(f"diffusers:{folder}")
    assert not mark.exists()


@pytest.mark.parametrize("file", ["mine.py", "unet/mine.py", "vae/deep/MINE.PY", "mine.pyc"])
def test_a_checkpoint_with_code_anywhere_is_refused(
    checkpoint: Path, tmp_path: Path, file: str
) -> None:
    """Whatever the index says: which library looks where is not for us to know."""
    folder = tmp_path / "code"
    shutil.copytree(checkpoint, folder)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text("")
    with pytest.raises(InputError) as refused:
        load_generator(f"diffusers:{folder}")
    assert f"brings code of its own, {file}, which is never run" in str(refused.value)
    assert str(refused.value).count("image generator") == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"_class_name": ["pipeline", "Mine"]}, "names no pipeline of diffusers but ['pipeline'"),
        ({"_class_name": None}, "names no pipeline of diffusers but None"),
        ({"unet": ["mine", "Mine"]}, "its part 'unet' is code of the checkpoint, mine, which is"),
    ],
)
def test_an_index_that_names_code_is_refused(
    checkpoint: Path, tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    folder = with_index(checkpoint, tmp_path / "named", **changes)
    (folder / "mine").write_text("")
    with pytest.raises(InputError) as refused:
        load_generator(f"diffusers:{folder}")
    assert said in str(refused.value)


@pytest.mark.parametrize("text", ["{", "[]", "\ufeff{}"])
def test_an_index_that_cannot_be_read(checkpoint: Path, tmp_path: Path, text: str) -> None:
    folder = with_index(checkpoint, tmp_path / "bad")
    (folder / "model_index.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"image generator 'diffusers:.*': its model_index\.json "):
        load_generator(f"diffusers:{folder}")


@pytest.mark.parametrize(
    "code",
    [
        "raise RuntimeError('Failed to import it\\nbecause of torch')",
        "def __getattr__(name): raise RuntimeError('Failed to import it\\nbecause of torch')",
    ],
)
def test_a_library_that_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Diffusers imports its parts late, and says with a RuntimeError which it cannot."""
    package = tmp_path / "diffusers"
    (package / "utils").mkdir(parents=True)
    (package / "__init__.py").write_text(code)
    (package / "utils" / "__init__.py").write_text("")
    (package / "utils" / "logging.py").write_text(
        "def get_verbosity(): return 30\n"
        "def set_verbosity(level): pass\n"
        "def set_verbosity_error(): pass\n"
        "def is_progress_bar_enabled(): return False\n"
        "def disable_progress_bar(): pass\n"
    )
    for name in [name for name in sys.modules if name.split(".")[0] == "diffusers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        with pytest.raises(InputError) as refused:
            load_generator("diffusers:someone/something")
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "diffusers"]:
            del sys.modules[name]
    assert "diffusers cannot be imported: Failed to import it because of torch; expected a" in str(
        refused.value
    )


def test_weights_that_are_pickled_are_not_read(checkpoint: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(checkpoint, folder)
    weights = folder / "vae" / "diffusion_pytorch_model.safetensors"
    weights.rename(weights.with_name("diffusion_pytorch_model.bin"))
    with pytest.raises(InputError, match="cannot be loaded"):
        load_generator(f"diffusers:{folder}")


@pytest.mark.parametrize(
    ("place", "settings", "said"),
    [
        ("", {}, "expected a folder or a name behind a colon"),
        ("./none", {}, "there is no folder ./none"),
        ("/no/where", {}, "there is no folder /no/where"),
        ("x", {"steps": 0}, "steps = 0"),
        ("x", {"dtype": "int8"}, "dtype = 'int8'"),
        ("x", {"device": "gpu"}, "device 'gpu' is not known"),
        ("x", {"step": 3}, "unknown setting 'step'; did you mean 'steps'?"),
    ],
)
def test_bad_places_and_settings(place: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        load_generator(f"diffusers:{place}", **settings)
    assert said in str(refused.value)


def test_a_folder_that_is_no_pipeline(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model_index\.json"):
        load_generator(f"diffusers:{tmp_path}")


@pytest.mark.parametrize("library", ["diffusers", "torch"])
def test_a_library_that_is_not_installed(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # What Python does for a module that is not there.
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependencyError, match=f"needs {library}; install it with: pip"):
        load_generator("diffusers:someone/something")
