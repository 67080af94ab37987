"""Runs cases through a filler, one after the other, and keeps what came of each. Must not know: sockets, tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.evaluation.cases import Case, CaseSet
from engine.evaluation.fillers import Answer, Filler
from engine.evaluation.metrics import edit_similarity, exact_match
from engine.evaluation.policy import POLICIES, Policy, finish
from engine.evaluation.records import Record, Store
from engine.evaluation.sandbox import Outcome, run_program


async def run_cases(
    case_set: CaseSet,
    cases: Sequence[Case],
    filler: Filler,
    store: Store,
    on_done: Callable[[Record, bool], None],
    is_time_up: Callable[[], bool] = lambda: False,
) -> bool:
    """Fill and judge every case that `store` does not hold yet; `on_done(record, fresh)` hears of each one.

    Returns whether all are done: no further one is begun when the time is up. Raises `EngineError` when the filler
    can't go on. What is done stays in `store`.
    """
    held = store.read(case_set)
    for case in cases:
        policy = POLICIES[case.kind]
        asked = _asked(policy, filler)
        record = held.get(case.id)
        if record is not None and (record.max_lines, record.max_tokens) == asked:
            on_done(record, False)
            continue
        if is_time_up():
            return False
        answer = await filler.fill(case, policy)
        record = await _judge(case_set, case, answer, asked)
        store.append(record)
        on_done(record, True)
    return True


def _asked(policy: Policy, filler: Filler) -> tuple[int, int]:
    return policy.max_lines, min(policy.max_tokens, filler.region_tokens)


async def _judge(case_set: CaseSet, case: Case, answer: Answer, asked: tuple[int, int]) -> Record:
    text = finish(case, answer.text)
    outcome: Outcome | None = None
    if case.program is not None:
        outcome = await asyncio.to_thread(run_program, case.program_with(text))
    return Record(
        case_set=case_set,
        case_id=case.id,
        kind=case.kind,
        text=text,
        exact=exact_match(text, case.middle),
        similarity=edit_similarity(text, case.middle),
        end=str(outcome.end) if outcome else "",
        cause=outcome.cause if outcome else "",
        max_lines=asked[0],
        max_tokens=asked[1],
        reason=answer.reason,
        n_tokens=answer.n_tokens,
        n_steps=answer.n_steps,
        n_forward_passes=answer.n_forward_passes,
        total_ms=answer.total_ms,
        score=answer.score,
    )
