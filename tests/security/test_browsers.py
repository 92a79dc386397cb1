"""Web pages in a browser on this machine must not make calls; headers identify them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.server import Server
from wire import ASSIGN_SLOT, GRPC, JSON, ONE_ID, ask, ask2

NAMED = "/offbeat.v1.NamedSpreadService/ListSpreads"
FOREIGN = [
    "attacker.example",
    "attacker.example:{port}",
    "localhost.attacker.example",
    "127.0.0.1.attacker.example:{port}",
    "notlocalhost.example",
    "1.2.3.4.5",
    "[::1].attacker.example",
    "user@localhost",
]
OWN = [
    "localhost",
    "localhost:{port}",
    "LocalHost",
    "127.0.0.1:{port}",
    "[::1]:{port}",
    "10.1.2.3",
    "offbeat",
]
#: Headers that a browser sends for a page of another site.
CROSS = [
    "Origin: http://attacker.example",
    "Origin: http://attacker.example:{port}",
    "Origin: null",
    "Origin: http://localhost:1",
    "Sec-Fetch-Site: cross-site",
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server on the loopback, without a token."""
    with Server() as server:
        yield server


def of(server: Server, value: str) -> str:
    """A value with the server's port filled in."""
    return value.format(port=server.port)


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_is_misdirected(server: Server, host: str) -> None:
    assert ask(server.port, NAMED, b"{}", host=of(server, host)).status == 421


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_is_misdirected_by_the_admin_port(server: Server, host: str) -> None:
    host = host.format(port=server.admin_port)
    assert ask(server.admin_port, "/metrics", None, host=host).status == 421


@pytest.mark.parametrize("host", OWN)
def test_own_names_are_answered(server: Server, host: str) -> None:
    assert ask(server.port, ASSIGN_SLOT, ONE_ID, host=of(server, host)).status == 200
    host = host.format(port=server.admin_port)
    assert ask(server.admin_port, "/metrics", None, host=host).status == 200


def test_a_host_must_be_there(server: Server) -> None:
    assert ask(server.port, ASSIGN_SLOT, ONE_ID, host=None).status == 400
    assert ask(server.port, ASSIGN_SLOT, ONE_ID, "Host: attacker.example").status in (400, 421)


def test_a_foreign_authority_is_misdirected(server: Server) -> None:
    answer = ask2(server.port, ASSIGN_SLOT, ONE_ID, authority="attacker.example", kind=JSON)
    assert answer.headers[":status"] == "421"


def test_a_foreign_authority_is_refused_over_grpc(server: Server) -> None:
    answer = ask2(server.port, NAMED, b"", authority="attacker.example")
    assert answer.reset is not None or answer.status not in ("0", "200"), answer


@pytest.mark.parametrize("authority", OWN)
def test_own_authorities_are_answered(server: Server, authority: str) -> None:
    authority = of(server, authority)
    assert ask2(server.port, NAMED, b"", authority=authority).status == "0"
    answer = ask2(server.port, NAMED, b"{}", authority=authority, kind=JSON)
    assert answer.headers[":status"] == "200"


@pytest.mark.parametrize("header", CROSS)
def test_pages_of_others_are_forbidden(server: Server, header: str) -> None:
    assert ask(server.port, NAMED, b"{}", of(server, header)).status == 403
    header = header.format(port=server.admin_port)
    assert ask(server.admin_port, "/metrics", None, header).status == 403


@pytest.mark.parametrize("kind", [GRPC, JSON])
def test_pages_of_others_are_forbidden_over_http2(server: Server, kind: str) -> None:
    origin = ("origin", "http://attacker.example")
    answer = ask2(server.port, NAMED, b"" if kind == GRPC else b"{}", origin, kind=kind)
    assert answer.reset is not None or answer.status not in ("0", "200"), answer


def test_pages_of_this_server_are_answered(server: Server) -> None:
    host = f"localhost:{server.port}"
    headers = f"Origin: http://{host}", "Sec-Fetch-Site: same-origin"
    assert ask(server.port, NAMED, b"{}", *headers, host=host).status == 200
    assert ask(server.port, NAMED, b"{}", "Sec-Fetch-Site: none", host=host).status == 200


@pytest.mark.parametrize("how", ["flags", "variable"])
def test_hosts_can_be_allowed(serve: Callable[..., Server], how: str) -> None:
    names = ["sidecar.example", "offbeat.internal"]
    if how == "flags":
        server = serve(*(part for name in names for part in ("--allowed-host", name)))
    else:
        server = serve(variables={"OFFBEAT_ALLOWED_HOST": ",".join(names)})
    for name in [*names, f"{names[0]}:{server.port}", names[1].upper()]:
        assert ask(server.port, NAMED, b"{}", host=name).status == 200
        assert ask(server.admin_port, "/metrics", None, host=name).status == 200
    for name in ["attacker.example", f"x.{names[0]}"]:
        assert ask(server.port, NAMED, b"{}", host=name).status == 421


def test_unix_sockets_have_no_names(serve: Callable[..., Server], tmp_path: object) -> None:
    server = serve(listen=f"unix:{tmp_path}/s.sock", admin=f"unix:{tmp_path}/admin.sock")
    assert ask(server.address, NAMED, b"{}", host="attacker.example").status == 200
    assert ask(server.admin, "/metrics", None, host="attacker.example").status == 200


def test_other_addresses_have_any_name(serve: Callable[..., Server]) -> None:
    """In a cluster, a service is called by names that it cannot know."""
    server = serve("--insecure", listen="0.0.0.0:0")
    assert ask(server.port, NAMED, b"{}", host="offbeat.default.svc.cluster.local").status == 200


def test_answers_are_not_sniffed(server: Server) -> None:
    answers = [
        ask(server.port, ASSIGN_SLOT, ONE_ID),
        ask(server.port, ASSIGN_SLOT, b"nonsense"),
        ask(server.port, "/no/method", b"{}"),
        *(ask(server.admin_port, path, None) for path in ("/metrics", "/healthz", "/readyz", "/x")),
    ]
    assert [answer.headers.get("x-content-type-options") for answer in answers] == ["nosniff"] * 7
