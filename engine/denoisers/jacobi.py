"""One row of Jacobi decoding: a canvas of guesses behind the tokens that a causal model has accepted.

Owns: what is accepted, what is guessed next, when the row ends. Pure: no tensors, no model.
Greedy-exact: a guess is accepted only where it equals the model's own argmax, so the accepted tokens are those of
plain greedy decoding, whatever the guesses were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import define, field

from engine.denoisers.guess import Lookup


@define(eq=False)
class JacobiRow:
    """A row's state."""

    lookup: Lookup | None
    """What guesses are copied from; None: nothing."""
    context: list[int]
    """Tokens before the region; the last ones are matched against the lookup."""
    heal: bytes
    """Text that the region must begin with."""
    piece: Callable[[int], bytes]
    """Bytes of a token."""
    is_end: Callable[[Sequence[int]], bool]
    """Whether accepted tokens make a finished text."""
    guess: list[int] = field(factory=list)
    """Tokens behind the accepted ones: tentative."""
    accepted: list[int] = field(factory=list)
    log_probability: float = 0.0
    n_scored: int = 0
    """Tokens that the log-probability is of."""
    was_right: bool = False
    """The last canvas of guesses was accepted whole."""
    done: bool = False
    drafted: bool = False
    """The guess was drafted by a canvas, not copied."""

    def canvas(self, width: int) -> list[int]:
        """The next `width` guesses, filled up by lookup; may be shorter."""
        if self.lookup and len(self.guess) < width:
            tail = [*self.context[-8:], *self.accepted, *self.guess]
            self.guess += self.lookup.guess(tail, width - len(self.guess))
        return self.guess[:width]

    def rest_of_heal(self, tokens: Sequence[int]) -> bytes:
        """What is left of the withdrawn text behind the accepted tokens and `tokens`."""
        return self.heal_behind((*self.accepted, *tokens))

    def heal_behind(self, tokens: Sequence[int]) -> bytes:
        """What is left of the withdrawn text behind `tokens`, which begin the region."""
        rest = self.heal
        for token in tokens:
            if not rest:
                break
            piece = self.piece(token)
            rest = rest[len(piece) :] if rest.startswith(piece) else b""
        return rest

    def take(self, canvas: Sequence[int], predictions: Sequence[int], log_probabilities: Sequence[float]) -> int:
        """Accept what agrees. `predictions[i]` is the model's token behind `canvas[:i]`: one more than guesses.

        Returns how many tokens were accepted: at least one, unless the row is done.
        """
        n = 0
        for i, token in enumerate(predictions):
            self.accepted.append(token)
            self.score(log_probabilities[i])
            n += 1
            if self.is_end(self.accepted):
                self.done = True
                break
            if i >= len(canvas) or canvas[i] != token:
                break
        if self.lookup:
            self.lookup.extend(self.accepted[-n:])
        self.was_right = bool(canvas) and n > len(canvas)
        follows = self.guess[:n] == list(predictions[:n])
        self.guess = self.guess[n:] if follows else self._reseed(predictions, n)
        if self.done:
            self.guess = []
        return n

    def score(self, log_probability: float) -> None:
        """Count what the model gives one more token."""
        self.log_probability += log_probability
        self.n_scored += 1

    def draft(self, tokens: Sequence[int]) -> None:
        """Guess `tokens` next, unless a copy is being followed."""
        if not self.guess or self.drafted:
            self.guess, self.drafted = list(tokens), True

    def _reseed(self, predictions: Sequence[int], n: int) -> list[int]:
        """After a wrong guess: what followed the new tail before, else the model's own tentative predictions."""
        tail = [*self.context[-8:], *self.accepted]
        copied = self.lookup.guess(tail, 16, shortest=2) if self.lookup else []
        self.drafted = (
            not copied
        )  # a copy's beginning has been right; a draft was made before the last tokens were known
        return copied or list(predictions[n:])
