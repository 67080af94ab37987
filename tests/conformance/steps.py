"""What may happen in a scenario, a value for each event and expectation. Owns: the words of scenarios.

Must not know: how they are played (`tests.conformance.stage`). Texts are written in the notation of
`tests.conformance.buffer`: `│` the cursor, `⏎` a line end, `→` a tab.
"""

from __future__ import annotations

from typing import Any, Final

from attrs import field, frozen

from tests.lsp.editor import CANCELLED, MODIFIED

STALE: Final = (CANCELLED, MODIFIED)
"""Errors of a request that was overtaken: both tell the editor to forget it."""
ANYTHING: Final = object()
"""No expectation."""


# What the engine plays; these come between the steps of `tests.engine_script`


@frozen
class Hold:
    """The engine waits until the scenario says `Go` with the same name."""

    name: str


# What the user and the editor do


@frozen
class Type:
    """Press the keys, one change each. Nothing is asked for in between."""

    text: str


@frozen
class Keystrokes:
    """Press the keys in quick succession, and ask after each without waiting. In the end all have been answered."""

    text: str
    shows: Any = ANYTHING
    """By the last one."""


@frozen
class Insert:
    """One change at the cursor; what stands before `│` is before the cursor then, the rest behind it."""

    text: str


@frozen
class Erase:
    """Press backspace."""

    n: int = 1


@frozen
class Replace:
    """Change the first `old` somewhere in the document; the cursor stays with its text."""

    old: str
    new: str


@frozen
class Move:
    """Put the cursor in front of the `n`th place where this text begins (or behind it)."""

    text: str
    after: bool = False


@frozen
class Undo:
    """Take back the last change."""


@frozen
class Open:
    """Open a document, or turn to it when it is open. `path` lies in the scenario's folder."""

    path: str
    buffer: str = ""
    language: str = "python"


@frozen
class Notebook:
    """Open a notebook; each cell is a name, a language and a buffer. Exactly one has the cursor."""

    cells: tuple[tuple[str, str, str], ...]


@frozen
class Close:
    """Close the current document."""


@frozen
class Ask:
    """Ask for a completion at the cursor and wait for the answer."""

    shows: Any = ANYTHING
    """The text that appears; a tuple for alternatives; None for nothing."""
    error: int | tuple[int, ...] = ()
    """Codes of which it must have one."""
    invoked: bool = False
    selected: str = ""
    """The completion menu's selected item, which would replace the word before the cursor."""
    frames: bool = False


@frozen
class Begin:
    """Ask and go on; `End` with the same name waits for the answer."""

    name: str = "first"
    invoked: bool = False
    selected: str = ""
    frames: bool = False


@frozen
class End:
    """Wait for the answer to a `Begin`."""

    name: str = "first"
    shows: Any = ANYTHING
    error: int | tuple[int, ...] = ()


@frozen
class Cancel:
    """Take a request back."""

    name: str = "first"


@frozen
class Accept:
    """Accept an item of the last answer, as an editor without any logic of its own does."""

    index: int = 0


@frozen
class Reject:
    """Refuse what is shown (`midfill/didReject`)."""


@frozen
class Configure:
    """Change the settings while the server runs."""

    settings: dict[str, Any]


@frozen
class Write:
    """Write a file into the workspace, and tell the server as a watching client does."""

    path: str
    text: str


# What becomes of the engine


@frozen
class Go:
    """Let the engine go on."""

    name: str


@frozen
class Kill:
    """The engine dies between two fills, and is back at once."""


@frozen
class Remove:
    """The engine goes, and can't be started any more."""


@frozen
class Swap:
    """The engine goes, and comes back with another model."""

    model: str


@frozen
class Refuse:
    """The engine can't load its model, for this reason."""

    why: str


# What is waited for, and what must hold


@frozen
class Reached:
    """Wait until `n` fills have come to the engine, in all."""

    n: int = 1


@frozen
class Shown:
    """Wait until `n` frames have come to the editor, in all."""

    n: int = 1


@frozen
class State:
    """Wait until the server has told of a state."""

    state: str


@frozen
class Reads:
    """The document, with the cursor, in the editor. At the end the server's text is compared with it anyway."""

    text: str


@frozen
class Fills:
    """So many fills have come to the engine, in all, and no more are on their way."""

    n: int


@frozen
class FillsAtMost:
    """Not more fills than this have come to the engine."""

    n: int


@frozen
class Cancels:
    """So many fills were cancelled in the engine, in all."""

    n: int


@frozen
class Prompt:
    """What the newest fill holds."""

    prefix: str | None = None
    """Its end."""
    suffix: str | None = None
    """Its beginning."""
    has: tuple[str, ...] = ()
    """Somewhere: in the snippets or around the cursor."""
    lacks: tuple[str, ...] = ()
    fields: dict[str, Any] = field(factory=dict)
    """Fields of `engine.protocol.Fill` and their values."""


@frozen
class Learned:
    """Ask at the cursor until this is in the prompt: context is gathered meanwhile. The document is opened anew."""

    text: str


@frozen
class Messages:
    """So many messages have popped up, in all; the last one holds this."""

    n: int
    holds: str = ""


@frozen
class Rows:
    """The frames so far: their number of rows never falls before the last one, and there are at most so many."""

    at_most: int
    last: str | None = None
    """The final frame's text."""


@frozen
class Reasons:
    """What the status tells of the last requests: why nothing was shown, or None where something was."""

    why: tuple[str | None, ...]


@frozen
class Restarts:
    """The engine was greeted so often again, in all."""

    at_most: int


Step = (
    Type
    | Keystrokes
    | Insert
    | Erase
    | Replace
    | Move
    | Undo
    | Open
    | Notebook
    | Close
    | Ask
    | Begin
    | End
    | Cancel
    | Accept
    | Reject
    | Configure
    | Write
    | Go
    | Kill
    | Remove
    | Swap
    | Refuse
    | Reached
    | Shown
    | State
    | Reads
    | Fills
    | FillsAtMost
    | Cancels
    | Prompt
    | Learned
    | Messages
    | Rows
    | Reasons
    | Restarts
)
