"""Certificates for the tests, made by the command ``openssl``."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


@dataclass(frozen=True)
class Signed:
    certificate: Path
    key: Path


class Authority:
    """An authority in a folder of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._key = folder, folder / "ca.key"
        self.ca = folder / "ca.pem"
        _openssl(
            ["req", "-x509", *_NEW_KEY, "-days", "2", "-subj", f"/CN={name}"],
            ["-addext", "basicConstraints=critical,CA:TRUE"],
            ["-keyout", self._key, "-out", self.ca],
        )

    def sign(self, *names: str) -> Signed:
        """Sign a certificate for names such as ``IP:127.0.0.1`` and ``DNS:offbeat.test``."""
        stem = names[0].replace(":", "_")
        signed = Signed(self._folder / f"{stem}.pem", self._folder / f"{stem}.key")
        request, extensions = self._folder / "request", self._folder / "extensions"
        extensions.write_text(f"subjectAltName={','.join(names)}\n")
        _openssl(
            ["req", "-new", *_NEW_KEY, "-subj", "/CN=offbeat"],
            ["-keyout", signed.key, "-out", request],
        )
        _openssl(
            ["x509", "-req", "-in", request, "-days", "2", "-extfile", extensions],
            ["-CA", self.ca, "-CAkey", self._key, "-CAcreateserial", "-out", signed.certificate],
        )
        return signed


def _openssl(*arguments: list[str | Path]) -> None:
    command = ["openssl", *(argument for some in arguments for argument in some)]
    subprocess.run(command, check=True, capture_output=True)
