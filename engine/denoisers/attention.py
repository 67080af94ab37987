"""Attention of few queries with grouped heads, for models of `transformers`. Owns: how keys are shared among heads.

The library repeats keys and values for every query head once there is a mask, which for a canvas of a few cells costs
more than the attention itself. Here the queries of one group are laid behind each other as more rows of one head: the
same products, without copies.
"""

from __future__ import annotations

from typing import Any, Final

import transformers
from torch import Tensor
from torch.nn import functional as F
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

NAME: Final = "midfill_grouped"
_FEW: Final = 32
"""Queries up to which folding pays; beyond, one row a head is as quick."""


def grouped_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """`query` `[rows, heads, n, dim]`, `key` and `value` `[rows, kv_heads, n_keys, dim]` -> `[rows, n, heads, dim]`.

    `attention_mask` `[rows, 1, n, n_keys]` bool, True to attend; None: all.
    """
    rows, heads, n, dim = query.shape
    kv_heads = key.shape[1]
    group = heads // kv_heads
    if group > 1 and n <= _FEW:
        folded = query.reshape(rows, kv_heads, group * n, dim)
        mask = None if attention_mask is None else attention_mask.repeat(1, 1, group, 1)
        out = F.scaled_dot_product_attention(folded, key, value, attn_mask=mask, scale=scaling)
        out = out.reshape(rows, heads, n, dim)
    else:
        out = F.scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, scale=scaling, enable_gqa=group > 1
        )
    return out.transpose(1, 2).contiguous(), None


def register() -> None:
    """Make it known to the library by `NAME`."""
    transformers.AttentionInterface.register(NAME, grouped_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
