"""What the entry point `triton.backends` names: the backend that ptera.triton is.

`import triton` imports this, whatever is installed. Where ptera cannot be imported (cffi or a
library of its own is missing) nothing is wrong until a kernel needs it.
"""
