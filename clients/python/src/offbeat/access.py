"""TLS and tokens. No error message and no ``repr`` contains a secret."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Callable, Union

from ._keywords import positional
from ._secret import Secret
from .errors import refused, refused_unseen

if TYPE_CHECKING:
    from dataclasses import KW_ONLY

#: PEM: the path of a file, or its content.
Pem = Union[str, "os.PathLike[str]", bytes]

#: A bearer token, or a function that returns the current one.
TokenSource = Union[str, Callable[[], str]]

_GIVEN = (str, os.PathLike, bytes, Secret, type(None))

#: The characters that RFC 6750 allows.
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/=]+")


@positional(3)
@dataclass(frozen=True)
class Tls:
    """TLS: which servers the client trusts, and its own certificate.

    Each file is PEM, as a path or as ``bytes``; files are read when the client connects.
    Raises :class:`~offbeat.InvalidArgument` for a certificate without its key, or the reverse.
    """

    #: Trusted certificate authorities; by default the system's.
    ca: Pem | None = None
    #: The client's own certificate, followed by any intermediate ones, for mutual TLS.
    certificate: Pem | None = None
    #: The key of the certificate, without a passphrase. ``bytes`` are never shown.
    key: Pem | Secret[bytes] | None = field(default=None, repr=False)
    if TYPE_CHECKING:
        _: KW_ONLY
    #: The name in the server's certificate, if it differs from the host of the address.
    server_name: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.key, bytes):
            object.__setattr__(self, "key", Secret(self.key))
        for name in ("ca", "certificate", "key"):
            given = getattr(self, name)
            is_text = isinstance(given, str) and "\n" in given
            if is_text or not isinstance(given, _GIVEN):
                allowed = "must be the path of a PEM file, or its content as bytes"
                raise refused_unseen(f"tls.{name}", allowed)
        if (self.certificate is None) != (self.key is None):
            missing = "certificate" if self.certificate is None else "key"
            raise refused_unseen(f"tls.{missing}", "a certificate and its key go together")
        if self.server_name is not None and not (
            isinstance(self.server_name, str) and self.server_name
        ):
            raise refused("tls.server_name", self.server_name, "must be a name")


class Token:
    """A bearer token: a fixed one, or one that a function returns at each call."""

    def __init__(self, source: TokenSource) -> None:
        """Refuse an invalid token; a function is first called at the first call."""
        self._source = Secret(source)
        if not callable(source):
            self.metadata()

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Return the metadata that carries the current token."""
        source = self._source.reveal()
        token = source() if callable(source) else source
        token = token.strip() if isinstance(token, str) else ""
        if not _TOKEN.fullmatch(token):
            raise refused_unseen("token", "must be a str of letters, digits and -._~+/= alone")
        return (("authorization", f"Bearer {token}"),)


@dataclass(frozen=True)
class Access:
    """The address of a sidecar, with TLS and tokens."""

    address: str
    tls: Tls | None = None
    token: Token | None = None


def resolve_access(address: str, tls: Tls | bool | None, token: TokenSource | None) -> Access:
    """Return the access to an address; refuse to send a token unprotected to another machine."""
    if tls is True:
        tls = Tls()
    if tls is not None and tls is not False and not isinstance(tls, Tls):
        raise refused_unseen("tls", "must be an offbeat.Tls, or True for the system's authorities")
    if tls and address.startswith("unix:"):
        raise refused("tls", address, "is for HOST:PORT: no TLS is spoken over Unix sockets")
    if token is not None and not tls and not _stays_on_machine(address):
        raise refused("token", address, "must not go to another machine without TLS: give tls= too")
    return Access(address, tls or None, None if token is None else Token(token))


def _stays_on_machine(address: str) -> bool:
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
