"""Streams of gRPC: their requests, whose making may fail, and their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from ._grpc_channel import from_rpc_error, is_rpc_error


def catching(requests: Iterator[Any], failures: list[BaseException]) -> Iterator[Any]:
    """Pass requests on; keep what their making raised, which grpc would only log."""
    try:
        yield from requests
    except Exception as error:  # not GeneratorExit: that is grpc's, when the call has failed
        failures.append(error)
        raise


def translated(call: Any, failures: list[BaseException], address: str) -> Iterator[Any]:
    """Pass answers on; raise what the making of requests raised, or an error of ours."""
    try:
        yield from call
    except Exception as error:
        if failures:
            raise failures[0] from None
        if not is_rpc_error(error):  # of a stream that is decided here
            raise
        raise from_rpc_error(error, address) from error


async def async_catching(
    requests: AsyncIterator[Any], failures: list[BaseException]
) -> AsyncIterator[Any]:
    """Pass requests on; keep what their making raised, which grpc would only log."""
    try:
        async for request in requests:
            yield request
    except Exception as error:
        failures.append(error)
        raise


async def async_translated(
    call: Any, failures: list[BaseException], address: str
) -> AsyncIterator[Any]:
    """Pass answers on, as ``translated`` does."""
    try:
        async for response in call:
            yield response
    except asyncio.CancelledError:
        if failures:  # grpc cancels a call whose requests fail
            raise failures[0] from None
        raise
    except Exception as error:
        if failures:
            raise failures[0] from None
        if not is_rpc_error(error):
            raise
        raise from_rpc_error(error, address) from error
