"""EmoNet-Face: 40 emotions of synthetic faces, rated by experts and by models."""

from affectlab.ratings.datasets.emonet.face import emonet_face

__all__ = [
    "emonet_face",
]
