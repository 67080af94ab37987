"""G8 and I2: what the prompt holds of other files, and that gathering it is never waited for."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario, scenario
from tests.conformance.steps import Ask, Close, Keystrokes, Learned, Open, Prompt, Type, Write

_USE: Final = "from shapes import total_area⏎⏎⏎def run(shapes):⏎    return total_area(│⏎"
_SHAPES: Final = (
    'def total_area(shapes, *, unit="mm"):\n    """Sum of all areas."""\n    return sum(s.area for s in shapes)\n'
)

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    scenario("G8", "answered while the index is made", _USE, Ask(shows="shapes)"), plays=["shapes)"], path="app.py",
             files={f"package/module_{i}.py": _SHAPES for i in range(300)}),
    scenario("G8", "answered while files change", _USE, *(Write(f"module_{i}.py", _SHAPES) for i in range(50)),
             Ask(shows="shapes)"), plays=["shapes)"], path="app.py", files={}),
    scenario("G8", "learned later", _USE, Learned('unit="mm"'), path="app.py", files={"shapes.py": _SHAPES}),
    scenario("G8", "from an open document", _USE, Open("shapes.py", _SHAPES), Open("app.py"), Learned('unit="mm"'),
             path="app.py", files={}),
    scenario("G8", "from an open document that is not saved", _USE, Open("shapes.py", _SHAPES.replace("mm", "inch")),
             Open("app.py"), Learned('unit="inch"'), path="app.py", files={"shapes.py": _SHAPES}),
    scenario("G8", "no longer there", _USE, Learned('unit="mm"'), Write("shapes.py", _SHAPES.replace("mm", "inch")),
             Open("second.py", _USE), Learned('unit="inch"'), Prompt(lacks=('unit="mm"',)), path="app.py",
             files={"shapes.py": _SHAPES}),
    scenario("G8", "switched off", _USE, Open("shapes.py", _SHAPES), Open("app.py"), Ask(), Prompt(lacks=('unit="mm"',
             )),
             Type("s"), Ask(), Prompt(lacks=('unit="mm"',)), path="app.py", files={"shapes.py": _SHAPES},
             settings={"context": False}),
    scenario("G8", "stays while typing", _USE, Learned('unit="mm"'), Keystrokes("shapes, "), Prompt(has=('unit="mm"',)),
             path="app.py", files={"shapes.py": _SHAPES}),
    scenario("G8", "CRLF", _USE, Open("shapes.py", _SHAPES.replace("\n", "⏎")), Open("app.py"), Learned('unit="mm"'),
             Prompt(lacks=("\r",)), path="app.py", files={}, line_end="\r\n"),
    # H3: what is never entered
    *(
        scenario("H3", f"{folder} is not entered", _USE.replace("total_area(", "total_area(other_area"),
                 Learned('unit="mm"'), Prompt(lacks=("hidden_one",)), path="app.py",
                 files={"shapes.py": _SHAPES, f"{folder}/other.py": "def other_area(hidden_one):\n    return 1\n"})
        for folder in ("node_modules/other", ".git/hooks", ".venv/lib", "__pycache__", "target/debug")
    ),
    scenario("H3", "an ignored folder is not entered", _USE.replace("total_area(", "total_area(other_area"),
             Learned('unit="mm"'), Prompt(lacks=("hidden_one",)), path="app.py",
             files={".gitignore": "/gen*/\n", "shapes.py": _SHAPES,
                    "generated/other.py": "def other_area(hidden_one):\n    return 1\n"}),
    # I2: ignored is not secret
    scenario("I2", "an ignored file that is open", _USE, Open("shapes.py", _SHAPES), Open("app.py"),
             Learned('unit="mm"'),
             path="app.py", files={".gitignore": "shapes.py\n", "shapes.py": _SHAPES}),
    scenario("I2", "an ignored file is completed", "x = │⏎", Ask(shows="1"), plays=["1"], path="generated.py",
             files={".gitignore": "generated.py\n"}),
    scenario("I2", "an ignored file that is not open", _USE, Open("other.py", "MARK = 'seen'"), Open("app.py"), Ask(),
             Type("s"), Ask(), Prompt(lacks=('unit="mm"',)), path="app.py",
             files={".gitignore": "shapes.py\n", "shapes.py": _SHAPES}),
    scenario("I2", "in .midfillignore, open", _USE, Open("shapes.py", _SHAPES), Open("app.py"), Ask(), Type("s"), Ask(),
             Prompt(lacks=('unit="mm"',)), path="app.py", same_text=False,
             files={".midfillignore": "shapes.py\n", "shapes.py": _SHAPES}),
    scenario("I2", "excluded by a setting, open", _USE, Open("shapes.py", _SHAPES), Open("app.py"), Ask(), Type("s"),
             Ask(),
             Prompt(lacks=('unit="mm"',)), path="app.py", same_text=False,
             files={"shapes.py": _SHAPES}, settings={"exclude": ["shapes.py"]}),
    scenario("I2", "closed again", _USE, Open("shapes.py", _SHAPES), Close(), Open("app.py"), Ask(), Type("s"), Ask(),
             Prompt(lacks=('unit="mm"',)), path="app.py", files={".gitignore": "shapes.py\n"}),
]
