"""What became of a completion request. Owns: the names of outcomes. Must not know: who decides or counts them."""

from __future__ import annotations

import enum


class Nothing(enum.StrEnum):
    """Why nothing was shown. The names are stable: statistics are kept by them."""

    DISABLED = "disabled"
    """Completion while typing is off, here or for this language."""
    EXCLUDED = "excluded"
    """The file is excluded by the user's rules."""
    SECRET = "secret"
    """The file is, or looks like, credentials."""
    SUPERSEDED = "superseded"
    """A newer request or edit took its place."""
    CANCELLED = "cancelled"
    """The client took its request back."""
    DEADLINE = "deadline"
    """There was no stable answer in time."""
    NO_ENGINE = "no_engine"
    """The engine failed, or there is none."""
    BLANK = "blank"
    """The model had nothing to say."""
    FOLLOWS_ALREADY = "follows_already"
    """It would repeat the text behind the cursor."""
    REPEATS = "repeats"
    """It would repeat the lines above the cursor."""
    SYNTAX = "syntax"
    """It would add syntax errors."""
    UNSURE = "unsure"
    """The model's score is below the gate."""
    REJECTED = "rejected"
    """The user has refused it here."""
