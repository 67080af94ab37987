"""How a command ends badly. Owns: exit codes. One line on stderr each; `main` prints it."""

from __future__ import annotations

from typing import Final

BAD_INPUT: Final = 2
FAILURE: Final = 1


class CommandError(Exception):
    """The command can't go on. The message is one line: what is wrong and what to do."""

    code = FAILURE


class BadInputError(CommandError):
    """What the user gave does not fit."""

    code = BAD_INPUT
