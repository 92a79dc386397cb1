"""Streams of gRPC: errors while their requests are produced, and errors of their responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from ._grpc_channel import from_rpc_error, is_rpc_error


def catching(requests: Iterator[Any], failures: list[BaseException]) -> Iterator[Any]:
    """Pass requests on; keep an exception raised while producing them: grpc only logs it."""
    try:
        yield from requests
    except Exception as error:  # not GeneratorExit, by which grpc ends requests of a failed call
        failures.append(error)
        raise


def translated(call: Any, failures: list[BaseException], address: str) -> Iterator[Any]:
    """Pass responses on; raise what producing the requests raised, or an ``OffbeatError``."""
    try:
        yield from call
    except Exception as error:
        if failures:
            raise failures[0] from None
        if not is_rpc_error(error):  # from a stream that is decided locally
            raise
        raise from_rpc_error(error, address) from error


async def async_catching(
    requests: AsyncIterator[Any], failures: list[BaseException]
) -> AsyncIterator[Any]:
    """Pass requests on; keep an exception raised while producing them: grpc only logs it."""
    try:
        async for request in requests:
            yield request
    except Exception as error:
        failures.append(error)
        raise


async def async_translated(
    call: Any, failures: list[BaseException], address: str
) -> AsyncIterator[Any]:
    """Pass responses on, as ``translated`` does."""
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
