"""What training loops of networks share: steps and checkpoints (needs torch)."""

from affectlab.models.training.checkpoints import (
    Checkpoints as Checkpoints,
    fingerprint_of as fingerprint_of,
    fingerprint_of_weights as fingerprint_of_weights,
    read_state as read_state,
    write_state as write_state,
)
from affectlab.models.training.steps import (
    all_finite as all_finite,
    diverged as diverged,
    on_device as on_device,
    optimiser_of as optimiser_of,
    seed_device as seed_device,
    shuffled as shuffled,
    step_seed as step_seed,
)
from affectlab.models.training.trainer import fine_tune as fine_tune
