"""Words of simulated comments: what is said with each emotion, and what stands around it."""

from __future__ import annotations

__all__ = ["AROUND", "ASIDE", "CUES", "DIARY", "TARGET"]


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


CUES: dict[str, tuple[str, ...]] = {
    "admiration": ("impressive", "brilliant", "masterful", "superb", "talented"),
    "amusement": ("haha", "hilarious", "giggling", "comedy", "lmao"),
    "anger": ("furious", "rage", "hateful", "enraged", "outrage"),
    "annoyance": ("annoying", "irritating", "nagging", "tiresome", "bothersome"),
    "approval": ("agreed", "exactly", "correct", "indeed", "valid"),
    "caring": ("careful", "hugs", "comfort", "safe", "protect"),
    "confusion": ("confused", "puzzling", "unclear", "baffled", "muddled"),
    "curiosity": ("curious", "wondering", "whose", "which", "details"),
    "desire": ("wish", "crave", "longing", "yearn", "want"),
    "disappointment": ("disappointed", "letdown", "underwhelming", "unfortunately", "meh"),
    "disapproval": ("disagree", "nope", "wrong", "objection", "shouldnt"),
    "disgust": ("disgusting", "gross", "revolting", "nasty", "vile"),
    "embarrassment": ("embarrassing", "awkward", "cringe", "blushing", "ashamed"),
    "excitement": ("excited", "thrilling", "pumped", "woohoo", "hyped"),
    "fear": ("scared", "terrified", "horror", "frightening", "afraid"),
    "gratitude": ("thanks", "grateful", "thankful", "appreciated", "thx"),
    "grief": ("mourning", "funeral", "bereaved", "condolences", "departed"),
    "joy": ("happy", "delighted", "joyful", "cheerful", "smiling"),
    "love": ("love", "adore", "sweetheart", "beloved", "darling"),
    "nervousness": ("nervous", "anxious", "worried", "uneasy", "jittery"),
    "optimism": ("hopefully", "soon", "promising", "hopeful", "brighter"),
    "pride": ("proud", "accomplished", "achievement", "milestone", "honoured"),
    "realization": ("realized", "noticed", "turns", "suddenly", "dawned"),
    "relief": ("relieved", "phew", "finally", "unburdened", "spared"),
    "remorse": ("sorry", "regret", "apologies", "guilty", "forgive"),
    "sadness": ("sad", "crying", "miserable", "tears", "heartbroken"),
    "surprise": ("wow", "surprised", "unexpected", "omg", "astonished"),
}
"""Five words that go with each emotion."""

AROUND: dict[str, tuple[str, ...]] = {
    "positive": ("nice", "good", "great", "cool"),
    "negative": ("bad", "ugh", "poor", "worse"),
    "ambiguous": ("hm", "huh", "odd", "somehow"),
    "neutral": ("okay", "today", "there", "also"),
}
"""Words that only hint at a sentiment."""

ASIDE = _listed(
    """
    the a to and of in it is that this for on with was my at be have are so they just but
    not like one all about out get if people when can time game up he some know would
    think what there no make more by from team season play year guy show movie post read
    here watch back well even thing really much go where work day after over other only
    last two into too first right because could still man she something going life point
    old never first every new house car way friend story world long left music song book
    link video question part place around
    """
)
"""Words that say nothing of an emotion, the most frequent ones first."""

DIARY = _listed(
    """
    when i my a was the had at in to school with father mother exam friend during home
    night left saw heard told after before alone class brother sister bus village teacher
    letter hospital we our went failed passed years ago party
    """
)
"""Words of the other data set, in which people tell of themselves."""

TARGET: dict[str, tuple[str, ...]] = {
    "anger": ("anger", "annoyance"),
    "disgust": ("disgust",),
    "fear": ("fear", "nervousness"),
    "guilt": ("remorse",),
    "joy": ("joy", "relief"),
    "sadness": ("sadness", "grief"),
    "shame": ("embarrassment",),
}
"""Labels of the other data set, and the emotions whose words go with them."""
