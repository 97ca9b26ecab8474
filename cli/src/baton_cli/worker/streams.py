"""Pipes and buffers between the worker and a program: no read or write blocks, and no buffer grows without a limit."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

CHUNK = 64 * 1024


class Sink(Protocol):
    def take(self, data: bytes) -> None: ...


@dataclass(slots=True)
class CappedBuffer:
    """Keeps the bytes while they are at most ``most``. With more, ``is_over`` is set and nothing is kept."""

    most: int
    data: bytearray = field(default_factory=bytearray)
    is_over: bool = False

    def take(self, data: bytes) -> None:
        self.is_over = self.is_over or len(self.data) + len(data) > self.most
        if self.is_over:
            self.data.clear()
        else:
            self.data += data


@dataclass(slots=True)
class HeadBuffer:
    """Keeps the first ``most`` bytes. ``is_over``: there were more."""

    most: int
    data: bytearray = field(default_factory=bytearray)
    is_over: bool = False

    def take(self, data: bytes) -> None:
        room = self.most - len(self.data)
        self.is_over = self.is_over or len(data) > room
        self.data += data[:room]


@dataclass(slots=True)
class TailBuffer:
    """Keeps the last ``most`` bytes. ``also``: another sink, which gets all of them."""

    most: int
    also: Sink | None = None
    data: bytearray = field(default_factory=bytearray)

    def take(self, data: bytes) -> None:
        self.data += data
        del self.data[: -self.most]
        if self.also is not None:
            self.also.take(data)


@dataclass(slots=True)
class LineSplitter:
    """Passes on each line of at most ``most`` bytes, and None for a longer one."""

    most: int
    on_line: Callable[[bytes | None], None]
    rest: CappedBuffer = field(init=False)

    def __post_init__(self) -> None:
        self.rest = CappedBuffer(self.most)

    def take(self, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self.rest.take(first)
        for each in others:
            self._pass_on()
            self.rest.take(each)

    def end(self) -> None:
        """Passes on the last line, which may lack a line feed."""
        if self.rest.data or self.rest.is_over:
            self._pass_on()

    def _pass_on(self) -> None:
        line, self.rest = self.rest, CappedBuffer(self.most)
        self.on_line(None if line.is_over else bytes(line.data))


@dataclass(slots=True)
class PipeReader:
    """Reads one end of a pipe."""

    end: int
    sink: Sink

    def move(self) -> bool:
        """Reads what is there. Returns False at the end."""
        try:
            data = os.read(self.end, CHUNK)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False
        self.sink.take(data)
        return bool(data)

    def drain(self) -> None:
        """Reads until there is nothing now."""
        with suppress(BlockingIOError, ConnectionResetError):
            while data := os.read(self.end, CHUNK):
                self.sink.take(data)


@dataclass(slots=True)
class PipeWriter:
    """Writes to one end of a pipe."""

    end: int
    data: memoryview

    def move(self) -> bool:
        """Writes as much as fits. Returns False once all is written, or the reader is gone."""
        try:
            self.data = self.data[os.write(self.end, self.data[:CHUNK]) :]
        except BlockingIOError:
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False
        return bool(self.data)
