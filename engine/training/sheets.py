"""Contexts and noised canvases packed into rows of one shape. Owns: what a step of the tiny model's training sees.

Pure: numpy and a seed. A row holds several documents behind each other, and several canvases over each; a canvas sees
its document's tokens before its start, and itself. Two kinds of canvases: a hole to fill (its near suffix clamped
behind it, as it is served), and tiles of the document itself, which cost no context of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from attrs import field, frozen
from attrs.validators import gt
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
_NONE: Final = -1
_LATER_FILL: Final = 0.1
"""Weight of fill cells behind the first one: most cells of a short text are such, and they are easy."""
_KEPT: Final = 0.3
"""Weight of cells that show the right token: that they are right, is what the model must find out."""
_ALL_NOISE: Final = 0.35
"""Share of canvases that are nothing but noise, as a fill starts."""
_PADDED: Final = 0.4
"""Share of tiles that are longer than their text."""
_LEAST: Final = 24
"""Shortest document."""


class Hole(Protocol):
    """What is asked of a set's examples."""

    @property
    def prompt(self) -> NDArray[np.uint32]:
        """Tokens of the prompt."""
        ...

    @property
    def middle(self) -> NDArray[np.uint32]:
        """Tokens of the missing text."""
        ...

    @property
    def near(self) -> NDArray[np.uint32]:
        """Tokens of the suffix."""
        ...


@frozen
class SheetShape:
    """Sizes of a sheet."""

    rows: int = field(default=16, validator=gt(0))
    tokens: int = field(default=320, validator=gt(_LEAST))
    """Context tokens of a row."""
    cells: int = field(default=320, validator=gt(0))
    """Canvas cells of a row."""


@frozen
class Format:
    """What the model's checkpoint says of its canvases."""

    regions: tuple[int, ...]
    near: int
    """Suffix tokens clamped behind a region, at most."""
    fill: int
    """Token behind a region's text."""
    prefix: int
    """Token that opens a prompt's prefix."""
    noise: Ints
    """Tokens that noise is drawn from."""


@frozen(eq=False)
class Drawn:
    """One canvas."""

    document: int
    """Number of its document in the row."""
    start: int
    """Tokens of the document that it sees."""
    hole: bool
    targets: Ints
    """Text and fill, `[region]`."""
    n_text: int
    near: Ints

    @property
    def width(self) -> int:
        """Cells."""
        return len(self.targets) + len(self.near)


@frozen(eq=False)
class Sheet:
    """Rows of contexts and canvases; contexts are `[rows, tokens]`, canvases `[rows, cells]`."""

    tokens: Ints
    documents: Ints
    """Number of a token's document in its row; -1: padding."""
    places: Ints
    """Position in the document."""
    following: Ints
    """The next token of the document."""
    counts: Floats
    """1 where there is one."""
    cells: Ints
    """What a cell shows."""
    cell_documents: Ints
    """-1: padding."""
    canvases: Ints
    """Number of a cell's canvas in its row; -1: padding."""
    starts: Ints
    """Tokens of the document that a cell sees."""
    cell_places: Ints
    targets: Ints
    weights: Floats
    free: NDArray[np.bool_]
    """Cells of a region; the others are clamped or padding."""
    levels: Floats
    """Noise level of a cell's canvas."""
    holes: NDArray[np.bool_]
    """Cells of a hole, not of a tile."""


class SheetMaker:
    """Makes sheets of one shape."""

    def __init__(self, shape: SheetShape, form: Format) -> None:
        self.shape, self.form = shape, form

    def make(self, rows: Sequence[Sequence[Ints | Hole]], rng: np.random.Generator) -> Sheet:
        """A sheet of rows of documents; what has no room is left out."""
        s = self.shape
        sheet = _empty(s)
        for row, documents in enumerate(rows):
            used = 0
            canvases: list[Drawn] = []
            tiles: list[Drawn] = []
            for number, document in enumerate(documents):
                tokens = document if isinstance(document, np.ndarray) else document.prompt.astype(np.int64)
                n = len(tokens)
                if used + n > s.tokens:
                    continue
                place = slice(used, used + n)
                sheet.tokens[row, place], sheet.documents[row, place] = tokens, number
                sheet.places[row, place] = np.arange(n)
                sheet.following[row, used : used + n - 1] = tokens[1:]
                sheet.counts[row, used : used + n - 1] = 1
                used += n
                first = 0
                if not isinstance(document, np.ndarray):
                    canvases += self._hole(document, number, n, rng)
                    first = int(np.argmax(tokens == self.form.prefix)) + 1
                    tokens = tokens[:-1]
                tiles += self._tiles(tokens, number, first, rng)
            order = rng.permutation(len(tiles))
            self._lay(sheet, row, [*canvases, *(tiles[i] for i in order)], rng)
        self._noise(sheet, rng)
        return sheet

    def _hole(self, hole: Hole, number: int, start: int, rng: np.random.Generator) -> list[Drawn]:
        """Two canvases of one hole, so that its context is worth its cost. None when its middle has no room."""
        middle = hole.middle.astype(np.int64)
        near = hole.near[: self.form.near].astype(np.int64)
        fitting = [size for size in self.form.regions if size > len(middle)]
        if not fitting:
            return []
        found = []
        for _ in range(2):
            targets = np.full(fitting[int(rng.integers(len(fitting)))], self.form.fill, dtype=np.int64)
            targets[: len(middle)] = middle
            found.append(Drawn(number, start, True, targets, len(middle), near))
        return found

    def _tiles(self, tokens: Ints, number: int, first: int, rng: np.random.Generator) -> list[Drawn]:
        at = first + int(rng.integers(4, _LEAST))
        found = []
        while at < len(tokens):
            size = self.form.regions[int(rng.integers(len(self.form.regions)))]
            n_text = int(rng.integers(1, size)) if rng.random() < _PADDED else size
            text = tokens[at : at + n_text]
            if len(text) < n_text:  # the document ends: that is no reason for fill
                break
            targets = np.full(size, self.form.fill, dtype=np.int64)
            targets[:n_text] = text
            n_near = self.form.near if rng.random() < 0.5 else int(rng.integers(0, self.form.near + 1))
            near = tokens[at + n_text : at + n_text + n_near]
            found.append(Drawn(number, at, False, targets, n_text, near))
            at += n_text
        return found

    def _lay(self, sheet: Sheet, row: int, canvases: Sequence[Drawn], rng: np.random.Generator) -> None:
        used = 0
        for number, drawn in enumerate(canvases):
            n, width = len(drawn.targets), drawn.width
            if used + width > self.shape.cells:
                continue
            region, whole = slice(used, used + n), slice(used, used + width)
            sheet.targets[row, region], sheet.free[row, region] = drawn.targets, True
            sheet.weights[row, region] = 1.0
            sheet.weights[row, used + drawn.n_text + 1 : used + n] = _LATER_FILL
            sheet.targets[row, used + n : used + width] = drawn.near
            sheet.cell_documents[row, whole], sheet.canvases[row, whole] = drawn.document, number
            sheet.starts[row, whole] = drawn.start
            sheet.cell_places[row, whole] = drawn.start + np.arange(width)
            level = 1.0 if rng.random() < _ALL_NOISE else rng.uniform(0.05, 1.0)
            sheet.levels[row, whole], sheet.holes[row, whole] = level, drawn.hole
            used += width

    def _noise(self, sheet: Sheet, rng: np.random.Generator) -> None:
        """In all free cells at once: canvas by canvas it would take longer than a step does on a GPU."""
        shape = sheet.cells.shape
        noised = sheet.free & (rng.random(shape) < sheet.levels)
        drawn = self.form.noise[rng.integers(0, len(self.form.noise), shape)]
        sheet.cells[:] = np.where(noised, drawn, sheet.targets)
        sheet.weights[sheet.cells == sheet.targets] *= _KEPT


def _empty(s: SheetShape) -> Sheet:
    def ints(width: int, value: int = 0) -> Ints:
        return np.full((s.rows, width), value, dtype=np.int64)

    def floats(width: int) -> Floats:
        return np.zeros((s.rows, width), dtype=np.float32)

    def flags() -> NDArray[np.bool_]:
        return np.zeros((s.rows, s.cells), dtype=np.bool_)

    return Sheet(
        tokens=ints(s.tokens),
        documents=ints(s.tokens, _NONE),
        places=ints(s.tokens),
        following=ints(s.tokens),
        counts=floats(s.tokens),
        cells=ints(s.cells),
        cell_documents=ints(s.cells, _NONE),
        canvases=ints(s.cells, _NONE),
        starts=ints(s.cells),
        cell_places=ints(s.cells),
        targets=ints(s.cells),
        weights=floats(s.cells),
        free=flags(),
        levels=floats(s.cells),
        holes=flags(),
    )
