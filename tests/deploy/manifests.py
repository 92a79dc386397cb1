"""The manifests, as kustomize renders them."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from containers import ROOT, checked

FOLDER = ROOT / "deploy" / "kubernetes"
KUBECTL = Path(sys.executable).parent / "kubectl"
SERVICES = ["standalone", "named-spreads", "named-spreads-redis"]
OVERLAYS = ["example", *SERVICES]
WITH_REDIS = "named-spreads-redis"
UNITS = {"Mi": 1 << 20, "Gi": 1 << 30}

Manifest = dict[str, Any]


@functools.cache
def rendered(overlay: str) -> str:
    return checked(KUBECTL, "kustomize", FOLDER / overlay)


def manifests(overlay: str) -> list[Manifest]:
    return list(yaml.safe_load_all(rendered(overlay)))


def one(overlay: str, kind: str, name: str = "") -> Manifest:
    """Return the only manifest of a kind, or the one with this name and maybe a hash."""
    of_kind = [manifest for manifest in manifests(overlay) if manifest["kind"] == kind]
    hashed = re.compile(rf"{name or 'offbeat'}(-[0-9a-z]{{10}})?")
    named = [each for each in of_kind if hashed.fullmatch(each["metadata"]["name"])]
    (found,) = named if len(of_kind) > 1 else of_kind
    return found


def pods(overlay: str, kind: str = "Deployment") -> Iterator[Manifest]:
    """Yield the specifications of pods."""
    for manifest in manifests(overlay):
        if manifest["kind"] == kind:
            yield manifest["spec"]["template"]["spec"]


def containers(pod: Manifest) -> list[Manifest]:
    return pod.get("initContainers", []) + pod["containers"]


def offbeat_in(pod: Manifest) -> Manifest:
    (found,) = [container for container in containers(pod) if container["name"] == "offbeat"]
    return found


def variables(container: Manifest) -> dict[str, str]:
    """Return the variables that have a value in the manifest, and not from a secret."""
    return {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}


def memory_limit(container: Manifest) -> int:
    limit = container["resources"]["limits"]["memory"]
    return int(limit[:-2]) * UNITS[limit[-2:]]
