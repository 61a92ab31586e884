"""What is left out where an optional library is not installed."""

from __future__ import annotations

from importlib.util import find_spec

# Modules that cannot be imported without their extra have examples, which pytest would collect.
_MODELS = "src/affectlab/models/"
_HEADS = "answering bank calibrated fit folder forward heads weights"
_TRAIN = "kernels pass plan progress random single stacked states"
_TEXT = "bilstm embedding encoder gradients loop network pretrained probe tensors transformer"
_TORCH = {
    _MODELS: "_checkpoints _pretrained _torch metrics",
    f"{_MODELS}heads/_": _HEADS,
    f"{_MODELS}heads/_train_": _TRAIN,
    f"{_MODELS}text/_": _TEXT,
    f"{_MODELS}embedding/_": "convert convert_names transformers",
    f"{_MODELS}embedding/_transformers_": "checkpoint images texts",
    f"{_MODELS}differences/_": "loss loss_pixels lpips lpips_network lpips_weights siamese_train",
    "tests/cli/test_": "calibrate rate_faces train_difference train_heads",
    "tests/models/test_": "metrics",
    "tests/models/heads/test_": "bank drawn_faces folder heads_gpu paths_agree plateau rate resume",
    "tests/models/heads/": "test_shape test_stage test_weights",
    "tests/models/embedding/test_": "convert transformers",
    "tests/models/differences/test_": "expression_metric loss lpips siamese",
    "tests/models/text/test_": "bilstm embedding label_penalty probe safe_loading training_trouble",
    "tests/models/text/": "test_transformer",
}
_TRANSFORMERS = {
    _MODELS: "_pretrained metrics",
    f"{_MODELS}embedding/_": "transformers",
    f"{_MODELS}text/_": "embedding encoder gradients pretrained probe transformer",
    f"{_MODELS}embedding/_transformers_": "checkpoint images texts",
    "tests/models/embedding/test_": "transformers",
    "tests/models/text/test_": "bilstm embedding probe safe_loading training_trouble",
    "tests/models/text/": "test_transformer",
}


def _paths(parts: dict[str, str]) -> list[str]:
    """Give the files of names behind what they begin with."""
    return [f"{start}{name}.py" for start, names in parts.items() for name in names.split()]


_NEEDS = {
    "torch": _paths(_TORCH),
    "transformers": _paths(_TRANSFORMERS),
    "daft": [
        "tests/stimuli/curation",
        "src/affectlab/stimuli/curation",
        "tests/cli/test_stimuli_curate.py",
        "tests/cli/test_stimuli_curate_pilot.py",
        "tests/test_tutorial_curate.py",
    ],
    "sqlalchemy": ["tests/study", "tests/e2e", "src/affectlab/study"],
}

collect_ignore = [
    path for library, paths in _NEEDS.items() if not find_spec(library) for path in paths
]
# Alembic runs this file itself, in a context of its own.
collect_ignore += ["src/affectlab/study/migrations/env.py"]
