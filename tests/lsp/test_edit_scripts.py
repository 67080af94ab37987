"""Random edit scripts in every position encoding: the server's text is the client's, byte for byte."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.types import PositionEncodingKind as Encoding

from engine.protocol import Fill
from lsp_server.documents import Documents
from lsp_server.line_ends import split_lines
from tests.lsp.conftest import StartEditor
from tests.lsp.edit_script import ClientText, some_changes, some_position, some_text
from tests.lsp.editor import URI, Invoked
from tests.scripted_engine import Answer, ScriptedEngine

N_SCRIPTS, N_NOTIFICATIONS = 60, 40
"""For each encoding; a notification has 1.6 changes on the average: 11,500 edits in all."""
N_ASKED = 120


@pytest.mark.parametrize("encoding", list(Encoding))
@settings(max_examples=N_SCRIPTS, deadline=None, suppress_health_check=list(HealthCheck))
@given(rng=st.randoms(use_true_random=False))
def test_ten_thousand_edits(encoding: Encoding, rng: random.Random) -> None:
    text = some_text(rng, 60)
    client, documents = ClientText.of(text, encoding), Documents()
    documents.encoding = encoding
    document = documents.open(types.TextDocumentItem(URI, "python", 0, text))
    for version in range(1, N_NOTIFICATIONS + 1):
        changes = some_changes(rng)
        identifier = types.VersionedTextDocumentIdentifier(version, URI)
        documents.change(types.DidChangeTextDocumentParams(identifier, changes))
        for change in changes:
            client.apply(change)
        assert ClientText.of(document.text, encoding).data == client.data
        assert document.lines == split_lines(document.text)
        position = some_position(rng)
        before = document.text[: document.offset_at(document.point_at(position))]
        assert ClientText.of(before, encoding).data == client.data[: client.offset(position)]
    assert document.version == N_NOTIFICATIONS


@pytest.mark.parametrize("encoding", list(Encoding))
async def test_through_the_process(encoding: Encoding, engine: ScriptedEngine, start_editor: StartEditor) -> None:
    rng = random.Random(f"edits in {encoding.value}")
    engine.otherwise = lambda fill: [Answer.of()]
    editor = await start_editor(encodings=[encoding.value])
    assert editor.capabilities.position_encoding == encoding
    text = some_text(rng, 60)
    client = ClientText.of(text, encoding)
    editor.open(text)
    for version in range(2, N_ASKED + 2):
        changes = some_changes(rng)
        identifier = types.VersionedTextDocumentIdentifier(version, URI)
        editor.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))
        for change in changes:
            client.apply(change)
        position = some_position(rng)
        await editor.ask(position.line, position.character, kind=Invoked).answer
        fill = next(fill for fill in engine.so_far(Fill) if fill.version == version)
        offset = client.offset(position)
        before, after = (ClientText(encoding, part).text for part in (client.data[:offset], client.data[offset:]))
        assert (fill.prefix, fill.suffix) == (as_asked(before), as_asked(after))


def as_asked(text: str) -> str:
    r"""A text as an engine gets it: one kind of line end, and no half of a pair."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\ud83d", "\ufffd")
