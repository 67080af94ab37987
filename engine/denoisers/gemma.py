"""The forward pass of `DiffusionGemmaForBlockDiffusion`, for our own caches and for region cells only.

Owns: the order of operations of one pass, after `modeling_diffusion_gemma.py` of transformers. The weights and the
sub-modules stay the library's. Must not know: samplers, requests, text.
Encoder and decoder share all weights but the self-conditioning block and the layer scalars, so one function runs both.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from attrs import frozen
from torch import Tensor, nn
from torch.nn import functional as F

from engine.denoisers.kv_store import LayerShape


class Memory(Protocol):
    """Where keys and values go (`PromptWriter`, `Rows`)."""

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Store the new ones; return all to attend to."""
        ...


@frozen(eq=False)
class _Joined:
    """A layer's weights as `[in, out]`, those that read the same input side by side."""

    qkv: Tensor
    out: Tensor
    gate_up: Tensor
    down: Tensor
    expert_gate_up: Tensor
    expert_down: Tensor


def _columns(*weights: Tensor) -> Tensor:
    return torch.cat(weights).T.contiguous()


class _Layer:
    """One layer's weights."""

    def __init__(self, decoder: Any, encoder: Any, config: Any, join: bool) -> None:
        attention = decoder.self_attn
        self.type: str = attention.layer_type
        self.head_dim: int = attention.head_dim
        self.n_heads: int = config.num_attention_heads
        self.n_kv_heads: int = self.n_heads // attention.num_key_value_groups
        self.attention, self.decoder = attention, decoder
        self.scalars = (encoder.layer_scalar, decoder.layer_scalar)
        self.one_expert = config.num_experts == 1
        self.window: int = config.sliding_window if attention.is_sliding else 0
        self.has_v = attention.v_proj is not None
        self.joined: _Joined | None = None
        if join and self.one_expert and not config.attention_bias:
            mlp, experts = decoder.mlp, decoder.experts
            projections = [attention.q_proj, attention.k_proj, *([attention.v_proj] if self.has_v else [])]
            self.joined = _Joined(
                qkv=_columns(*(p.weight for p in projections)),
                out=_columns(attention.o_proj.weight),
                gate_up=_columns(mlp.gate_proj.weight, mlp.up_proj.weight),
                down=_columns(mlp.down_proj.weight),
                expert_gate_up=_columns(experts.gate_up_proj[0]),
                expert_down=_columns(experts.down_proj[0]),
            )


class GemmaForward:
    """Passes over one loaded model."""

    def __init__(self, model: Any) -> None:
        config = model.config.text_config
        self.model, self.config = model, config
        decoder = model.model.decoder
        encoder = model.model.encoder.language_model
        self._join = sum(p.numel() for p in decoder.parameters()) < 100_000_000
        """Copies cost memory; only a small model, bound by calls and by packing weights at each, gains from them."""
        self.layers = [_Layer(d, e, config, self._join) for d, e in zip(decoder.layers, encoder.layers, strict=True)]
        self.shapes = [LayerShape(one.n_kv_heads, one.head_dim, one.window) for one in self.layers]
        self.embedding: nn.Embedding = decoder.embed_tokens
        self._decoder = decoder
        self._softcap: float | None = model.final_logit_softcapping
        self._rotary: dict[str, tuple[Tensor, Tensor]] = {}
        self._eps: float = config.rms_norm_eps

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.embedding.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """The weights' type."""
        return self.embedding.weight.dtype

    def encode(self, tokens: Tensor, positions: Tensor, memory: Memory, masks: dict[int, Tensor | None]) -> Tensor:
        """Causal pass. `tokens` and `positions` `[rows, n]` -> hidden states `[rows, n, hidden]`.

        `masks` by window size, each `[n, n_keys]` or `[rows, 1, n, n_keys]`, True to attend.
        """
        return self._layers(self.embedding(tokens), positions, memory, masks, 0)

    def decode(
        self, tokens: Tensor, soft: Tensor | None, positions: Tensor, memory: Memory, masks: dict[int, Tensor | None]
    ) -> Tensor:
        """Bidirectional pass over a canvas `[rows, n]` -> hidden states `[rows, n, hidden]`.

        `soft`: self-conditioning embeddings `[rows, n, hidden]` (see `soft_embeddings`); None at the first step.
        """
        embeddings = self.embedding(tokens)
        conditioned = self._decoder.self_conditioning(
            embeddings, torch.zeros_like(embeddings) if soft is None else soft
        )
        return self._layers(conditioned, positions, memory, masks, 1)

    def logits(self, hidden: Tensor) -> Tensor:
        """`[..., hidden]` -> soft-capped logits `[..., vocabulary]` in float32."""
        logits: Tensor = self.model.lm_head(hidden).float()
        if self._softcap is not None:
            logits = torch.tanh(logits / self._softcap) * self._softcap
        return logits

    def soft_embeddings(self, probabilities: Tensor) -> Tensor:
        """Expected embedding under `[..., vocabulary]` -> `[..., hidden]`."""
        scale: Tensor = self.embedding.embed_scale  # type: ignore[assignment]
        mean: Tensor = (probabilities.to(self.dtype) @ self.embedding.weight) * scale.to(self.dtype)
        return mean

    def _layers(
        self, x: Tensor, positions: Tensor, memory: Memory, masks: dict[int, Tensor | None], side: int
    ) -> Tensor:
        rotary = {kind: self._rotary_at(kind, positions) for kind in {one.type for one in self.layers}}
        for index, layer in enumerate(self.layers):
            x = self._layer(x, index, layer, rotary[layer.type], memory, masks[layer.window], side)
        return self._norm(x, self._decoder.norm)

    def _layer(
        self,
        x: Tensor,
        index: int,
        layer: _Layer,
        rotary: tuple[Tensor, Tensor],
        memory: Memory,
        mask: Tensor | None,
        side: int,
    ) -> Tensor:
        module = layer.decoder
        attended = self._attend(self._norm(x, module.input_layernorm), index, layer, rotary, memory, mask)
        x = x + self._norm(attended, module.post_attention_layernorm)
        dense = self._norm(
            self._dense(self._norm(x, module.pre_feedforward_layernorm), layer), module.post_feedforward_layernorm_1
        )
        routed = self._norm(self._experts(x, layer), module.post_feedforward_layernorm_2)
        x = x + self._norm(dense + routed, module.post_feedforward_layernorm)
        scaled: Tensor = x * layer.scalars[side]
        return scaled

    def _attend(
        self, x: Tensor, index: int, layer: _Layer, rotary: tuple[Tensor, Tensor], memory: Memory, mask: Tensor | None
    ) -> Tensor:
        rows, n, _ = x.shape
        a = layer.attention
        if layer.joined is not None:
            heads = (x @ layer.joined.qkv).view(rows, n, -1, layer.head_dim)
            q = heads[:, :, : layer.n_heads]
            k = heads[:, :, layer.n_heads : layer.n_heads + layer.n_kv_heads]
            v = heads[:, :, layer.n_heads + layer.n_kv_heads :] if layer.has_v else k
        else:
            q = a.q_proj(x).view(rows, n, -1, layer.head_dim)
            k = a.k_proj(x).view(rows, n, -1, layer.head_dim)
            v = a.v_proj(x).view(rows, n, -1, layer.head_dim) if layer.has_v else k
        q = _rotate(self._norm(q, a.q_norm), *rotary).transpose(1, 2)
        k = _rotate(self._norm(k, a.k_norm), *rotary).transpose(1, 2)
        v = self._norm(v, a.v_norm).transpose(1, 2)
        keys, values = memory.update(k, v, index)
        out = F.scaled_dot_product_attention(
            q, keys, values, attn_mask=mask, scale=a.scaling, enable_gqa=layer.n_heads != layer.n_kv_heads
        )
        out = out.transpose(1, 2).reshape(rows, n, -1)
        projected: Tensor = a.o_proj(out) if layer.joined is None else out @ layer.joined.out
        return projected

    def _dense(self, x: Tensor, layer: _Layer) -> Tensor:
        mlp = layer.decoder.mlp
        if layer.joined is None:
            out: Tensor = mlp(x)
            return out
        gate, up = (x @ layer.joined.gate_up).chunk(2, dim=-1)
        projected: Tensor = (mlp.act_fn(gate) * up) @ layer.joined.down
        return projected

    def _experts(self, x: Tensor, layer: _Layer) -> Tensor:
        module = layer.decoder
        flat = x.reshape(-1, x.shape[-1])
        normed = self._norm(flat, module.pre_feedforward_layernorm_2)
        experts = module.experts
        if layer.joined is not None:  # routing over one expert always gives it weight 1
            gate, up = (normed @ layer.joined.expert_gate_up).chunk(2, dim=-1)
            out = (experts.act_fn(gate) * up) @ layer.joined.expert_down * module.router.per_expert_scale
        else:
            _, weights, chosen = module.router(flat)
            out = experts(normed, chosen, weights)
        shaped: Tensor = out.reshape(x.shape)
        return shaped

    def _norm(self, x: Tensor, module: Any) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], module.weight if module.with_scale else None, self._eps)

    def _rotary_at(self, kind: str, positions: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin `[rows, n, 1, head_dim]` at `positions`, from tables made once and grown."""
        end = int(positions.max()) + 1
        table = self._rotary.get(kind)
        if table is None or table[0].shape[0] < end:
            every = torch.arange(max(end, 2048), device=self.device).unsqueeze(0)
            like = torch.empty(0, dtype=self.dtype, device=self.device)
            cos, sin = self._decoder.rotary_emb(like, every, kind)
            table = self._rotary[kind] = (cos[0], sin[0])
        return table[0][positions].unsqueeze(2), table[1][positions].unsqueeze(2)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin
