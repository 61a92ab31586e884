"""What can be found by its form: addresses, numbers and links, each checked as far as it can be."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["FORMS", "Form", "is_card", "is_iban"]

Spans = Iterator[tuple[int, int]]


class Form(NamedTuple):
    """A kind of personal data that is told by its form."""

    name: str
    mask: str
    find: Callable[[str], Spans]
    """Gives where it starts and ends in a text."""
    may: re.Pattern[str]
    """What a text must hold for a search to be worth while."""


_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_EMAIL = re.compile(
    rf"(?<![\w.+-])[\w.!#$%&'*+/=?^`{{|}}~-]{{1,64}}(?:@|\s?[\[(]at[\])]\s?)"
    rf"{_LABEL}(?:(?:\.|\s?[\[(]dot[\])]\s?){_LABEL})*(?:\.|\s?[\[(]dot[\])]\s?)[a-z]{{2,24}}(?![\w-])",
    re.IGNORECASE,
)
_ENDINGS = (
    "com|org|net|edu|gov|mil|info|biz|io|co|us|uk|ca|au|de|fr|es|it|nl|eu|ru|in|jp|cn|br|ch|at|be|"
    "se|no|dk|pl|ie|nz|tv|me|app|dev|ai|ly|gl"
)
_URL = re.compile(
    rf"(?:https?://|ftp://|(?<![\w@.])www\.)[^\s<>\"'“”]+|"
    rf"(?<![\w@.-])(?:{_LABEL}\.)+(?:{_ENDINGS})(?:/[^\s<>\"'“”]*|(?![\w.@-]|\.\w))",
    re.IGNORECASE,
)
_HANDLE = re.compile(r"(?<![\w@./])@[A-Za-z_](?:[\w.]{0,28}\w)(?![\w@])|(?<![\w/])u/[\w-]{3,20}\b")
_DIGITS = re.compile(r"(?<![\w.,-])\d(?:[ -]?\d){11,18}(?![\w-]|[.,]\d)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")
_NINO = re.compile(
    r"\b(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b"
)
_IP = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)|"
    r"(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])",
    re.IGNORECASE,
)
_STREETS = (
    "street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|place|pl|terrace|"
    "parkway|pkwy|highway|hwy|way|crescent|cres|close|gardens|square|sq|circle|cir|trail|mews|row|alley|causeway|expressway|"
    "turnpike|pike|loop|plaza|walk|path|grove|hill|green|heights|ridge|point|park|run"
)
_STREET = re.compile(
    rf"\b\d{{1,5}}[A-Za-z]?,? (?:(?:[NSEW]|North|South|East|West)\.? )?"
    rf"(?:[A-Z][\w'’.-]*|\d{{1,3}}(?:st|nd|rd|th))(?: [A-Z][\w'’.-]*){{0,3}} (?i:{_STREETS})\b\.?"
    r"(?:,? (?i:apt|apartment|suite|ste|unit|flat|#)\.? ?\w{1,5})?"
    r"(?:,? [A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2},? [A-Z]{2}(?: \d{5}(?:-\d{4})?)?\b)?"
)
_BOX = re.compile(r"\b(?i:p\.? ?o\.? ?box) \d{1,6}\b")
_ZIP = re.compile(r"(?<=\b[A-Z]{2} )\d{5}(?:-\d{4})?\b")
_POSTCODE = re.compile(
    r"\b(?:GIR ?0AA|(?:[A-PR-UWYZ]\d{1,2}|[A-PR-UWYZ][A-HK-Y]\d{1,2}|[A-PR-UWYZ]\d[A-HJKPSTUW]|"
    r"[A-PR-UWYZ][A-HK-Y]\d[ABEHMNPRV-Y]) ?\d[ABD-HJLNP-UW-Z]{2})\b"
)
_BIRTH = re.compile(
    r"(?i:\b(?:born(?: on)?|date of birth|d\.?o\.?b\.?|birthday(?: is)?)[:,]? )"
    r"((?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4})|(?:\d{4}-\d{2}-\d{2})|"
    r"(?:(?:\d{1,2}(?:st|nd|rd|th)? )?(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?,? \d{4}))"
)
_ANY_DIGIT = re.compile(r"\d")


def is_card(digits: str) -> bool:
    """Whether 12 to 19 digits carry the check digit of a payment card, and are no plain run.

    Examples
    --------
    >>> is_card("4111111111111111"), is_card("4111111111111112")
    (True, False)
    """
    if not 12 <= len(digits) <= 19 or not digits.isdecimal() or len(set(digits)) < 2:
        return False
    # Cards start with the number of an industry: 2 to 6 for those that pay.
    if digits[0] not in "23456":
        return False
    doubled = (int(d) * (1 + k % 2) for k, d in enumerate(reversed(digits)))
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def is_iban(text: str) -> bool:
    """Whether a bank account number has the right check digits (ISO 13616).

    Examples
    --------
    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    plain = text.replace(" ", "").upper()
    if not 15 <= len(plain) <= 34 or not (plain.isascii() and plain.isalnum()):
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _every(*patterns: re.Pattern[str]) -> Callable[[str], Spans]:
    def find(text: str) -> Spans:
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield match.span()

    return find


def _urls(text: str) -> Spans:
    for match in _URL.finditer(text):
        kept = match.group().rstrip(".,;:!?)]}'\"")
        yield match.start(), match.start() + len(kept)


def _cards(text: str) -> Spans:
    for match in _DIGITS.finditer(text):
        if is_card(re.sub(r"[ -]", "", match.group())):
            yield match.span()


def _ibans(text: str) -> Spans:
    for match in _IBAN.finditer(text):
        # A word in capitals after the number is not part of it.
        kept = match.group()
        while kept and not is_iban(kept):
            kept = kept.rpartition(" ")[0]
        if kept:
            yield match.start(), match.start() + len(kept)


def _ips(text: str) -> Spans:
    for match in _IP.finditer(text):
        try:
            ipaddress.ip_address(match.group())
        except ValueError:
            continue
        yield match.span()


def _births(text: str) -> Spans:
    for match in _BIRTH.finditer(text):
        yield match.span(1)


def _phones(text: str) -> Spans:
    from affectlab.stimuli.privacy._phones import find_phones

    return find_phones(text)


FORMS: tuple[Form, ...] = (
    Form("e-mail", "[EMAIL]", _every(_EMAIL), re.compile(r"@|[\[(]at[\])]", re.IGNORECASE)),
    Form("link", "[LINK]", _urls, re.compile(r"://|\.\w")),
    Form("card", "[CARD]", _cards, _ANY_DIGIT),
    Form("bank account", "[ACCOUNT]", _ibans, _ANY_DIGIT),
    Form("national number", "[ID]", _every(_SSN, _NINO), _ANY_DIGIT),
    Form("internet address", "[IP]", _ips, _ANY_DIGIT),
    Form("phone", "[PHONE]", _phones, re.compile(r"\d(?:\D*\d){5}")),
    Form("address", "[ADDRESS]", _every(_STREET, _BOX, _POSTCODE, _ZIP), _ANY_DIGIT),
    Form("date of birth", "[DATE]", _births, _ANY_DIGIT),
    Form("user name", "[USER]", _every(_HANDLE), re.compile(r"@|u/")),
)
"""The kinds, those that are surest first: of two that overlap and are equally long it stands."""
