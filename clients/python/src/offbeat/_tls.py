"""TLS files: reads and checks them, and passes them to ``ssl`` and grpc."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._secret import Secret
from .access import Pem, Tls
from .errors import InvalidArgument, refused, refused_unseen


def context_of(tls: Tls) -> ssl.SSLContext:
    """Read the files, and return them as a context for Python's sockets."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    ca = _authorities(tls)
    if ca is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=ca.decode("ascii", "ignore"))
        # As in grpc: a trusted certificate need not be a root.
        context.verify_flags |= getattr(ssl, "VERIFY_X509_PARTIAL_CHAIN", 0x80000)
    own = _own_certificate(tls)
    if own is not None:
        with _as_file(b"\n".join(own)) as path:
            try:
                context.load_cert_chain(path, password=b"")  # or OpenSSL asks on the terminal
            except ssl.SSLError as error:
                allowed = f"must be that of tls.certificate: {error}"
                raise refused_unseen("tls.key", allowed) from None
    return context


def grpc_credentials_of(tls: Tls) -> Any:
    """Read the files, and return them as grpc's channel credentials."""
    import grpc

    ca, own = _authorities(tls), _own_certificate(tls)
    if own is None:
        return grpc.ssl_channel_credentials(ca)
    chain, key = own
    return grpc.ssl_channel_credentials(ca, key, chain)


def _authorities(tls: Tls) -> bytes | None:
    return system_roots() if tls.ca is None else _certificates("tls.ca", tls.ca)


def _own_certificate(tls: Tls) -> tuple[bytes, bytes] | None:
    """Return the client's certificate and its key, if it has one."""
    if tls.certificate is None or tls.key is None:
        return None
    chain = _certificates("tls.certificate", tls.certificate)
    key = tls.key.reveal() if isinstance(tls.key, Secret) else tls.key
    return chain, _key("tls.key", key)


def system_roots() -> bytes | None:
    """Return the certificates that OpenSSL trusts on this machine.

    ``None`` if it finds no file, as on Windows: there Python asks the system, and grpc trusts
    its bundled list.
    """
    paths = ssl.get_default_verify_paths()
    files = [Path(paths.cafile)] if paths.cafile else []
    if not files and paths.capath:
        files = sorted(Path(paths.capath).glob("????????.[0-9]"))  # named by c_rehash
    return b"\n".join(file.read_bytes() for file in files if file.exists()) or None


@contextmanager
def _as_file(secret: bytes) -> Iterator[str]:
    """Hold a secret in a file, if possible in memory: ``load_cert_chain`` takes only files."""
    folder = Path("/proc/self/fd")
    if hasattr(os, "memfd_create") and folder.exists():
        with os.fdopen(os.memfd_create("offbeat"), "wb") as file:
            file.write(secret)
            file.flush()
            yield str(folder / str(file.fileno()))
        return
    descriptor, path = tempfile.mkstemp()  # readable by this user alone
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secret)
        yield path
    finally:
        os.unlink(path)


def _certificates(name: str, given: Pem) -> bytes:
    content = _read(name, given)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(
            cadata=content.decode("ascii", "ignore")  # comments may be in any language
        )
    except (ssl.SSLError, ValueError) as error:
        raise _refused_file(name, given, f"must be certificates (PEM): {error}") from None
    return content


def _key(name: str, given: Pem) -> bytes:
    content = _read(name, given)
    if b"PRIVATE KEY-----" not in content or b"ENCRYPTED" in content:
        raise _refused_file(name, given, "must be a private key (PEM) without a passphrase")
    return content


def _read(name: str, given: Pem) -> bytes:
    if isinstance(given, bytes):
        return given
    try:
        return Path(given).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no path"
        raise _refused_file(name, given, f"cannot be read: {why}") from None


def _refused_file(name: str, given: Pem, allowed: str) -> InvalidArgument:
    """Refuse a file, naming its path; content given as bytes is not shown."""
    if isinstance(given, bytes):
        return refused_unseen(name, allowed)
    return refused(name, os.fspath(given), allowed)
