"""Writes the bill of materials of the static binary (CycloneDX), and the texts of the licences.

Cargo.lock alone is not enough: it also lists crates that only build or test, and it lacks
the other linked libraries (Rust's library, glibc, SQLite), which age.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import platform
import re
import subprocess
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LICENSE_FILE = re.compile(r"(licen[cs]e|copying|notice|unlicense)", re.IGNORECASE)
LOCKED = re.compile(r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"\n')
LGPL = Path("/usr/share/common-licenses/LGPL-2.1")  # its path on Debian

Component = dict[str, Any]


def cargo(*arguments: str) -> str:
    command = ["cargo", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked_crates(target: str) -> tuple[list[tuple[str, str]], dict[str, set[str]]]:
    """Return the crates in the binary as (name, version), offbeat first, and their dependencies."""
    tree = cargo(
        *("tree", "--locked", "--package", "offbeat"),
        *("--target", target, "--no-dedupe"),
        *("--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", " {p}"),
    )
    crates: dict[tuple[str, str], None] = {}  # in the order of the tree
    uses: dict[str, set[str]] = {}
    path: list[str] = []
    for line in tree.splitlines():
        depth, name, version = line.split()[:3]
        crate = (name, version.removeprefix("v"))
        crates[crate] = None
        del path[int(depth) :]
        uses.setdefault(reference(*crate), set())
        if path:
            uses[path[-1]].add(reference(*crate))
        path.append(reference(*crate))
    return list(crates), uses


def reference(name: str, version: str) -> str:
    return f"pkg:cargo/{name}@{version}"


def crate_component(package: dict[str, Any], checksum: str | None) -> Component:
    name, version = package["name"], package["version"]
    component: Component = {
        "type": "library",
        "bom-ref": reference(name, version),
        "name": name,
        "version": version,
        # Older crates write "MIT/Apache-2.0", which is not an SPDX expression.
        "licenses": [{"expression": package["license"].replace("/", " OR ")}],
        "purl": reference(name, version),
    }
    if checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return component


def linked_besides() -> list[Component]:
    """Return the linked libraries that are not crates, in the building machine's versions."""
    rust = subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    found = [
        ("rust-std", rust.stdout.split()[1], "rust-lang:rust", "MIT OR Apache-2.0"),
        ("glibc", platform.libc_ver()[1], "gnu:glibc", "LGPL-2.1-or-later"),
    ]
    return [
        {
            "type": "library",
            "bom-ref": f"pkg:generic/{name}@{version}",
            "name": name,
            "version": version,
            "licenses": [{"expression": license}],
            "purl": f"pkg:generic/{name}@{version}",
            "cpe": f"cpe:2.3:a:{maker}:{version}:*:*:*:*:*:*:*",
        }
        for name, version, maker, license in found
    ]


def bill(
    components: list[Component], uses: dict[str, set[str]], binary_hash: str
) -> dict[str, Any]:
    """Return the bill, which is reproducible; the first component is the binary."""
    root, *parts = components
    root = {**root, "type": "application", "hashes": [{"alg": "SHA-256", "content": binary_hash}]}
    besides = {part["bom-ref"] for part in parts} - uses.keys()
    uses = {**uses, root["bom-ref"]: uses[root["bom-ref"]] | besides}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, binary_hash)}",
        "version": 1,
        "metadata": {"component": root},
        "components": parts,
        "dependencies": [
            {"ref": user, "dependsOn": sorted(used)} for user, used in sorted(uses.items())
        ],
    }


def license_texts(packages: list[dict[str, Any]]) -> str:
    """Return each text once, under the names of the packages that have it."""
    owners: dict[str, list[str]] = {}
    if LGPL.exists():
        owners[LGPL.read_text().strip()] = ["glibc (LGPL-2.1-or-later)"]
    for package in packages:
        folder = Path(package["manifest_path"]).parent
        name = f"{package['name']} {package['version']} ({package['license']})"
        files = [file for file in sorted(folder.iterdir()) if LICENSE_FILE.match(file.name)]
        texts = [file.read_text(errors="replace").strip() for file in files if file.is_file()]
        for text in texts or ["(comes without a text of its licence)"]:
            owners.setdefault(text, []).append(name)
    rule = "=" * 80
    heads = (f"{rule}\n" + "\n".join(names) + f"\n{rule}" for names in owners.values())
    return "\n".join(f"{head}\n\n{text}\n" for head, text in zip(heads, owners))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--bill", type=Path, required=True)
    parser.add_argument("--licenses", type=Path, required=True)
    arguments = parser.parse_args()

    crates, uses = linked_crates(arguments.target)
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1"))
    known = {(package["name"], package["version"]): package for package in metadata["packages"]}
    locked = LOCKED.findall((ROOT / "Cargo.lock").read_text())
    checksums = {(name, version): checksum for name, version, checksum in locked}

    packages = [known[crate] for crate in crates]
    components = [crate_component(known[crate], checksums.get(crate)) for crate in crates]
    components += linked_besides()
    binary_hash = hashlib.sha256(arguments.binary.read_bytes()).hexdigest()
    arguments.bill.write_text(
        json.dumps(bill(components, uses, binary_hash), separators=(",", ":")) + "\n"
    )
    texts = license_texts(packages).encode()
    arguments.licenses.write_bytes(gzip.compress(texts, mtime=0))  # mtime=0: reproducible


if __name__ == "__main__":
    main()
