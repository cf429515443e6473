"""Autotuning: configurations are compiled at the same time, and what was found is kept.

Triton compiles and times one configuration after the other, and does so again in each process. Its
compiler works in several threads at once where it is told to (triton.AsyncCompileMode), and its
cache keeps what autotuning found where that is asked for (TRITON_CACHE_AUTOTUNING). Without a GPU,
where kernels run to be tested, both is what one wants; TRITON_CACHE_AUTOTUNING=0 has them timed in
each process.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from triton import knobs

from ptera_triton import gpu


class Keeping(knobs.env_bool):  # type: ignore[misc]
    """Whether the results of autotuning are kept, which each tuner asks as it is made."""

    def get(self) -> bool:
        if gpu.is_there():
            return bool(super().get())
        _compile_together()
        return self.key not in os.environ or bool(super().get())


def take_over() -> None:
    """From now on this is how Triton tunes where it has no GPU."""
    knob = Keeping("TRITON_CACHE_AUTOTUNING")
    knob.__set_name__(knobs.autotuning_knobs, "cache")
    knobs.autotuning_knobs.cache = knob


@functools.cache
def _compile_together() -> None:
    from triton.runtime.autotuner import Autotuner  # imports what imports this

    prune, bench = Autotuner.prune_configs, Autotuner._bench

    def prune_configs(tuner: Any, kwargs: dict[str, Any]) -> Sequence[Any]:
        left: Sequence[Any] = prune(tuner, kwargs)
        tuner.ptera_left = left
        return left

    def time_one(tuner: Any, *args: Any, config: Any, **kwargs: Any) -> Any:
        left, tuner.ptera_left = tuner.ptera_left, []
        if len(left) > 1:
            _compile(tuner, left, args, kwargs)
        return bench(tuner, *args, config=config, **kwargs)

    Autotuner.prune_configs, Autotuner._bench = prune_configs, time_one


def _compile(tuner: Any, configs: Iterable[Any], args: Any, kwargs: dict[str, Any]) -> None:
    """What cannot be compiled is left to fail when it is timed, as Triton has it."""
    from triton.runtime import _async_compile as together

    if together.active_mode.get() is not None:
        return
    threads = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(threads) as pool, together.AsyncCompileMode(pool, ignore_errors=True):
        for config in configs:
            current = {**kwargs, **config.all_kwargs(), "warmup": True}
            if config.pre_hook is not None:
                config.pre_hook({**tuner.nargs, **current})
            tuner.fn.run(*args, **current)
