"""Only what fails for want of an optional library is skipped."""

from __future__ import annotations

import pytest
from tests import optional_libraries

pytest_plugins = ["pytester"]

ABSENT = "a_library_that_nobody_has"


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(optional_libraries._NOTING, "optional", {ABSENT})

    def run(**files: str) -> pytest.RunResult:
        pytester.makepyfile(**files)
        return pytester.runpytest_inprocess("-p", "tests.optional_libraries", "-rs")

    return run


def test_a_test_that_needs_it_is_skipped_and_others_are_not(run) -> None:
    done = run(
        test_some=f"""
            def test_needs_it(): import {ABSENT}
            def test_works_without():
                try:
                    import {ABSENT}
                except ImportError:
                    pass
            def test_fails(): assert 1 == 2
            def test_has_a_typo(): import another_library_that_nobody_has
        """
    )
    done.assert_outcomes(skipped=1, passed=1, failed=2)
    done.stdout.fnmatch_lines(f"*needs {ABSENT}, which is not installed*")


def test_all_tests_of_a_fixture_that_needs_it_are_skipped(run) -> None:
    done = run(
        test_some=f"""
            import pytest
            @pytest.fixture(scope="module")
            def it(): import {ABSENT}
            def test_one(it): pass
            def test_two(it): pass
            def test_three(): assert 1 == 2
        """
    )
    done.assert_outcomes(skipped=2, failed=1)


def test_modules_that_need_it_are_skipped_each_time(run) -> None:
    # pytest keeps a module that it has imported in part; the second one must not take it for whole.
    done = run(
        helper=f"import {ABSENT}\nNAME = 1",
        test_helper=f"import {ABSENT}\nNAME = 1\ndef test_it(): pass",
        test_other="from test_helper import NAME\ndef test_it(): pass",
        test_rest="def test_it(): pass",
    )
    done.assert_outcomes(skipped=2, passed=1)


def test_a_folder_whose_conftest_needs_it_is_skipped(run, pytester: pytest.Pytester) -> None:
    folder = pytester.mkdir("part")
    (folder / "conftest.py").write_text(f"import {ABSENT}\n")
    (folder / "test_part.py").write_text("def test_it(): pass\n")
    done = run(test_rest="def test_it(): pass")
    done.assert_outcomes(skipped=1, passed=1)


def test_optional_libraries_are_those_of_the_extras() -> None:
    found = optional_libraries._optional_libraries()
    assert {"torch", "transformers", "sqlalchemy", "daft", "skimage", "argon2", "umap"} <= found
    assert not {"numpy", "polars", "pytest", "sphinx", "affectlab"} & found
