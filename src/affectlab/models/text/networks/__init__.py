"""Text classifiers that train a network, and their loop (needs torch)."""

from affectlab.models.text.networks.loop import (
    Problem as Problem,
    Split as Split,
    average_precision as average_precision,
    by_length as by_length,
    logits_of as logits_of,
    shuffled_batches as shuffled_batches,
    train as train,
)
from affectlab.models.text.networks.network import (
    NetworkTextClassifier as NetworkTextClassifier,
    output_layer as output_layer,
)
from affectlab.models.text.networks.stopping import EarlyStopping as EarlyStopping
from affectlab.models.text.networks.tensors import (
    check_finite as check_finite,
    load_weights as load_weights,
    save_weights as save_weights,
)
