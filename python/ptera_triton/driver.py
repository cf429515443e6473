"""Where Triton looks for the driver."""

try:
    from ptera.triton.driver import Driver
except (ImportError, OSError) as error:
    from ptera_triton.absent import Driver  # type: ignore[assignment]

    Driver.why = error  # type: ignore[attr-defined]

__all__ = ["Driver"]
