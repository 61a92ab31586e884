"""The papers, end to end: published figures beside ours."""

from affectlab.recipes.needs import DataNeed
from affectlab.recipes.published_figures import PublishedFigure, PublishedFigures, load_published
from affectlab.recipes.recipe import Finding, PartFailure, Parts, Recipe, RecipeFigure, RecipeRun
from affectlab.recipes.reproduce import list_recipes, reproduce
from affectlab.recipes.reproduction import Comparison, Reproduction

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
