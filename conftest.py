"""What is left out where an optional library is not installed."""

from __future__ import annotations

from importlib.util import find_spec

# Modules that cannot be imported without their extra have examples, which pytest would collect.
_TEXT = "src/affectlab/models/text/"
_TEXT_TESTS = "tests/models/text/"
_NEEDS = {
    "torch": [
        "src/affectlab/models/metrics.py",
        "tests/models/test_metrics.py",
        *(f"{_TEXT}_{name}.py" for name in ("bilstm", "checkpoint", "loop", "network", "tensors")),
        f"{_TEXT}_torch.py",
    ],
    "transformers": [
        *(f"{_TEXT}_{name}.py" for name in ("embedding", "encoder", "gradients", "pretrained")),
        *(f"{_TEXT}_{name}.py" for name in ("probe", "transformer")),
        *(f"{_TEXT_TESTS}test_{name}.py" for name in ("bilstm", "embedding", "probe")),
        f"{_TEXT_TESTS}test_transformer.py",
    ],
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
