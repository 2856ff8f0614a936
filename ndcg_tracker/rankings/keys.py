"""Ids as one column of UTF-8 bytes or whole numbers, with vectorised operations and conversion from and to Arrow."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings import Bytes, Hash, Index, Mask, Numbers

BLOCK = 1 << 16
"""How many rows are processed at a time, so that temporary arrays stay in the cache."""

_FNV = np.uint64(0xCBF29CE484222325)
MULTIPLIER = 0x9E3779B97F4A7C15
_MULTIPLIER = np.uint64(MULTIPLIER)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_WORD = 8
_MASKS = np.array([(1 << (8 * n_bytes)) - 1 for n_bytes in range(_WORD + 1)], dtype=np.uint64)
"""For each number of bytes, the word with that many bytes set."""
_WORDS = 2
_MANY = 64  # from this many on, all numbers are converted to text at once
_ZERO, _MINUS = ord("0"), ord("-")
_DIGITS = 16


def mixed(values: Hash) -> Hash:
    """Return the SplitMix64 finaliser of each value: a bijection that spreads every input bit over all 64.

    Parameters: ``values``, uint64, any shape. Returns: uint64 of the same shape. Raises: nothing.
    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, fig. 16.

    >>> mixed(np.array([0, 1], dtype=np.uint64)).tolist()
    [0, 6238072747940578789]
    """
    bits = values >> np.uint64(30)
    bits ^= values
    bits *= _MIX_1
    bits ^= bits >> np.uint64(27)
    bits *= _MIX_2
    bits ^= bits >> np.uint64(31)
    return bits


def _unaligned_words(data: Bytes) -> Hash:
    """Return the little-endian word that begins at each byte except the last seven: a view, shape (n_bytes - 7,)."""
    return np.ndarray((data.size - _WORD + 1,), dtype="<u8", buffer=data, strides=(1,))


def decimal_texts(numbers: Numbers) -> Keys:
    """Return whole numbers as their decimal text.

    >>> decimal_texts(np.array([10, -3, 0])).to_list()
    ['10', '-3', '0']
    """
    parts, lengths = [np.empty(0, dtype=np.uint8)], np.empty(numbers.size, dtype=np.int64)
    for first in range(0, numbers.size, BLOCK):
        block = numbers[first : first + BLOCK].astype(np.int64)
        negative = block < 0
        rest = np.abs(block).view(np.uint64)  # unsigned, because the smallest number is its own absolute value
        n_places = len(str(int(rest.max())))
        digits = np.empty((block.size, n_places + 1), dtype=np.uint8)
        for place in range(n_places, 0, -1):
            shorter = rest // np.uint64(10)
            digits[:, place] = rest - shorter * np.uint64(10)
            rest = shorter
        written = digits[:, 1:].astype(np.bool_)
        np.logical_or.accumulate(written, axis=1, out=written)
        written[:, -1] = True
        n_digits = np.count_nonzero(written, axis=1)
        digits += np.uint8(_ZERO)
        column = np.arange(n_places + 1)
        width = n_digits + negative
        if negative.any():
            at = np.flatnonzero(negative)
            digits[at, n_places - n_digits[at]] = _MINUS
        parts.append(digits[column > (n_places - width)[:, None]])
        lengths[first : first + block.size] = width
    offsets = np.zeros(numbers.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Keys(np.concatenate(parts), offsets)


def _spelled(words: Hash) -> Keys:
    """Return the ids whose bytes are these little-endian words (see ``Keys.single_words``)."""
    letters = np.ascontiguousarray(words, dtype="<u8").view(np.uint8).reshape(-1, _WORD)
    offsets = np.zeros(words.size + 1, dtype=np.int64)
    np.cumsum(np.count_nonzero(letters, axis=1), out=offsets[1:])
    return Keys(letters[letters > 0], offsets)


class Keys:
    """A column of ids, stored like strings in Arrow: all bytes in a row, and where each id begins.

    ``data``: uint8, the UTF-8 bytes of all ids. ``offsets``: int64, shape (n + 1,), ascending; id ``i`` is
    ``data[offsets[i]:offsets[i + 1]]``. Ids are compared as bytes, never as locale text, and contain no NUL.

    Ids that are whole numbers stay numbers until their text is needed. ``numbers``: int64 or int32, shape (n,), None
    for ids that are text. They are the ids themselves, in decimal, or, if there is a ``dictionary``, the places of the
    ids among its distinct ids.

    >>> keys = Keys.from_strings(["d2", "d10"])
    >>> len(keys), keys[1], keys.to_list()
    (2, 'd10', ['d2', 'd10'])
    >>> Keys.from_numbers(np.array([7, -1])).to_list(), Keys.from_numbers(np.array([1, 0]), keys).to_list()
    (['7', '-1'], ['d10', 'd2'])
    """

    __slots__ = ("_text", "_words", "dictionary", "numbers")

    def __init__(self, data: Bytes, offsets: Index) -> None:
        self._text: tuple[Bytes, Index] | None = (data, offsets)
        self._words: Hash | None = None
        self.numbers: Numbers | None = None
        self.dictionary: Keys | None = None

    @classmethod
    def from_numbers(cls, numbers: Numbers, dictionary: Keys | None = None) -> Keys:
        """Return the column of these whole numbers, or of the ids at these places of a dictionary."""
        column = cls.__new__(cls)
        column._text, column._words, column.numbers, column.dictionary = None, None, numbers, dictionary
        return column

    @classmethod
    def _from_words(cls, words: Hash) -> Keys:
        column = cls.__new__(cls)
        column._text, column._words, column.numbers, column.dictionary = None, words, None, None
        return column

    @property
    def data(self) -> Bytes:
        """The UTF-8 bytes of all ids."""
        return self._as_text()[0]

    @property
    def offsets(self) -> Index:
        """Where each id begins, and where the last one ends."""
        return self._as_text()[1]

    def _as_text(self) -> tuple[Bytes, Index]:
        if self._text is None:
            if self.numbers is None:
                assert self._words is not None
                text = _spelled(self._words)
            elif self.dictionary is not None:
                text = self.dictionary.take(self.numbers)
            elif self.numbers.size < _MANY:
                text = Keys.from_bytes([b"%d" % number for number in self.numbers.tolist()])
            else:
                text = decimal_texts(self.numbers)
            self._text = text.data, text.offsets
        return self._text

    def like_numbers(self, other: Keys) -> bool:
        """Return whether ids of both columns are equal if and only if their numbers are equal."""
        if self.numbers is None or other.numbers is None:
            return False
        mine, theirs = self.dictionary, other.dictionary
        return mine is theirs or (mine is not None and theirs is not None and mine.is_same(theirs))

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> Keys:
        """Return the column of these strings; raise UnicodeEncodeError for a lone surrogate."""
        return cls.from_bytes([string.encode() for string in strings])

    @classmethod
    def from_bytes(cls, ids: Sequence[bytes]) -> Keys:
        """Return the column of these UTF-8 byte strings."""
        offsets = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(ids), dtype=np.uint8), offsets)

    @classmethod
    def joined(cls, columns: Sequence[Keys]) -> Keys:
        """Return several columns one after the other.

        >>> Keys.joined([Keys.from_strings(["a"]), Keys.from_strings(["b", ""])]).to_list()
        ['a', 'b', '']
        """
        numbers = [column.numbers for column in columns if column.numbers is not None]
        if numbers and all(column.like_numbers(columns[0]) for column in columns):
            every: Numbers = np.concatenate(numbers, dtype=np.int64) if len(numbers) > 1 else numbers[0]
            return cls.from_numbers(every, columns[0].dictionary)
        offsets = np.zeros(sum(map(len, columns)) + 1, dtype=np.int64)
        data, n_done = [np.empty(0, dtype=np.uint8)], 0
        for column in columns:
            bounds = column.offsets
            data.append(column.data[bounds[0] : bounds[-1]])
            np.add(bounds[1:], offsets[n_done] - bounds[0], out=offsets[n_done + 1 : n_done + bounds.size])
            n_done += bounds.size - 1
        return cls(np.concatenate(data), offsets)

    def __len__(self) -> int:
        if self.numbers is not None:
            return self.numbers.size
        return self._words.size if self._text is None and self._words is not None else self.offsets.size - 1

    def __getitem__(self, row: int) -> str:
        return self.bytes_at(row).decode()

    def __repr__(self) -> str:
        return f"Keys({len(self)} ids)"

    def bytes_at(self, row: int) -> bytes:
        """Return the UTF-8 bytes of one id."""
        if self.numbers is not None:
            number = int(self.numbers[row])
            return b"%d" % number if self.dictionary is None else self.dictionary.bytes_at(number)
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def to_bytes_list(self) -> list[bytes]:
        """Return all ids as Python byte strings."""
        if len(self) == 0:
            return []
        base = int(self.offsets[0])
        whole = self.data[base : self.offsets[-1]].tobytes()
        ends = (self.offsets - base).tolist()
        return [whole[start:end] for start, end in itertools.pairwise(ends)]

    def to_list(self) -> list[str]:
        """Return all ids as Python strings; ASCII, the usual case, is decoded in one piece."""
        if self.numbers is not None and self.dictionary is None:
            return list(map(str, self.numbers.tolist()))
        offsets = self.offsets
        whole = self.data[offsets[0] : offsets[-1]].tobytes()
        if not whole.isascii():
            return [key.decode() for key in self.to_bytes_list()]
        text = whole.decode("ascii")
        return [text[start:end] for start, end in itertools.pairwise((offsets - offsets[0]).tolist())]

    @property
    def lengths(self) -> Index:
        """The length of each id in bytes: int64, shape (n,)."""
        return np.diff(self.offsets)

    def slice(self, start: int, stop: int) -> Keys:
        """Return the ids ``start`` to ``stop`` (exclusive) without copying their bytes."""
        if self.numbers is not None:
            part = Keys.from_numbers(self.numbers[start:stop], self.dictionary)
            if self._text is not None:
                part._text = self._text[0], self._text[1][start : stop + 1]
            return part
        if self._text is None and self._words is not None:
            return Keys._from_words(self._words[start:stop])
        part = Keys(self.data, self.offsets[start : stop + 1])
        if self._words is not None:
            part._words = self._words[start:stop]
        return part

    def take(self, rows: NDArray[np.integer[Any]]) -> Keys:
        """Return the ids at ``rows``, copied; if their words are known, as words, so that no text is created yet."""
        if self.numbers is not None:
            return Keys.from_numbers(self.numbers[rows], self.dictionary)
        if self._words is not None:
            return Keys._from_words(self._words[rows])
        starts = self.offsets[:-1][rows]
        lengths = self.offsets[1:][rows] - starts
        offsets = np.zeros(rows.size + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        n_bytes = int(offsets[-1])
        data = np.empty(n_bytes + _WORD, dtype=np.uint8)
        for first in range(0, rows.size, BLOCK):
            block = slice(first, first + BLOCK)
            self._copy(starts[block], lengths[block], data, offsets[:-1][block])
        return Keys(data[:n_bytes], offsets)

    def _copy(self, starts: Index, lengths: Index, data: Bytes, targets: Index) -> None:
        """Write the bytes from each start to the targets, which ascend without gaps.

        This writes whole words. NumPy assigns them in order, so the next id overwrites the excess bytes of a short id.
        The last word of a longer id ends where the id ends.
        """
        words = _unaligned_words(data)
        words[targets] = self._words_at(starts)
        done = _WORD
        while (longer := np.flatnonzero(lengths > done)).size:
            starts, lengths, targets = starts[longer], lengths[longer], targets[longer]
            at = np.minimum(lengths - _WORD, done)
            words[targets + at] = self._words_at(starts + at)
            done += _WORD

    def words(self, starts: Index, remaining: Index) -> Hash:
        """Return the eight bytes from each start as a little-endian word, with bytes past ``remaining`` set to zero."""
        words = self._words_at(starts)
        if remaining.size and remaining.min() < _WORD:
            words &= _MASKS.take(remaining, mode="clip")
        return words

    def _words_at(self, starts: Index) -> Hash:
        """Return the eight bytes from each start as a little-endian word; bytes after the last id do not matter."""
        data = self.data
        if data.size < _WORD:
            data = np.concatenate([data, np.zeros(_WORD, dtype=np.uint8)])
        last = data.size - _WORD
        if not starts.size or int(starts.max()) <= last:
            return _unaligned_words(data)[starts].astype(np.uint64, copy=False)
        at = np.minimum(starts, last)
        return np.asarray(_unaligned_words(data)[at] >> ((starts - at) << 3).astype(np.uint64), dtype=np.uint64)

    def hashes(self, seed: int = 0) -> Hash:
        """Return a 64-bit hash of each id: equal ids hash equally, in any column.

        Parameters: ``seed``, any int64; different seeds give independent hashes. Returns: uint64, shape (n,).
        Raises: nothing. The hash is not cryptographic: use it for joins and content digests of trusted data.

        >>> a, b = Keys.from_strings(["x", "yy"]).hashes(), Keys.from_strings(["yy"]).hashes()
        >>> bool(a[1] == b[0]), bool(a[0] == a[1])
        (True, False)
        """
        out = np.empty(len(self), dtype=np.uint64)
        if self._text is None and len(self) > BLOCK:  # the text of a block is created, then discarded
            for first in range(0, len(self), BLOCK):
                out[first : first + BLOCK] = self.slice(first, min(first + BLOCK, len(self))).hashes(seed)
            return out
        start_value = mixed(np.array([seed], dtype=np.int64).view(np.uint64) + _FNV)[0]
        for first in range(0, len(self), BLOCK):
            starts = self.offsets[first : min(first + BLOCK, len(self)) + 1]
            lengths, starts = np.diff(starts), starts[:-1]
            block = start_value + lengths.astype(np.uint64) * _MULTIPLIER
            rows: Index | slice = slice(None)
            done = 0
            while lengths.size:
                longer = lengths > done
                if not longer.all():
                    kept = np.flatnonzero(longer)
                    rows = kept if isinstance(rows, slice) else rows[kept]
                    starts, lengths = starts[kept], lengths[kept]
                    if not lengths.size:
                        break
                block[rows] = mixed((block[rows] ^ self.words(starts + done, lengths - done)) * _MULTIPLIER)
                done += 8
            out[first : first + block.size] = block
        return out

    def join_hashes(self, other: Keys) -> tuple[Hash, Hash, bool]:
        """Return a 64-bit hash of each id of two columns, and whether different ids certainly have different hashes.

        Equal ids have equal hashes, but only within this pair of columns, and the hashes are fast to compute. They are
        certain for numbers and for short ids.

        >>> one, two, is_sure = Keys.from_strings(["x", "yy"]).join_hashes(Keys.from_strings(["yy"]))
        >>> bool(one[1] == two[0]), is_sure
        (True, True)
        """
        if self.numbers is not None and other.numbers is not None and self.like_numbers(other):
            return self.numbers.astype(np.uint64) * _MULTIPLIER, other.numbers.astype(np.uint64) * _MULTIPLIER, True
        mine = self.single_words()
        theirs = None if mine is None else other.single_words()
        if mine is None or theirs is None:
            return self.hashes(), other.hashes(), False
        return mine * _MULTIPLIER, theirs * _MULTIPLIER, True

    def single_words(self) -> Hash | None:
        """Return the bytes of each id as one little-endian word, unique per id; None if an id is too long.

        >>> Keys.from_strings(["a", "b", "a"]).single_words().tolist()
        [97, 98, 97]
        """
        if self._words is not None:
            return self._words
        offsets = self.offsets
        words = np.empty(len(self), dtype=np.uint64)
        for first in range(0, len(self), BLOCK):
            bounds = offsets[first : first + BLOCK + 1]
            lengths = np.diff(bounds)
            if int(lengths.max()) > _WORD:
                return None
            words[first : first + lengths.size] = self.words(bounds[:-1], lengths)
        self._words = words
        return words

    def equal(self, rows: Index, other: Keys, other_rows: Index) -> Mask:
        """Return where ``self[rows]`` and ``other[other_rows]`` have the same bytes: bool, shape of ``rows``."""
        same = np.empty(rows.size, dtype=np.bool_)
        for first in range(0, rows.size, BLOCK):
            block = slice(first, first + BLOCK)
            same[block] = self._equal(rows[block], other, other_rows[block])
        return same

    def _equal(self, rows: Index, other: Keys, other_rows: Index) -> Mask:
        if self.numbers is not None and other.numbers is not None and self.like_numbers(other):
            return np.asarray(self.numbers[rows] == other.numbers[other_rows])
        starts, other_starts = self.offsets[rows], other.offsets[other_rows]
        lengths = self.offsets[rows + 1] - starts
        same: Mask = lengths == other.offsets[other_rows + 1] - other_starts
        same &= self.words(starts, lengths) == other.words(other_starts, lengths)
        done = _WORD
        while (left := np.flatnonzero(same & (lengths > done))).size:
            remaining = lengths[left] - done
            same[left] = self.words(starts[left] + done, remaining) == other.words(other_starts[left] + done, remaining)
            done += _WORD
        return same

    def is_same(self, other: Keys) -> bool:
        """Return whether both columns hold the same ids in the same order.

        >>> Keys.from_strings(["a", "bc"]).slice(1, 2).is_same(Keys.from_strings(["bc"]))
        True
        """
        if len(self) != len(other):
            return False
        if self is other:
            return True
        if self.numbers is not None and other.numbers is not None and self.like_numbers(other):
            return self.numbers is other.numbers or np.array_equal(self.numbers, other.numbers)
        for first in range(0, len(self), BLOCK):  # columns that differ usually differ in the first block
            some, others = (keys.slice(first, min(first + BLOCK, len(self))) for keys in (self, other))
            mine, theirs = (keys.data[keys.offsets[0] : keys.offsets[-1]] for keys in (some, others))
            if not (np.array_equal(some.lengths, others.lengths) and np.array_equal(mine, theirs)):
                return False
        return True

    def byte_ranks(self) -> Index:
        """Return each id's place in ascending byte order, from 0; equal ids share a place: int64, shape (n,).

        >>> Keys.from_strings(["b", "a", "ab", "b"]).byte_ranks().tolist()
        [2, 0, 1, 2]
        """
        ranks = np.zeros(len(self), dtype=np.int64)
        starts, lengths = self.offsets[:-1], self.lengths
        longest = int(lengths.max(initial=0))
        for done in range(0, longest, 8):
            remaining = np.maximum(lengths - done, 0)
            word = self.words(np.minimum(starts + done, self.offsets[1:]), remaining).byteswap()
            order = np.lexsort((word, ranks))
            new = (np.diff(word[order]) != 0) | (np.diff(ranks[order]) != 0)
            ranks[order] = np.concatenate([[0], np.cumsum(new)])
        return ranks


class KeyIndex:
    """The positions of some distinct ids.

    >>> index = KeyIndex(Keys.from_strings(["a", "b"]))
    >>> index.places(Keys.from_strings(["b", "x"])).tolist()
    [1, -1]
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        hashes = keys.hashes()
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]

    def places(self, wanted: Keys) -> Index:
        """Return the position of each wanted id, -1 if it is absent: int64, shape of ``wanted``."""
        if not self._order.size:
            return np.full(len(wanted), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._hashes, wanted.hashes()), self._order.size - 1)
        candidates = self._order[at]
        return np.where(self._keys.equal(candidates, wanted, np.arange(len(wanted))), candidates, -1)


def joined_digest(digests: Iterable[str], without: Iterable[str] = ()) -> str:
    """Return the digest of content from the digests of its disjoint parts.

    A digest is two sums of row hashes modulo 2**64, so digests of parts can be added in any order, and digests of
    removed parts can be subtracted. Parameters: ``digests``, each from ``GroupedItems.digest``; ``without``, the
    digests of removed parts. Raises: ValueError for anything that is not a digest.

    >>> joined_digest(["0000000000000001ffffffffffffffff", "00000000000000020000000000000001"])
    '00000000000000030000000000000000'
    """
    sums = [0] * _WORDS
    for sign, given in ((1, digests), (-1, without)):
        for digest in given:
            for word in range(_WORDS):
                sums[word] += sign * int(digest[word * _DIGITS : (word + 1) * _DIGITS], 16)
    return "".join(f"{total % 2**64:016x}" for total in sums)


class KeyPlaces:
    """The positions of some distinct ``keys``.

    Ids that are requested in their stored order are compared directly, without an index.

    >>> places = KeyPlaces(Keys.from_strings(["q", "r"]))
    >>> places.add(Keys.from_strings(["s"]))
    >>> places.of(Keys.from_strings(["r", "s"])).tolist(), places.of(Keys.from_strings(["s", "x", "q"])).tolist()
    ([1, 2], [2, -1, 0])
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self._next = 0
        self._indexed: list[tuple[int, KeyIndex]] = []
        self._n_indexed = 0

    def add(self, keys: Keys) -> None:
        """Append further ids."""
        self.keys = Keys.joined([self.keys, keys])

    def of(self, wanted: Keys) -> Index:
        """Return the position of each wanted id, -1 if it is absent: int64, shape (n,)."""
        for first in (self._next, 0):
            last = first + len(wanted)
            if last <= len(self.keys) and self.keys.slice(first, last).is_same(wanted):
                self._next = last
                return np.arange(first, last)
        self._index_all()
        positions = np.full(len(wanted), -1, dtype=np.int64)
        for first, index in self._indexed:
            places = index.places(wanted)
            positions = np.where(places < 0, positions, first + places)
        return positions

    def _index_all(self) -> None:
        """Index the ids added since the last call, and merge smaller earlier indexes, so that few indexes remain."""
        first, last = self._n_indexed, len(self.keys)
        if first == last:
            return
        while self._indexed and first - self._indexed[-1][0] < 2 * (last - first):
            first = self._indexed.pop()[0]
        self._indexed.append((first, KeyIndex(self.keys.slice(first, last))))
        self._n_indexed = last


def arrow_texts(data: Bytes | bytes, offsets: Index, *, binary: bool = False) -> Any:
    """Return texts as Arrow's large strings without a copy: text ``i`` is ``data[offsets[i]:offsets[i + 1]]`` in UTF-8.

    ``pyarrow.array`` and ``pyarrow.scalar`` check their input for pandas objects and therefore import pandas, which
    takes longer than all of Arrow's work here. Parameters: ``offsets``: int64, shape (n_texts + 1,). ``binary``: return
    large binary values, which need not be UTF-8.

    >>> arrow_texts(b"abc", np.array([0, 1, 3])).to_pylist()
    ['a', 'bc']
    """
    import pyarrow as pa

    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary() if binary else pa.large_string(), offsets.size - 1, buffers)


def without_matches(keys: Keys, pattern: str) -> Keys:
    """Return ids without what a pattern matches in them (RE2); an id of which nothing would be left stays.

    >>> without_matches(Keys.from_strings(["v2-a", "b", "v2-"]), "^v2-").to_list()
    ['a', 'b', 'v2-']
    """
    import pyarrow.compute as pc

    texts = arrow_texts(keys.data, keys.offsets)
    cut = keys_of_arrow(pc.replace_substring_regex(texts, pattern=pattern, replacement=""))
    rows = np.arange(len(keys))
    return Keys.joined([keys, cut]).take(np.where(cut.lengths > 0, len(keys) + rows, rows)) if len(keys) else keys


def keys_of_arrow(array: Any) -> Keys:
    """Return the ids of an Arrow array of (large) strings or (large) binary values without nulls.

    >>> keys_of_arrow(arrow_texts(b"abc", np.array([0, 1, 3])).slice(1)).to_list()
    ['bc']
    """
    _, offset_buffer, data_buffer = array.buffers()
    if not len(array):
        return Keys.from_bytes([])
    dtype = np.int64 if str(array.type).startswith("large_") else np.int32
    offsets = np.frombuffer(offset_buffer, dtype=dtype)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = np.zeros(0, dtype=np.uint8) if data_buffer is None else np.frombuffer(data_buffer, dtype=np.uint8)
    start = int(offsets[0])
    return Keys(data[start : offsets[-1]], offsets - start if start else offsets)
