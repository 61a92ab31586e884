"""Files of weights as their authors publish them: how each is told, read and fed with pictures.

A published file is a dictionary of tensors without settings around it. What it is shows in the
names of its weights; how pictures are prepared is in the authors' code alone. :data:`LAYOUTS` has
both, once for each network and preparation. Nothing here loads torch.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from affectlab.core.errors import InputError
from affectlab.core.words import joined, shown

__all__ = ["LAYOUTS", "Layout", "Preparation", "PublishedFile", "find_layout"]


@dataclass(frozen=True)
class Preparation:
    """What happens to a picture before the network sees it."""

    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    """Of red, green and blue from 0 to 1."""
    bicubic: bool = True
    """How it is resized: bicubic, or bilinear."""
    shorter: float | None = 1.0
    """Shorter side after resizing, as a multiple of the side that is cut out of the middle; None:
    both sides are brought to that side, and nothing is cut."""

    def __str__(self) -> str:
        how = "bicubic" if self.bicubic else "bilinear"
        if self.shorter is None:
            return f"both sides to 224, {how}"
        return f"shorter side to {round(224 * self.shorter)}, {how}; middle 224"


@dataclass(frozen=True)
class PublishedFile:
    """A file, where it comes from, and under which licence."""

    what: str
    place: str
    licence: str


@dataclass(frozen=True)
class Layout:
    """One network under its authors' names, with one way to prepare pictures."""

    name: str
    """What stands before the colon in ``NAME:FILE``."""
    network: str
    """Builder of :mod:`affectlab.models.embedding.published.architectures`."""
    needs: tuple[str, ...]
    """Weights that every such file has."""
    sign: str
    """Pattern of a weight that no file of another layout has; "": there is none."""
    preparation: Preparation
    features: str
    """What a row is, for people."""
    files: tuple[PublishedFile, ...]


_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_CLIP = Preparation((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
_EVALUATED = Preparation(*_IMAGENET, shorter=256 / 224)
_VERSION_1 = Preparation(*_IMAGENET, bicubic=False, shorter=256 / 224)
_VERSION_2 = Preparation(*_IMAGENET, bicubic=False, shorter=232 / 224)
_WHOLE = Preparation(*_IMAGENET, bicubic=False, shorter=None)
_CLIP_VIT = ("visual.conv1.weight", "visual.positional_embedding", "visual.proj")
_CLIP_RESNET = ("visual.conv1.weight", "visual.attnpool.positional_embedding")
_RESNET = ("conv1.weight", "bn1.running_mean", "layer4.0.conv1.weight")
_VIT = ("cls_token", "pos_embed", "patch_embed.proj.weight", "blocks.0.attn.qkv.weight")
_MOCO = tuple(f"encoder_q.{name}" for name in _RESNET)
_MAE, _FINE_TUNED = (*_VIT, "norm.weight"), (*_VIT, "fc_norm.weight")
# The code of FaRL has a second task, and passes over what its files hold more when it loads them.
_OF_FARL, _OF_FMAE = r"visual\.(?:lm_|ln_lm|mask_token).*", r"(?:AU|ID)_head\..+"
_PROJECTED, _POOLED = "projected features", "mean over places, 2,048 numbers"
_PATCHES = "mean over patches, through `fc_norm`"
_NON_COMMERCIAL = "CC BY-NC 4.0"


def _file(what: str, repository: str, licence: str) -> PublishedFile:
    return PublishedFile(what, f"https://github.com/{repository}", licence)


_SAFE = PublishedFile(
    "the same as safetensors", "https://huggingface.co/timm/resnet50_clip.openai", "MIT"
)
LAYOUTS: tuple[Layout, ...] = (
    Layout("clip-vit", "clip_vit", _CLIP_VIT, r"input_resolution", _CLIP, _PROJECTED, (
        _file("CLIP ViT-B/16 and others", "openai/CLIP", "MIT"),)),
    Layout("farl", "clip_vit", _CLIP_VIT, _OF_FARL, _CLIP, _PROJECTED, (
        _file("FaRL ViT-B/16", "FacePerceiver/FaRL", "MIT"),)),
    Layout("laion-clip", "clip_vit_gelu", _CLIP_VIT, "", _CLIP, _PROJECTED, (
        _file("CLIP trained by LAION", "mlfoundations/open_clip", "MIT"),)),
    Layout("clip-resnet", "clip_resnet", _CLIP_RESNET, "", _CLIP, "features by attention", (
        _file("CLIP RN50 and others", "openai/CLIP", "MIT"), _SAFE)),
    Layout("moco-v2", "resnet", _MOCO, "", _VERSION_1, _POOLED, (
        _file("MoCo v2, ResNet-50", "facebookresearch/moco", "MIT (CC BY-NC 4.0 before 2023)"),)),
    Layout("resnet50", "resnet", _RESNET, "", _VERSION_1, _POOLED, (
        _file("ResNet-50, ImageNet, version 1", "pytorch/vision", "BSD-3"),)),
    Layout("resnet50-v2", "resnet", _RESNET, "", _VERSION_2, _POOLED, (
        _file("ResNet-50, ImageNet, version 2", "pytorch/vision", "BSD-3"),)),
    Layout("mae", "vit", _MAE, "", _EVALUATED, "class token", (
        _file("MAE", "facebookresearch/mae", _NON_COMMERCIAL),
        _file("MAE-Face", "FuxiVirtualHuman/MAE-Face", "MIT"),
        _file("FMAE", "forever208/FMAE-IAT", _NON_COMMERCIAL))),
    Layout("mae-finetuned", "vit_fc_norm", _FINE_TUNED, "", _EVALUATED, _PATCHES, (
        _file("MAE, fine-tuned", "facebookresearch/mae", _NON_COMMERCIAL),)),
    Layout("fmae-iat", "vit_fc_norm", _FINE_TUNED, _OF_FMAE, _WHOLE, _PATCHES, (
        _file("FMAE-IAT, and FMAE fine-tuned on faces", "forever208/FMAE-IAT", _NON_COMMERCIAL),)),
)  # fmt: skip
"""All layouts that are known."""


def find_layout(names: Collection[str], file: str, called: str = "") -> Layout:
    """Tell what a file of weights is by their names.

    Parameters
    ----------
    names
        Names of all weights.
    file
        How errors call the file.
    called
        Name of the layout, where it was said.

    Raises
    ------
    InputError
        When no layout has such weights, several have, or the one that was named has not.

    Examples
    --------
    >>> names = ["visual.conv1.weight", "visual.attnpool.positional_embedding"]
    >>> find_layout(names, "RN50.pt").name
    'clip-resnet'
    """
    fitting = [one for one in LAYOUTS if set(one.needs) <= set(names)]
    if called:
        wanted = next(one for one in LAYOUTS if one.name == called)
        lacking = [name for name in wanted.needs if name not in names]
        if lacking:
            other = f", not of {joined([one.name for one in fitting], 'or')}" if fitting else ""
            raise InputError(
                f"{file} has no weight {lacking[0]!r}; expected the layout of {called}{other}"
            )
        return wanted
    signed = [
        one for one in fitting if one.sign and any(re.fullmatch(one.sign, name) for name in names)
    ]
    found = signed or fitting
    if len(found) == 1:
        return found[0]
    if not found:
        first = f" ({shown(min(names), 60)} and others)" if names else ""
        raise InputError(
            f"{file}: weights{first} of no layout that is known; expected one of "
            f"{joined([one.name for one in LAYOUTS], 'or')}"
        )
    raise InputError(
        f"{file} may be {joined([one.name for one in found], 'or')}, which have the same weights "
        f"and differ in what no weight tells; say which, such as {found[0].name}:{file}"
    )
