"""Sets on the hub of the tests, and what fails there."""

from __future__ import annotations

import pytest
from tests.ratings.datasets import hub_rows as rows
from tests.ratings.datasets.hub_server import Hub

from affectlab.core.errors import InputError
from affectlab.ratings import load_dataset

GO = "google-research-datasets/go_emotions"


def add_goemotions(hub: Hub) -> None:
    hub.add(GO, rows.goemotions_files())


def add_hq(hub: Hub, **more: bytes) -> None:
    table = rows.parquet(rows.hq_table())
    hub.add(
        "laion/emonet-face-hq",
        {"README.md": rows.CARD, "data/train-00000-of-00001.parquet": table, **more},
    )


def fails(name: str, **more: object) -> str:
    with pytest.raises(InputError) as caught:
        load_dataset(name, **more)
    said = str(caught.value)
    assert "\n" not in said
    return said
