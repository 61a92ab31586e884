"""Adapters for packages that are not installed here, on packages of the same shape."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PIL import Image

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.raters import load_rater, rate

# As py-feat 2.1.5: detect() gives a Fex, a data frame of pandas, a row for each face.
FEAT = """
import pandas as pd
from PIL import Image
__version__ = "2.1.5"

class _Detector:
    def __init__(self, device="cpu", identity_model="arcface"):
        assert identity_model is None
        self.device = device

    def detect(self, inputs, data_type="image", output_size=None, batch_size=1, num_workers=0,
               pin_memory=False, face_identity_threshold=0.8, face_detection_threshold=None,
               skip_frames=None, progress_bar=True, **kwargs):
        assert data_type == "image" and not progress_bar
        rows = []
        for file in inputs:
            with Image.open(file) as image:
                red, green, _ = image.convert("RGB").getpixel((0, 0))
            boxes = [(1.0, 1.0, 8.0, 8.0), (2.0, 2.0, 30.0, 30.0)][:green]
            for number, box in enumerate(boxes or [(float("nan"),) * 4]):
                shares = [0.0] * 7
                shares[self.place] = 1.0 if number == len(boxes) - 1 else 0.0
                shares[0] = 1.0 - shares[self.place]
                if not boxes:
                    shares = [float("nan")] * 7
                face = dict(zip(("FaceRectX", "FaceRectY", "FaceRectWidth", "FaceRectHeight"), box))
                rows.append(face | {"FaceScore": 0.9 if boxes else 0.0, "input": file}
                            | dict(zip(self.names, shares)))
        return pd.DataFrame(rows)

class Detectorv2(_Detector):
    names = ["Neutral", "Happy", "Sad", "Surprise", "Fear", "Disgust", "Anger"]
    place = 1

class Detectorv1(_Detector):
    names = ["anger", "disgust", "fear", "happiness", "sadness", "surprise", "neutral"]
    place = 3
"""
# As deepface 0.0.103: analyze() takes blue, green, red and gives percentages.
DEEPFACE = {
    "__init__.py": '__version__ = "0.0.103"\n',
    "modules/__init__.py": "",
    "modules/exceptions.py": "class FaceNotDetected(ValueError):\n    pass\n",
    "DeepFace.py": """
import numpy as np
from deepface.modules.exceptions import FaceNotDetected

def analyze(img_path, actions=("emotion", "age", "gender", "race"), enforce_detection=True,
            detector_backend="opencv", align=True, expand_percentage=0, silent=False,
            anti_spoofing=False):
    assert actions == ("emotion",) and silent
    assert img_path.dtype == np.uint8 and img_path.ndim == 3
    blue, green, red = (int(one) for one in img_path[0, 0])
    if not green:
        if enforce_detection:
            raise FaceNotDetected("Face could not be detected in numpy array.")
        green = 1
    labels = ["angry", "disgust", "fear", "happy", "sad", "surprise", "neutral"]
    found = []
    for number in range(green):
        size = 10 * (number + 1)
        joy = np.float32(100.0 * red / 255)
        emotion = dict.fromkeys(labels, np.float32(0)) | {"happy": joy, "neutral": 100 - joy}
        if number < green - 1:
            emotion = dict.fromkeys(labels, np.float32(0)) | {"sad": np.float32(100.00001)}
        found.append({"emotion": emotion, "dominant_emotion": "happy",
                      "region": {"x": 0, "y": 0, "w": size, "h": size, "left_eye": None},
                      "face_confidence": 0.9})
    return found
""",
}
# As hsemotion-onnx 0.3.1, and the part of OpenCV that finds faces.
HSEMOTION = {
    "__init__.py": "",
    "facial_emotions.py": """
import numpy as np

class HSEmotionRecognizer:
    def __init__(self, model_name="enet_b0_8_best_vgaf"):
        if model_name == "none":
            raise OSError("cannot download")
        names = ["Anger", "Contempt", "Disgust", "Fear", "Happiness", "Neutral", "Sadness",
                 "Surprise"]
        if "_7" in model_name:
            names.remove("Contempt")
        self.idx_to_class = dict(enumerate(names))
        self.is_mtl = "_mtl" in model_name

    def predict_emotions(self, face_img, logits=True):
        assert not logits
        red = face_img[0, 0, 0] / 255
        scores = np.zeros(len(self.idx_to_class) + 2 * self.is_mtl, dtype=np.float32)
        scores[0] = red
        scores[len(self.idx_to_class) - 1] = 1 - red
        if self.is_mtl:
            scores[-2:] = (-0.5, 0.7)
        return self.idx_to_class[0], scores
""",
}
CV2 = """
import numpy as np
COLOR_RGB2GRAY = 7

class data:
    haarcascades = "/somewhere/"

def cvtColor(pixels, code):
    assert code == COLOR_RGB2GRAY
    return pixels[:, :, 1]

class CascadeClassifier:
    def __init__(self, file):
        assert file == "/somewhere/haarcascade_frontalface_default.xml"

    def detectMultiScale(self, image, scaleFactor=1.1, minNeighbors=3):
        n = int(image[0, 0])
        # OpenCV gives an empty tuple where there is none.
        return np.array([(0, 0, 5, 5), (20, 0, 20, 20)][:n]) if n else ()
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "packages"
    files = {"feat/__init__.py": FEAT, "cv2.py": CV2}
    files |= {f"deepface/{name}": text for name, text in DEEPFACE.items()}
    files |= {f"hsemotion_onnx/{name}": text for name, text in HSEMOTION.items()}
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(place))
    yield place  # type: ignore[misc]
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("feat", "deepface", "hsemotion_onnx", "cv2"):
            del sys.modules[name]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Pictures whose green says how many faces they have, and whose red how they look."""
    folder = tmp_path / "images"
    folder.mkdir()
    for name, red, faces in (("none", 255, 0), ("one", 255, 1), ("two", 255, 2)):
        image = Image.new("RGB", (60, 40), (255, faces, 0))
        # Within the box of the larger face.
        image.paste((red // 5, faces, 0), (20, 0, 60, 40))
        image.save(folder / f"{name}.png")
    return folder


def values(found: object, stimulus: str) -> dict[str, float | None]:
    frame = found.to_frame().filter(stimulus=stimulus)  # type: ignore[attr-defined]
    return dict(frame.select("label", "value").iter_rows())


@pytest.mark.parametrize(
    ("rater", "settings", "joy", "neutral", "left_out"),
    [
        ("pyfeat", {}, "Happy", "Neutral", "Neutral"),
        ("pyfeat", {"detector": "v1"}, "happiness", "neutral", "neutral"),
        ("deepface", {}, "happy", "neutral", "neutral"),
    ],
)
@pytest.mark.usefixtures("packages")
def test_faces_of_packages(
    rater: str,
    settings: dict[str, object],
    joy: str,
    neutral: str,
    left_out: str,
    images: Path,
) -> None:
    own = rate(rater, images, **settings)  # type: ignore[arg-type]
    assert len(own.label_names) == 7
    assert values(own, "one")[joy] == pytest.approx(1)
    # Of two faces the larger one.
    assert values(own, "two")[joy] == pytest.approx(1)
    assert set(values(own, "none").values()) == {None}
    outcomes = dict(own.to_frame().select("stimulus", "outcome").unique().iter_rows())
    assert outcomes == {"none": "empty", "one": "ok", "two": "ok"}
    faces = dict(own.stimuli.select("stimulus", "faces").iter_rows())
    assert faces == {"none": 0, "one": 1, "two": 2}
    assert own.raters["version"][0] == {"pyfeat": "2.1.5", "deepface": "0.0.103"}[rater]
    ekman = rate(rater, images, "ekman", **settings)  # type: ignore[arg-type]
    assert ekman.label_names == ("anger", "disgust", "fear", "joy", "sadness", "surprise")
    assert values(ekman, "one")["joy"] == pytest.approx(1)
    assert ekman.taxonomy is not None
    assert ekman.taxonomy.name == "ekman"
    assert ekman.raters["left_out"][0] == f"{left_out}: the absence of emotion"
    assert neutral in own.label_names


@pytest.mark.usefixtures("packages")
def test_faces_of_hsemotion(images: Path) -> None:
    found = rate("hsemotion", images, "ekman")
    # The larger face is cut out of the picture: its red is a fifth.
    assert values(found, "two")["anger"] == pytest.approx(0.2)
    assert values(found, "one")["anger"] == pytest.approx(1.0)
    assert found.to_frame().filter(stimulus="none")["outcome"].unique().to_list() == ["empty"]
    assert "Contempt: an emotion that Ekman" in found.raters["left_out"][0]
    whole = rate("hsemotion", images, faces="whole", model="enet_b0_8_va_mtl")
    # Valence and arousal, which the model adds, are no emotions.
    assert len(whole.label_names) == 8
    assert values(whole, "none")["Anger"] == pytest.approx(1.0)
    seven = load_rater("hsemotion", model="enet_b2_7")
    assert "Contempt" not in seven.labels
    with pytest.raises(InputError, match="network 'none' cannot be loaded"):
        load_rater("hsemotion", model="none")


@pytest.mark.usefixtures("packages")
def test_one_picture_that_fails_takes_no_others_along(images: Path) -> None:
    (images / "strange.png").write_bytes((images / "one.png").read_bytes())
    rater = load_rater("deepface")

    def failing(pictures: object) -> object:
        pictures = list(pictures)  # type: ignore[call-overload]
        if any(picture.getpixel((0, 0))[1] == 2 for picture in pictures):
            raise RuntimeError("out of\nmemory")
        return rater(pictures)

    failing.labels, failing.batch = rater.labels, 3  # type: ignore[attr-defined]
    found = rate(failing, images)  # type: ignore[arg-type]
    outcomes = dict(found.to_frame().select("stimulus", "outcome").unique().iter_rows())
    assert outcomes == {"none": "empty", "one": "ok", "strange": "ok", "two": "rejected"}


@pytest.mark.parametrize(
    ("rater", "package"),
    [("pyfeat", "py-feat"), ("deepface", "deepface"), ("hsemotion", "hsemotion-onnx")],
)
def test_packages_that_are_not_installed(
    rater: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("feat", "deepface", "hsemotion_onnx", "cv2"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {package}") as missing:
        load_rater(rater)
    assert str(missing.value).count(".") <= 1


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("rater", "settings", "said"),
    [
        ("pyfeat", {"detector": "v3"}, "unknown detector 'v3'"),
        ("pyfeat", {"threshold": 2}, "threshold = 2; expected 0 to 1"),
        ("hsemotion", {"faces": "all"}, "unknown way to find faces 'all'"),
        ("deepface", {"backend": "x"}, "unknown setting 'backend'"),
    ],
)
def test_bad_settings(rater: str, settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_rater(rater, **settings)


@pytest.mark.usefixtures("packages")
def test_words_lead_to_a_taxonomy_where_no_mapping_does(images: Path) -> None:
    found = rate("deepface", images, "goemotions")
    own = ("anger", "disgust", "fear", "joy", "sadness", "surprise", "neutral")
    assert set(found.label_names) == set(own)
    assert "happy → joy" in found.raters["labels_by"][0]
