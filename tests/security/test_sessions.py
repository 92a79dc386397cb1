"""TLS sessions are not resumed with client certificates, which may have expired."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.server import Server
from wire import reply, text

VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """A folder with ca.pem, and the certificates and keys of server and client."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=tmp_path, check=True, capture_output=True)

    key = "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"
    subject = "-subj", "/CN=authority", "-addext", "basicConstraints=critical,CA:TRUE"
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "1", *subject)
    for name, usage in [("server", "serverAuth"), ("client", "clientAuth")]:
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=x")
        extensions = f"subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage={usage}\n"
        (tmp_path / "extensions").write_text(extensions)
        authority = "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "1"
        sign = "-in", f"{name}.csr", "-out", f"{name}.pem", "-extfile", "extensions"
        openssl("x509", "-req", *sign, *authority)
    for file in tmp_path.glob("*.key"):
        file.chmod(0o600)
    return tmp_path


@pytest.mark.parametrize("version", VERSIONS, ids=["1.2", "1.3"])
def test_no_session_is_resumed(
    serve: Callable[..., Server], certificates: Path, version: ssl.TLSVersion
) -> None:
    folder = certificates
    pair = "--tls-certificate", f"{folder}/server.pem", "--tls-key", f"{folder}/server.key"
    server = serve(*pair, "--tls-client-ca", f"{folder}/ca.pem")
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.load_cert_chain(folder / "client.pem", folder / "client.key")
    context.minimum_version = context.maximum_version = version

    def call(session: ssl.SSLSession | None) -> tuple[bool, ssl.SSLSession | None]:
        plain = socket.create_connection(("127.0.0.1", server.port), 5)
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as wire:
            wire.sendall(text("/offbeat.v1.NamedSpreadService/ListSpreads"))
            assert reply(wire).status == 200
            return bool(wire.session_reused), wire.session

    _, session = call(None)
    for _ in range(2):
        was_resumed, session = call(session)
        assert not was_resumed
