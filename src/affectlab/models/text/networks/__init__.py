"""Text classifiers that train a network, and their loop (needs torch)."""

from affectlab.models.text.networks.loop import Problem, by_length, shuffled_batches
from affectlab.models.text.networks.network import NetworkTextClassifier, output_layer
from affectlab.models.text.networks.stopping import EarlyStopping as EarlyStopping
from affectlab.models.text.networks.tensors import (
    check_finite as check_finite,
    load_weights as load_weights,
    save_weights,
)

__all__ = [
    "NetworkTextClassifier",
    "Problem",
    "by_length",
    "output_layer",
    "save_weights",
    "shuffled_batches",
]
