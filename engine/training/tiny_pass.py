"""The forward pass of a tiny DiffusionGemma with gradients: many contexts and canvases in a row. Owns: its operations.

Must not know: noise, losses' weights, steps. It is `engine.denoisers.gemma.GemmaForward`, which serves, written for
training: no caches, everything of one fixed shape (so that it compiles once), matrices in bfloat16 under autocast.
tests/training/test_tiny_pass.py holds the two equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_KeyValue = tuple[Tensor, Tensor]


class TinyPass(nn.Module):
    """Passes over a network's trained weights (`tiny_model.trained`)."""

    def __init__(self, network: Any, weights: Mapping[str, nn.Parameter], places: int) -> None:
        """`places`: positions that can be asked for."""
        super().__init__()
        config = network.config.text_config
        decoder = network.model.decoder
        self._eps: float = config.rms_norm_eps
        self._softcap: float | None = network.final_logit_softcapping
        self._scale: float = config.hidden_size**0.5
        self.embedding = weights["embed_tokens.weight"]
        self.norm = weights["norm.weight"]
        self.conditioning = nn.ParameterList(
            weights[f"self_conditioning.{name}.weight"] for name in ("pre_norm", "gate_proj", "up_proj", "down_proj")
        )
        self.layers = nn.ModuleList(
            _Layer(weights, f"layers.{i}.", decoder.layers[i].self_attn, config) for i in range(len(decoder.layers))
        )
        cos, sin = decoder.rotary_emb(
            torch.empty(0, dtype=torch.float32), torch.arange(places).unsqueeze(0), config.layer_types[-1]
        )
        self.register_buffer("_cos", cos[0].clone(), persistent=False)
        self.register_buffer("_sin", sin[0].clone(), persistent=False)

    def encode(self, tokens: Tensor, positions: Tensor, bias: Tensor) -> tuple[Tensor, list[_KeyValue]]:
        """Causal pass over contexts. `tokens`, `positions` `[rows, n]`; `bias` `[rows, 1, n, n]`, added to scores.

        Returns hidden states `[rows, n, hidden]`, and each layer's keys and values for `decode`.
        """
        return self._layers(self.embed(tokens), positions, bias, None)

    def decode(
        self, tokens: Tensor, soft: Tensor, positions: Tensor, bias: Tensor, kept: Sequence[_KeyValue]
    ) -> Tensor:
        """Bidirectional pass over canvases `[rows, n]` -> hidden states `[rows, n, hidden]`.

        `soft` `[rows, n, hidden]`: what cells are conditioned on; zeros at a first step. `bias` `[rows, 1, n, kept +
        n]`.
        """
        return self._layers(self._conditioned(self.embed(tokens), soft), positions, bias, kept)[0]

    def embed(self, tokens: Tensor) -> Tensor:
        """`[...]` -> `[..., hidden]`."""
        return F.embedding(tokens, self.embedding) * self._scale

    def logits(self, hidden: Tensor) -> Tensor:
        """`[..., hidden]` -> soft-capped logits `[..., vocabulary]` in float32."""
        logits = F.linear(hidden, self.embedding).float()
        return logits if self._softcap is None else torch.tanh(logits / self._softcap) * self._softcap

    def soft(self, probabilities: Tensor) -> Tensor:
        """Expected embedding under `[..., vocabulary]` -> `[..., hidden]`."""
        return (probabilities @ self.embedding).float() * self._scale

    def _conditioned(self, embedded: Tensor, soft: Tensor) -> Tensor:
        pre_norm, gate, up, down = self.conditioning
        normed = _norm(soft, pre_norm, self._eps)
        signal = F.linear(F.gelu(F.linear(normed, gate), approximate="tanh") * F.linear(normed, up), down)
        return _norm(embedded + signal, None, self._eps)

    def _layers(
        self, x: Tensor, positions: Tensor, bias: Tensor, kept: Sequence[_KeyValue] | None
    ) -> tuple[Tensor, list[_KeyValue]]:
        cos, sin = self._cos[positions].unsqueeze(1), self._sin[positions].unsqueeze(1)  # type: ignore[index]
        keys: list[_KeyValue] = []
        for i, layer in enumerate(self.layers):
            x, made = layer(x, cos, sin, bias, None if kept is None else kept[i])
            keys.append(made)
        return _norm(x, self.norm, self._eps), keys


class _Layer(nn.Module):
    """One layer."""

    def __init__(self, weights: Mapping[str, nn.Parameter], prefix: str, attention: Any, config: Any) -> None:
        super().__init__()

        def weight(name: str) -> nn.Parameter:
            return weights[prefix + name]

        self._eps: float = config.rms_norm_eps
        self._heads: int = config.num_attention_heads
        self._kv_heads: int = self._heads // attention.num_key_value_groups
        self.q, self.k = weight("self_attn.q_proj.weight"), weight("self_attn.k_proj.weight")
        self.v = None if attention.v_proj is None else weight("self_attn.v_proj.weight")
        self.o = weight("self_attn.o_proj.weight")
        self.q_norm, self.k_norm = weight("self_attn.q_norm.weight"), weight("self_attn.k_norm.weight")
        self.gate, self.up, self.down = (weight(f"mlp.{name}_proj.weight") for name in ("gate", "up", "down"))
        self.expert_gate_up, self.expert_down = weight("experts.gate_up_proj"), weight("experts.down_proj")
        self.norm_attention = weight("input_layernorm.weight")
        self.norm_attended = weight("post_attention_layernorm.weight")
        self.norm_dense, self.norm_densed = (
            weight("pre_feedforward_layernorm.weight"),
            weight("post_feedforward_layernorm_1.weight"),
        )
        self.norm_expert, self.norm_experted = (
            weight("pre_feedforward_layernorm_2.weight"),
            weight("post_feedforward_layernorm_2.weight"),
        )
        self.norm_out = weight("post_feedforward_layernorm.weight")

    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, bias: Tensor, kept: _KeyValue | None
    ) -> tuple[Tensor, _KeyValue]:
        attended, made = self._attend(self._norm(x, self.norm_attention), cos, sin, bias, kept)
        x = x + self._norm(attended, self.norm_attended)
        normed = self._norm(x, self.norm_dense)
        dense = F.linear(F.gelu(F.linear(normed, self.gate), approximate="tanh") * F.linear(normed, self.up), self.down)
        gate, up = F.linear(self._norm(x, self.norm_expert), self.expert_gate_up).chunk(2, dim=-1)
        routed = F.linear(F.gelu(gate, approximate="tanh") * up, self.expert_down)
        both = self._norm(dense, self.norm_densed) + self._norm(routed, self.norm_experted)
        return x + self._norm(both, self.norm_out), made

    def _attend(
        self, x: Tensor, cos: Tensor, sin: Tensor, bias: Tensor, kept: _KeyValue | None
    ) -> tuple[Tensor, _KeyValue]:
        rows, n, _ = x.shape
        q = F.linear(x, self.q).view(rows, n, self._heads, -1).transpose(1, 2)
        k = F.linear(x, self.k).view(rows, n, self._kv_heads, -1).transpose(1, 2)
        v = k if self.v is None else F.linear(x, self.v).view(rows, n, self._kv_heads, -1).transpose(1, 2)
        dtype = q.dtype  # of products, under autocast; norms and rotations are made in float32
        q = _rotate(self._norm(q, self.q_norm), cos, sin).to(dtype)
        k = _rotate(self._norm(k, self.k_norm), cos, sin).to(dtype)
        v = self._norm(v, None).to(dtype)
        keys, values = (k, v) if kept is None else (torch.cat((kept[0], k), 2), torch.cat((kept[1], v), 2))
        # the queries of heads that share keys are laid behind each other as more queries of one head
        group = self._heads // self._kv_heads
        folded = q.reshape(rows, self._kv_heads, group * n, -1)
        scores = folded @ keys.transpose(2, 3)
        shaped = scores.view(rows, self._kv_heads, group, n, -1) + bias.unsqueeze(2)
        shares = shaped.float().softmax(-1).to(values.dtype).view(scores.shape)
        out = (shares @ values).view(rows, self._heads, n, -1).transpose(1, 2).reshape(rows, n, -1)
        return F.linear(out, self.o), (k, v)

    def _norm(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return _norm(x, weight, self._eps)


def _norm(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    return F.rms_norm(x.float(), x.shape[-1:], weight, eps)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin
