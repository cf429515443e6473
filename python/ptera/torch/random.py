"""Random numbers of what CUDA has its own order for, beside philox.py's: the CPU's generators.

Each generator of the device has one of the CPU at its side, with the same seed.
"""

from __future__ import annotations

import weakref

import torch

__all__ = ["cpu_generator", "register"]

_generators: weakref.WeakKeyDictionary[torch.Generator, torch.Generator] = (
    weakref.WeakKeyDictionary()
)
_seeds: weakref.WeakKeyDictionary[torch.Generator, int] = weakref.WeakKeyDictionary()
_defaults: dict[int, torch.Generator] = {}


def cpu_generator(generator: torch.Generator) -> torch.Generator:
    """The one that draws for a generator of the device."""
    seed = generator.initial_seed()
    found = _generators.get(generator)
    if found is None or _seeds[generator] != seed:
        found = torch.Generator().manual_seed(seed)
        _generators[generator] = found
        _seeds[generator] = seed
    return found


def default_generator(device: int) -> torch.Generator:
    """Of operations that name none."""
    if device not in _defaults:
        _defaults[device] = torch.Generator().manual_seed(torch.initial_seed())
    return _defaults[device]


_seed_theirs, _seed_all_theirs = torch.cuda.manual_seed, torch.cuda.manual_seed_all
_get_state_theirs, _set_state_theirs = torch.cuda.get_rng_state, torch.cuda.set_rng_state
_BYTES = 16  # of a state of CUDA's: the seed, and how far it is


def _seed(seed: int) -> None:
    default_generator(torch.cuda.current_device()).manual_seed(int(seed))
    _seed_theirs(seed)


def _seed_all(seed: int) -> None:
    for device in range(torch.cuda.device_count()):
        default_generator(device).manual_seed(int(seed))
    _seed_all_theirs(seed)


def _get_state(device: object = "cuda") -> torch.Tensor:
    own = default_generator(_index(device)).get_state()
    return torch.cat([_get_state_theirs(device), own])


def _set_state(state: torch.Tensor, device: object = "cuda") -> None:
    default_generator(_index(device)).set_state(state[_BYTES:].clone())
    _set_state_theirs(state[:_BYTES].clone(), device)


def _index(device: object) -> int:
    index = device if isinstance(device, int) else torch.device(device).index
    return torch.cuda.current_device() if index is None else index


def register() -> None:
    """torch.cuda's functions of the default generators."""
    torch.cuda.manual_seed = torch.cuda.random.manual_seed = _seed
    torch.cuda.manual_seed_all = torch.cuda.random.manual_seed_all = _seed_all
    torch.cuda.get_rng_state = torch.cuda.random.get_rng_state = _get_state
    torch.cuda.set_rng_state = torch.cuda.random.set_rng_state = _set_state
