"""Runners: one for each process, the same parts on each, and nobody is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from affectlab.core.errors import InputError
from affectlab.core.remote.runner import import_daft, use_runner
from affectlab.stimuli.curation.input.staging import stage

pytestmark = pytest.mark.long

NEEDS_RAY = pytest.mark.skipif(
    not (find_spec("ray") and find_spec("psutil")), reason="Ray or psutil is not installed"
)


def run(script: str, *arguments: object) -> dict[str, Any]:
    """Run Python in a process of its own, which can have another runner, and read its last line."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@pytest.mark.parametrize("runner", ["spark", "ray://", "ray://host", "ray://host:door", ""])
def test_unknown_runners(runner: str) -> None:
    with pytest.raises(InputError, match=r"runner '.*'.*expected"):
        use_runner(runner)


def test_the_same_runner_twice_and_then_another() -> None:
    use_runner("native")
    use_runner("native")
    assert import_daft().get_or_infer_runner_type() == "native"
    with pytest.raises(InputError, match="one runner for each process"):
        use_runner("ray")


def test_a_runner_that_someone_else_set() -> None:
    pytest.importorskip("daft")
    script = """
        import daft, json
        daft.set_runner_native()
        from affectlab.core.errors import InputError
        from affectlab.core.remote.runner import use_runner
        use_runner("native")
        try:
            use_runner("ray")
        except InputError as problem:
            print(json.dumps({"said": str(problem)}))
    """
    assert "already runs Daft on 'native'" in run(script)["said"]


def test_a_missing_library_names_the_extra() -> None:
    script = """
        import json, sys
        sys.modules["daft"] = None
        from affectlab.core.errors import AffectlabError
        from affectlab.core.remote.runner import use_runner
        try:
            use_runner("native")
        except AffectlabError as problem:
            print(json.dumps({"said": str(problem)}))
    """
    assert run(script)["said"].endswith('[scale]"')


@NEEDS_RAY
def test_ray_gives_the_same_parts_and_listens_on_loopback_only(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    for number in range(3):
        lines = [json.dumps({"id": f"{number}-{k}", "body": f"text {k}"}) for k in range(50)]
        (raw / f"{number}.jsonl").write_text("\n".join([*lines, "broken"]))
    script = """
        import json, os, sys
        import psutil
        from affectlab.core.errors import InputError
        from affectlab.stimuli.curation.input.staging import stage
        from affectlab.core.remote.runner import use_runner

        raw, out = sys.argv[1:]
        pool = stage(raw, out, runner="ray", part_rows=20)
        use_runner("ray")
        said = ""
        try:
            stage(raw, out + "-strict", runner="ray", strict=True)
        except InputError as problem:
            said = str(problem)
        me = psutil.Process()
        heard = {
            connection.laddr.ip
            for process in [me, *me.children(recursive=True)]
            for connection in process.net_connections("inet")
            if connection.status == "LISTEN"
        }
        print(json.dumps({
            "parts": [part.name for part in pool.parts],
            "bytes": [part.read_bytes().hex() for part in pool.parts],
            "problems": pool.problems.rows(),
            "heard": sorted(heard),
            "usage": os.environ["RAY_USAGE_STATS_ENABLED"],
            "said": said,
        }))
    """
    on_ray = run(script, raw, tmp_path / "ray")
    native = stage(raw, tmp_path / "native", part_rows=20)
    assert on_ray["said"].partition(".jsonl:51: ")[2].startswith("broken line")
    assert on_ray["parts"] == [part.name for part in native.parts]
    assert on_ray["bytes"] == [part.read_bytes().hex() for part in native.parts]
    assert [tuple(row) for row in on_ray["problems"]] == native.problems.rows()
    assert len(native.parts) == 9
    heard = [ip_address(address.removeprefix("::ffff:")) for address in on_ray["heard"]]
    assert heard
    assert all(address.is_loopback for address in heard)
    assert on_ray["usage"] == "0"


@NEEDS_RAY
def test_a_cluster_that_does_not_answer() -> None:
    script = """
        import json
        from affectlab.core.errors import AffectlabError
        from affectlab.core.remote.runner import use_runner
        try:
            use_runner("ray://127.0.0.1:9")
        except AffectlabError as problem:
            print(json.dumps({"said": str(problem)}))
    """
    said = "no Ray cluster answers there" if find_spec("grpc") else "needs the client of ray"
    assert said in run(script)["said"]
