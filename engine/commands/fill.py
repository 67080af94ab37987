"""`midfill fill`: fill a region at a place in a file. Owns: the command's options and the order of its work."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engine.commands.errors import CommandError
from engine.commands.place import parse_place
from engine.commands.text_file import TextFile, read_text_file
from engine.protocol import ErrorCode, Fill

if TYPE_CHECKING:
    from engine.client import EngineClient
    from engine.protocol import Result

_MOST: Final = 86_400_000
"""Of anything that is counted here: a day in milliseconds."""
MOST_ALTERNATIVES: Final = 8
"""As the engine has it, where importing would take torch along; a test holds both together."""
_AGAIN: Final = (ErrorCode.ENGINE_GONE, ErrorCode.SHUTTING_DOWN, ErrorCode.BUSY)
"""Another try, of the same, may well go through."""
_LANGUAGES: Final = {
    ".c": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".go": "go",
    ".h": "c",
    ".java": "java",
    ".js": "javascript",
    ".lua": "lua",
    ".md": "markdown",
    ".py": "python",
    ".rb": "ruby",
    ".rs": "rust",
    ".sh": "shellscript",
    ".ts": "typescript",
}


def fill(
    place: Annotated[str, typer.Argument(metavar="FILE:LINE[:COL]", help="Where; see above.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write the best text into the file.")] = False,
    max_tokens: Annotated[int, typer.Option(min=1, max=_MOST, help="Longest region, in tokens.")] = 64,
    max_lines: Annotated[int, typer.Option(min=0, max=_MOST, help="Stop after this many lines; 0: no limit.")] = 0,
    alternatives: Annotated[int, typer.Option(min=1, max=MOST_ALTERNATIVES, help="Candidates to rank.")] = 1,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Same seed, same text.")] = 0,
    deadline_ms: Annotated[
        int, typer.Option(min=0, max=_MOST, help="Return the best text by then; 0: no deadline.")
    ] = 0,
    model: Annotated[str | None, typer.Option(help="Name or folder, for an engine that has to be started.")] = None,
    endpoint: Annotated[str, typer.Option(help="The engine's address; by default this user's own.")] = "",
) -> None:
    """Fill at a place in a file, and show the region while it converges.

    LINE and COL are counted from 1, COL in characters: column 1 is before the first one. FILE:LINE is the line's end.
    Settled text is drawn bold, tentative text dim. Starts an engine when none runs.
    """
    where = parse_place(place)
    file = read_text_file(where.path)
    offset = file.offset_of(where)
    prefix, suffix = file.window_at(offset)
    request = Fill(
        request_id="",
        prefix=prefix,
        suffix=suffix,
        uri=file.path.as_uri(),
        language=_LANGUAGES.get(file.path.suffix.lower(), ""),
        path=file.path.name,
        max_tokens=max_tokens,
        max_lines=max_lines,
        n_alternatives=alternatives,
        deadline_ms=deadline_ms,
        preview=True,
        seed=seed,
    )
    result, client = asyncio.run(_run(request, where.line, model, endpoint, live=not as_json))
    text = file.in_own_line_ends(result.candidates[0].text, offset) if result.candidates else ""
    applied = False
    if apply and text:
        from engine.commands.write_file import replace_file

        replace_file(file.path, file.data, file.with_inserted(offset, text))
        applied = True
    if as_json:
        import json

        typer.echo(json.dumps(_as_object(result, client, file, offset, text, applied), ensure_ascii=False))
    else:
        from engine.commands.figures import print_figures

        print_figures(result, client.welcome, str(file.path) if applied else "")


async def _run(
    request: Fill, line: int, model: str | None, endpoint: str, *, live: bool
) -> tuple[Result, EngineClient]:
    from engine.client import EngineError
    from engine.commands.connection import connected

    try:
        async with connected("fill", endpoint, model, show=live) as client:
            from engine.commands.live import fill_in_view, fill_to_fit

            try:
                result = await (fill_in_view(client, request, line) if live else fill_to_fit(client, request))
            except EngineError as error:
                again = "; run it again" if error.failure.code in _AGAIN else ""
                raise CommandError(f"{error}{again}") from None
            return result, client
    except EngineError as error:
        raise CommandError(str(error)) from None


def _as_object(
    result: Result, client: EngineClient, file: TextFile, offset: int, text: str, applied: bool
) -> dict[str, Any]:
    import attrs

    from engine.commands.figures import tokens_per_forward

    model = client.welcome.model if client.welcome is not None else None
    return {
        "text": text,
        "candidates": [
            {
                "text": file.in_own_line_ends(one.text, offset),
                "score": one.score,
                "tokens": one.n_tokens,
                "steps": one.n_steps,
                "converged": one.converged,
            }
            for one in result.candidates
        ],
        "reason": str(result.reason),
        "applied": applied,
        "steps": result.n_steps,
        "forward_passes": result.n_forward_passes,
        "tokens_per_forward": tokens_per_forward(result),
        "frames": result.n_frames,
        "prompt_tokens": result.n_prompt_tokens,
        "reused_tokens": result.n_reused_tokens,
        "model": result.model,
        "model_note": model.note if model is not None else "",
        "family": str(model.family) if model is not None else "",
        "device": model.device if model is not None else "",
        "dtype": model.dtype if model is not None else "",
        "timings_ms": attrs.asdict(result.timings_ms),
        "file": str(file.path),
        "byte_offset": file.byte_offset(offset),
    }
