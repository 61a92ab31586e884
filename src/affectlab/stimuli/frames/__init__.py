"""Frames of expression transitions: from films to the pictures that people compare.

:func:`find_transitions` finds them in folders, videos, the layout of MultiFace or a table;
:func:`write_frames` takes five frames of each (:class:`FiveFrameSampling`), or candidates for a
staircase study (:class:`Candidates`), whose results :func:`read_jnds` reads.
"""

from affectlab.stimuli.frames.direction import Direction as Direction
from affectlab.stimuli.frames.find import find_transitions
from affectlab.stimuli.frames.five_frames import five_frames
from affectlab.stimuli.frames.jnds import read_jnds
from affectlab.stimuli.frames.pictures import UnusableError, View
from affectlab.stimuli.frames.sampling import Candidates, FiveFrameSampling, Sampling as Sampling
from affectlab.stimuli.frames.transition import FrameSource, Transition
from affectlab.stimuli.frames.write import WrittenFrames as WrittenFrames, write_frames

__all__ = [
    "Candidates",
    "FiveFrameSampling",
    "FrameSource",
    "Transition",
    "UnusableError",
    "View",
    "find_transitions",
    "five_frames",
    "read_jnds",
    "write_frames",
]
