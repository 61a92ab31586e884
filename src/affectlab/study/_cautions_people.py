"""What a researcher should know of who can take part and what they are told, before it begins."""

from __future__ import annotations

import re

from sqlalchemy import Connection, select

from affectlab._words import joined
from affectlab.study._design import Study
from affectlab.study._tables import participants

__all__ = ["cautions_about_people"]

_PLACEHOLDER = re.compile(r"\[[^\[\]\n]+\]")
_MOST = 3
"""Placeholders that are named."""


def cautions_about_people(study: Study, connection: Connection | None) -> list[str]:
    """Say what will not work for participants as the file seems to want it, in sentences.

    Parameters
    ----------
    connection
        To the data of the study; None when it was not begun yet.
    """
    return [*_texts(study), *_entry(study, connection), *_languages(study)]


def _texts(study: Study) -> list[str]:
    design, found = study.design, []
    consent = design.consent.text if design.consent is not None else ""
    texts = {"consent.text": consent, "study.contact": design.study.contact}
    for key, text in (
        texts | {"instructions": design.instructions, "thanks": design.thanks}
    ).items():
        left = list(dict.fromkeys(_PLACEHOLDER.findall(text)))
        if left:
            shown = ", ".join(left[:_MOST]) + (", …" if len(left) > _MOST else "")
            found.append(f"{key} has places to fill in: {shown}")
    if "example.org" in design.study.contact:
        found.append("study.contact is still that of the template; participants see it")
    return found


def _entry(study: Study, connection: Connection | None) -> list[str]:
    recruitment, found = study.design.recruitment, []
    rules = study.design.eligibility.model_dump(exclude_defaults=True)
    if rules and recruitment.platform == "none":
        found.append(
            f"no platform filters for eligibility ({', '.join(rules)}): what the address tells is "
            "the visitor's own word, and who tells nothing is let in"
        )
    if recruitment.platform == "prolific" and not recruitment.verify:
        found.append(
            "recruitment.verify is off: whoever writes a name into the address can take part under "
            "it; set verify = true to have Prolific asked at entry"
        )
    if not recruitment.open and recruitment.platform == "none" and not _invited(connection):
        found.append(
            "nobody can come in: recruitment.open is false, there is no platform, and no "
            "invitation; make personal links with: affectlab study invite "
            f"{study.path.name} --people N"
        )
    return found


def _invited(connection: Connection | None) -> bool:
    """Whether invitations were made, in the data of a study that was begun."""
    if connection is None:
        return False
    invited = select(participants.c.id).where(
        participants.c.invitation.is_not(None), participants.c.kind == "human"
    )
    return connection.execute(invited.limit(1)).first() is not None


def _languages(study: Study) -> list[str]:
    """Say what pages show in another language than their buttons."""
    chosen, languages = study.design.protocol, study.design.study.languages
    own = chosen.name.endswith(".toml") or bool({"prompt", "question"} & set(chosen.change))
    others = languages[1:] if own else tuple(one for one in languages if one != "en")
    if not others:
        return []
    protocol = study.protocol
    missing = {key for one in others for key in protocol.untranslated(one)}
    if study.design.instructions:
        missing.discard("instructions")
    stays = [
        *([f"the protocol's {joined(sorted(missing))}"] if missing else []),
        *(["the names of the labels"] if protocol.labels() else []),
        *(["the texts of this file"] if len(languages) > 1 else []),
    ]
    if not stays:
        return []
    advice = "; to avoid the mixture, make one study per language" if len(languages) > 1 else ""
    return [
        f"study.languages: pages come in {', '.join(others)}, and {joined(stays)} in the language "
        f"they are written in{advice}"
    ]
