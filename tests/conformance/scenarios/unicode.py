"""D: positions in each encoding, characters of every width."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario, in_all_encodings, inserts, scenario
from tests.conformance.steps import Accept, Ask, Erase, Fills, Prompt, Reads, Replace, Type

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    # D1: the encoding that was agreed on
    *in_all_encodings(inserts("D1", "cyrillic", 'print("Привет, │")', "мир", 'print("Привет, мир│")')),
    *in_all_encodings(inserts("D1", "cyrillic and closers", 'print("Привет, │")', 'мир")', 'print("Привет, мир")')),
    *in_all_encodings(
        scenario("D1", "typing", "# Привет 𝕏⏎s = '│'⏎", Ask(shows="é😀ж"), Type("é"), Ask(shows="😀ж"), Type("😀"),
                 Ask(shows="ж"), Fills(1), Erase(), Ask(shows="😀ж"), Fills(1), Accept(),
                 Reads("# Привет 𝕏⏎s = 'é😀ж│'⏎"), plays=["é😀ж"])
    ),
    # D2: wide characters on the cursor's line and above
    *in_all_encodings(inserts("D2", "CJK", "// 测试文字⏎// 测试│", "文字", "// 测试文字⏎// 测试文字│", language="go")),
    *in_all_encodings(inserts("D2", "CJK behind the cursor", "x = f(│, '测试')", "1", "x = f(1│, '测试')")),
    # D3: the hole is where the cursor is
    *in_all_encodings(
        scenario("D3", "CJK above", "# 测试文字測試 コメント⏎x = │⏎y", Ask(), Prompt("文字測試 コメント⏎x = ", "⏎y"))
    ),
    *in_all_encodings(scenario("D3", "CJK on the line", "s = '测试' + │ + 'é'⏎", Ask(), Prompt("'测试' + ",
             " + 'é'⏎"))),
    # D4: two units, four bytes, one character
    *in_all_encodings(scenario("D4", "astral", 's = "😀😀" + │', Ask(), Prompt('😀😀" + '))),
    *in_all_encodings(
        inserts("D4", "joined and combining", "s = '👩‍👩‍👧e\u0301🇩🇪│'", "n\u0303👍🏽",
                 "s = '👩‍👩‍👧e\u0301🇩🇪n\u0303👍🏽│'")
    ),
    *in_all_encodings(
        scenario("D4", "edits between astral ones", "😀a😀b😀│", Replace("a", "𝕏𝕏"), Replace("b😀", ""), Ask(),
                 Prompt("😀𝕏𝕏😀"), Reads("😀𝕏𝕏😀│"))
    ),
    *in_all_encodings(inserts("D4", "right to left", "s = 'שלום │'", "עולם", "s = 'שלום עולם│'")),
    scenario("D4", "line separators are no line ends", "a = '\u2028\u0085\f│'", Ask(shows="x"), Accept(),
             Reads("a = '\u2028\u0085\fx│'"), plays=["x"]),
    # D6: an encoding that nobody knows
    inserts("D6", "latin1", "s = '测试é│'", "😀", "s = '测试é😀│'", encoding="latin1"),
    scenario("D6", "ascii, while typing", "s = '│'", Ask(shows="😀é"), Type("😀"), Ask(shows="é"), Accept(),
             Reads("s = '😀é│'"),
             plays=["😀é"], encoding="ascii"),
]
