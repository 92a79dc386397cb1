"""A proxy between servers and Redis, which cuts, delays and drops."""

from __future__ import annotations

import asyncio
import random
import threading
from pathlib import Path

#: Ways to disturb the forwarded traffic.
MODES = ("cut all", "cut request", "cut answer", "unheard", "delay", "drop request", "drop answer")


class Proxy:
    """Forwards connections to a Unix socket, in a thread of its own."""

    def __init__(self, target: Path, chance: random.Random) -> None:
        self.target, self.random = target, chance
        self.mode: str | None = None
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._has_started = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        self._has_started.wait()

    def set_mode(self, mode: str | None) -> None:
        """Set the mode; None forwards everything."""
        self.mode = mode
        if mode == "cut all":
            self.cut()

    def cut(self) -> None:
        """Close all connections."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.run_forever()

    async def _listen(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._has_started.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(str(self.target))
        except OSError:
            writer.transport.abort()
            return
        both = {writer, far_writer}
        self._writers |= both
        pumps = [
            asyncio.create_task(self._pump("request", reader, far_writer)),
            asyncio.create_task(self._pump("answer", far_reader, writer)),
        ]
        # The end of one direction ends the other.
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for pump in pumps:
            pump.cancel()
        for one in both:
            one.transport.abort()
        self._writers -= both

    async def _pump(
        self, what: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        is_dropped = False
        try:
            while data := await reader.read(1 << 16):
                mode = self.mode
                if mode == "delay":
                    await asyncio.sleep(self.random.uniform(0, 1))
                # Nothing can follow what was dropped.
                is_dropped = is_dropped or mode == f"drop {what}"
                if is_dropped:
                    continue
                if mode == f"cut {what}":
                    writer.write(data[: self.random.randrange(len(data))])
                    await writer.drain()
                    return
                if mode == "unheard" and what == "answer":
                    return
                writer.write(data)
                await writer.drain()
        except OSError:
            pass  # either side has disconnected
