"""What the dashboard sends."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from affectlab.study.server._messages_base import Message

__all__ = [
    "AccountRole",
    "Credentials",
    "NewAccount",
    "NewPassword",
    "OwnPassword",
    "SetUp",
    "Status",
    "Verdict",
]

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9._@+-]{1,60}$")]
Password = Annotated[str, Field(max_length=200)]
RoleName = Literal["viewer", "researcher", "owner"]


class Credentials(Message):
    """Log in."""

    name: Name
    password: Password


class SetUp(Message):
    """Make the first account, with the secret of the link that the server printed."""

    secret: str = Field(max_length=100, pattern=r"^[A-Za-z0-9_-]+$")
    name: Name
    password: Password


class OwnPassword(Message):
    """Change the own password."""

    old: Password
    new: Password


class NewAccount(Message):
    """Add an account."""

    name: Name
    role: RoleName
    password: Password


class AccountRole(Message):
    """Give an account another role."""

    role: RoleName


class NewPassword(Message):
    """Give somebody else's account another password."""

    password: Password


class Status(Message):
    """Open, pause or close the study."""

    status: Literal["open", "paused", "closed"]


class Verdict(Message):
    """Decide on a session."""

    verdict: Literal["accepted", "rejected"]
    # No control characters but line breaks: databases refuse some, and nobody can read them.
    reason: str = Field(default="", max_length=2000, pattern=r"^[^\x00-\x09\x0b-\x1f\x7f]*$")
    seen: str = Field(default="", max_length=20, pattern=r"^[a-z_]*$")
    """The verdict that the page showed; where it is another one by now, nothing is changed."""
    pay: bool | None = None
    """Whether work that is rejected is paid all the same; None leaves it at what was said."""
