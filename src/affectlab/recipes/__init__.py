"""The papers, end to end: published figures beside ours."""

from affectlab.recipes._parts import Parts
from affectlab.recipes._published import PublishedFigure, PublishedFigures, load_published
from affectlab.recipes._recipe import (
    DataNeed,
    Finding,
    PartFailure,
    Recipe,
    RecipeFigure,
    RecipeRun,
)
from affectlab.recipes._reproduce import list_recipes, reproduce
from affectlab.recipes._reproduction import Comparison, Reproduction

__all__ = [
    "Comparison",
    "DataNeed",
    "Finding",
    "PartFailure",
    "Parts",
    "PublishedFigure",
    "PublishedFigures",
    "Recipe",
    "RecipeFigure",
    "RecipeRun",
    "Reproduction",
    "list_recipes",
    "load_published",
    "reproduce",
]
