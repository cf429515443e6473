"""Where Triton looks for the driver."""

try:
    from ptera.triton.driver import Driver
except (ImportError, OSError) as error:
    from ptera_triton.absent import Driver

    Driver.why = error

__all__ = ["Driver"]
