"""Whether snippets help: `python -m tests.context.measure_worth CASES WHEELS [N] [MODEL]`.

Held-out cases through the real engine, with the snippets that the server would send and without. Each case's package
lies in a workspace folder; the case's own file is there without its hole only, as an open document (the text that the
case quotes), so nothing of the middle can come from it. Prints exact matches, and what each prompt costs. Nothing may
be tuned on the result but whether snippets are sent at all.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from attrs import frozen

from engine.client import EngineClient, connect_or_start
from engine.evaluation.cases import Case, CaseSet, read_cases, sample
from engine.evaluation.metrics import edit_similarity, exact_match
from engine.evaluation.packages import read_sources
from engine.evaluation.policy import POLICIES, finish
from engine.protocol import Fill, Priority, Snippet
from lsp_server.context.context import Context
from lsp_server.positions import Point
from tests.context.conftest import document


@frozen
class Outcome:
    """One case, filled twice."""

    case: Case
    n_files: int
    n_chars: int
    exact: tuple[bool, bool]
    """Without snippets, and with them."""
    similarity: tuple[float, float]
    total_ms: tuple[float, float]


def lay_out(root: Path, wheels: Path) -> None:
    """Write all packages, each into its own folder."""
    for source in read_sources([wheels], wheels):
        file = root / source.package / source.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source.text, encoding="utf-8")


async def snippets_for(root: Path, case: Case) -> tuple[Snippet, ...]:
    """What the server would quote at the case's cursor."""
    package = case.id.partition("/")[0]
    folder = root / package
    file = folder / case.path
    file.unlink(missing_ok=True)  # the true middle is nowhere on disk any more
    context = Context()
    try:
        context.set_folders([folder])
        target = document(file, case.prefix + case.suffix)
        line = case.prefix.count("\n")
        cursor = Point(line, len(case.prefix) - case.prefix.rfind("\n") - 1)
        context.opened(target)
        assert await context.settled(600)
        context.snippets(target, cursor)
        assert await context.settled(600)
        snippets = context.snippets(target, cursor)
    finally:
        await context.close()
    for snippet in snippets:
        if snippet.path == case.path:  # of the open document; a docstring's first line is closed
            lines = [line.strip().removesuffix('"""') for line in snippet.text.split("\n")]
            assert all(line in target.text for line in lines), f"{case.id}: text that the document does not hold"
    return snippets


async def measure(cases_file: Path, wheels: Path, n: int, model: str, root: Path) -> None:
    """Fill and print."""
    cases = sample(read_cases(CaseSet.HELD_OUT, [cases_file]), n, 0)
    client = await connect_or_start("measure", arguments=("--model", model))
    outcomes: list[Outcome] = []
    try:
        print(f"model: {(await client.wait_ready()).model.name}")
        for case in cases:
            lay_out(root, wheels)  # the file of the case before comes back
            outcomes.append(await _fill_twice(client, case, await snippets_for(root, case)))
            one = outcomes[-1]
            print(case.id, one.n_files, one.n_chars, *one.exact, *(f"{ms:.0f}" for ms in one.total_ms), flush=True)
    finally:
        await client.shutdown()
        await client.close()
    for kind in dict.fromkeys(case.kind for case in cases):
        _tell(str(kind), [one for one in outcomes if one.case.kind is kind])
    _tell("all", outcomes)


async def _fill_twice(client: EngineClient, case: Case, snippets: tuple[Snippet, ...]) -> Outcome:
    policy = POLICIES[case.kind]
    texts, times = [], []
    for quoted in ((), snippets):
        if quoted is snippets and not snippets:
            texts.append(texts[0])
            times.append(times[0])
            break
        fill = Fill(
            request_id="",
            prefix=case.prefix,
            suffix=case.suffix,
            language="python",
            path=case.path,
            snippets=quoted,
            max_tokens=policy.max_tokens,
            max_lines=policy.max_lines,
            priority=Priority.BACKGROUND,
        )
        result = await client.fill(fill)
        texts.append(finish(case, result.candidates[0].text if result.candidates else ""))
        times.append(result.timings_ms.total)
    return Outcome(
        case,
        len(snippets),
        sum(len(one.path) + len(one.text) for one in snippets),
        (exact_match(texts[0], case.middle), exact_match(texts[1], case.middle)),
        (edit_similarity(texts[0], case.middle), edit_similarity(texts[1], case.middle)),
        (times[0], times[1]),
    )


def _tell(name: str, outcomes: list[Outcome]) -> None:
    n = len(outcomes)
    quoted = [one for one in outcomes if one.n_files]
    print(
        f"{name}: n {n}, with snippets {len(quoted)} ({sum(one.n_chars for one in quoted) / max(1, len(quoted)):.0f}"
        f" characters), exact without {sum(one.exact[0] for one in outcomes)}, with"
        f" {sum(one.exact[1] for one in outcomes)}, gained {sum(one.exact == (False, True) for one in outcomes)}, lost"
        f" {sum(one.exact == (True, False) for one in outcomes)}, similarity"
        f" {sum(one.similarity[0] for one in outcomes) / n:.3f} -> {sum(one.similarity[1] for one in outcomes) / n:.3f}"
    )


def main() -> None:
    """Measure in private folders."""
    cases, wheels = Path(sys.argv[1]), Path(sys.argv[2])
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    model = sys.argv[4] if len(sys.argv) > 4 else "qwen2.5-coder-0.5b"
    with tempfile.TemporaryDirectory(prefix="mfw", dir="/tmp") as root:
        for name, folder in (("RUNTIME", "run"), ("LOG", "logs"), ("CACHE", "cache")):
            os.environ[f"MIDFILL_{name}_DIR"] = str(Path(root) / folder)
        os.environ["MIDFILL_CONFIG"] = str(Path(root) / "config.toml")
        asyncio.run(measure(cases, wheels, n, model, Path(root) / "packages"))


if __name__ == "__main__":
    main()
