"""Options of the verbs that ask a vision-language model: ``vlm``, ``hinted`` and ``reactions``."""

from __future__ import annotations

from typing import Annotated

from affectlab.cli.parameters import Option

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
    str | None,
    Option(
        help="Address of the server, such as http://localhost:8000/v1.",
        group=MODEL,
        show_default=False,
    ),
]
KeyEnv = Annotated[
    str | None,
    Option(
        help="Variable of the environment with the key; without it, the provider's own.",
        group=MODEL,
        show_default=False,
    ),
]
Temperature = Annotated[
    str,
    Option(help="0 to 2, or 'default' to leave it to the provider.", group=MODEL),
]
MaxTokens = Annotated[int, Option(help="Most tokens of an answer.", min=1, group=MODEL)]
Structured = Annotated[
    bool,
    Option(
        "--structured",
        help="Let the provider hold the model to the schema.",
        group=MODEL,
    ),
]
Concurrency = Annotated[int, Option(help="Questions under way at once.", min=1, group=LIMITS)]
BudgetUsd = Annotated[
    float | None,
    Option(
        help="Most dollars for answers, all runs of the folder together.",
        group=LIMITS,
        show_default=False,
    ),
]
BudgetTokens = Annotated[
    int | None,
    Option(help="Most tokens.", group=LIMITS, show_default=False),
]
BudgetRequests = Annotated[
    int | None,
    Option(help="Most requests.", group=LIMITS, show_default=False),
]
PriceIn = Annotated[
    float | None,
    Option(help="Dollars per million tokens of questions.", group=LIMITS, show_default=False),
]
PriceOut = Annotated[
    float | None,
    Option(help="Dollars per million tokens of answers.", group=LIMITS, show_default=False),
]
