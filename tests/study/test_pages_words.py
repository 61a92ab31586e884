"""Reactions, preferences and pages of a study's own in a real browser, at two sizes.

The test with jsPsych itself runs where AFFECTLAB_JSPSYCH names a folder that holds
index.browser.min.js of jspsych (as jspsych.js), its jspsych.css, and of its plugins
html-keyboard-response and survey-text (as keyboard.js and survey.js), all from the npm registry.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from affectlab.study import load_study, open_store, write_template
from affectlab.study.store import Store
from affectlab.study.tables import answers, events, trials

from .test_pages import SIZES, begin, browser, check, heading, opened, rows, served, tab_to
from .words import OWN_PAGE, PREFERENCE, REACTION, Maker, files

pytestmark = pytest.mark.browser

__all__ = ["browser"]

MARKUP = "<img src=x onerror=alert(1)> & <b>so</b> “it” is"


def stored(store: Store) -> list[dict[str, Any]]:
    return [json.loads(value) for (value,) in rows(store, answers.c.value)]


def done(page: Any, number: int) -> None:
    """Wait until so many trials are answered."""
    page.wait_for_function(
        "n => document.querySelector('#bar').value >= n || document.querySelector('.code')",
        arg=number,
    )


class TestReaction:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("size", SIZES)
    def test_written_and_sent(
        self, browser: Any, make_study: Maker, tmp_path: Path, size: str, scheme: str
    ) -> None:
        files(tmp_path)
        store = make_study(REACTION)
        with served(store) as address, opened(browser, address, size, color_scheme=scheme) as page:
            begin(page)
            page.wait_for_selector(".entry")
            check(page)
            send = page.get_by_role("button", name="Continue")
            problem = page.get_by_role("alert")
            emotions, reasons = page.get_by_label("Which emotion?"), page.locator("textarea")
            send.click()
            assert "answer “Which emotion?” for emotion 1" in problem.inner_text()
            emotions.nth(0).fill("hope")
            reasons.nth(0).fill("Too short")
            assert page.locator(".counter").nth(1).inner_text() == "9 of at least 10 characters"
            send.click()
            assert "at least 10 characters; there are 9" in problem.inner_text()
            assert reasons.nth(0).get_attribute("aria-invalid") == "true"
            reasons.nth(0).fill("x" * 601)
            assert "over" in (page.locator(".counter").nth(1).get_attribute("class") or "")
            send.click()
            assert "at most 600 characters; there are 601" in problem.inner_text()
            reasons.nth(0).fill(MARKUP)
            page.get_by_role("button", name="Add another emotion").click()
            emotions.nth(1).fill(" Hope ")
            reasons.nth(1).fill("🙂 It may go well.")
            send.click()
            assert "“Hope” is there twice" in problem.inner_text()
            check(page)
            emotions.nth(1).fill("fear")
            page.get_by_role("button", name="Add another emotion").click()
            assert page.get_by_role("button", name="Add another emotion").count() == 0
            page.get_by_role("button", name="Remove emotion 3").click()
            send.click()
            done(page, 1)
        (answer,) = stored(store)
        assert answer == {
            "entries": [
                {"emotion": "hope", "reason": MARKUP},
                {"emotion": "fear", "reason": "🙂 It may go well."},
            ]
        }

    def test_markup_stays_text_and_a_reload_loses_nothing(
        self, browser: Any, make_study: Maker, tmp_path: Path
    ) -> None:
        caption = f'stimulus,file,text\np0,p0.png,"{MARKUP}"\np1,p1.png,"{MARKUP}"\n'
        files(tmp_path, **{"captions.csv": caption})
        store = make_study(REACTION)
        with served(store) as address, opened(browser, address) as page:
            asked: list[str] = []
            page.on("dialog", lambda dialog: asked.append(dialog.message))
            begin(page)
            assert page.locator("figcaption").inner_text() == MARKUP
            assert page.locator("figcaption *").count() == 0
            page.get_by_label("Which emotion?").fill("awe")
            page.locator("textarea").fill(MARKUP)
            page.get_by_role("button", name="Add another emotion").click()
            page.get_by_label("Which emotion?").nth(1).fill("joy")
            page.reload()
            page.wait_for_selector(".entry")
            assert page.locator("textarea").nth(0).input_value() == MARKUP
            assert page.get_by_label("Which emotion?").nth(1).input_value() == "joy"
            page.get_by_role("button", name="Remove emotion 2").click()
            page.get_by_role("button", name="Continue").click()
            done(page, 1)
            # What was written for one picture is not there for the next.
            page.wait_for_function("() => document.querySelector('textarea')?.value === ''")
            assert page.locator("img[src='x']").count() == 0
            assert asked == []
        assert stored(store) == [{"entries": [{"emotion": "awe", "reason": MARKUP}]}]

    def test_with_the_keyboard_alone(self, browser: Any, make_study: Maker, tmp_path: Path) -> None:
        files(tmp_path)
        store = make_study(REACTION)
        with served(store) as address, opened(browser, address) as page:
            heading(page, "What you will do")
            tab_to(page, "button.main")
            page.keyboard.press("Enter")
            for number in range(3):
                done(page, number)
                page.wait_for_function("() => document.querySelector('textarea')?.value === ''")
                tab_to(page, ".entry input")
                page.keyboard.type("curiosity")
                page.keyboard.press("Tab")
                page.keyboard.type("What comes next?")
                page.keyboard.press("Tab")
                page.keyboard.press("Enter")
                # The new pair has the focus.
                page.keyboard.type("worry")
                page.keyboard.press("Tab")
                page.keyboard.type("It may not go well.")
                page.keyboard.press("Shift+Tab")
                # Enter in a line of text sends the form, as everywhere.
                page.keyboard.press("Enter")
            heading(page, "You are done")
        assert [[one["emotion"] for one in value["entries"]] for value in stored(store)] == [
            ["curiosity", "worry"]
        ] * 3


class TestPreference:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("size", SIZES)
    def test_texts(
        self, browser: Any, make_study: Maker, tmp_path: Path, size: str, scheme: str
    ) -> None:
        files(tmp_path)
        store = make_study(PREFERENCE)
        chosen = []
        with served(store) as address, opened(browser, address, size, color_scheme=scheme) as page:
            begin(page)
            for number, choice in enumerate(
                ("Choose A", "Choose B", "Both fit equally well", "Neither fits")
            ):
                done(page, number)
                page.wait_for_selector(".card button:enabled")
                check(page)
                cards = page.locator(".card")
                assert cards.count() == 2
                boxes = [cards.nth(k).bounding_box() for k in range(2)]
                beside = boxes[0]["y"] == boxes[1]["y"]
                assert beside == (size == "desktop")
                if choice.startswith("Choose"):
                    chosen.append(cards.nth(number).locator(".text").inner_text())
                page.get_by_role("button", name=choice).click()
            heading(page, "You are done")
        table = {one["name"]: one for one in store.content.values()}
        values = [one["value"] for one in stored(store)]
        assert values[2:] == ["both", "neither"]
        texts = {
            option["text"]: letter
            for one in table.values()
            for letter, option in zip("AB", one["options"], strict=True)
        }
        assert values[:2] == [texts[text] for text in chosen]

    def test_pictures_label_sets_and_keys(
        self, browser: Any, make_study: Maker, tmp_path: Path
    ) -> None:
        table = (
            "stimulus,option_a_file,option_b_file,labels_a,labels_b\n"
            "q0,p0.png,p1.png,,\nq1,,,joy; awe,fear\nq2,p2.png,p3.png,,\nq3,,,calm,joy\n"
        )
        files(tmp_path, **{"pairs.csv": table})
        store = make_study(PREFERENCE)
        lists: list[tuple[int, ...]] = []
        with served(store) as address, opened(browser, address) as page:
            begin(page)
            for number, key in enumerate("a24b"):
                done(page, number)
                page.wait_for_selector(".card button:enabled")
                check(page)
                if page.locator(".card img").count():
                    alts = [page.locator(".card img").nth(k).get_attribute("alt") for k in range(2)]
                    assert alts == ["Option A", "Option B"]
                else:
                    parts = (".card ol", ".card .text")
                    lists.append(tuple(page.locator(part).count() for part in parts))
                page.keyboard.press(key)
            heading(page, "You are done")
        # Several labels have a rank; one label beside one has none.
        assert sorted(lists) == [(0, 2), (2, 0)]
        layouts = [json.loads(one)["swapped"] for (one,) in rows(store, trials.c.layout)]
        values = [one["value"] for one in stored(store)]
        sides = [0, 1, None, 1]
        expected = [
            "neither" if side is None else "AB"[side ^ turned]
            for side, turned in zip(sides, layouts, strict=True)
        ]
        assert values == expected

    def test_an_option_that_does_not_load_is_never_judged(
        self, browser: Any, make_study: Maker, tmp_path: Path
    ) -> None:
        rows_ = "".join(f"q{k},p0.png,p{1 + k}.png\n" for k in range(3))
        files(tmp_path, **{"pairs.csv": "stimulus,option_a_file,option_b_file\n" + rows_})
        store = make_study(PREFERENCE)
        spoilt = (tmp_path / "pictures" / "p2.png").read_bytes()

        def spoil(route: Any) -> None:
            """Addresses do not say which picture they are of; what comes from them does."""
            reply = route.fetch()
            if reply.body() == spoilt:
                route.abort()
            else:
                route.fulfill(response=reply)

        with served(store) as address:
            context = browser.new_context()
            page = context.new_page()
            page.route("**/media/**", spoil)
            page.goto(address)
            begin(page)
            for _ in range(2):
                page.wait_for_selector(".card button:enabled", timeout=20_000)
                before = page.locator("#bar").evaluate("bar => bar.value")
                page.keyboard.press("a")
                page.wait_for_function(
                    "n => document.querySelector('#bar').value > n || "
                    "document.querySelector('.code')",
                    arg=before,
                    timeout=20_000,
                )
            heading(page, "You are done")
            context.close()
        states = {
            store.content[stimulus]["name"]: state
            for stimulus, state in rows(store, trials.c.stimulus_id, trials.c.state)
        }
        assert states == {"q0": "answered", "q1": "skipped", "q2": "answered"}

    @pytest.mark.parametrize(
        ("language", "text"), [("de", "Keine passt"), ("es", "Ninguna encaja")]
    )
    def test_other_languages(
        self, browser: Any, make_study: Maker, tmp_path: Path, language: str, text: str
    ) -> None:
        files(tmp_path)
        title = 'title = "Which is better?"'
        languages = f'{title}\nlanguages = ["en", "{language}"]'
        store = make_study(PREFERENCE, replace={title: languages})
        with served(store) as address, opened(browser, address, locale=language) as page:
            page.locator("button.main").click()
            page.get_by_role("button", name=text).click()
            done(page, 1)
        assert stored(store) == [{"value": "neither"}]


HOSTILE = """
const found = [];
const attempt = (name, work) => {
  try { found.push({ name, result: String(work()) }); }
  catch (error) { found.push({ name, result: "refused" }); }
};
attempt("page", () => parent.document.title);
attempt("cookie", () => document.cookie);
attempt("storage", () => localStorage.length);
attempt("origin", () => self.origin);
attempt("eval", () => eval("1 + 1"));
const tries = ["/api/session", "/media/x", "https://example.org/"].map((address) =>
  fetch(address, { credentials: "include" })
    .then((reply) => reply.text())
    .then((text) => found.push({ name: address, result: text.length }))
    .catch(() => found.push({ name: address, result: "refused" })));
// Answers in another's name: without the nonce of this run, or with a wrong one.
parent.postMessage({ affectlab: "finished", trials: [{ forged: 1 }] }, "*");
parent.postMessage({ affectlab: "finished", nonce: "0".repeat(32), trials: [{ forged: 2 }] }, "*");
Promise.all(tries).then(() => affectlab.finish(found));
"""

PICTURES = """
const image = new Image();
image.onload = () => affectlab.finish({ data: { get: () => ({ json: () => JSON.stringify([{
  width: image.naturalWidth,
  text: affectlab.stimulus.texts[0],
  kind: affectlab.stimulus.parameters.kind,
  others: Object.keys(affectlab.stimulus.parameters),
  language: affectlab.language,
}]) }) } });
image.src = affectlab.stimulus.images[0];
document.body.append(image);
"""


class TestOwnPage:
    @pytest.mark.parametrize("size", SIZES)
    def test_the_template_is_played_through(self, browser: Any, tmp_path: Path, size: str) -> None:
        path, *_ = write_template(tmp_path / "words.toml", "jspsych")
        with (
            open_store(load_study(path)) as store,
            served(store) as address,
            opened(browser, address, size) as page,
        ):
            page.get_by_role("button", name="I agree").click()
            begin(page)
            for number in range(6):
                done(page, number)
                frame = page.frame_locator("iframe.frame")
                frame.get_by_text("How pleasant is it?").wait_for()
                if number == 0:
                    check(page)
                    frame.get_by_role("button", name="2").click()
                    frame.get_by_text("How exciting is it?").wait_for()
                    frame.get_by_role("button", name="4").click()
                    continue
                # The frame has the focus as soon as it runs.
                page.keyboard.press("2")
                frame.get_by_text("How exciting is it?").wait_for()
                page.keyboard.press("4")
            heading(page, "You are done")
            kept = stored(store)
        assert len(kept) == 6
        for one in kept:
            assert [(row["scale"], row["response"]) for row in one["trials"]] == [
                ("valence", 2),
                ("arousal", 4),
            ]
            assert all(row["rt"] > 0 for row in one["trials"])
        kinds = {row["kind"] for one in kept for row in one["trials"]}
        assert kinds == {"place", "weather", "person", "time"}

    def test_the_frame_reaches_nothing_else(
        self, browser: Any, make_study: Maker, tmp_path: Path
    ) -> None:
        files(tmp_path, **{"timeline__timeline.js": HOSTILE})
        store = make_study(OWN_PAGE)
        with served(store) as address:
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            begin(page)
            done(page, 1)
            assert any(one["name"] == "affectlab_session" for one in context.cookies())
            context.close()
        found = {row["name"]: row["result"] for row in stored(store)[0]["trials"]}
        assert found == {
            "page": "refused",
            "cookie": "refused",
            "storage": "refused",
            "origin": "null",
            "eval": "refused",
            "/api/session": "refused",
            "/media/x": "refused",
            "https://example.org/": "refused",
        }

    def test_opened_by_itself_it_is_shut_off_too(
        self, browser: Any, make_study: Maker, tmp_path: Path
    ) -> None:
        files(tmp_path)
        store = make_study(OWN_PAGE)
        with served(store) as address:
            context = browser.new_context()
            page = context.new_page()
            page.goto(f"{address}{store.frame_address}#0")
            assert page.evaluate("self.origin") == "null"
            context.close()

    def test_pictures_texts_and_parameters_come_in(
        self, browser: Any, make_study: Maker, tmp_path: Path
    ) -> None:
        table = "stimulus,file,text,kind,secret\nw0,p0.png,harbour,place,1\n"
        files(tmp_path, **{"timeline__timeline.js": PICTURES, "words.csv": table})
        store = make_study(OWN_PAGE)
        with served(store) as address:
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            begin(page)
            heading(page, "You are done")
            context.close()
        assert stored(store)[0]["trials"] == [
            {
                "width": 60,
                "text": "harbour",
                "kind": "place",
                "others": ["kind"],
                "language": "en",
            }
        ]

    @pytest.mark.parametrize(
        "script",
        [
            "throw new Error('broken');",
            "affectlab.finish('no JSON');",
            "affectlab.finish({});",
            "affectlab.finish([]);",
            "affectlab.finish([{ text: 'x'.repeat(30000) }]);",
            "Promise.reject(new Error('broken'));",
        ],
    )
    def test_what_goes_wrong_is_said_and_nothing_is_stored(
        self, browser: Any, make_study: Maker, tmp_path: Path, script: str
    ) -> None:
        files(tmp_path, **{"timeline__timeline.js": script})
        store = make_study(OWN_PAGE)
        with served(store) as address:
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            begin(page)
            page.get_by_role("alert").get_by_role("button", name="Try again").wait_for()
            check(page)
            page.wait_for_timeout(300)
            context.close()
        assert stored(store) == []
        assert "page_frame_error" in {kind for (kind,) in rows(store, events.c.kind)}

    def test_jspsych_itself(self, browser: Any, make_study: Maker, tmp_path: Path) -> None:
        folder = os.environ.get("AFFECTLAB_JSPSYCH")
        if not folder:
            pytest.skip("AFFECTLAB_JSPSYCH names no folder with jsPsych")
        timeline = """
        const jsPsych = initJsPsych({ on_finish: () => affectlab.finish(jsPsych) });
        jsPsych.run([
          { type: jsPsychHtmlKeyboardResponse, choices: ["f", "j"],
            stimulus: `<p style="font-size: 30px">${affectlab.stimulus.texts[0]}</p>` },
          { type: jsPsychSurveyText, questions: [{ prompt: "Why?", name: "why", rows: 4 }] },
        ]);
        """
        files(tmp_path, **{"timeline__timeline.js": timeline})
        for name in ("jspsych.js", "jspsych.css", "keyboard.js", "survey.js"):
            shutil.copy(Path(folder) / name, tmp_path / "timeline" / name)
        scripts = '["jspsych.js", "keyboard.js", "survey.js", "timeline.js"]\n'
        store = make_study(
            OWN_PAGE, replace={'["timeline.js"]': scripts + 'styles = ["jspsych.css"]'}
        )
        with served(store) as address:
            # Not `opened`: the browser notes that it does not focus what the plugin wants it to.
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            begin(page)
            for number in range(2):
                done(page, number)
                frame = page.frame_locator("iframe.frame")
                frame.get_by_text("harbour").or_(frame.get_by_text("thunder")).wait_for()
                page.keyboard.press("j")
                frame.locator("textarea").fill(MARKUP)
                frame.get_by_role("button", name="Continue").click()
            heading(page, "You are done")
            context.close()
        for one in stored(store):
            first, second = one["trials"]
            assert (first["trial_type"], first["response"]) == ("html-keyboard-response", "j")
            assert second["response"] == {"why": MARKUP}
