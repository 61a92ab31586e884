"""The papers, end to end: published figures beside ours."""

from affectlab.recipes.needs import DataNeed
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import Finding, Parts, Recipe, RecipeFigure, RecipeRun
from affectlab.recipes.reproduce import list_recipes, reproduce, sound_recipes as sound_recipes

__all__ = [
    "DataNeed",
    "Finding",
    "Parts",
    "Recipe",
    "RecipeFigure",
    "RecipeRun",
    "list_recipes",
    "load_published",
    "reproduce",
]
