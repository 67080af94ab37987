"""`midfill/fill`, from its parameters to its result. Owns: what may be asked, and what is told.

Must not know: pygls' server, how requests are run.
"""

from __future__ import annotations

from typing import Final

import attrs

from engine.protocol import Model, Result
from lsp_server.camel import camel
from lsp_server.config import ServerConfig
from lsp_server.documents import Document
from lsp_server.engine_fill import fill_around
from lsp_server.failures import content_modified, invalid_params
from lsp_server.fills import Asked, Region
from lsp_server.line_ends import from_model
from lsp_server.protocol_types import FillCandidate, FillParams, FillResult
from lsp_server.windows import cut_window

_LEAST: Final = {"max_tokens": 1, "alternatives": 1, "max_lines": 0, "deadline_ms": 0, "seed": 0}
_MOST: Final = 2**31 - 1


def fill_asked(document: Document, params: FillParams, config: ServerConfig) -> Asked:
    """What a `midfill/fill` asks for. Raises invalid-params, or content-modified where it is about another version."""
    if params.text_document.version not in (None, document.version):
        raise content_modified()
    region = _region(document, params)
    for name, least in _LEAST.items():
        value = getattr(params, name)
        if value is not None and not least <= value <= _MOST:
            raise invalid_params(f"`{camel(name)}` must lie within {least} and {_MOST}, not be {value}")
    fill = fill_around(
        document,
        cut_window(document, region.start, region.end),
        max_tokens=params.max_tokens or config.max_tokens,
        max_lines=params.max_lines or 0,
        n_alternatives=params.alternatives or 1,
        deadline_ms=params.deadline_ms or 0,
        seed=params.seed or 0,
    )
    wants_frames = config.preview if params.preview is None else params.preview
    return Asked(document, region, fill, params.work_done_token if wants_frames else None)


def fill_result(asked: Asked, result: Result, model: Model) -> FillResult:
    """The answer to a `midfill/fill`."""
    document, region = asked.document, asked.region
    end = document.line_end_at(region.start.line)
    return FillResult(
        uri=document.uri,
        version=document.version,
        range=document.range_of(region.start, region.end),
        candidates=tuple(
            FillCandidate(from_model(one.text, end), one.score, one.n_tokens, one.n_steps, one.converged)
            for one in result.candidates
        ),
        reason=result.reason.value,
        steps=result.n_steps,
        forward_passes=result.n_forward_passes,
        frames=result.n_frames,
        prompt_tokens=result.n_prompt_tokens,
        reused_tokens=result.n_reused_tokens,
        model=result.model,
        note=model.note,
        timings_ms={camel(name): ms for name, ms in attrs.asdict(result.timings_ms).items()},
    )


def _region(document: Document, params: FillParams) -> Region:
    if (params.position is None) == (params.range is None):
        raise invalid_params("give either `position` or `range`")
    if params.position is not None:
        point = document.point_at(params.position)
        return Region(point, point)
    assert params.range is not None
    start, end = document.point_at(params.range.start), document.point_at(params.range.end)
    if end < start:
        raise invalid_params("`range` ends before it starts")
    return Region(start, end)
