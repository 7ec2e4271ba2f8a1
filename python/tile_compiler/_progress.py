"""How far a long call has come, on stderr."""

import sys
import time


class Line:
    """A line that is written over, from half a second on.

    Called with ``done, total`` where there is something to count, else with the
    seconds that have passed.
    """

    DELAY = 0.5

    def __init__(self, unit):
        self.unit = unit
        self.start = time.monotonic()
        self.width = 0

    def __call__(self, done, total=None):
        if time.monotonic() - self.start < self.DELAY:
            return
        if total is None:
            text = f"tile: {done:.1f} s"
        else:
            text = f"tile: {done} of {total} {self.unit}"
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def close(self):
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
            self.width = 0
