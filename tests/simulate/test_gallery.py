from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.simulate import Identity, draw_face, face_specs, save_faces
from affectlab.simulate.faces import FaceParameters, FaceSpec, face_table


def test_written_faces_are_the_drawn_ones_and_the_table_describes_them(tmp_path: Path) -> None:
    specs = face_specs(2, ["awe", "anger"], [0.5, 1.0])
    table = save_faces(tmp_path / "new" / "folder", specs, size=64)
    assert table.height == len(specs) == 8
    for spec, row in zip(specs, table.iter_rows(named=True), strict=True):
        assert row["stimulus"] == spec.stimulus
        assert (row["expression"], row["intensity"]) == (spec.expression, spec.intensity)
        assert row["skin_tone"] == spec.person.skin_tone
        drawn = draw_face(spec.expression, spec.intensity, spec.identity, size=64)
        with Image.open(tmp_path / "new" / "folder" / row["file"]) as written:
            assert np.array_equal(np.asarray(written), np.asarray(drawn))


def test_same_specs_same_files(tmp_path: Path) -> None:
    specs = face_specs([3], ["fear"])
    for folder in ("one", "two"):
        save_faces(tmp_path / folder, specs, size=64)
    name = f"{specs[0].stimulus}.png"
    assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_own_parameters_and_own_person() -> None:
    spec = FaceSpec(FaceParameters(wink_left=1.0), 1.0, Identity(name="me"), name="wink")
    assert face_table([spec])["stimulus"].to_list() == ["me_wink_100"]


def test_hostile_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs a name"):
        FaceSpec(FaceParameters())
    with pytest.raises(InputError, match="unknown expression"):
        FaceSpec("bored")
    with pytest.raises(InputError, match="intensity = 2"):
        FaceSpec("joy", 2)
    with pytest.raises(InputError, match="identities = 0"):
        face_specs(0, ["joy"])
    with pytest.raises(InputError, match="no face to draw"):
        face_table([])
    with pytest.raises(InputError, match="two faces are named 'person-000_joy_100'"):
        face_table([FaceSpec("joy"), FaceSpec("joy", 0.999)])
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file; expected a folder"):
        save_faces(tmp_path / "file", [FaceSpec("joy")])
