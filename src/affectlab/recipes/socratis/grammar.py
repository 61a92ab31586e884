"""Small grammars of captions and of reasons, in which what is meant is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["FEELINGS", "SOURCES", "THINGS", "Feeling", "caption_of", "fit_of", "reason_of"]


@dataclass(frozen=True)
class Feeling:
    """An emotion: how people call it, what they say of it, and what is told when they feel it."""

    positive: bool
    words: tuple[str, ...]
    """Words for it, the commonest first; a misspelt one among them."""
    reasons: tuple[str, ...]
    """What is said of a thing: a marker of the emotion, and the thing behind or before it."""
    news: tuple[str, ...]
    """What is told of a thing in a caption."""
    scene: str
    """What a picture of it shows."""


FEELINGS = {
    "amusement": Feeling(
        True,
        ("amused", "Funny", "amusement", "playful"),
        (
            "it is funny to picture {thing} like that",
            "nobody can help laughing at {thing}",
            "such a joke about {thing} is silly",
        ),
        ("A goose has chaired the meeting about {thing}", "Clowns have taken over {thing}"),
        "with confetti in the air",
    ),
    "contentment": Feeling(
        True,
        ("content", "calm", "Calm", "peaceful"),
        (
            "it is good and quiet around {thing}",
            "all is well with {thing} again",
            "there is nothing to worry about at {thing}",
        ),
        ("An ordinary evening at {thing}", "After the repairs all is quiet at {thing}"),
        "over still water",
    ),
    "awe": Feeling(
        True,
        ("awe", "amazed", "Inspired", "inspiring"),
        (
            "it is wonderful what was done for {thing}",
            "one feels small before {thing}",
            "so much skill went into {thing}",
        ),
        ("Volunteers have rebuilt {thing} in nine days", "Five hundred years of {thing}"),
        "below high peaks",
    ),
    "excitement": Feeling(
        True,
        ("excited", "Excited", "excitied", "eager"),
        (
            "they cannot wait to see {thing}",
            "something new begins at {thing}",
            "it is thrilling that {thing} opens",
        ),
        ("Tomorrow {thing} opens to everyone", "First prize for {thing}"),
        "in bright rays of light",
    ),
    "fear": Feeling(
        False,
        ("scared", "fear", "Worried", "afraid"),
        (
            "it is not safe to be near {thing}",
            "somebody could be hurt at {thing}",
            "nobody knows what happens to {thing} next",
        ),
        ("Cracks have been found in {thing}", "Police warn people not to go near {thing}"),
        "in the dark",
    ),
    "sadness": Feeling(
        False,
        ("sad", "Sad", "sadness", "gloomy"),
        (
            "it hurts to lose {thing}",
            "many will miss {thing}",
            "there is nothing left of {thing}",
        ),
        ("After forty years {thing} closes for good", "Nobody came to say farewell to {thing}"),
        "in the rain",
    ),
    "disgust": Feeling(
        False,
        ("disgusted", "Disgust", "disgustd", "revolted"),
        (
            "the dirt around {thing} is foul",
            "it is sickening how {thing} was left to rot",
            "such filth should not be near {thing}",
        ),
        ("Waste has been piling up at {thing} for weeks", "Rats have moved into {thing}"),
        "in the murk",
    ),
    "anger": Feeling(
        False,
        ("angry", "Angry", "anger", "furious"),
        (
            "it is unfair what they did to {thing}",
            "nobody asked those who need {thing}",
            "they should be ashamed because of {thing}",
        ),
        ("The council has sold {thing} behind closed doors", "Money for {thing} has disappeared"),
        "under a jagged sky",
    ),
}
"""By the labels of Mikels' wheel, which drawn scenes show."""

THINGS = (
    "the old mill",
    "the ferry",
    "the library",
    "the bakery",
    "the school",
    "the bridge",
    "the harbour",
    "the orchard",
    "the theatre",
    "the market",
    "the lighthouse",
    "the railway",
    "the river",
    "the garden",
    "the clinic",
    "the choir",
)
SOURCES = ("Valley News", "Harbour Post", "Evening Bell", "Northern Star", "stock pictures")
"""Four newspapers and a collection of pictures; all are invented."""

_OPENINGS = ("They feel so because ", "They would think that ", "Because ", "For them ", "")
_PLACES = (
    "in Elmford",
    "in Saltby",
    "in Upper Wick",
    "near Marrow",
    "on Long Island",
    "in Dunmere",
)
_ABOUT_PICTURE = 0.45


def caption_of(label: str, thing: str, rng: np.random.Generator) -> str:
    """Tell something of a thing that makes people feel an emotion."""
    news = FEELINGS[label].news
    text = news[int(rng.integers(len(news)))].format(thing=thing)
    return f"{text} {_PLACES[int(rng.integers(len(_PLACES)))]}"


def reason_of(label: str, thing: str, scene: str, rng: np.random.Generator) -> str:
    """Say why somebody feels an emotion about a thing, before a picture that shows a scene."""
    reasons = FEELINGS[label].reasons
    text = reasons[int(rng.integers(len(reasons)))].format(thing=thing)
    text = _OPENINGS[int(rng.integers(len(_OPENINGS)))] + text
    if rng.random() < _ABOUT_PICTURE:
        text += f" {FEELINGS[scene].scene}"
    return f"{text[0].upper()}{text[1:]}."


def fit_of(text: str, label: str, thing: str, scene: str) -> float:
    """Say how well a reason fits an emotion about a thing, from -1.5 to 1.75.

    A marker of the emotion counts 1, one of another emotion of the same sign 0, and one of the
    other sign -1; the thing itself counts a half, another thing as much less; what the picture
    shows a quarter.
    """
    told = text.casefold()
    found = [name for name, one in FEELINGS.items() if any(m in told for m in _markers(one))]
    fit = 0.0
    if label in found:
        fit += 1.0
    elif any(FEELINGS[name].positive != FEELINGS[label].positive for name in found):
        fit -= 1.0
    if thing in told:
        fit += 0.5
    elif any(other in told for other in THINGS):
        fit -= 0.5
    return fit + 0.25 * (FEELINGS[scene].scene in told)


def _markers(feeling: Feeling) -> list[str]:
    """The longest piece of each reason that does not name the thing."""
    return [max(text.split("{thing}"), key=len).strip() for text in feeling.reasons]
