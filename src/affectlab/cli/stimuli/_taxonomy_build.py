"""``affectlab stimuli taxonomy build``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.stimuli._taxonomy_notes import write_review

if TYPE_CHECKING:
    from affectlab.stimuli.taxonomy import Candidates, LabelProposals, TextBlock

__all__ = ["build"]

_MODEL = "Language model"


def build(
    texts: Annotated[
        list[Path],
        Argument(
            metavar="TEXTS",
            help="Texts: .txt and .md files, folders of them, or tables (.csv, .parquet, .jsonl).",
        ),
    ],
    folder: Annotated[
        Path, Option("--out", help="Folder for review and tables.", metavar="FOLDER")
    ] = Path("taxonomy"),
    words: Annotated[int, Option(help="Words in a block.", min=1)] = 500,
    pack: Annotated[
        bool, Option("--pack", help="Put short texts together until a block is full.")
    ] = False,
    column: Annotated[str, Option(help="Column of the texts in tables.")] = "text",
    lexicon: Annotated[
        Path | None,
        Option(help="TOML file of emotion words, instead of ours.", show_default=False),
    ] = None,
    labels: Annotated[
        int | None,
        Option(
            help="Number of labels to propose; without it, as many as the terms fall into.",
            min=1,
            show_default=False,
        ),
    ] = None,
    min_blocks: Annotated[int, Option(help="Blocks that must name a term for a label.", min=1)] = 2,
    model: Annotated[
        str | None,
        Option(
            help="Language model that finds the terms, in place of the lexicon.",
            group=_MODEL,
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str,
        Option(help="Server with OpenAI's chat completions.", group=_MODEL),
    ] = "http://localhost:8000/v1",
    key_env: Annotated[
        str | None,
        Option(
            help="Variable of the environment with the key of the server; without it, "
            "OPENAI_API_KEY for https://api.openai.com, and no key for others.",
            group=_MODEL,
            show_default=False,
        ),
    ] = None,
    parallel: Annotated[int, Option(help="Blocks asked about at once.", min=1, group=_MODEL)] = 4,
    free: Annotated[
        bool,
        Option(
            "--no-schema",
            help="For servers that cannot hold a model to a JSON schema.",
            group=_MODEL,
        ),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Find emotion terms in texts, and propose labels, for a person to review.

    Texts are cut into blocks; terms are found, merged and clustered. FOLDER/review.csv holds a
    decision and a reason for each term: edit it, then make the taxonomy with apply. Answers of a
    language model are kept in FOLDER/answers.jsonl, so that interrupted work goes on.

    Example: affectlab stimuli taxonomy build texts.csv --out mine
    """
    from affectlab.stimuli.taxonomy import (
        load_lexicon,
        merge_terms,
        propose_labels,
        read_texts,
        text_blocks,
    )

    out = Output("stimuli taxonomy build", as_json=as_json, quiet=quiet)
    known = load_lexicon(lexicon)
    read = read_texts(texts, column=column)
    blocks = text_blocks(read, words=words, pack=pack)
    _make(folder)
    by = f"the lexicon {known.name}" if model is None else f"the language model {model}"
    with out.progress("searching") as report:
        found = _search(blocks, known, model, url, key_env, parallel, free, folder, report)
        candidates = merge_terms(found)
        proposals = propose_labels(candidates, n_labels=labels, min_blocks=min_blocks)
    review = proposals.review()
    source = (
        f"{len(read):,} texts in {len(blocks):,} blocks of {words:,} words; emotion terms by {by}"
    )
    write_csv(candidates.terms(), folder / "terms.csv", sheet=True)
    write_csv(candidates.blocks, folder / "blocks.csv", sheet=True)
    merges = candidates.merges
    if merges is not None and merges.height:
        write_csv(merges, folder / "merges.csv", sheet=True)
    write_review(review, folder / "review.csv", source)
    _show_build(out, len(read), blocks, words, candidates, proposals)
    failed = candidates.blocks.filter(candidates.blocks["outcome"] != "ok")
    made = [quote(str(folder / name)) for name in ("review.csv", "taxonomy.toml")]
    out.show(f"review: {folder / 'review.csv'}; edit it, then:")
    out.show(f"  affectlab stimuli taxonomy apply {made[0]} --out {made[1]}")
    outcomes = dict(failed.group_by("outcome", maintain_order=True).len().iter_rows())
    out.finish(
        {
            "n_texts": len(read),
            "n_blocks": len(blocks),
            "n_terms": len(candidates),
            "labels": proposals.labels,
            "decisions": review.counts(),
            "failed": outcomes,
            "folder": folder,
            "seed": seed,
        },
        doubts=[
            f"{n:,} of {len(blocks):,} blocks could not be searched: {outcome}; see "
            f"{folder / 'blocks.csv'}"
            for outcome, n in outcomes.items()
        ],
    )


def _search(
    blocks: tuple[TextBlock, ...],
    known: Any,
    model: str | None,
    url: str,
    key_env: str | None,
    parallel: int,
    free: bool,
    folder: Path,
    report: Any,
) -> Candidates:
    import os

    from affectlab.core.services import is_openai
    from affectlab.stimuli.taxonomy import ModelFinder, emotion_candidates

    def told(done: int, total: int) -> None:
        report("searching", done, total)

    if model is None:
        return emotion_candidates(blocks, lexicon=known, progress=told)
    # A key is for the server that gave it: it does not go wherever --url points.
    variable = key_env or ("OPENAI_API_KEY" if is_openai(url) else None)
    with ModelFinder(
        url,
        model,
        key=None if variable is None else os.environ.get(variable),
        ledger=folder / "answers.jsonl",
        structured=not free,
    ) as finder:
        return emotion_candidates(blocks, finder, lexicon=known, parallel=parallel, progress=told)


def _show_build(
    out: Output,
    n_texts: int,
    blocks: tuple[TextBlock, ...],
    words: int,
    candidates: Candidates,
    proposals: LabelProposals,
) -> None:
    import polars as pl

    total = sum(block.n_words for block in blocks)
    dropped = int(proposals.terms["label"].is_null().sum())
    rare = int((proposals.terms["n_blocks"] < proposals.min_blocks).sum())
    for what, said in (
        ("texts", f"{n_texts:,}"),
        (f"blocks of {words:,} words", f"{len(blocks):,} ({total:,} words)"),
        ("emotion terms", f"{len(candidates):,}"),
        (f"in fewer than {proposals.min_blocks} blocks", f"{rare:,}; {dropped:,} to drop"),
        ("labels proposed", f"{len(proposals.labels):,}"),
    ):
        out.show(f"{what:<24}{said}")
    spread = dict(proposals.terms.select("term", "n_blocks").iter_rows())
    rows = [
        {"label": label, "blocks": spread[label], "terms": ", ".join(terms[1:8])}
        for label, terms in proposals.labels.items()
    ]
    out.show_frame(pl.DataFrame(rows), ["label", "blocks", "terms"], more="see review.csv")


def _make(folder: Path) -> None:
    from affectlab.core.errors import InputError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} cannot be a folder: there is a file of that name") from None
