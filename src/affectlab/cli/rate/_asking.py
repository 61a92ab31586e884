"""Options of the verbs that ask a vision-language model: ``vlm``, ``hinted`` and ``reactions``."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

__all__ = [
    "LIMITS",
    "MODEL",
    "BaseUrl",
    "BudgetRequests",
    "BudgetTokens",
    "BudgetUsd",
    "Concurrency",
    "KeyEnv",
    "MaxTokens",
    "PriceIn",
    "PriceOut",
    "Structured",
    "Temperature",
]

MODEL = "Model that is asked"
LIMITS = "Limits of asking"

BaseUrl = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="Address of the server, such as http://localhost:8000/v1.",
        rich_help_panel=MODEL,
        show_default=False,
    ),
]
KeyEnv = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="Variable of the environment with the key; without it, the provider's own.",
        rich_help_panel=MODEL,
        show_default=False,
    ),
]
Temperature = Annotated[
    str,
    typer.Option(help="0 to 2, or 'default' to leave it to the provider.", rich_help_panel=MODEL),
]
MaxTokens = Annotated[
    int, typer.Option(help="Most tokens of an answer.", min=1, rich_help_panel=MODEL)
]
Structured = Annotated[
    bool,
    typer.Option(
        "--structured",
        help="Let the provider hold the model to the schema.",
        rich_help_panel=MODEL,
    ),
]
Concurrency = Annotated[
    int, typer.Option(help="Questions under way at once.", min=1, rich_help_panel=LIMITS)
]
BudgetUsd = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        help="Most dollars for answers, all runs of the folder together.",
        rich_help_panel=LIMITS,
        show_default=False,
    ),
]
BudgetTokens = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(help="Most tokens.", rich_help_panel=LIMITS, show_default=False),
]
BudgetRequests = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(help="Most requests.", rich_help_panel=LIMITS, show_default=False),
]
PriceIn = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        help="Dollars per million tokens of questions.", rich_help_panel=LIMITS, show_default=False
    ),
]
PriceOut = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        help="Dollars per million tokens of answers.", rich_help_panel=LIMITS, show_default=False
    ),
]
