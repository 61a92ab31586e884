"""One registry of works: what documentation cites is in it, and what is in it is cited."""

import re

import pytest

from affectlab import InputError
from affectlab.core.citations import bibtex, cited_in, documented, references, works_of

_YEAR = re.compile(r"\((\d{4})[);,]")


def _section(text):
    told = re.split(r"^References\n-+\n", text, flags=re.MULTILINE)[1]
    return " ".join(re.split(r"\n\n[A-Z]\w[\w ]*\n-{3,}", told)[0].split())


@pytest.mark.parametrize(("name", "text"), [pytest.param(*one, id=one[0]) for one in documented()])
def test_what_documentation_cites_is_known(name, text):
    works = cited_in(text)
    assert works
    years = {str(work.year) for work in works}
    assert set(_YEAR.findall(_section(text))) <= years, f"{name} cites a work that is not known"


def test_every_work_is_cited_by_documentation():
    cited = {work.key for _, text in documented() for work in cited_in(text)}
    assert cited | {"affectlab"} == set(references())


def test_works_have_what_bibtex_asks_for():
    needed = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}
    for key, work in references().items():
        entry = work.bibtex()
        kind = entry.partition("{")[0].removeprefix("@")
        assert entry.startswith(f"@{kind}{{{key},\n  author = {{"), key
        assert f"  {needed.get(kind, 'title')} = {{" in entry, key
        assert entry.count("{") == entry.count("}"), key
        assert (
            work.year is None or key.endswith(str(work.year)) or kind in ("software", "techreport")
        )


def test_dois_are_dois_and_stand_once():
    dois = [dict(work.facts)["doi"] for work in references().values() if "doi" in dict(work.facts)]
    assert len(set(dois)) == len(dois)
    assert all(re.fullmatch(r"10\.\d{4,}/\S+", doi) for doi in dois)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("krippendorff_alpha", ["krippendorff2011", "hayes2007", "passonneau2006"]),
        ("icc", ["mcgraw1996", "shrout1979"]),
        ("ecc", ["zhao2024"]),
        ("fleiss1971", ["fleiss1971"]),
        ("random_pair_kappa", ["demszky2020"]),
    ],
)
def test_a_statistic_is_found_by_its_function_or_its_name(name, keys):
    assert [work.key for work in works_of([name])] == keys


def test_what_cites_nothing_is_refused_with_a_hint():
    with pytest.raises(InputError, match="did you mean 'krippendorff_alpha'"):
        works_of(["krippendorff_alpa"])


def test_bibtex_begins_with_the_package_and_its_version():
    text = bibtex(works_of(["affectlab", "bates2015"]), "1.2.3")
    assert text.startswith("@software{affectlab,")
    assert "version = {1.2.3}" in text
    assert text.count("@software") == 1
    assert 'M{\\"a}chler' in text
