"""What synthetic comments are made of: sentences of word classes, and words of other languages."""

from __future__ import annotations

__all__ = ["CLASSES", "FOREIGN", "SENTENCES", "SHORT", "TEMPLATE"]

CLASSES: dict[str, str] = {
    "who": "I you we they he she everyone nobody people somebody my_friend the_author",
    "does": (
        "love hate need want found saw made broke heard watched read bought tried remember miss "
        "know understand expected enjoyed finished started left wrote drove cooked fixed lost "
        "played carried noticed followed changed liked explained opened closed painted called "
        "answered believed kept told showed brought paid moved won sent built chose spent"
    ),
    "which": "the a this that my your our their another every some any",
    "how": (
        "good bad old new small great terrible strange beautiful quiet loud simple long short "
        "happy sad funny boring amazing awful lovely weird cheap expensive broken perfect green "
        "early late honest lazy clever brave gentle heavy warm cold bright dark sharp slow quick "
        "huge tiny local famous empty crowded fresh rotten"
    ),
    "what": (
        "game movie book story song dog cat house car phone job team player season episode "
        "question answer idea problem weekend morning night dinner coffee city school teacher "
        "doctor engine garden river train ticket price store window kitchen picture video post "
        "comment thread article photo recipe guitar camera update server patch bug screen table "
        "letter brother sister mother father neighbour boss company meeting project holiday "
        "winter summer rain snow storm bridge road mountain island forest bird horse fish bread "
        "cheese soup cake apple orange lemon shirt jacket shoes hat bag clock lamp chair door "
        "wall floor roof street market museum theatre concert festival match goal record"
    ),
    "where": (
        "in_the_city at_home on_the_train near_the_river after_work before_lunch last_night "
        "this_morning with_my_brother for_the_first_time without_any_help in_the_kitchen "
        "on_the_way_back at_the_store during_the_match over_the_weekend"
    ),
    "link": "and but because so although while when if unless though",
    "really": (
        "really never always just actually still already probably honestly almost finally "
        "definitely maybe often hardly suddenly"
    ),
    "mark": ", . . . ! ? ... -",
    "extra": (
        "lol https://example.org/a/1 \U0001f602 ❤️ \"quoted\" it's don't 1,000 r/pics "
        "\n\n &gt; naïve"
    ),
}
"""Words by class, with spaces between; an underscore stands for a space inside of a phrase."""

SENTENCES: tuple[str, ...] = (
    "who really does which how what mark",
    "who does which what where mark",
    "link who does which what mark",
    "which what where really does which how what mark",
    "who does what link who really does which what mark",
    "which how what does which what extra mark",
    "really mark who does which how what where link which what does what mark",
)
"""Sentences as sequences of word classes."""

FOREIGN: dict[str, str] = {
    "de": (
        "ich habe das nicht gewusst aber es war sehr schön und wir sind gestern nach Hause "
        "gegangen weil der Hund müde war oder die Katze heute noch schläft warum denn auch"
    ),
    "fr": (
        "je ne sais pas pourquoi mais c'était vraiment très beau et nous sommes rentrés hier soir "
        "avec les enfants parce que le chien était fatigué toujours chez eux une fois"
    ),
    "es": (
        "yo no sabía que el perro estaba cansado pero fue muy bonito y nosotros volvimos ayer a "
        "casa con los niños porque la ciudad también siempre está llena de gente"
    ),
    "it": (
        "non sapevo che il cane fosse stanco ma è stato molto bello e siamo tornati ieri sera a "
        "casa con i bambini perché la città anche sempre piena di gente della"
    ),
    "pl": (
        "nie wiedziałem że pies był zmęczony ale było bardzo ładnie i wróciliśmy wczoraj do domu "
        "z dziećmi ponieważ miasto też zawsze jest pełne ludzi dlaczego jeszcze"
    ),
    "ru": (
        "я не знал что собака устала но было очень красиво и мы вернулись вчера домой вместе с "
        "детьми потому что город тоже всегда полон людей почему ещё"
    ),
}
"""Words of languages that a comment may be written in instead of English."""

SHORT: tuple[str, ...] = ("lol", "this", "Thanks!", "nice", "same here", "Source?", "no u", "F")
"""Comments that thousands write alike."""

TEMPLATE = (
    "Hello, your post was removed from this forum because it does not follow rule number {} of "
    "our list. Please read the rules before you post again, and have a great day."
)
"""A message of a program; its copies differ in a number."""
