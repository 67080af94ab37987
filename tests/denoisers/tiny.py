"""Random tiny models of the real classes, and a small byte-level tokenizer. Real code, no trained weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, pre_tokenizers

SPECIAL = ("<pad>", "<bos>", "<eos>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>")
VOCABULARY = 320


def write_tokenizer(folder: Path) -> None:
    """A byte-level tokenizer: specials, all bytes, and a few merged pieces."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {token: i for i, token in enumerate([*SPECIAL, *alphabet])}
    merges = []
    for left, right in (("e", "r"), ("r", "e"), ("re", "t"), ("Ġ", "Ġ"), ("ĠĠ", "ĠĠ"), ("i", "n"), ("s", "e")):
        merges.append((left, right))
        words[left + right] = len(words)
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=words, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.save(str(folder / "tokenizer.json"))


def gemma(folder: Path, *, layers: int = 4, experts: int = 4, window: int = 16, seed: int = 0) -> Any:
    """A random DiffusionGemma with sliding and full layers and several experts, saved into `folder`."""
    torch.manual_seed(seed)
    kinds = ["sliding_attention" if (i + 1) % 3 else "full_attention" for i in range(layers - 1)] + ["full_attention"]
    text = {
        "vocab_size": VOCABULARY,
        "hidden_size": 48,
        "intermediate_size": 64,
        "moe_intermediate_size": 32,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "global_head_dim": 32,
        "num_experts": experts,
        "top_k_experts": min(2, experts),
        "sliding_window": window,
        "layer_types": kinds,
        "max_position_embeddings": 2048,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "tie_word_embeddings": True,
    }
    vision = {
        "model_type": "gemma4_vision",
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 0,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "head_dim": 8,
        "position_embedding_size": 1,
        "patch_size": 1,
    }
    config = transformers.DiffusionGemmaConfig(text_config=text, vision_config=vision, canvas_length=24)
    config.image_token_id = -1
    network = transformers.DiffusionGemmaForBlockDiffusion(config).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("q_norm.weight"):
                parameter.fill_(parameter.shape[0] ** -0.5)  # attention is not scaled otherwise: float noise would grow
            elif "norm" not in name:
                parameter.normal_(0, 0.08)
    network.save_pretrained(folder)
    write_tokenizer(folder)
    fim = {
        "layout": ["<bos>", "<|fim_suffix|>", "{suffix}", "<|fim_prefix|>", "{prefix}", "<|fim_middle|>"],
        "near_suffix": 4,
        "far_suffix": 12,
        "regions": [8, 12],
    }
    (folder / "midfill.json").write_text(json.dumps({"fim": fim}))
    (folder / "generation_config.json").write_text(
        json.dumps(
            {
                "max_denoising_steps": 12,
                "confidence_threshold": 0.05,
                "t_min": 0.4,
                "t_max": 0.8,
                "sampler_config": {"_cls_name": "EntropyBoundSamplerConfig", "entropy_bound": 12.0},
            }
        )
    )
    return network


def causal(folder: Path, kind: str = "qwen2", *, seed: int = 0) -> Any:
    """A random causal model of class `qwen2`, `llama` or `qwen3`, saved into `folder`."""
    torch.manual_seed(seed)
    common = {
        "vocab_size": VOCABULARY,
        "hidden_size": 48,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "tie_word_embeddings": False,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    config: Any = {
        "qwen2": transformers.Qwen2Config,
        "llama": transformers.LlamaConfig,
        "qwen3": transformers.Qwen3Config,
    }[kind](**common)
    network = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "norm" not in name:
                parameter.normal_(0, 0.2)
    network.save_pretrained(folder)
    write_tokenizer(folder)
    (folder / "midfill.json").write_text(json.dumps({"fim": {"file": ""}}))
    return network
