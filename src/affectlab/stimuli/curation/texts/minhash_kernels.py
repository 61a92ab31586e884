"""Compiled loops of the search for near-duplicates. Import inside the function that needs them.

Texts come as one array of UTF-8 bytes with offsets, as Arrow stores them. An n-gram is a run of
``ngram`` characters; a text with fewer characters is itself its only n-gram.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.compiled.bits import count_ones
from affectlab.core.compiled.groups import root_of

__all__ = ["jaccard_of_pairs", "join_similar", "sign"]

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]


@kernel
def _mix(value: Any) -> Any:
    """Spread the bits of a 64-bit number over all of it; different numbers stay different."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@kernel
def _hash_bytes(data: Bytes, first: int, last: int, seed: Any) -> Any:
    found = np.uint64(seed) ^ (np.uint64(last - first) * np.uint64(0x9E3779B97F4A7C15))
    for place in range(first, last):
        found = (found ^ np.uint64(data[place])) * np.uint64(0x100000001B3)
        found ^= found >> np.uint64(29)
    return _mix(found)


@kernel
def _characters(data: Bytes, first: int, last: int, starts: Integers) -> int:
    """Write down where characters start, and where the last one ends; give their number."""
    count = 0
    for place in range(first, last):
        if (data[place] & 0xC0) != 0x80:
            starts[count] = place
            count += 1
    starts[count] = last
    return count


@kernel
def _gram(data: Bytes, starts: Integers, count: int, ngram: int, gram: int) -> Any:
    """Hash of one n-gram of a text with ``count`` characters."""
    return _hash_bytes(data, starts[gram], starts[min(gram + ngram, count)], np.uint64(1))


@kernel
def _gram_set(data: Bytes, first: int, last: int, ngram: int, starts: Integers, own: Hashes) -> int:
    """Write the different n-grams of a text as sorted hashes; give their number."""
    count = _characters(data, first, last, starts)
    found = max(1, count - ngram + 1)
    for gram in range(found):
        own[gram] = _gram(data, starts, count, ngram, gram)
    own[:found].sort()
    size = 1
    for gram in range(1, found):
        if own[gram] != own[gram - 1]:
            own[size] = own[gram]
            size += 1
    return size


@kernel
def _longest(offsets: Integers) -> int:
    longest = 1
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    return longest


@kernel
def sign(
    data: Bytes,
    offsets: Integers,
    ngram: int,
    salts: NDArray[np.uint32],
    keys: Hashes,
    sizes: NDArray[np.uint32],
    bits: Hashes,
    bands: NDArray[np.uint32],
) -> None:
    """Hash texts, and the MinHash of their n-grams.

    ``keys`` gets the hash of each text, ``sizes`` its number of different n-grams and ``bits``, of
    shape (texts, 2), one bit of 128 for each n-gram. Every salt gives one order of all n-grams, of
    which the least is kept; ``bands``, of shape (texts, bands), gets hashes of as many of those as
    there are salts for a band.
    """
    longest = _longest(offsets)
    starts = np.empty(longest + 1, np.int64)
    own = np.empty(longest, np.uint64)
    least = np.empty(len(salts), np.uint32)
    rows = len(salts) // bands.shape[1]
    for text in range(len(offsets) - 1):
        first, last = offsets[text], offsets[text + 1]
        keys[text] = _hash_bytes(data, first, last, np.uint64(0))
        size = _gram_set(data, first, last, ngram, starts, own)
        sizes[text] = size
        bits[text, :] = np.uint64(0)
        least[:] = np.uint32(0xFFFFFFFF)
        for gram in range(size):
            bits[text, own[gram] & np.uint64(1)] |= np.uint64(1) << (
                (own[gram] >> np.uint64(1)) & np.uint64(63)
            )
            whole = np.uint32(own[gram] >> np.uint64(32))
            for salt in range(len(salts)):
                value = np.uint32(np.uint32(whole ^ salts[salt]) * np.uint32(0x9E3779B1))
                value = np.uint32(value ^ (value >> np.uint32(16)))
                value = np.uint32(value * np.uint32(0x85EBCA6B))
                value = np.uint32(value ^ (value >> np.uint32(13)))
                least[salt] = min(least[salt], value)
        for band in range(bands.shape[1]):
            found = np.uint64(band + 1)
            for salt in range(band * rows, (band + 1) * rows):
                found = _mix(found * np.uint64(0x9E3779B97F4A7C15) + np.uint64(least[salt]))
            bands[text, band] = np.uint32(found >> np.uint64(32))


@kernel
def _jaccard(left: Hashes, left_size: int, right: Hashes, right_size: int) -> Any:
    one = other = shared = 0
    while one < left_size and other < right_size:
        if left[one] == right[other]:
            shared += 1
            one += 1
            other += 1
        elif left[one] < right[other]:
            one += 1
        else:
            other += 1
    return shared / (left_size + right_size - shared)


@kernel
def jaccard_of_pairs(
    data: Bytes,
    offsets: Integers,
    ngram: int,
    ones: Integers,
    others: Integers,
    found: NDArray[np.float64],
) -> None:
    """Jaccard similarity of n-grams for pairs of texts."""
    longest = _longest(offsets)
    starts = np.empty(longest + 1, np.int64)
    left, right = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    for pair in range(len(ones)):
        one, other = ones[pair], others[pair]
        size = _gram_set(data, offsets[one], offsets[one + 1], ngram, starts, left)
        other_size = _gram_set(data, offsets[other], offsets[other + 1], ngram, starts, right)
        found[pair] = _jaccard(left, size, right, other_size)


@kernel
def join_similar(
    data: Bytes,
    offsets: Integers,
    ngram: int,
    sizes: NDArray[np.uint32],
    bits: Hashes,
    band: NDArray[np.uint32],
    window: int,
    threshold: float,
    parent: Integers,
) -> None:
    """Join texts that share a band and are as similar as the threshold, in ``parent``.

    Texts are sorted by band; each is compared with the ``window`` next ones of its band. Two texts
    that are joined already need no comparison.
    """
    longest = _longest(offsets)
    starts = np.empty(longest + 1, np.int64)
    left, right = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    for one in range(len(band)):
        size = 0
        for other in range(one + 1, min(one + 1 + window, len(band))):
            if band[one] != band[other]:
                break
            # A bit of one text that the other does not have stands for n-grams that it lacks, so
            # this is the most that the similarity can be.
            only_one = np.int64(count_ones(bits[one, 0] & ~bits[other, 0]))
            only_one += np.int64(count_ones(bits[one, 1] & ~bits[other, 1]))
            only_other = np.int64(count_ones(bits[other, 0] & ~bits[one, 0]))
            only_other += np.int64(count_ones(bits[other, 1] & ~bits[one, 1]))
            most = min(sizes[one] - only_one, sizes[other] - only_other)
            if most / max(sizes[one] + only_other, sizes[other] + only_one) < threshold:
                continue
            root, other_root = root_of(parent, one), root_of(parent, other)
            if root == other_root:
                continue
            if size == 0:
                size = _gram_set(data, offsets[one], offsets[one + 1], ngram, starts, left)
            other_size = _gram_set(data, offsets[other], offsets[other + 1], ngram, starts, right)
            if _jaccard(left, size, right, other_size) >= threshold:
                parent[max(root, other_root)] = min(root, other_root)
