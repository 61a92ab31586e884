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
_POSTCODE_FORM = (
    r"(?:GIR ?0AA|(?:[A-PR-UWYZ]\d{1,2}|[A-PR-UWYZ][A-HK-Y]\d{1,2}|[A-PR-UWYZ]\d[A-HJKPSTUW]|"
    r"[A-PR-UWYZ][A-HK-Y]\d[ABEHMNPRV-Y]) ?\d[ABD-HJLNP-UW-Z]{2})\b"
)
# Words that are hardly anything else after a number and a name, also in small letters.
_RELEASE = re.compile(r"\b(?:version|ver\.?|v|release|firmware|ios|android) ?$", re.IGNORECASE)
_FEWEST_PARTS = 3
"""Numbers that an address of version 6 must at least hold."""
_STREETS = "street|avenue|road|boulevard|lane"
# Others must have a capital; most are of the list of the postal service of the United States.
_PLACES = (
    "St|Ave|Rd|Blvd|Ln|Drive|Dr|Parkway|Pkwy|Highway|Hwy|"
    "Alley|Annex|Arcade|Bayou|Beach|Bend|Bluffs?|Bottom|Branch|Bridge|Brooks?|Burgs?|Bypass|Camp|"
    "Canyon|Cape|Causeway|Centers?|Circles?|Cir|Cliffs?|Close|Club|Common|Copse|Corners?|Course|"
    "Courts?|Ct|Coves?|Creek|Crescent|Cres|Crest|Crossing|Crossroad|Curve|Dale|Dam|Divide|Drives|"
    "Estates?|Expressway|Extensions?|Falls?|Ferry|Fields?|Flats?|Fords?|Forest|Forges?|Forks?|"
    "Fort|Freeway|Gardens?|Gateway|Glens?|Greens?|Groves?|Harbors?|Haven|Heights|Hills?|Hollow|"
    "Inlet|Islands?|Isle|Junctions?|Keys?|Knolls?|Lakes?|Landing|Lights?|Loaf|Locks?|Lodge|Loop|"
    "Mall|Manors?|Meadows?|Mews|Mills?|Mission|Motorway|Mountains?|Mount|Neck|Orchard|Oval|"
    "Overpass|Parade|Parks?|Parkways|Passage|Pass|Paths?|Pikes?|Pines?|Place|Pl|Plains?|Plaza|"
    "Points?|Ports?|Prairie|Radial|Ramp|Ranch|Rapids?|Rest|Ridges?|Rise|River|Roads|Route|Row|Rue|"
    "Run|Shoals?|Shores?|Skyway|Springs?|Spurs?|Squares?|Sq|Station|Stravenue|Stream|Streets|"
    "Summit|Terrace|Throughway|Trace|Track|Trafficway|Trail|Tunnel|Turnpike|Underpass|Unions?|"
    "Valleys?|Vale|Via|Viaduct|Views?|Villages?|Ville|Vista|Walks?|Wall|Ways?|Wells?|Wynd"
)
_WORDS = r"[A-Z][\w'’-]{0,30}\.?(?: [A-Z][\w'’-]{0,30}){0,3}"
_TOWN = r"[A-Z][\w'’-]{1,30}(?: [A-Z][\w'’-]{1,30}){0,2}"
_STREET = re.compile(
    rf"\b(?:(?:Flat|Studio|Apartment|Unit|Apt\.?) \d{{1,4}}[A-Za-z]?,? (?:\d{{1,5}}[A-Za-z]?,? )?|"
    rf"\d{{1,5}}[A-Za-z]?,? )"
    rf"(?:(?:[NSEW]|North|South|East|West)\.? )?(?:{_WORDS}|\d{{1,3}}(?:st|nd|rd|th)) "
    rf"(?:(?i:{_STREETS})|{_PLACES})\b\.?"
    r"(?:,? (?i:apt|apartment|suite|ste|unit|flat|#)\.? ?\w{1,5})?"
    rf"(?:,? {_TOWN},? (?:[A-Z]{{2}}(?: \d{{5}}(?:-\d{{4}})?)?\b|{_POSTCODE_FORM}))?"
)
_NO_HOUSE = re.compile(
    r"\b(?!(?:At|In|On|From|To|Of|Near|By|Visit|Address|Lives?|House|No|Number)\b)[A-Z][\w'’]* $|"
    r"\b(?i:in|since|until|during|the|of|from|by|after|before) $"
)
"""What stands before a number that belongs to it, or, of the second kind, before a year."""
_YEAR = re.compile(r"(?:19|20)\d\d ")
_BOX = re.compile(
    r"\b(?i:p\.? ?o\.? ?box) \d{1,6}\b|"
    r"\b(?:Unit|PSC|CMR) \d{1,5},? Box \d{1,5}(?:,? [ADF]PO,? A[AEP](?: \d{5}(?:-\d{4})?)?)?\b"
)
_ZIP = re.compile(r"(?<=\b[A-Z]{2} )\d{5}(?:-\d{4})?\b")
_POSTCODE = re.compile(rf"\b{_POSTCODE_FORM}")
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
    # Cards start with the number of an industry, 2 to 6 for those that pay, but for two old ones.
    if digits[0] not in "23456" and not digits.startswith(("1800", "0604")):
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


def _streets(text: str) -> Spans:
    for match in _STREET.finditer(text):
        before = _NO_HOUSE.search(text[max(match.start() - 24, 0) : match.start()])
        # World War 2 Memorial Park and the 2020 Olympic Village have no house number.
        if before is None or (before.group()[0].islower() and not _YEAR.match(match.group())):
            yield match.span()


def _addresses(text: str) -> Spans:
    yield from _streets(text)
    yield from _every(_BOX, _POSTCODE, _ZIP)(text)


def _ips(text: str) -> Spans:
    for match in _IP.finditer(text):
        found = match.group()
        try:
            ipaddress.ip_address(found)
        except ValueError:
            continue
        # Neither what is between two words, as in "sad :: happy", nor the number of a release.
        short = ":" in found and sum(map(bool, found.split(":"))) < _FEWEST_PARTS
        if not short and not _RELEASE.search(text[max(match.start() - 12, 0) : match.start()]):
            yield match.span()


def _births(text: str) -> Spans:
    for match in _BIRTH.finditer(text):
        yield match.span(1)


def _phones(text: str) -> Spans:
    from affectlab.stimuli.privacy.phones import find_phones

    return find_phones(text)


FORMS: tuple[Form, ...] = (
    Form("e-mail", "[EMAIL]", _every(_EMAIL), re.compile(r"@|[\[(]at[\])]", re.IGNORECASE)),
    Form("link", "[LINK]", _urls, re.compile(r"://|\.\w")),
    Form("card", "[CARD]", _cards, _ANY_DIGIT),
    Form("bank account", "[ACCOUNT]", _ibans, _ANY_DIGIT),
    Form("national number", "[ID]", _every(_SSN, _NINO), _ANY_DIGIT),
    Form("internet address", "[IP]", _ips, _ANY_DIGIT),
    Form("phone", "[PHONE]", _phones, re.compile(r"\d(?:\D*\d){5}")),
    Form("address", "[ADDRESS]", _addresses, _ANY_DIGIT),
    Form("date of birth", "[DATE]", _births, _ANY_DIGIT),
    Form("user name", "[USER]", _every(_HANDLE), re.compile(r"@|u/")),
)
"""The kinds, those that are surest first: of two that overlap and are equally long it stands."""
