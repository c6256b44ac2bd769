"""Data whose components are well apart: two patterns that turn slowly, and strengths of their own."""

import numpy as np


def factors(K=6, I=24, J=10, seed=0, *, turn=1.0):
    rng = np.random.default_rng(seed)
    time = np.linspace(0, 1, K)[:, None]
    basis = np.linalg.qr(rng.normal(size=(J, 4)))[0]
    angles = turn * time * np.array([1.0, 1.4])
    B = basis[:, :2] * np.cos(angles)[:, None] + basis[:, 2:] * np.sin(angles)[:, None]
    C = 1.0 + 0.7 * np.sin(2 * np.pi * (time + np.array([0.0, 0.4])))
    return rng.normal(size=(I, 2)) * np.array([1.5, 1.0]), B, C


def data(noise=0.3, seed=0, **shape):
    A, B, C = factors(**shape)
    signal = np.einsum("ir,kr,kjr->kij", A, C, B)
    fresh = np.random.default_rng([seed, 1]).normal(size=signal.shape)
    return signal + noise * np.linalg.norm(signal) / np.linalg.norm(fresh) * fresh
