"""Models on the hub: saved, found and published by the names that its users know."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.runs.folders import META, check_folder

__all__ = ["HubModel", "front_matter", "hub_folder"]

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def front_matter(
    task: str,
    tags: Sequence[str] = (),
    datasets: Sequence[str] = (),
    *,
    library: str = "affectlab",
    more: Mapping[str, Any] | None = None,
) -> str:
    """Give the head of a card, which the hub reads: task, library and tags, as YAML.

    The licence is left to whoever publishes: it is that of the data and of what was trained on.

    Parameters
    ----------
    task
        Task of the hub, such as ``"text-classification"``.
    library
        What can load the folder.
    more
        Further entries, such as thresholds, for those who read the card by program.

    Examples
    --------
    >>> print(front_matter("text-classification", ["goemotions"]))
    ---
    library_name: affectlab
    pipeline_tag: text-classification
    tags:
    - affectlab
    - emotion
    - goemotions
    ---
    """
    lines = ["---", f"library_name: {library}", f"pipeline_tag: {task}", "tags:"]
    lines += [f"- {_plain(tag)}" for tag in dict.fromkeys(("affectlab", "emotion", *tags))]
    if datasets:
        lines += ["datasets:", *(f"- {_plain(name)}" for name in datasets)]
    # JSON is YAML.
    lines += [f"{_plain(name)}: {json.dumps(value)}" for name, value in (more or {}).items()]
    return "\n".join([*lines, "---"])


def _plain(name: str) -> str:
    """Write a name so that YAML reads a text."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "unnamed"


def hub_folder(name: str, revision: str | None = None) -> Path | None:
    """Fetch a model of affectlab from the hub; None where the name is of another kind of model.

    Raises
    ------
    InputError
        When the hub cannot be reached and nothing of that name was fetched before.
    """
    if not _NAME.fullmatch(name):
        return None
    hub = _hub()
    try:
        hub.hf_hub_download(name, META, revision=revision)
    except hub.errors.EntryNotFoundError:
        return None
    except (hub.errors.HfHubHTTPError, hub.errors.HFValidationError, OSError) as error:
        raise InputError(
            f"model {name!r} is no folder here, and could not be fetched by name "
            f"({' '.join(str(error).split())[:120]})"
        ) from None
    return Path(hub.snapshot_download(name, revision=revision))


def _hub() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ImportError:
        raise MissingDependencyError(
            "models on the hub need huggingface_hub; install affectlab[models]"
        ) from None
    return huggingface_hub


class HubModel:
    """The names that users of the hub know, for a model with ``save`` and ``load``."""

    @staticmethod
    def check_folder(path: str | Path) -> None:
        """Say, before training, whether :meth:`save` could write to a folder.

        Raises
        ------
        InputError
            When the path is a file, or a folder that holds something else.
        """
        check_folder(Path(path))

    def save_pretrained(self, path: str | Path) -> Path:
        """Write the model to a folder, as ``save`` does."""
        saved: Path = self.save(path)  # type: ignore[attr-defined]
        return saved

    @classmethod
    def from_pretrained(cls, place: str | Path, revision: str | None = None) -> Self:
        """Read a model from a folder, or from the hub by its name.

        Parameters
        ----------
        place
            A folder, or ``OWNER/NAME``.
        revision
            Commit, branch or tag on the hub.

        Raises
        ------
        InputError
            When there is none, or it is of another kind.
        """
        folder = Path(place)
        if not folder.is_dir():
            fetched = hub_folder(str(place), revision)
            if fetched is None:
                raise InputError(
                    f"{str(place)!r} holds no model of affectlab; expected a folder that save has "
                    "written, or the name of one on the hub"
                )
            folder = fetched
        model: Self = cls.load(folder)  # type: ignore[attr-defined]
        return model

    def push_to_hub(
        self, name: str, *, private: bool = True, token: str | None = None, message: str = ""
    ) -> str:
        """Publish the model, with its card; the address is given back.

        Parameters
        ----------
        name
            ``OWNER/NAME``; made where there is none.
        private
            Whether only its owner sees a repository that is made.
        token
            By default the one that ``hf auth login`` has kept.
        message
            Of the commit.

        Raises
        ------
        InputError
            When the hub refuses, or cannot be reached.
        """
        hub = _hub()
        api = hub.HfApi(token=token)
        with TemporaryDirectory() as place:
            folder = self.save_pretrained(Path(place) / name.rpartition("/")[2])
            try:
                api.create_repo(name, private=private, exist_ok=True)
                done = api.upload_folder(
                    repo_id=name,
                    folder_path=folder,
                    commit_message=message or "Model of affectlab",
                )
            except (hub.errors.HfHubHTTPError, hub.errors.HFValidationError, OSError) as error:
                raise InputError(
                    f"model {name!r} could not be published ({' '.join(str(error).split())[:160]})"
                ) from None
        return str(done)
