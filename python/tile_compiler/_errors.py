"""The exceptions of the package: one class per kind of error."""


class TileError(Exception):
    """An error of the compiler, a launch or a device.

    ``code`` is the kind as a string ("invalid-argument", ...), ``message`` one
    sentence, and ``diagnostics`` what the compiler said, as a list of `Diagnostic`.
    """

    code = ""

    def __init__(self, message="", diagnostics=()):
        super().__init__(message)
        self.message = message
        self.diagnostics = list(diagnostics)

    def __str__(self):
        return "\n".join([self.message, *map(str, self.diagnostics)])


class InvalidArgument(TileError, ValueError):
    """An option, or an argument of a launch, is wrong."""

    code = "invalid-argument"


class InvalidKernel(TileError):
    """A kernel does not parse, verify or compile."""

    code = "invalid-kernel"


class NotFound(TileError, LookupError):
    """There is no such file, kernel, device or target."""

    code = "not-found"


class Unavailable(TileError):
    """There is no driver, no ptxas, or one that is too old."""

    code = "unavailable"


class DriverError(TileError):
    """A call of the CUDA driver failed."""

    code = "driver"


class Fault(TileError):
    """A kernel did what it must not, on the emulator or the reference."""

    code = "fault"


class Cancelled(TileError):
    """The caller asked to stop."""

    code = "cancelled"


class IoError(TileError, OSError):
    """A file could not be read or written."""

    code = "io"


class OutOfMemory(TileError, MemoryError):
    """The memory of the host or of a device is used up."""

    code = "out-of-memory"


CLASSES = {
    kind.code: kind
    for kind in (
        InvalidArgument,
        InvalidKernel,
        NotFound,
        Unavailable,
        DriverError,
        Fault,
        Cancelled,
        IoError,
        OutOfMemory,
    )
}


def make_error(code, message, diagnostics):
    """Returns the exception for an error of the library."""
    error = CLASSES.get(code, TileError)(message, diagnostics)
    error.code = code
    return error
