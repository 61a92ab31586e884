"""What training loops of networks share: steps and checkpoints (needs torch)."""

from affectlab.models.training.checkpoints import (
    Checkpoints,
    fingerprint_of,
    fingerprint_of_weights,
    read_state,
    write_state,
)
from affectlab.models.training.steps import (
    accelerator_on,
    all_finite,
    diverged,
    on_device,
    optimiser_of,
    seed_device,
    shares_of,
    shuffled,
    step_seed,
    summed,
)

__all__ = [
    "Checkpoints",
    "accelerator_on",
    "all_finite",
    "diverged",
    "fingerprint_of",
    "fingerprint_of_weights",
    "on_device",
    "optimiser_of",
    "read_state",
    "seed_device",
    "shares_of",
    "shuffled",
    "step_seed",
    "summed",
    "write_state",
]
