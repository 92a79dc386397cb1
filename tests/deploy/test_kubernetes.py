"""The manifests, rendered by kustomize and validated against the schemas of Kubernetes."""

from __future__ import annotations

import copy
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from containers import ROOT, checked
from manifests import (
    FOLDER,
    KUBECTL,
    OVERLAYS,
    SERVICES,
    WITH_REDIS,
    Manifest,
    containers,
    manifests,
    memory_limit,
    offbeat_in,
    one,
    pods,
    variables,
)

BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
# Native sidecars are on by default since 1.29; the package has the schemas up to its own version.
VERSIONS = [f"1.{minor}" for minor in range(29, 38)]


# Against the schemas


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kubernetes_takes_them(overlay, version):
    for manifest in manifests(overlay):
        kubernetes_validate.validate(manifest, version, strict=True)


def misspell_probe(manifest: Manifest) -> None:
    container = offbeat_in(manifest["spec"]["template"]["spec"])
    container["readynessProbe"] = container.pop("readinessProbe")


def number_as_variable(manifest: Manifest) -> None:
    offbeat_in(manifest["spec"]["template"]["spec"])["env"][0]["value"] = 2328


def misname_the_map(manifest: Manifest) -> None:
    manifest["spec"]["template"]["spec"]["volumes"][-1]["configMaps"] = {}


def misspell_claims(manifest: Manifest) -> None:
    manifest["spec"]["volumeClaimTemplate"] = manifest["spec"].pop("volumeClaimTemplates")


def number_as_data(manifest: Manifest) -> None:
    manifest["data"]["schedules.toml"] = 1


def drop_the_selector(manifest: Manifest) -> None:
    del manifest["spec"]["selector"]


def misplace_ports(manifest: Manifest) -> None:
    manifest["spec"]["port"] = manifest["spec"].pop("ports")


def list_as_selector(manifest: Manifest) -> None:
    manifest["spec"]["selector"] = [manifest["spec"]["selector"]]


def misspell_pod_selector(manifest: Manifest) -> None:
    manifest["spec"]["selector"] = manifest["spec"].pop("podSelector")


@pytest.mark.parametrize(
    ("overlay", "kind", "damage"),
    [
        ("example", "Deployment", misspell_probe),
        ("standalone", "Deployment", number_as_variable),
        ("named-spreads", "Deployment", drop_the_selector),
        ("standalone", "Deployment", misname_the_map),
        ("standalone", "ConfigMap", number_as_data),
        ("standalone", "Service", misplace_ports),
        ("standalone", "PodDisruptionBudget", list_as_selector),
        ("standalone", "NetworkPolicy", misspell_pod_selector),
        (WITH_REDIS, "StatefulSet", drop_the_selector),
        (WITH_REDIS, "StatefulSet", misspell_claims),
    ],
)
@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_a_broken_one_would_be_noticed(
    overlay: str, kind: str, damage: Callable[[Manifest], None], version: str
):
    broken = copy.deepcopy(one(overlay, kind))
    damage(broken)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, version, strict=True)


def test_every_file_is_used():
    used = set()
    for path in FOLDER.glob("*/kustomization.yaml"):
        text = path.read_text()
        names = re.findall(r"[\w-]+\.(?:yaml|toml|conf)\b", text)
        used |= {path, *(path.parent / name for name in names)}
    assert used == set(FOLDER.glob("*/*.*"))


# Rules that no schema covers


def broken_rules(pod: Manifest) -> list[str]:
    """Return the violations of the Pod Security Standard "restricted", and of our own rules."""
    broken = []
    shared = pod.get("securityContext", {})
    if pod.get("automountServiceAccountToken") is not False:
        broken.append("the token of the service account is mounted")
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(key):
            broken.append(key)
    if not {tuple(volume.keys() - {"name"}) for volume in pod["volumes"]} <= {
        ("configMap",),
        ("emptyDir",),
        ("secret",),
    }:
        broken.append("a volume of another kind")
    for container in containers(pod):
        context = {**shared, **container["securityContext"]}
        wanted = {
            "runAsNonRoot": True,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        name = container["name"]
        broken += [f"{name}: {key}" for key in wanted if context.get(key) != wanted[key]]
        if not context.get("runAsUser"):
            broken.append(f"{name}: runAsUser")
        if "memory" not in container["resources"]["limits"]:
            broken.append(f"{name}: no limit of memory")
    return broken


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_are_restricted(overlay):
    for pod in [*pods(overlay), *pods(overlay, "StatefulSet")]:
        assert broken_rules(pod) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("readOnlyRootFilesystem", False),
        ("allowPrivilegeEscalation", True),
        ("capabilities", {"drop": ["NET_RAW"]}),
        ("runAsUser", 0),
    ],
)
def test_a_pod_with_more_rights_would_be_noticed(key, value):
    (pod,) = pods("standalone")
    offbeat_in(pod)["securityContext"][key] = value
    assert broken_rules(pod)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_binary_knows_every_variable(overlay):
    known = set(re.findall(r"\[env: (OFFBEAT_\w+)", checked(BINARY, "serve", "--help")))
    for pod in pods(overlay):
        assert variables(offbeat_in(pod)).keys() <= known


#: The memory limit of a simulation, by the table of limits.
SIMULATION_BYTES = 64 << 20


def needed(container: Manifest) -> int:
    """Return the most memory of a server with these settings, by the rule in docs/operations.md."""
    told = checked(BINARY, "serve", "--help")
    defaults = re.findall(r"\[env: (OFFBEAT_\w+)=?\][^\[]*\[default: (\d+)\]", told)
    setting = {name: int(value) for name, value in defaults}
    setting |= {name: int(value) for name, value in variables(container).items() if name in setting}
    return (
        (12 << 20)
        + (20 << 20)
        + 3 * setting["OFFBEAT_MAX_BYTES_IN_FLIGHT"] // 2
        + setting["OFFBEAT_MAX_SPREAD_BYTES"]
        + setting["OFFBEAT_MAX_SIMULATIONS"] * SIMULATION_BYTES
    )


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_settings_fit_the_limit_of_memory(overlay):
    for pod in pods(overlay):
        container = offbeat_in(pod)
        assert needed(container) <= memory_limit(container)
        # The settings are necessary to fit the limit.
        container["env"] = [each for each in container["env"] if "MAX" not in each["name"]]
        assert overlay.startswith("named-spreads") or needed(container) > memory_limit(container)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_probe_asks_what_listens(overlay):
    for pod in pods(overlay):
        container = offbeat_in(pod)
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert container[probe]["exec"]["command"] == ["/offbeat", "health"]
            # The binary gives up after 2 s and says why; the kubelet's timeout must be longer.
            assert container[probe]["timeoutSeconds"] > 2
        # Without --address, `offbeat health` uses the admin port.
        assert variables(container).get("OFFBEAT_ADMIN_LISTEN", "127.0.0.1:2329") != "off"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_grace_period_fits(overlay):
    for pod in pods(overlay):
        set_to = variables(offbeat_in(pod))
        grace = int(set_to.get("OFFBEAT_GRACE_PERIOD", "10"))
        delay = int(set_to.get("OFFBEAT_DRAIN_DELAY", "0"))
        assert pod["terminationGracePeriodSeconds"] > delay + grace + 5


def test_a_service_of_replicas_drains_and_others_end_at_once():
    for overlay in OVERLAYS:
        for pod in pods(overlay):
            delay = variables(offbeat_in(pod)).get("OFFBEAT_DRAIN_DELAY", "0")
            assert (delay != "0") == (overlay in ("standalone", WITH_REDIS)), overlay


def test_the_sidecar_starts_first_and_ends_last():
    (pod,) = pods("example")
    (sidecar,) = pod["initContainers"]
    assert sidecar["restartPolicy"] == "Always"
    (producer,) = pod["containers"]
    assert variables(producer)["OFFBEAT_ADDRESS"] == variables(sidecar)["OFFBEAT_LISTEN"]
    (shared,) = producer["volumeMounts"]
    assert shared in sidecar["volumeMounts"]
    # Members of this group may open the socket.
    assert pod["securityContext"]["fsGroup"] == sidecar["securityContext"]["runAsGroup"]


def test_a_deployment_without_the_label_gets_no_sidecar(tmp_path):
    copied = shutil.copytree(FOLDER, tmp_path / "kubernetes")
    deployment = copied / "example" / "deployment.yaml"
    deployment.write_text(deployment.read_text().replace("offbeat-sidecar", "other"))
    found = yaml.safe_load_all(checked(KUBECTL, "kustomize", copied / "example"))
    (alone,) = [manifest for manifest in found if manifest["kind"] == "Deployment"]
    assert "initContainers" not in alone["spec"]["template"]["spec"]


@pytest.mark.parametrize("overlay", SERVICES)
def test_service_budget_and_policy_mean_the_deployment(overlay):
    deployment = one(overlay, "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    policy = one(overlay, "NetworkPolicy")["spec"]
    assert one(overlay, "Service")["spec"]["selector"] == labels
    assert one(overlay, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    assert policy["podSelector"]["matchLabels"] == labels
    container = offbeat_in(deployment["spec"]["template"]["spec"])
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    served = one(overlay, "Service")["spec"]["ports"]
    assert {port["targetPort"]: port["port"] for port in served} == ports
    assert [entry["ports"][0]["port"] for entry in policy["ingress"]] == list(ports)
    environment = variables(container)
    assert environment["OFFBEAT_ADMIN_LISTEN"] == f"0.0.0.0:{ports['metrics']}"
    assert environment["OFFBEAT_LISTEN"].endswith(f":{ports['grpc']}")


@pytest.mark.parametrize("overlay", SERVICES)
@pytest.mark.parametrize("version", VERSIONS)
def test_spans_leave_the_pod_where_they_are_asked_for(tmp_path, overlay, version):
    copied = shutil.copytree(FOLDER, tmp_path / "kubernetes")
    (copied / "mine").mkdir()
    (copied / "mine" / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        f"resources: [../{overlay}]\ncomponents: [../otlp]\n"
    )
    found = list(yaml.safe_load_all(checked(KUBECTL, "kustomize", copied / "mine")))
    for manifest in found:
        kubernetes_validate.validate(manifest, version, strict=True)
    ours = [each for each in found if each["metadata"]["name"] == "offbeat"]
    kinds = {manifest["kind"]: manifest["spec"] for manifest in ours if "spec" in manifest}
    environment = variables(offbeat_in(kinds["Deployment"]["template"]["spec"]))
    port = int(environment["OFFBEAT_OTLP_ENDPOINT"].rsplit(":", 1)[1])
    egress = kinds["NetworkPolicy"]["egress"]
    assert [entry["port"] for rule in egress for entry in rule["ports"]] == [port, 53, 53]
    # The component must keep existing variables.
    assert environment["OFFBEAT_TLS_KEY"]
    assert kinds["NetworkPolicy"]["ingress"] == one(overlay, "NetworkPolicy")["spec"]["ingress"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_schedules_are_where_the_server_looks(overlay, tmp_path):
    config = one(overlay, "ConfigMap", "offbeat-schedules")
    for pod in pods(overlay):
        container = offbeat_in(pod)
        path = Path(variables(container)["OFFBEAT_SCHEDULES"])
        mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
        mount = mounts[str(path.parent)]
        assert "subPath" not in mount
        assert mount["readOnly"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        # Without a hash suffix: with one, every change would replace the pods.
        assert volumes[mount["name"]]["configMap"] == {"name": config["metadata"]["name"]}
        assert config["metadata"]["name"] == "offbeat-schedules"
        (tmp_path / path.name).write_text(config["data"][path.name])
        told = checked(BINARY, "schedules", "check", tmp_path / path.name)
        named = [line.split()[0] for line in told.splitlines()[1:]]
        assert named == ["accounts/1", "bank-sync/1", "statements/1"]
    # The same file as for compose and systemd.
    same = ROOT / "deploy" / "schedules" / "schedules.toml"
    assert config["data"][path.name] == same.read_text()


def test_named_spreads_have_one_home():
    spec = one("named-spreads", "Deployment")["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {"type": "Recreate"}
    assert one("named-spreads", "PodDisruptionBudget")["spec"]["maxUnavailable"] == 0
    environment = variables(offbeat_in(spec["template"]["spec"]))
    # The settings of the service for decisions still apply.
    assert environment["OFFBEAT_TLS_KEY"] == "/etc/offbeat/tls/tls.key"


def test_what_other_machines_reach_has_tls_and_a_token():
    (pod,) = pods("standalone")
    environment = variables(offbeat_in(pod))
    assert "OFFBEAT_INSECURE" not in environment
    mounts = {mount["mountPath"]: mount for mount in offbeat_in(pod)["volumeMounts"]}
    for name in ("OFFBEAT_TLS_CERTIFICATE", "OFFBEAT_TLS_KEY", "OFFBEAT_TOKEN_FILE"):
        assert "subPath" not in mounts[os.path.dirname(environment[name])]
