"""Sounds are asked about as pictures are, of providers that take them."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path

import numpy as np
import pytest

from affectlab import InputError
from affectlab.models.raters import Sound, find_stimuli, kind_of_stimuli
from affectlab.models.vlm import AskSettings, VlmRater
from affectlab.models.vlm.material import find_material
from affectlab.models.vlm.prompts import sound_part
from affectlab.protocols import load_protocol

from .fake_server import FakeServer, chat, error, values
from .local_models import save_llama

INTENSITY, MULTILABEL = load_protocol("intensity"), load_protocol("multilabel")


def tone(path: Path, pitch: float, seconds: float = 0.5, rate: int = 22_050) -> np.ndarray:
    time = np.arange(int(seconds * rate)) / rate
    samples = (np.sin(2 * np.pi * pitch * time) * 20_000).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.repeat(samples, 2).tobytes())
    return samples


@pytest.fixture(scope="module")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sounds")
    for name, pitch in (("quux", 220), ("zyzzy", 880)):
        tone(folder / f"{name}.wav", pitch)
    (folder / "heard.csv").write_text("stimulus,file\nfirst,quux.wav\nsecond,zyzzy.wav\n")
    return folder


def opened(data: bytes) -> tuple[wave._wave_params, np.ndarray]:
    with wave.open(io.BytesIO(data)) as file:
        return file.getparams(), np.frombuffer(file.readframes(file.getnframes()), "<i2")


def rater(server: FakeServer, folder: Path, **options: object) -> VlmRater:
    settings = AskSettings(base_url=server.url)
    return VlmRater("openai-api/fake/m", ledger=folder, settings=settings, **options)


def test_a_sound_is_sent_with_nothing_but_samples(sounds: Path) -> None:
    part = sound_part(sounds / "quux.wav")
    params, samples = opened(part.data)
    assert (params.nchannels, params.sampwidth, params.framerate) == (1, 2, 16_000)
    assert len(samples) == pytest.approx(8_000, abs=2)
    expected = np.sin(2 * np.pi * 220 * np.arange(len(samples)) / 16_000) * 20_000
    middle = slice(500, -500)
    assert np.abs(samples[middle] - expected[middle]).max() < 200
    assert part.sha256 == find_stimuli(sounds / "quux.wav", "sound")[0][0].sha256


def test_long_sounds_have_a_limit() -> None:
    for seconds, rate in ((3, 16_000), (6, 8_000)):
        quiet = Sound(np.zeros(seconds * 16_000, np.float32), 16_000)
        part = sound_part(quiet, most_bytes=100_000)
        assert opened(part.data)[0].framerate == rate
        assert len(part.data) <= 100_000
    with pytest.raises(InputError, match="at most 6 seconds"):
        sound_part(Sound(np.zeros(7 * 16_000, np.float32), 16_000), most_bytes=100_000)


@pytest.mark.parametrize("protocol", [INTENSITY, MULTILABEL], ids=lambda one: one.name)
def test_the_same_question_about_a_sound(protocol: object, sounds: Path, tmp_path: Path) -> None:
    said = {"intensity": {"Awe": 3}, "multilabel": {"chosen": ["joy"]}}[protocol.name]
    with FakeServer(lambda call: chat(json.dumps(said))) as server:
        asked = rater(server, tmp_path, protocol=protocol)
        run = asked.rate(sounds)
        # By name, by table and as a list they are the same sounds: none is asked about again.
        for place in (sounds / "heard.csv", sorted(sounds.glob("*.wav"))):
            asked.rate(place)
        assert len(server.calls) == 2
    assert run.n_usable == 2
    assert {len(call.sounds) for call in server.calls} == {1}
    assert not any(call.images for call in server.calls)
    assert server.calls[0].media == ["wav"]
    assert {opened(call.sounds[0])[0].framerate for call in server.calls} == {16_000}
    assert all("Sound:" in call.text for call in server.calls)
    assert not any(name in call.text for call in server.calls for name in ("quux", "zyzzy", ".wav"))


def test_what_is_a_sound(sounds: Path, faces: Path, tmp_path: Path) -> None:
    assert kind_of_stimuli(sounds / "heard.csv") == "sound"
    assert kind_of_stimuli(sounds) == "sound"
    named = find_material([("a", sounds / "quux.wav")], INTENSITY)
    assert (named[0].stimulus, named[0].shows) == ("a", ("sound",))
    assert find_material(faces, INTENSITY)[0].shows == ("picture",)
    texts = find_material(["so happy", ("b", "oh no")], MULTILABEL)
    assert [(one.stimulus, one.texts) for one in texts] == [
        ("text 1", ("so happy",)),
        ("b", ("oh no",)),
    ]
    with pytest.raises(InputError, match="pair of stimulus and text"):
        find_material([("a", "b", "c")], MULTILABEL)
    with pytest.raises(InputError, match="not a table"):
        find_material(sounds, load_protocol("reaction"))


def test_that_a_model_does_not_hear_is_its_answer(
    sounds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider, its library, and a local model say so: each time it is an outcome."""
    with FakeServer(lambda call: error(400, "audio is not supported")) as server:
        run = rater(server, tmp_path / "a").rate(sounds)
        assert set(run.to_frame()["outcome"]) == {"rejected"}
        assert len(server.calls) == 2
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    settings = AskSettings(base_url="http://127.0.0.1:9")
    place = save_llama(tmp_path / "llama")
    for model, given in (
        (f"local/{place}", AskSettings()),
        ("anthropic/claude-x", settings),
    ):
        asked = VlmRater(model, ledger=tmp_path / model.partition("/")[0], settings=given)
        frame = asked.rate(sounds).to_frame()
        assert set(frame["outcome"]) == {"rejected"}
        assert set(frame["retries"]) == {0}


def test_controls_without_the_right_sound(sounds: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Awe=3)) as server:
        run = rater(server, tmp_path, concurrency=1).rate(
            sounds, control=["no_image", "wrong_image"]
        )
    assert [len(call.sounds) for call in server.calls] == [1, 1, 0, 0, 1, 1]
    of = {name: call.sounds[0] for name, call in zip(("quux", "zyzzy"), server.calls, strict=False)}
    assert [call.sounds[0] for call in server.calls[4:]] == [of["zyzzy"], of["quux"]]
    assert run.n_usable == 6


def test_a_sound_that_is_none_or_too_long(sounds: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sounds"
    folder.mkdir()
    tone(folder / "good.wav", 300)
    tone(folder / "long.wav", 300, seconds=3, rate=8_000)
    (folder / "bad.wav").write_bytes(b"RIFF and nothing")
    from affectlab.models.vlm.prompts import ImageLimits

    with FakeServer(lambda call: values(Awe=3)) as server:
        more = {"limits": ImageLimits(bytes=20_000), "on_bad": "set_aside"}
        run = rater(server, tmp_path / "run", **more).rate(folder)
        assert len(server.calls) == 1
        assert run.n_usable == 1
        assert any("2 questions" in note for note in run.notes)
        with pytest.raises(InputError, match="seconds"):
            rater(server, tmp_path / "run2", **(more | {"on_bad": "raise"})).rate(
                folder / "long.wav"
            )
