"""Tokens and private keys must not appear in anything that is shown, logged or written."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import functools
import io
import json
import logging
import pickle
from datetime import timedelta

import pytest
from authority import Authority
from conftest import Sidecar, free_port

import offbeat
from offbeat import AsyncClient, Client, Schedule, Tls
from offbeat.lateness import LatenessRecorder

TOKEN = "the-first-token-0123456789"
DAILY = Schedule(timedelta(days=1))


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "ours")


@pytest.fixture(scope="module")
def signed(authority):
    return authority.sign("IP:127.0.0.1")


@pytest.fixture(scope="module")
def guarded(authority, signed, tmp_path_factory):
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text(f"{TOKEN}\n")
    running = Sidecar(
        f"127.0.0.1:{free_port()}",
        *("--tls-certificate", signed.certificate, "--tls-key", signed.key),
        *("--tls-client-ca", authority.ca, "--token-file", tokens),
    )
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="module")
def key(signed):
    return signed.key.read_bytes()


@pytest.fixture(scope="module")
def tls(authority, signed, key):
    return Tls(authority.ca, signed.certificate, key)


class Vault:
    """A callable token that holds the secret itself."""

    def __init__(self) -> None:
        self.token = TOKEN

    def __call__(self) -> str:
        return self.token


def as_json(thing: object) -> str:
    """Return what a careless log would contain, including text written before an error."""
    written = io.StringIO()
    try:
        json.dump(thing, written, default=vars)
    except (TypeError, ValueError) as error:
        written.write(str(error))
    return written.getvalue()


def pickled(thing: object) -> str:
    try:
        return pickle.dumps(thing).decode("latin-1")
    except (TypeError, pickle.PicklingError) as error:
        return str(error)


def logged(thing: object) -> str:
    written = io.StringIO()
    log = logging.Logger("careless")
    log.addHandler(logging.StreamHandler(written))
    log.error("%s %r", thing, thing, exc_info=thing if isinstance(thing, Exception) else None)
    return written.getvalue()


def as_dict(thing: object) -> str:
    is_value = dataclasses.is_dataclass(thing)
    return repr(dataclasses.asdict(thing)) if is_value else ""


def held_by(thing: object) -> str:
    return repr(getattr(thing, "__dict__", None))


WAYS = [repr, str, as_json, pickled, logged, as_dict, held_by]


def assert_hidden(things: list[object], key: bytes) -> None:
    for thing in things:
        for way in WAYS:
            shown = way(thing)
            assert TOKEN not in shown, (way, type(thing))
            assert key.decode().splitlines()[1] not in shown, (way, type(thing))


def parts(client: Client | AsyncClient) -> list[object]:
    access = client._channel._access
    return [client, client._channel, access, access.tls, access.token]


SOURCES = [TOKEN, Vault(), lambda: TOKEN, functools.partial(str, TOKEN)]


@pytest.mark.parametrize("token", SOURCES)
def test_nothing_that_reaches_a_client_shows_its_secrets(guarded, tls, key, token):
    with Client(guarded.address, tls=tls, token=token) as client:
        client.describe_schedule(DAILY)
        with pytest.raises(offbeat.InvalidArgument) as caught:
            client.describe_schedule(Schedule(timedelta(0)))
        spread = client.named_spread("mail", 1)
        recorder = LatenessRecorder(client=client)
        things = [*parts(client), spread, spread.producer(), spread.consumer("c"), recorder]
        assert_hidden([*things, recorder._sender, client.spread([["a"]], 1), caught.value], key)


@pytest.mark.parametrize("token", SOURCES)
def test_nothing_that_reaches_an_async_client_shows_its_secrets(guarded, tls, key, token):
    async def asked() -> None:
        async with AsyncClient(guarded.address, tls=tls, token=token) as client:
            await client.describe_schedule(DAILY)
            spread = client.named_spread("mail", 1)
            assert_hidden([*parts(client), spread, spread.producer()], key)

    asyncio.run(asked())


@pytest.mark.parametrize("make", [Client, AsyncClient])
@pytest.mark.parametrize("way", [pickle.dumps, copy.deepcopy])
def test_a_client_is_neither_pickled_nor_copied(make, way):
    client = make()
    for thing in (client, client.named_spread("mail", 1)):
        with pytest.raises(TypeError, match="offbeat client cannot be pickled or copied"):
            way(thing)


def test_settings_of_tls_may_be_copied_and_compared(authority, signed, key):
    by_content, by_path = (Tls(authority.ca, signed.certificate, one) for one in (key, signed.key))
    for tls in (by_content, by_path):
        assert copy.deepcopy(tls) == dataclasses.replace(tls) == copy.copy(tls) == tls
        assert hash(copy.deepcopy(tls)) == hash(tls)
        assert dataclasses.replace(tls, server_name="offbeat.test") != tls
    assert by_content != by_path
    assert by_content != dataclasses.replace(by_content, key=b"another")
    assert pickle.loads(pickle.dumps(by_path)) == by_path
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(by_content)
