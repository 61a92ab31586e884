"""Works that methods come from: how a text names them, and their BibTeX.

The facts of a work stand in ``references.toml`` alone. Which function rests on which works is what
its documentation says under *References*, by author and year.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.facts import IntervalFact

_HERE = Path(__file__)
_FIELDS = (
    *("journal", "booktitle", "publisher", "institution", "edition", "volume", "number", "pages"),
    *("doi", "url"),
)
_SECTION = re.compile(
    r"^References\n-+\n(.*?)(?=\n\n[A-Z]\w[\w ]*\n-{3,}|\Z)", re.MULTILINE | re.DOTALL
)
_ACCENTS = {
    **{sign: f'{{\\"{letter}}}' for sign, letter in zip("äöüë", "aoue", strict=True)},
    "é": "{\\'e}",
    "ø": "{\\o}",
    "Ø": "{\\O}",
}


@dataclass(frozen=True)
class Reference:
    """A work."""

    key: str
    authors: tuple[str, ...]
    """Each as "Family, Given"; in braces where it is no person; "others" where more follow."""
    title: str
    year: int | None = None
    """None where a work, such as a recommendation, is cited in its latest version."""
    type: str = ""
    """Type of BibTeX; what the other facts say where it is empty."""
    facts: tuple[tuple[str, str], ...] = ()
    also: tuple[str, ...] = ()
    """Names that stand for it in documentation."""
    terms: tuple[str, ...] = ()
    """Words by which statistics and their options name what comes from it."""
    intervals: tuple[str, ...] = ()
    """Kinds and formulas of intervals that come from it; ``two-way``: over stimuli and raters."""

    @property
    def families(self) -> list[str]:
        """Family names of the authors."""
        return [author.partition(",")[0].strip("{}") for author in self.authors]

    @property
    def cited(self) -> str:
        """Author and year, as they stand in brackets.

        Examples
        --------
        >>> [references()[key].cited for key in ("krippendorff2011", "shrout1979", "bates2015")]
        ['Krippendorff, 2011', 'Shrout & Fleiss, 1979', 'Bates et al., 2015']
        """
        first, *rest = self.families
        others = (
            " et al." if len(rest) > 1 or rest == ["others"] else f" & {rest[0]}" if rest else ""
        )
        return f"{first}{others}, {self.year or 'n.d.'}"

    def stands_in(self, text: str) -> bool:
        """Whether a text cites it: its first author with its year, or another name of it."""
        family = re.escape(self.families[0])
        named = re.search(rf"\b{family}\b[^()]*\({self.year}[);,]", text)
        return bool(named) or any(name in text for name in self.also)

    def bibtex(self, **more: str) -> str:
        """Write it as an entry of BibTeX.

        Examples
        --------
        >>> print(references()["krippendorff2011"].bibtex())
        @techreport{krippendorff2011,
          author = {Krippendorff, Klaus},
          title = {{Computing Krippendorff's alpha-reliability}},
          year = {2011},
          institution = {University of Pennsylvania, Annenberg School for Communication},
        }
        """
        facts = dict(self.facts)
        kinds = {"journal": "article", "booktitle": "inproceedings", "publisher": "book"}
        kind = self.type or next((kinds[name] for name in kinds if name in facts), "misc")
        fields = {"author": " and ".join(self.authors), "title": f"{{{self.title}}}"}
        if self.year is not None:
            fields["year"] = str(self.year)
        fields |= {name: facts[name] for name in _FIELDS if name in facts}
        if "eprint" in facts:
            fields |= {"eprint": facts["eprint"], "archiveprefix": "arXiv"}
        lines = [f"  {name} = {{{_tex(value)}}}," for name, value in (fields | more).items()]
        return "\n".join((f"@{kind}{{{self.key},", *lines, "}"))


def _tex(text: str) -> str:
    return "".join(_ACCENTS.get(sign, sign) for sign in text).replace("&", "\\&")


@cache
def references() -> Mapping[str, Reference]:
    """Give all works by key."""
    known = tomllib.loads(_HERE.with_name("references.toml").read_text(encoding="utf-8"))
    made = {}
    for key, entry in known.items():
        lists = ("authors", "also", "terms", "intervals")
        authors, also, terms, intervals = (tuple(entry.pop(name, ())) for name in lists)
        title, year, kind = entry.pop("title"), entry.pop("year", None), entry.pop("type", "")
        facts = tuple(entry.items())
        made[key] = Reference(key, authors, title, year, kind, facts, also, terms, intervals)
    return made


def cited_in(text: str) -> list[Reference]:
    """Give the works that a docstring cites under *References*, in their order.

    Examples
    --------
    >>> [work.key for work in cited_in("Do.\\n\\nReferences\\n----------\\nHolm (1979).")]
    ['holm1979']
    """
    section = _SECTION.search(text)
    told = " ".join(section[1].split()) if section else ""
    found = [work for work in references().values() if work.stands_in(told)]

    def place(work: Reference) -> int:
        names = (work.families[0], *work.also)
        return min(told.find(name) for name in names if name in told)

    return sorted(found, key=place)


def works_behind(
    statistics: Iterable[str], intervals: Iterable[IntervalFact] = ()
) -> list[Reference]:
    """Give the works that statistics, with their options, and intervals come from.

    Examples
    --------
    >>> made = IntervalFact("jackknife", over=("stimuli",))
    >>> [work.cited for work in works_behind(["Fleiss' kappa, nominal"], [made])]
    ['Fleiss, 1971', 'Miller, 1974']
    """
    names = "\n".join(statistics)
    kinds = {kind for made in intervals for kind in _kinds(made)}

    def stands(term: str) -> bool:
        # Behind an open bracket, as in "ICC(2,1)", anything can follow.
        end = "" if term.endswith("(") else r"(?!\w)"
        return re.search(rf"(?<!\w){re.escape(term)}{end}", names) is not None

    return [
        work
        for work in references().values()
        if kinds.intersection(work.intervals) or any(map(stands, work.terms))
    ]


def _kinds(made: IntervalFact) -> Iterator[str]:
    yield made.kind
    if made.formula is not None:
        yield made.formula.value
    if len(made.over) > 1:
        yield "two-way"


def documented() -> Iterator[tuple[str, str]]:
    """Give names of functions and classes of the package that cite works, with documentation."""
    for path in sorted(_HERE.parents[1].rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "    References\n" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                told = ast.get_docstring(node) or ""
                if _SECTION.search(told):
                    yield node.name, told


def works_of(names: Sequence[str]) -> list[Reference]:
    """Give the works behind statistics.

    Parameters
    ----------
    names
        Each the name of a function of this package, of a work, or words of a method.

    Raises
    ------
    InputError
        When nothing of that name cites a work.

    Examples
    --------
    >>> [work.key for work in works_of(["gwet_ac", "icc"])]
    ['gwet2008', 'gwet2014', 'mcgraw1996', 'shrout1979']
    """
    works: dict[str, Reference] = {}
    functions: dict[str, str] = {}
    for name in names:
        if name in references():
            works[name] = references()[name]
            continue
        functions = functions or dict(documented())
        own = cited_in(functions.get(name, ""))
        # Words such as "icc" stand for the statistic as a method has it: "ICC(2,1)".
        like = [one for one in references().values() if _among(name, (*one.terms, *one.intervals))]
        if not own and not like:
            if name in functions:
                raise InputError(f"{name} cites no work that is known here")
            raise unknown_name("statistic", name, [*functions, *references()])
        works |= {work.key: work for work in own or like}
    return list(works.values())


def _among(name: str, terms: Sequence[str]) -> bool:
    words = name.casefold().replace("_", " ")
    pattern = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
    return any(pattern.search(term.casefold()) for term in terms)


def bibtex(works: Iterable[Reference], version: str) -> str:
    """Write works as BibTeX, this package with its version first."""
    own = references()["affectlab"]
    entries = [own.bibtex(version=version)]
    return "\n\n".join(entries + [work.bibtex() for work in works if work.key != own.key]) + "\n"


def bracketed(works: Sequence[Reference]) -> str:
    """Cite works in brackets, with a space before; nothing where there are none."""
    return f" ({'; '.join(work.cited for work in works)})" if works else ""
