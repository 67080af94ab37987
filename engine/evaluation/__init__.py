"""Evaluation: real holes filled through the engine, and what came of them.

Owns: cases, length policies, baselines, metrics, the sandbox, figures. Knows the engine only by its socket
(`engine.client`); must not import denoisers, servers or torch. `revision` alone does: mending has no message yet.
"""
