"""From a checkpoint folder to a denoiser. Owns: which family a checkpoint is, device, dtype, memory settings."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import cattrs
import torch
import transformers
from transformers.utils import logging as hf_logging

from engine.config import EngineConfig
from engine.denoisers import attention
from engine.denoisers.absorbing import AbsorbingDenoiser, AbsorbingSettings, Policy
from engine.denoisers.adapter import Adapter
from engine.denoisers.causal import CausalDenoiser
from engine.denoisers.chat import chat_format
from engine.denoisers.denoiser import Denoiser, DenoiserError
from engine.denoisers.gemma import GemmaForward
from engine.denoisers.kv_store import KVStore, LayerShape
from engine.denoisers.prefix_cache import PrefixCache
from engine.denoisers.prompt import FimFormat, PromptBuilder, load_format
from engine.denoisers.uniform import UniformDenoiser, settings_from
from engine.denoisers.vocabulary import Vocabulary, VocabularyError
from engine.models.resolve import ModelFolder
from engine.protocol import MAX_MESSAGE_BYTES, Family, Fill, Limits, Model

Tell = Callable[[str, float], None]
"""Takes the stage in words and the fraction done."""

_MAX_REGION_TOKENS = 512
_MAX_ALTERNATIVES = 8


def load_denoiser(folder: ModelFolder, config: EngineConfig, tell: Tell) -> Denoiser:
    """Load a checkpoint. Raises `DenoiserError` with cause and fix."""
    hf_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("transformers").setLevel(logging.ERROR)
    if config.threads or _is_small(
        (folder.base or folder).path
    ):  # a small model's steps are too short to share: threads wait for threads
        torch.set_num_threads(config.threads or 1)
    tell("reading the configuration", 0.1)
    settings = _read_json((folder.base or folder).path / "config.json")
    architecture = next(iter(settings.get("architectures") or ()), "")
    device = _device(config.device)
    try:
        if architecture == "DiffusionGemmaForBlockDiffusion":
            return _uniform(folder, config, device, tell)
        if architecture.endswith("ForCausalLM"):
            denoiser = _causal(folder.base or folder, config, device, tell)
            if folder.base is not None:
                denoiser = _absorbing(folder, denoiser, config)
            _warm_up(denoiser, tell)
            return denoiser
    except VocabularyError as error:
        raise DenoiserError(str(error)) from None
    except torch.OutOfMemoryError:
        raise DenoiserError(f"{folder.name} does not fit into the memory of {device}; choose a smaller model") from None
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise DenoiserError(f"{folder.path} can't be loaded: {_first_line(error)}") from error
    raise DenoiserError(
        f"{folder.path}: no denoiser for {architecture or 'a checkpoint without `architectures`'}; known are"
        " DiffusionGemmaForBlockDiffusion and causal models with fill-in-the-middle tokens (...ForCausalLM)"
    )


def _uniform(folder: ModelFolder, config: EngineConfig, device: torch.device, tell: Tell) -> Denoiser:
    dtype = _dtype(config.dtype, torch.float32 if _is_small(folder.path) or device.type == "cpu" else torch.bfloat16)
    tell("reading the weights", 0.3)
    network = _network(transformers.DiffusionGemmaForBlockDiffusion, folder.path, dtype, device)
    forward = GemmaForward(network)
    vocabulary = Vocabulary(folder.path, forward.embedding.num_embeddings)
    has_fim = vocabulary.id(FimFormat().end) is not None or (folder.path / "midfill.json").exists()
    fim = load_format(folder.path, vocabulary) if has_fim else chat_format(folder.path)
    builder = PromptBuilder(vocabulary, fim, config.context_tokens)
    generation = folder.path / "generation_config.json"
    denoiser = UniformDenoiser(
        forward,
        vocabulary,
        builder,
        settings_from(_read_json(generation) if generation.exists() else {}, config.max_steps),
        _cache(forward.shapes, dtype, device, config),
        _model(folder, Family.UNIFORM, network, dtype, device),
        _limits(config, max(fim.regions)),
    )
    denoiser.copies = config.copies == "on"
    _warm_up(denoiser, tell)
    return denoiser


def _causal(folder: ModelFolder, config: EngineConfig, device: torch.device, tell: Tell) -> CausalDenoiser:
    # asked by name: builds without oneDNN, such as those for Apple's chips, do not have the operator
    has_bf16 = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    fast = device.type != "cpu" or (has_bf16 is not None and has_bf16())
    dtype = _dtype(config.dtype, torch.bfloat16 if fast else torch.float32)
    tell("reading the weights", 0.3)
    network = _network(transformers.AutoModelForCausalLM, folder.path, dtype, device)
    attention.register()
    network.set_attn_implementation(attention.NAME)
    text = network.config.get_text_config()
    vocabulary = Vocabulary(folder.path, text.vocab_size)
    fim = load_format(folder.path, vocabulary)
    head_dim = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    window = getattr(text, "sliding_window", None) if getattr(text, "use_sliding_window", True) else None
    if window and window < config.context_tokens + _MAX_REGION_TOKENS:
        raise DenoiserError(
            f"{folder.path}: its attention slides over {window} tokens, which causal models may not here yet; set"
            f" `context_tokens` to {window - _MAX_REGION_TOKENS} or less"
        )
    shapes = [LayerShape(text.num_key_value_heads, head_dim) for _ in range(text.num_hidden_layers)]
    builder = PromptBuilder(vocabulary, fim, config.context_tokens)
    denoiser = CausalDenoiser(
        network,
        vocabulary,
        builder,
        _cache(shapes, dtype, device, config),
        shapes,
        _model(folder, Family.CAUSAL, network, dtype, device),
        _limits(config, _MAX_REGION_TOKENS),
    )
    denoiser.copies = config.copies == "on"
    return denoiser


def _absorbing(folder: ModelFolder, base: CausalDenoiser, config: EngineConfig) -> AbsorbingDenoiser:
    record = folder.path / "midfill.json"
    try:
        stated = _read_json(record).get("denoiser")
        settings = cattrs.Converter(forbid_extra_keys=True).structure(stated, AbsorbingSettings)
    except cattrs.BaseValidationError as error:
        raise DenoiserError(
            f"{record}: `denoiser` can't be read ({'; '.join(cattrs.transform_error(error))})"
        ) from None
    adapter = Adapter(base.network, folder.path)
    model = attrs.evolve(
        base.model,
        name=folder.name,
        family=Family.ABSORBING,
        note=folder.note,
        least_probability=folder.least_probability,
        n_parameters=sum(p.numel() for p in base.network.parameters()) + adapter.n_parameters,
    )
    policy = Policy.FREE if config.policy == "free" else Policy.VERIFIED
    denoiser = AbsorbingDenoiser(base, model, adapter, settings, policy)
    denoiser.copies = base.copies
    if denoiser.fill_token is None:
        raise DenoiserError(f"{record}: the base model's tokenizer has no token {settings.fill!r} (denoiser.fill)")
    return denoiser


def _network(kind: Any, folder: Path, dtype: torch.dtype, device: torch.device) -> Any:
    """Load the weights; all of them must be there: the library would make up the missing ones."""
    place = None if device.type == "cpu" else {"": str(device)}  # elsewhere weights go straight to the device
    network, told = kind.from_pretrained(
        folder, dtype=dtype, device_map=place, local_files_only=True, output_loading_info=True
    )
    if missing := sorted(told["missing_keys"]):
        some = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise DenoiserError(f"{folder}: {len(missing)} weights are missing ({some}); is the download complete?")
    return network.eval()


def _warm_up(denoiser: Denoiser, tell: Tell) -> None:
    """One small fill: first calls allocate, choose kernels, and build the vocabulary's tables."""
    tell("warming up", 0.8)
    denoising = denoiser.open(Fill("warm-up", "def f(x):\n    return ", "\n", max_tokens=8, n_alternatives=2))
    for _ in range(4):
        if denoising.advance().reason is not None:
            break
    denoising.close()


def _cache(shapes: list[LayerShape], dtype: torch.dtype, device: torch.device, config: EngineConfig) -> PrefixCache:
    return PrefixCache(lambda: KVStore(shapes, dtype, device), config.cache_mb * 2**20)


def _model(folder: ModelFolder, family: Family, network: Any, dtype: torch.dtype, device: torch.device) -> Model:
    return Model(
        name=folder.name,
        family=family,
        device=str(device),
        dtype=str(dtype).removeprefix("torch."),
        n_parameters=sum(p.numel() for p in network.parameters()),
        note=folder.note,
        least_probability=folder.least_probability,
    )


def _limits(config: EngineConfig, region_tokens: int) -> Limits:
    return Limits(MAX_MESSAGE_BYTES, region_tokens, _MAX_ALTERNATIVES, config.queue)


def _is_small(folder: Path) -> bool:
    """Less than 100 MB of weights."""
    return sum(file.stat().st_size for file in folder.glob("*.safetensors")) < 100_000_000


def _device(asked: str) -> torch.device:
    if asked == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(asked)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise DenoiserError(f"device {asked!r} can't be used here: {_first_line(error)}") from None
    return device


def _dtype(asked: str, default: torch.dtype) -> torch.dtype:
    named = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
    return named.get(asked, default)


def _read_json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DenoiserError(f"{file} can't be read: {_first_line(error)}") from None
    if not isinstance(found, dict):
        raise DenoiserError(f"{file} must hold an object")
    return found


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
