"""Models on the hub, which a server on this machine plays."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affectlab import InputError
from affectlab.models import rate
from affectlab.models.runs import HubModel, front_matter
from affectlab.models.text import TextClassifier

hub = pytest.importorskip("huggingface_hub")
yaml = pytest.importorskip("yaml")


class Hub(ThreadingHTTPServer):
    """Keeps the files of repositories, as the hub does for small files."""

    files: dict[str, dict[str, bytes]]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def commit(self, name: str) -> str:
        return sha1(repr(sorted(self.files.get(name, {}).items())).encode()).hexdigest()


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_: object) -> None:
        pass

    def _send(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_POST(self) -> None:
        body = self._body()
        parts = self.path.strip("/").split("/")
        if self.path == "/api/repos/create":
            told = json.loads(body)
            name = f"{told.get('organization') or 'me'}/{told['name']}"
            self.server.files.setdefault(name, {})
            self._send(200, {"url": f"{self.server.address}/{name}", "name": name})
        elif self.path == "/api/validate-yaml":
            head = yaml.safe_load(json.loads(body)["content"].split("---")[1])
            self._send(200, {"errors": [], "warnings": [], "read": head})
        elif parts[4] == "preupload":
            wanted = json.loads(body)["files"]
            kinds = [{"path": one["path"], "uploadMode": "regular"} for one in wanted]
            self._send(200, {"files": [one | {"shouldIgnore": False} for one in kinds]})
        elif parts[4] == "commit":
            name = "/".join(parts[2:4])
            for line in body.splitlines():
                one = json.loads(line)
                if one["key"] == "file":
                    content = base64.b64decode(one["value"]["content"])
                    self.server.files[name][one["value"]["path"]] = content
            commit = self.server.commit(name)
            url = f"{self.server.address}/{name}/commit/{commit}"
            self._send(200, {"commitUrl": url, "commitOid": commit, "pullRequestUrl": None})
        else:
            self._send(404, {"error": self.path})

    def do_GET(self) -> None:
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[0] == "api":
            name = "/".join(parts[2:4])
            if name not in self.server.files:
                self._send(404, {"error": "none"}, {"X-Error-Code": "RepoNotFound"})
                return
            if len(parts) > 4 and parts[4] == "tree":
                whole = self.server.files[name].items()
                listed = [
                    {"type": "file", "path": path, "size": len(content), "oid": "0" * 40}
                    for path, content in whole
                ]
                self._send(200, listed)
                return
            held = [{"rfilename": path} for path in self.server.files[name]]
            commit = self.server.commit(name)
            self._send(200, {"id": name, "modelId": name, "sha": commit, "siblings": held})
            return
        name, path = "/".join(parts[:2]), "/".join(parts[4:])
        if name not in self.server.files:
            self._send(404, b"", {"X-Error-Code": "RepoNotFound"})
        elif path not in self.server.files[name]:
            commit = self.server.commit(name)
            self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        else:
            content = self.server.files[name][path]
            tag = sha1(content).hexdigest()
            commit = self.server.commit(name)
            self._send(200, content, {"ETag": f'"{tag}"', "X-Repo-Commit": commit})

    do_HEAD = do_GET


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    found = Hub(("127.0.0.1", 0), Handler)
    found.files = {}
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    constants = import_module("huggingface_hub.constants")
    address = found.address
    for name in ("constants", "hf_api", "file_download"):
        module = import_module(f"huggingface_hub.{name}")
        if hasattr(module, "ENDPOINT"):
            monkeypatch.setattr(module, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        constants,
        "HUGGINGFACE_CO_URL_TEMPLATE",
        address + "/{repo_id}/resolve/{revision}/{filename}",
    )
    yield found
    found.shutdown()
    thread.join()
    found.server_close()
    import_module("huggingface_hub").close_session()


def model() -> TextClassifier:
    found = TextClassifier.make("linear", taxonomy="ekman", name="mood")
    found.fit(["so happy", "so scared"] * 4, ["joy", "fear"] * 4)
    return found


def test_a_model_is_published_and_found(server: Hub, tmp_path: Path) -> None:
    mine = model()
    address = mine.push_to_hub("me/mood", token="t")
    assert "me/mood" in address
    assert {"model.json", "README.md"} <= set(server.files["me/mood"])
    theirs = TextClassifier.from_pretrained("me/mood")
    texts = ["so happy", "what a scare"]
    assert theirs.predict_proba(texts).tolist() == mine.predict_proba(texts).tolist()
    # The door finds it by its name, like any other model.
    found = rate("me/mood", texts)
    assert found.rater_names == ("mood",)
    with pytest.raises(InputError, match="could not be fetched"):
        TextClassifier.from_pretrained("me/nothing")
    folder = mine.save_pretrained(tmp_path / "mood")
    assert TextClassifier.from_pretrained(folder).labels == mine.labels


def of_text(folder: Path) -> tuple[Any, Any]:
    from tests.models.text.tiny import save_bert, texts_of

    found = TextClassifier.make(
        "transformer", taxonomy="ekman", encoder=save_bert(folder / "bert"), epochs=1, device="cpu"
    )
    found.fit(*texts_of(20))
    return found, lambda model: model.predict_proba(["so happy", "in tears"])


def of_linear_text(folder: Path) -> tuple[Any, Any]:
    return model(), lambda model: model.predict_proba(["so happy", "in tears"])


def of_pictures(folder: Path) -> tuple[Any, Any]:
    from tests.models.embedding.checkpoints import pictures, save_checkpoint

    from affectlab.models.vision import VisionClassifier

    place = save_checkpoint("vit", folder / "vit")
    given = pictures(6)
    found = VisionClassifier("mikels", backbone=str(place))
    found.fit(given, ["awe", "anger", "fear"] * 2, epochs=1)
    return found, lambda model: model.predict_proba(given)


def of_heads(folder: Path) -> tuple[Any, Any]:
    from tests.models.heads.test_folder import data

    from affectlab.models.heads import HeadBank, HeadShape, Stage

    found = HeadBank.make(["joy", "fear"], shape=HeadShape((4,)))
    found.fit(*data(40, 0), stage=Stage(epochs=1, learning_rate=1e-3, batch=16))
    return found, lambda model: model.scores(data(9, 1)[0])


def of_pairs(folder: Path) -> tuple[Any, Any]:
    from tests.models.differences.drawn_pairs import planted

    from affectlab.models.differences import ExpressionMetric

    given = planted()
    return ExpressionMetric("ridge").fit(*given), lambda model: model.distance.coef_


def of_raters(folder: Path) -> tuple[Any, Any]:
    from benchmarks.crowd import simulated
    from tests.models.crowd.test_crowd_model import QUICK, embedded

    from affectlab.models.crowd import CrowdModel

    ratings, features = simulated("spam", 1)
    given = embedded(features)
    found = CrowdModel.train(ratings, given, how="per_rater", name="us", **QUICK)[0]
    return found, lambda model: model.rate(given).to_frame()["value"].to_numpy()


def of_preferences(folder: Path) -> tuple[Any, Any]:
    from tests.models.preference_metric.test_logistic import features, planted

    from affectlab.models.preference_metric import PreferenceMetric

    given = features(*planted(4, 90))
    found = PreferenceMetric("mine").fit(given.table, given.good, groups=given.clusters)
    return found, lambda model: model.coef_


def of_texts_preferred(folder: Path) -> tuple[Any, Any]:
    from tests.models.preference_metric.test_tuned_bart import QUICK, study
    from tests.models.tiny_text_models import save_bart

    from affectlab.models.preference_metric import TunedBartScore

    bart, given = save_bart(folder / "bart", layers=1, width=16), study(20)
    found = TunedBartScore(bart, **{**QUICK, "epochs": 1}).fit(given)
    return found, lambda model: model.score(list(given.own), list(given.context))


KINDS = {
    "transformer": of_text,
    "linear": of_linear_text,
    "VisionClassifier": of_pictures,
    "HeadBank": of_heads,
    "ExpressionMetric": of_pairs,
    "CrowdModel": of_raters,
    "PreferenceMetric": of_preferences,
    "TunedBartScore": of_texts_preferred,
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_that_is_trained_goes_to_the_hub_and_back(
    kind: str, server: Hub, tmp_path: Path
) -> None:
    mine, answers = KINDS[kind](tmp_path)
    mine.push_to_hub("me/model", token="t")
    theirs = type(mine).from_pretrained("me/model")
    np.testing.assert_array_equal(answers(theirs), answers(mine))
    kinds = {one.__name__ for one in HubModel.__subclasses__()} - {"TextClassifier"}
    assert kinds <= KINDS.keys()


def test_the_hub_reads_the_head_of_a_card(tmp_path: Path) -> None:
    card = (model().save(tmp_path / "mood") / "README.md").read_text(encoding="utf-8")
    head = yaml.safe_load(card.split("---")[1])
    assert head["pipeline_tag"] == "text-classification"
    assert head["tags"] == ["affectlab", "emotion", "ekman"]
    strange = yaml.safe_load(front_matter("x", ['a: "b"\n- c']).split("---")[1])
    assert strange["tags"][-1] == "a-b-c" or strange["tags"][-1].startswith("a-b")
