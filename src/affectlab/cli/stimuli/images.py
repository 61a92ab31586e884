"""``affectlab stimuli images``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option

__all__ = ["images"]


def images(
    prompts: Annotated[
        Path,
        Argument(
            metavar="PROMPTS",
            help="Table of prompts: stimulus, prompt, label, seed, and who is asked for.",
        ),
    ],
    to: Annotated[
        Path, Option("--out", help="Folder of pictures and their manifest.", metavar="FOLDER")
    ] = Path("images"),
    generator: Annotated[
        str,
        Option(
            help="drawn, diffusers:FOLDER_OR_NAME, or a generator that a package adds.",
            metavar="NAME",
        ),
    ] = "drawn",
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            help="Setting of the generator, such as size=512, or steps=30; may be given again.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    again: Annotated[
        bool,
        Option("--again", help="Make pictures anew whose prompt or generator has changed."),
    ] = False,
    keep: Annotated[
        bool, Option("--keep", help="Keep pictures whose prompt or generator has changed.")
    ] = False,
    patience: Annotated[int, Option(help="Failures in a row after which to stop.", min=1)] = 20,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a picture of every prompt; an interrupted run goes on where it stopped.

    The manifest in the folder is the stimulus table of a study.

    Example: affectlab stimuli images prompts.csv --out faces
    """
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.stimuli.generation import generate_images

    out = Output("stimuli images", as_json=as_json, quiet=quiet)
    if again and keep:
        raise InputError("--again and --keep contradict each other; give one of them")
    with out.progress("pictures") as report:
        made = generate_images(
            prompts,
            to,
            generator=generator,
            settings=_settings(settings or []),
            changed="again" if again else "keep" if keep else "refuse",
            patience=patience,
            progress=report,
        )
    kept = f"; {made.n_kept:,} were there" if made.n_kept else ""
    out.show(f"{plural(made.n_made, 'picture')} made{kept}")
    stand_ins = made.images.filter(made.images["drawn"] != "")
    if stand_ins.height:
        labels = stand_ins["label"].n_unique()
        out.show(
            f"{stand_ins.height:,} of {plural(len(made), 'picture')}, of "
            f"{plural(labels, 'label')}, show another expression than their label; the manifest "
            "says which"
        )
    doubts = []
    without = made.without()
    if without.height:
        first = without.row(0, named=True)
        doubts.append(
            f"{plural(without.height, 'prompt')} without a picture, {first['stimulus']} first: "
            f"{first['problem']}; see {to / 'failed.csv'}, and run again to try again"
        )
    earlier = made.failed.join(made.images, on="stimulus", how="semi", maintain_order="left")
    if earlier.height:
        first = earlier.row(0, named=True)
        doubts.append(
            f"{plural(earlier.height, 'picture')} could not be made again and stay as they were, "
            f"{first['stimulus']} first: {first['problem']}; see {to / 'failed.csv'}"
        )
    out.show(f"{plural(len(made), 'picture')} in {made.path}")
    out.finish(
        {
            "n_made": made.n_made,
            "n_kept": made.n_kept,
            "n_images": len(made),
            "n_failed": without.height,
            "n_not_made_again": earlier.height,
            "n_stand_ins": stand_ins.height,
            "manifest": made.path,
        },
        doubts=doubts,
    )


def _settings(given: list[str]) -> dict[str, Any]:
    """Read settings; numbers and truth values are what they look like, all else is text."""
    import json

    from affectlab.core.errors import InputError

    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set {one!r} is not understood; expected NAME=VALUE")
        try:
            found[name.strip()] = json.loads(value)
        except ValueError:
            found[name.strip()] = value
    return found
