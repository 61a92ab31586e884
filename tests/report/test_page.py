"""Structure, accessibility and self-containedness of the page."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from affectlab.core.render.theme import ROLES, contrast


@pytest.fixture(scope="module")
def text(report):
    return report.html.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text, read_page):
    return read_page(text)


def test_tags_are_balanced(page):
    assert page.unbalanced == []
    assert page._open == []


def test_headings_are_ordered(page):
    levels = [int(heading.tag[1]) for heading in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_landmarks_language_and_skip_link(page):
    assert page.all("html")[0].attributes["lang"] == "en"
    assert [len(page.all(tag)) for tag in ("main", "nav", "footer")] == [1, 1, 1]
    assert page.all("nav")[0].attributes["aria-label"]
    assert page.all("a")[0].attributes["href"] == "#main"


def test_ids_are_unique_and_links_lead_somewhere(page):
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    inner = [a.attributes["href"][1:] for a in page.all("a") if a.attributes["href"][0] == "#"]
    assert len(inner) > 8
    assert set(inner) <= set(ids)
    for element in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(element.attributes.get(name, "").split()) <= set(ids)


def test_references_inside_figures_lead_somewhere(page, text):
    ids = {element.attributes["id"] for element in page.elements if "id" in element.attributes}
    used = set(re.findall(r"url\(#([^)]+)\)", text))
    used |= {e.attributes["href"][1:] for e in page.all("use")}
    assert used
    assert used <= ids


def test_nothing_comes_from_outside(page, text, report):
    for element in page.elements:
        for name in ("src", "href", "xlink:href", "action", "data", "poster"):
            value = element.attributes.get(name, "")
            assert not re.match(r"[a-z][a-z0-9+.-]*:|//", value) or value.startswith("data:")
    assert page.all("script", "iframe", "object", "embed", "form") == []
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    for link in page.all("a"):
        if link.attributes["href"][0] != "#":
            assert (report.html.parent / link.attributes["href"]).is_file()


def test_figures_say_what_they_show(page):
    drawings = page.all("svg")
    assert len(drawings) >= 8
    for svg in drawings:
        assert svg.attributes["role"] == "img"
        assert svg.attributes["aria-labelledby"]
        assert "figure" in svg.parents
    for description in page.all("desc"):
        assert len(description.text) > 15
    assert sum(any(c.isdigit() for c in d.text) for d in page.all("desc")) == len(drawings)
    assert len(page.all("figcaption")) == len(page.all("figure"))


def test_tables_have_captions_and_scopes(page):
    assert len(page.all("table")) == len(page.all("caption")) >= 8
    for caption in page.all("caption"):
        assert len(caption.text) > 15
    for cell in page.all("th"):
        assert cell.attributes["scope"] == ("col" if "thead" in cell.parents else "row")


def test_figures_follow_the_mode_of_the_page(page, text):
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    body = text[text.index("<main") :]
    for role in ("ink", "soft", "people", "model"):
        assert f"var(--{role})" in body
        assert ROLES[role][0] not in body


def test_text_of_figures_is_text(page):
    texts = {element.text.strip() for element in page.all("text")}
    assert {"amusement", "anger", "p0", "m1"} <= texts


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("role", ["ink", "soft", "accent", "model"])
def test_text_stands_out(role, mode):
    for ground in ("paper", "raised"):
        needed = 4.5 if role != "model" else 4.0
        assert contrast(ROLES[role][mode], ROLES[ground][mode]) >= needed


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_marks_stand_out(mode):
    for role in ("people", "model", "mixed", "positive", "negative", "ambiguous", "neutral"):
        assert contrast(ROLES[role][mode], ROLES["paper"][mode]) >= 3


def test_colours_of_roles_differ():
    assert len({light for light, _ in ROLES.values()}) == len(ROLES)


def test_questions_come_first(page):
    assert [heading.text for heading in page.all("h2")] == [
        "Are the models as good as people?",
        "How reliable are these ratings?",
        "What are the scores?",
        "What to worry about",
        "More",
    ]


def test_everything_else_is_closed_and_in_order(page):
    titles = [heading.text for heading in page.all("h3")]
    wanted = [
        "What was rated: a summary",
        "Answers",
        "How often each label is used",
        "Agreement",
        "Pairs of raters",
        "Models beside people",
        "Self-consistency",
        "Raters",
        "Who the raters are",
        "What the stimuli are",
        "Not shown, and why",
        "How to read this",
        "Provenance",
    ]
    assert [title for title in titles if title in wanted] == wanted
    assert all("open" not in part.attributes for part in page.all("details"))
    assert all("summary" in heading.parents for heading in page.all("h3"))


def test_contents_lead_into_every_section(page):
    """A link into a closed section opens it; one to what closes it would not."""
    links = [a.attributes["href"][1:] for a in page.all("a") if "nav" in a.parents]
    keys = [e.attributes["id"] for e in page.all("section") if e.attributes["id"] != "more"]
    assert links == keys
    closed = [e for e in page.all("section") if "details" in e.parents]
    assert len(closed) == len(page.all("h3"))


def test_left_out_parts_are_named(text):
    part = text[text.index('id="not-shown"') :]
    assert "Answers in words:" in part
    assert "A look at the stimuli:" in part
