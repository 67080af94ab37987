"""A DiffusionGemma-class model from nothing. Owns: sizes, configuration, first weights, which of them are trained.

Must not know: losses, data. The class, its configuration and its modules are the library's; what is peculiar about them
at small sizes is said at the lines below.
"""

from __future__ import annotations

from typing import Any, Final

import torch
import transformers
from attrs import field, frozen
from attrs.validators import gt
from torch import Tensor, nn

from engine.denoisers.vocabulary import Vocabulary

_POST_NORM: Final = 0.35
"""First gain of what each sublayer adds: normed outputs have size 1 whatever the weights, and six of them swamp the
embedding."""
_WINDOW: Final = 1024


@frozen
class TinySize:
    """Sizes of a model."""

    hidden: int = field(default=256, validator=gt(0))
    layers: int = field(default=6, validator=gt(1))
    heads: int = field(default=4, validator=gt(0))
    kv_heads: int = field(default=2, validator=gt(0))
    head_dim: int = field(default=64, validator=gt(0))
    dense: int = field(default=512, validator=gt(0))
    """Width of the dense part of a layer."""
    expert: int = field(default=256, validator=gt(0))
    """Width of its one expert."""


SIZES: Final = {
    "first": TinySize(),
    "bundled": TinySize(heads=2, kv_heads=1, head_dim=128),
    "small": TinySize(hidden=192, layers=5, heads=2, kv_heads=1, head_dim=96, dense=512, expert=128),
    "large": TinySize(hidden=384, layers=8, heads=3, kv_heads=1, head_dim=128, dense=1024, expert=256),
    "micro": TinySize(hidden=32, layers=2, heads=2, kv_heads=1, head_dim=16, dense=32, expert=16),
}
"""By name. `first`: the model that was trained first. `bundled`: as many weights in fewer, wider heads, which saves
exponentials. `micro`: for tests."""


def build(size: TinySize, vocabulary: Vocabulary, seed: int) -> Any:
    """A `DiffusionGemmaForBlockDiffusion` with random weights, in float32 on the host."""
    ids = {name: vocabulary.id(name) for name in ("<pad>", "<bos>", "<eos>")}
    text = {
        "vocab_size": vocabulary.size,
        "hidden_size": size.hidden,
        "intermediate_size": size.dense,
        "moe_intermediate_size": size.expert,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.kv_heads,
        "head_dim": size.head_dim,
        "global_head_dim": size.head_dim,  # else 512 in layers of full attention, unsaid
        "num_experts": 1,
        "top_k_experts": 1,
        # only sliding layers have value projections: a window wider than any context makes them full ones that do
        "sliding_window": _WINDOW,
        "layer_types": ["sliding_attention"] * (size.layers - 1) + ["full_attention"],  # the last must be full
        "rope_parameters": {
            kind: {"rope_type": "default", "rope_theta": 10000.0} for kind in ("sliding_attention", "full_attention")
        },
        "max_position_embeddings": 2048,
        "pad_token_id": ids["<pad>"],
        "bos_token_id": ids["<bos>"],
        "eos_token_id": ids["<eos>"],
        "use_bidirectional_attention": None,
        "tie_word_embeddings": True,
    }
    vision = {  # None would mean the default tower, of 168 million weights
        "model_type": "gemma4_vision",
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 0,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "head_dim": 8,
        "patch_size": 1,
        "pooling_kernel_size": 1,
        "position_embedding_size": 1,
    }
    config = transformers.DiffusionGemmaConfig(text_config=text, vision_config=vision, canvas_length=48)
    for name in ("boi_token_id", "eoi_token_id", "image_token_id"):
        setattr(config, name, None)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = transformers.DiffusionGemmaForBlockDiffusion(config)
        _start(network, size)
    return network


@torch.no_grad()
def _start(network: Any, size: TinySize) -> None:
    decoder = network.model.decoder
    for name, weight in decoder.named_parameters():
        if name.endswith("q_norm.weight"):
            weight.fill_(size.head_dim**-0.5)  # scores are not scaled otherwise
        elif "post_attention_layernorm" in name or name.endswith("post_feedforward_layernorm.weight"):
            weight.fill_(_POST_NORM)
        elif weight.ndim >= 2:
            weight.normal_(0, weight.shape[-1] ** -0.5)  # the embedding too: scaled, it then has size 1


def trained(network: Any) -> dict[str, nn.Parameter]:
    """The weights that are trained, by name; matrices of the one expert as `[out, in]`, in the network's own memory.

    All are the decoder's: the encoder shares them. The router is none: over one expert it always gives 1.
    """
    found: dict[str, nn.Parameter] = {}
    network.requires_grad_(False)
    for name, weight in network.model.decoder.named_parameters():
        if ".router." in name:
            continue
        flat = weight.data[0] if ".experts." in name else weight.data
        found[name] = nn.Parameter(flat)
    return found


def n_weights(weights: dict[str, nn.Parameter]) -> int:
    """How many numbers are trained."""
    return sum(weight.numel() for weight in weights.values())


def matrices(weights: dict[str, nn.Parameter]) -> tuple[list[Tensor], list[Tensor]]:
    """Matrices of the layers, and all the rest: embedding and gains."""
    inner = [weight for name, weight in weights.items() if weight.ndim == 2 and "embed_tokens" not in name]
    rest = [weight for name, weight in weights.items() if weight.ndim != 2 or "embed_tokens" in name]
    return list(inner), list(rest)
