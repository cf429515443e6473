"""Where Triton looks for the compiler."""

try:
    from ptera.triton.compiler import Backend
except (ImportError, OSError):
    from ptera_triton.absent import Backend

__all__ = ["Backend"]
