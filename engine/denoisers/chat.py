"""A hole for models that only follow instructions, such as DiffusionGemma. Owns: the request in words.

The model is asked for the whole file in a code fence, and its answer has begun already: the fence and the prefix are
part of the prompt, and the first suffix tokens are clamped behind the region. So it can neither answer in words nor
leave the fence, and typing only appends to the prompt.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import transformers

from engine.denoisers.denoiser import DenoiserError
from engine.denoisers.prompt import FimFormat

_REQUEST: Final = """Complete the code file that I am editing. It ends like this:
```{language}
{suffix}
```
Answer with the whole file in one code block, and nothing else."""
_NEAR: Final = 32
_FAR: Final = 512
_REGIONS: Final = (8, 16, 32, 64, 128)


def chat_format(folder: Path) -> FimFormat:
    """The format of a checkpoint with a chat template. Raises `DenoiserError` when it has none."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if not tokenizer.chat_template:
        raise DenoiserError(
            f"{folder}: this model cannot infill: its tokenizer has neither fill-in-the-middle tokens nor a chat"
            " template. Name its tokens under `fim` in a midfill.json beside its config.json"
        )
    request = [{"role": "user", "content": _REQUEST}]
    rendered = str(tokenizer.apply_chat_template(request, tokenize=False, add_generation_prompt=True))
    answer = rendered + "```{language}\n{prefix}"
    return FimFormat(chat=answer, end="", near_suffix=_NEAR, far_suffix=_FAR, regions=_REGIONS)
