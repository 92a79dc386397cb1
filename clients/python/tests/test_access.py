"""TLS and tokens: who may call, which servers are trusted, and which secrets are never shown."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import time
import traceback
from datetime import timedelta
from pathlib import Path

import pytest
from authority import Authority
from conftest import Sidecar, free_port

import offbeat
from offbeat import AsyncClient, Client, Schedule, Tls

EIGHT_HOURS = Schedule(timedelta(hours=8))
OLD, NEW, OTHER = (f"{name}-secret-0123456789" for name in ("old", "new", "other"))
GROUPS = [["a1", "a2", "a3"], ["b1"], ["c1", "c2"]]
IN_TURN = ["a1", "b1", "a2", "c1", "a3", "c2"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "ours")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("stranger"), "another")


@pytest.fixture(scope="module")
def signed(authority):
    return authority.sign("IP:127.0.0.1", "DNS:offbeat.test")


@pytest.fixture(scope="module")
def tls_flags(signed):
    return ["--tls-certificate", str(signed.certificate), "--tls-key", str(signed.key)]


def serving(*flags: str, listen: str = ""):
    sidecar = Sidecar(listen or f"127.0.0.1:{free_port()}", *flags)
    yield sidecar
    assert sidecar.stop() == 0


@pytest.fixture(scope="module")
def over_tls(tls_flags, tokens):
    yield from serving(*tls_flags, "--token-file", str(tokens))


@pytest.fixture(scope="module")
def mutual(tls_flags, authority):
    yield from serving(*tls_flags, "--tls-client-ca", str(authority.ca))


@pytest.fixture(scope="module")
def guarded(tokens):
    yield from serving("--token-file", str(tokens))


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    file = tmp_path_factory.mktemp("tokens") / "tokens"
    file.write_text(f"{OLD}\n")
    return file


def answers(client: Client) -> None:
    """Make one call of each sort: unary, streams, named spreads."""
    assert client.server_info().version
    assert client.assign_slot(EIGHT_HOURS, "acme").slot_index >= 0
    assert len(client.assign_slots(EIGHT_HOURS, range(70_000))) == 70_000
    batches = client.stream_slot_assignments(EIGHT_HOURS, range(20_000))
    assert sum(len(batch) for batch in batches) == 20_000
    assert [turn.job for turn in client.spread(GROUPS, 2)] == IN_TURN
    assert client.choose_stage([offbeat.Stage("a", 1, timedelta(seconds=1))]).stage_name == "a"
    spread = client.named_spread(f"mail-{time.monotonic_ns()}", 2)
    producer = spread.producer()
    producer.submit("a", ["1", "2"])
    with spread.consumer("pulls", batch_size=1, wait=1) as pulling:
        next(pulling).ack()
    with spread.stream("streams") as streaming:
        next(streaming).ack()
    assert list(producer.wait(timeout=10)) == ["a"]
    assert spread.name in [one.spread_name for one in client.list_spreads()]
    spread.close()


async def async_answers(client: AsyncClient) -> None:
    assert (await client.server_info()).version
    assert (await client.assign_slot(EIGHT_HOURS, "acme")).slot_index >= 0
    batches = client.stream_slot_assignments(EIGHT_HOURS, range(20_000))
    assert sum([len(batch) async for batch in batches]) == 20_000
    assert [turn.job async for turn in client.spread(GROUPS, 2)] == IN_TURN
    spread = client.named_spread(f"mail-{time.monotonic_ns()}", 2)
    await spread.producer().submit("a", ["1"])
    async with spread.consumer("pulls", wait=1) as pulling:
        (await pulling.__anext__()).ack()
    assert spread.name in [one.spread_name async for one in client.list_spreads()]
    await spread.close()


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 30))


def ask(address: str, **arguments) -> None:
    """Make one call with each client; both must fail alike."""

    async def asynchronously() -> None:
        async with AsyncClient(address, timeout=4, **arguments) as client:
            await client.assign_slot(EIGHT_HOURS, "acme")

    def synchronously() -> None:
        with Client(address, timeout=4, **arguments) as client:
            client.assign_slot(EIGHT_HOURS, "acme")

    failures: list[offbeat.OffbeatError | None] = []
    for attempt in (synchronously, lambda: run(asynchronously())):
        try:
            failures.append(attempt())
        except offbeat.OffbeatError as error:
            failures.append(error)
    first, second = failures
    assert type(first) is type(second), failures
    if first is not None:
        raise first


def test_everything_is_asked_over_tls(over_tls, authority):
    with Client(over_tls.address, tls=Tls(ca=authority.ca), token=OLD) as client:
        answers(client)


def test_everything_is_asked_over_tls_from_asyncio(over_tls, authority):
    async def asked():
        tls = Tls(ca=authority.ca.read_bytes())
        async with AsyncClient(over_tls.address, tls=tls, token=lambda: OLD) as client:
            await async_answers(client)

    run(asked())


@pytest.mark.parametrize("as_directory", [False, True])
def test_the_authorities_of_the_system(over_tls, authority, monkeypatch, tmp_path, as_directory):
    if as_directory:
        (tmp_path / "0123abcd.0").write_bytes(authority.ca.read_bytes())
        (tmp_path / "README").write_text("no certificate")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
        monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    else:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca))
    ask(over_tls.address, tls=True, token=OLD)
    ask(over_tls.address, tls=Tls(), token=OLD)


def test_another_authority_is_not_trusted(over_tls, stranger):
    with pytest.raises(offbeat.Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
        ask(over_tls.address, tls=Tls(ca=stranger.ca), token=OLD)
    with pytest.raises(offbeat.Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
        Client(over_tls.address, timeout=4, tls=True, token=OLD).assign_slot(EIGHT_HOURS, "acme")


def test_the_name_in_the_certificate_counts(over_tls, authority):
    ask(over_tls.address, tls=Tls(authority.ca, server_name="offbeat.test"), token=OLD)
    with pytest.raises(offbeat.Unavailable, match="tls="):
        ask(over_tls.address, tls=Tls(authority.ca, server_name="other.test"), token=OLD)


def test_tls_on_one_side_alone(over_tls, guarded, authority):
    with pytest.raises(offbeat.Unavailable, match="tls="):
        ask(over_tls.address, token=OLD)
    with pytest.raises(offbeat.Unavailable, match="WRONG_VERSION_NUMBER"):
        ask(guarded.address, tls=Tls(authority.ca), token=OLD)


@pytest.mark.parametrize("read", [lambda path: path, str, Path.read_bytes])
def test_a_server_that_wants_certificates(mutual, authority, read):
    own = authority.sign("DNS:client.test")
    ask(mutual.address, tls=Tls(read(authority.ca), read(own.certificate), read(own.key)))
    with Client(mutual.address, tls=Tls(authority.ca, own.certificate, own.key)) as client:
        answers(client)


def test_a_server_that_wants_other_certificates(mutual, authority, stranger):
    own = stranger.sign("DNS:client.test")
    for tls in (Tls(authority.ca), Tls(authority.ca, own.certificate, own.key)):
        with pytest.raises(offbeat.Unavailable, match="tls="):
            ask(mutual.address, tls=tls)


def test_files_are_read_when_it_connects(over_tls, authority, stranger, tmp_path):
    ca = tmp_path / "ca.pem"
    with Client(over_tls.address, tls=Tls(ca), token=OLD, timeout=4) as client:
        with pytest.raises(offbeat.InvalidArgument, match="No such file") as caught:
            client.assign_slot(EIGHT_HOURS, "acme")
        assert caught.value.field == "tls.ca"
        ca.write_bytes(stranger.ca.read_bytes())
        with pytest.raises(offbeat.Unavailable):
            client.assign_slot(EIGHT_HOURS, "acme")
        ca.write_bytes(authority.ca.read_bytes())
        client.close()
        client.assign_slot(EIGHT_HOURS, "acme")


@pytest.mark.parametrize("token", [None, OTHER, lambda: OTHER])
def test_tokens_of_others_are_refused(guarded, token):
    with pytest.raises(offbeat.Unauthenticated) as caught:
        ask(guarded.address, token=token)
    error = caught.value
    assert (error.code, error.reason) == ("UNAUTHENTICATED", "ERROR_REASON_UNAUTHENTICATED")
    assert isinstance(error, offbeat.OffbeatError)
    with Client(guarded.address, token=token) as client:
        for refused in (
            lambda: list(client.stream_slot_assignments(EIGHT_HOURS, range(3))),
            lambda: list(client.spread(GROUPS, 2)),
            lambda: client.named_spread("mail", 2).open(),
            lambda: next(client.named_spread("mail", 2).stream("worker")),
        ):
            with pytest.raises(offbeat.Unauthenticated):
                refused()


@pytest.mark.parametrize("token", [OLD, f"  {OLD}\n", lambda: f"{OLD}\n"])
def test_tokens_over_loopback(guarded, token):
    ask(guarded.address, token=token)


def test_all_calls_carry_the_token(guarded):
    with Client(guarded.address, token=OLD) as client:
        answers(client)

    async def asked():
        async with AsyncClient(guarded.address, token=OLD) as client:
            await async_answers(client)

    run(asked())


def test_tokens_over_unix_sockets(tokens, tmp_path):
    listen = f"unix:{tmp_path}/offbeat.sock"
    for sidecar in serving("--token-file", str(tokens), listen=listen):
        ask(sidecar.address, token=OLD)
        with pytest.raises(offbeat.Unauthenticated):
            ask(sidecar.address)


def test_users_who_may_not_call_are_refused(tmp_path):
    listen = f"unix:{tmp_path}/offbeat.sock"
    for sidecar in serving("--socket-uids", str(os.getuid() + 1), listen=listen):
        with pytest.raises(offbeat.PermissionDenied) as caught:
            ask(sidecar.address)
        error = caught.value
        assert (error.code, error.reason) == ("PERMISSION_DENIED", "ERROR_REASON_USER_NOT_ALLOWED")
    for sidecar in serving("--socket-uids", str(os.getuid()), listen=listen):
        ask(sidecar.address)


def test_tokens_may_change_under_a_client(tmp_path):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.write_text(f"{OLD}\n")
    ours.write_text(f"{OLD}\n")

    async def before_and_after(sidecar):
        known = Client(sidecar.address, token=OLD)
        client = Client(sidecar.address, token=ours.read_text)
        async_client = AsyncClient(sidecar.address, token=ours.read_text)

        async def ask_both():
            client.assign_slot(EIGHT_HOURS, "acme")
            await async_client.assign_slot(EIGHT_HOURS, "acme")

        await ask_both()
        theirs.write_text(f"{NEW}\n")
        sidecar.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                known.assign_slot(EIGHT_HOURS, "acme")
            except offbeat.Unauthenticated:
                break
        with pytest.raises(offbeat.Unauthenticated):
            await ask_both()
        ours.write_text(f"{NEW}\n")
        await ask_both()
        await async_client.close()

    for sidecar in serving("--token-file", str(theirs)):
        run(before_and_after(sidecar))


def test_what_the_source_of_tokens_raises_reaches_the_caller(guarded):
    def broken() -> str:
        raise KeyError("the vault is sealed")

    with Client(guarded.address, token=broken) as client:
        with pytest.raises(KeyError, match="vault"):
            client.assign_slot(EIGHT_HOURS, "acme")
        with pytest.raises(KeyError, match="vault"):
            list(client.stream_slot_assignments(EIGHT_HOURS, range(3)))


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "127.8.8.8:1", "localhost:1", "[::1]:1", "unix:/nowhere"]
)
def test_tokens_stay_on_the_machine(address):
    Client(address, token=OLD)


@pytest.mark.parametrize(
    "address",
    ["10.0.0.1:2328", "offbeat:2328", "localhost.example.com:1", "[fd00::1]:1", "0.0.0.0:1"],
)
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_tokens_do_not_leave_the_machine_without_tls(client, address):
    with pytest.raises(offbeat.InvalidArgument, match="tls=") as caught:
        client(address, token=OLD)
    assert caught.value.field == "token"
    client(address, token=OLD, tls=True)
    client(address)


KEY = b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"
CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nc2VjcmV0\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (lambda: Client(token=""), "token"),
        (lambda: Client(token=b"secret-0123456789"), "token"),
        (lambda: Client(token="secret 0123456789"), "token"),
        (lambda: Client(token="secret-0123456789\nsecret"), "token"),
        (lambda: Client(token="secret-é-0123456789"), "token"),
        (lambda: Client(token=lambda: None).assign_slot(EIGHT_HOURS, 1), "token"),
        (lambda: Client(token=lambda: "secret\0secret").assign_slot(EIGHT_HOURS, 1), "token"),
        (lambda: Client(tls="secret"), "tls"),
        (lambda: Client("unix:/nowhere", tls=True), "tls"),
        (lambda: Client(tls=Tls(ca=3)), "tls.ca"),
        (lambda: Client(tls=Tls(certificate="client.pem")), "tls.key"),
        (lambda: Client(tls=Tls(key=KEY)), "tls.certificate"),
        (lambda: Client(tls=Tls(certificate="c.pem", key=KEY.decode())), "tls.key"),
        (lambda: Client(tls=Tls(server_name="")), "tls.server_name"),
        (lambda: Client(tls=Tls(ca="/")).assign_slot(EIGHT_HOURS, 1), "tls.ca"),
        (lambda: Client(tls=Tls(ca=b"secret")).assign_slot(EIGHT_HOURS, 1), "tls.ca"),
        (lambda: Client(tls=Tls(ca=CERTIFICATE)).assign_slot(EIGHT_HOURS, 1), "tls.ca"),
        (lambda: Client(tls=Tls(None, KEY, KEY)).assign_slot(EIGHT_HOURS, 1), "tls.certificate"),
    ],
)
def test_what_is_wrong_is_refused_and_not_shown(ask, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        ask()
    error = caught.value
    assert error.field == field
    assert error.allowed
    assert field in str(error)
    shown = "".join([str(error), repr(error), repr(vars(error)), repr(error.__context__)])
    assert "secret" not in shown
    assert "c2VjcmV0" not in shown
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("content", [b"no key", KEY.replace(b"PRIVATE", b"ENCRYPTED PRIVATE")])
def test_a_key_must_be_one(authority, content):
    own = authority.sign("DNS:client.test")
    with pytest.raises(offbeat.InvalidArgument, match="without a passphrase") as caught:
        Client(tls=Tls(None, own.certificate, content)).assign_slot(EIGHT_HOURS, 1)
    assert caught.value.field == "tls.key"


def test_secrets_are_in_no_repr_and_in_no_traceback(guarded):
    for token in (OTHER, lambda: OTHER):
        client = Client(guarded.address, token=token)
        with pytest.raises(offbeat.Unauthenticated) as caught:
            client.assign_slot(EIGHT_HOURS, "acme")
        error = caught.value
        shown = [repr(client), repr(vars(client)), repr(vars(client._channel)), repr(vars(error))]
        shown += traceback.format_exception(type(error), error, error.__traceback__)
        assert OTHER not in "".join(shown)
    assert "secret" not in repr(Tls(None, "client.pem", b"secret"))
