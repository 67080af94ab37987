"""Models with random weights, for checks that need real passes and no sense. Owns: their sizes and how they are built.

`REAL` is DiffusionGemma 26B-A4B as it was published (docs/architecture.md names the source); nothing of it is
downloaded: what a step costs depends on shapes, not on what the weights say.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from torch import Tensor, nn

from engine.models.catalog import BUNDLED_DIR

REAL: Final[dict[str, Any]] = {
    "vocab_size": 262_144,
    "hidden_size": 2816,
    "intermediate_size": 2112,
    "moe_intermediate_size": 704,
    "num_hidden_layers": 30,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "global_head_dim": 512,
    "num_global_key_value_heads": 2,
    "num_experts": 128,
    "top_k_experts": 8,
    "sliding_window": 1024,
}
TINY: Final[dict[str, Any]] = {
    "vocab_size": 4096,
    "hidden_size": 48,
    "intermediate_size": 64,
    "moe_intermediate_size": 32,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "global_head_dim": 32,
    "num_global_key_value_heads": 1,
    "num_experts": 8,
    "top_k_experts": 2,
    "sliding_window": 32,
    "max_position_embeddings": 4096,
}
_RANK: Final = 4
_NO_VISION: Final[dict[str, Any]] = {
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


def gemma(sizes: dict[str, Any], device: torch.device, dtype: torch.dtype) -> Any:
    """A DiffusionGemma without its eyes, made where it is to be.

    Its shape is laid out without memory, shared weights shared; then each weight is made once, on the device.
    """
    config = transformers.DiffusionGemmaConfig(text_config=dict(sizes), vision_config=_NO_VISION)
    config.image_token_id = -1
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("meta"):
            network: Any = transformers.DiffusionGemmaForBlockDiffusion(config)
    finally:
        torch.set_default_dtype(before)
    made: dict[int, Tensor] = {}

    def on_device(old: Tensor) -> Tensor:
        if id(old) not in made:
            fresh = torch.empty(old.shape, dtype=old.dtype, device=device)
            made[id(old)] = nn.Parameter(fresh, requires_grad=False) if isinstance(old, nn.Parameter) else fresh
        return made[id(old)]

    for module in network.modules():
        for own in (module._parameters, module._buffers):
            for name, old in own.items():
                if old is not None:
                    own[name] = on_device(old)
    with torch.no_grad():
        network.initialize_weights()
        for name, scalar in network.named_buffers():
            if name.endswith("layer_scalar"):
                scalar.fill_(1.0)  # the library leaves the encoder's as they were made
        for name, weight in network.named_parameters():
            if name.endswith("q_norm.weight"):
                weight.fill_(weight.shape[0] ** -0.5)  # attention is not scaled otherwise, and noise would grow
    return network.eval()


def save_gemma(folder: Path) -> None:
    """A small DiffusionGemma with sliding layers and experts, as a checkpoint."""
    torch.manual_seed(0)
    network = gemma(TINY, torch.device("cpu"), torch.float32)
    _spread(network, 0.08)
    network.save_pretrained(folder)
    shutil.copy(BUNDLED_DIR / "tokenizer.json", folder)
    form = json.loads((BUNDLED_DIR / "midfill.json").read_text(encoding="utf-8"))["fim"]
    fim = {**form, "near_suffix": 4, "regions": [8, 12], "context_tokens": 1024}
    (folder / "midfill.json").write_text(json.dumps({"fim": fim}), encoding="utf-8")
    (folder / "generation_config.json").write_text(json.dumps({"max_denoising_steps": 12}), encoding="utf-8")


def save_causal(folder: Path) -> None:
    """A small Qwen2, as a checkpoint."""
    torch.manual_seed(0)
    config = transformers.Qwen2Config(
        vocab_size=4096,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    network: Any = transformers.AutoModelForCausalLM.from_config(config).eval()  # type: ignore[no-untyped-call]
    _spread(network, 0.2)
    network.save_pretrained(folder)
    shutil.copy(BUNDLED_DIR / "tokenizer.json", folder)
    (folder / "midfill.json").write_text(json.dumps({"fim": {"file": ""}}), encoding="utf-8")


def save_adapter(folder: Path, base: Path) -> None:
    """A random adapter on a small Qwen2, strong enough to change what is predicted."""
    torch.manual_seed(1)
    network: Any = transformers.AutoModelForCausalLM.from_pretrained(base, local_files_only=True)
    weights = {}
    for name, module in network.named_modules():
        if isinstance(module, nn.Linear) and name != "lm_head":
            weights[f"base_model.model.{name}.lora_A.weight"] = torch.randn(_RANK, module.in_features) * 0.1
            weights[f"base_model.model.{name}.lora_B.weight"] = torch.randn(module.out_features, _RANK) * 0.1
    save_file(weights, folder / "adapter_model.safetensors")
    save_file({"mask_embedding": torch.randn(network.config.hidden_size) * 0.2}, folder / "mask.safetensors")
    config = {"peft_type": "LORA", "r": _RANK, "lora_alpha": _RANK}
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    denoiser = {"base": str(base), "fill": "<eos>", "region": 8, "near_suffix": 4, "threshold": 0.5}
    (folder / "midfill.json").write_text(json.dumps({"denoiser": denoiser}), encoding="utf-8")


def save_tokenizer(folder: Path, size: int) -> None:
    """A byte-level tokenizer with `size` tokens, most of them made up: it is there to be as large as a real one."""
    special = ["<pad>", "<bos>", "<eos>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>"]
    words = {token: i for i, token in enumerate([*special, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    for number in range(size - len(words)):
        words[f"Ġw{number}"] = len(words)
    tokenizer = Tokenizer(BPE(vocab=words, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    tokenizer.save(str(folder / "tokenizer.json"))


def _spread(network: Any, size: float) -> None:
    """Weights large enough that predictions differ clearly."""
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if "norm" not in name:
                weight.normal_(0, size)
