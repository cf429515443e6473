"""Runs a tutorial of Triton's as it is, but for its benchmarks: tutorial.py FILE [ARGUMENT...].

FILE is python/tutorials/0*.py of Triton's repository. Tests in it (06) run by pytest.
"""
import runpy
import sys
import time

import triton.testing

triton.testing.Mark.run = lambda self, *args, **kwargs: None
sys.argv = sys.argv[1:]
start = time.perf_counter()
names = runpy.run_path(sys.argv[0], run_name="__main__")
print(f"{sys.argv[0]}: {time.perf_counter() - start:.1f} s")
