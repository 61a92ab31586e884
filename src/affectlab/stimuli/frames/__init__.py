"""Frames of expression transitions: from films to the pictures that people compare.

:func:`find_transitions` finds them in folders, videos, the layout of MultiFace or a table;
:func:`write_frames` takes five frames of each (:class:`FiveFrameSampling`), or candidates for a
staircase study (:class:`Candidates`), whose results :func:`read_jnds` reads.
"""

from affectlab.stimuli.frames.differences import DIFFERENCES, Difference, GreyDifference
from affectlab.stimuli.frames.direction import DIRECTIONS, Direction
from affectlab.stimuli.frames.find import LAYOUTS, Layout, find_transitions
from affectlab.stimuli.frames.five_frames import CROSSED, Crossed, FiveFrames, five_frames
from affectlab.stimuli.frames.jnds import SequenceJnd, read_jnds
from affectlab.stimuli.frames.pictures import PictureFiles, UnusableError, View, open_picture
from affectlab.stimuli.frames.sampling import Along, Candidates, Chosen, FiveFrameSampling, Sampling
from affectlab.stimuli.frames.transition import Found, FrameSource, LeftOut, Transition
from affectlab.stimuli.frames.videos import VideoFile
from affectlab.stimuli.frames.write import WrittenFrames, write_frames

__all__ = [
    "CROSSED",
    "DIFFERENCES",
    "DIRECTIONS",
    "LAYOUTS",
    "Along",
    "Candidates",
    "Chosen",
    "Crossed",
    "Difference",
    "Direction",
    "FiveFrameSampling",
    "FiveFrames",
    "Found",
    "FrameSource",
    "GreyDifference",
    "Layout",
    "LeftOut",
    "PictureFiles",
    "Sampling",
    "SequenceJnd",
    "Transition",
    "UnusableError",
    "VideoFile",
    "View",
    "WrittenFrames",
    "find_transitions",
    "five_frames",
    "open_picture",
    "read_jnds",
    "write_frames",
]
