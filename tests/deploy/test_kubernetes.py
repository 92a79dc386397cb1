"""The manifests, rendered by kustomize and validated against the schemas of Kubernetes."""

from __future__ import annotations

import copy
import functools
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from containers import ROOT, checked, free_port, run

FOLDER = ROOT / "deploy" / "kubernetes"
KUBECTL = Path(sys.executable).parent / "kubectl"
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
SERVICES = ["standalone", "named-spreads", "named-spreads-redis"]
OVERLAYS = ["example", *SERVICES]
WITH_REDIS = "named-spreads-redis"
# Native sidecars are on by default since 1.29; the package has the schemas up to its own version.
VERSIONS = [f"1.{minor}" for minor in range(29, 38)]

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

UNITS = {"Mi": 1 << 20, "Gi": 1 << 30}


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


def memory_limit(container: Manifest) -> int:
    limit = container["resources"]["limits"]["memory"]
    return int(limit[:-2]) * UNITS[limit[-2:]]


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


def test_replicas_with_a_store_are_replaced_one_by_one():
    spec = one(WITH_REDIS, "Deployment")["spec"]
    assert spec["replicas"] == 3
    rolled = {"maxUnavailable": 0, "maxSurge": 1}
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": rolled}
    assert one(WITH_REDIS, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    (apart,) = spec["template"]["spec"]["topologySpreadConstraints"]
    assert apart["labelSelector"] == spec["selector"]


def redis_in(pod: Manifest) -> Manifest:
    (found,) = pod["containers"]
    assert found["name"] == "redis"
    return found


def redis_settings() -> dict[str, str]:
    text = one(WITH_REDIS, "ConfigMap", "offbeat-redis")["data"]["redis.conf"]
    lines = [line.split(" ", 1) for line in text.splitlines() if line and line[0] != "#"]
    return dict(lines)


def test_one_redis_keeps_all_that_it_has_answered():
    spec = one(WITH_REDIS, "StatefulSet")["spec"]
    assert spec["replicas"] == 1
    assert one(WITH_REDIS, "PodDisruptionBudget", "offbeat-redis")["spec"]["maxUnavailable"] == 0
    settings = redis_settings()
    assert (settings["appendonly"], settings["appendfsync"]) == ("yes", "always")
    assert settings["maxmemory-policy"] == "noeviction"
    pod = spec["template"]["spec"]
    mounts = {mount["name"]: mount["mountPath"] for mount in redis_in(pod)["volumeMounts"]}
    (claim,) = spec["volumeClaimTemplates"]
    assert mounts[claim["metadata"]["name"]] == settings["dir"]
    config = one(WITH_REDIS, "ConfigMap", "offbeat-redis")["metadata"]["name"]
    # With a hash suffix, so that another configuration restarts Redis.
    assert config != "offbeat-redis"
    assert {"name": "config", "configMap": {"name": config}} in pod["volumes"]
    # A job is in the journal and in two snapshots; a rewrite of the file doubles the memory.
    memory = int(settings["maxmemory"].removesuffix("gb")) << 30
    (server,) = pods(WITH_REDIS)
    assert memory >= 3 * int(variables(offbeat_in(server))["OFFBEAT_MAX_SPREAD_BYTES"])
    assert memory_limit(redis_in(pod)) >= 2 * memory
    storage = claim["spec"]["resources"]["requests"]["storage"]
    assert int(storage.removesuffix("Gi")) << 30 >= 4 * memory


def test_offbeat_reaches_its_redis_and_nobody_else_does():
    (server,), (store,) = pods(WITH_REDIS), pods(WITH_REDIS, "StatefulSet")
    password, address = offbeat_in(server)["env"][:2]
    # A variable must follow those that it refers to.
    assert address["name"] == "OFFBEAT_SPREAD_STORE"
    assert f"$({password['name']})" in address["value"]
    assert redis_in(store)["env"] == [password]
    service = one(WITH_REDIS, "Service", "offbeat-redis")
    (port,) = redis_in(store)["ports"]
    (served,) = service["spec"]["ports"]
    assert (port["name"], port["containerPort"]) == (served["targetPort"], served["port"])
    assert address["value"].endswith(f"@{service['metadata']['name']}:{served['port']}")
    stores = one(WITH_REDIS, "StatefulSet")["spec"]["template"]["metadata"]["labels"]
    servers = one(WITH_REDIS, "Deployment")["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == stores
    budget = one(WITH_REDIS, "PodDisruptionBudget", "offbeat-redis")["spec"]
    assert budget["selector"]["matchLabels"] == stores
    policy = one(WITH_REDIS, "NetworkPolicy", "offbeat-redis")["spec"]
    assert policy["podSelector"]["matchLabels"] == stores
    assert policy["egress"] == []
    (allowed,) = policy["ingress"]
    assert allowed["from"] == [{"podSelector": {"matchLabels": servers}}]
    out = one(WITH_REDIS, "NetworkPolicy", "offbeat-to-redis")["spec"]
    assert out["podSelector"]["matchLabels"] == servers
    assert out["policyTypes"] == ["Egress"]
    assert out["egress"][0]["to"] == [{"podSelector": {"matchLabels": stores}}]
    assert out["egress"][0]["ports"] == allowed["ports"]
    # The name service.
    assert [port["port"] for port in out["egress"][1]["ports"]] == [53, 53]


class StoreOfTheManifests:
    """Redis and a server, started as the manifests say, except for folders and ports."""

    def __init__(self, folder: Path) -> None:
        (store,), (server,) = pods(WITH_REDIS, "StatefulSet"), pods(WITH_REDIS)
        self.port = free_port()
        settings = {**redis_settings(), "dir": str(folder), "bind": "127.0.0.1"}
        lines = [f"{name} {value}" for name, value in settings.items()]
        (folder / "redis.conf").write_text("\n".join([*lines, f"port {self.port}", ""]))
        container = redis_in(store)
        config = f"{container['volumeMounts'][1]['mountPath']}/redis.conf"
        (script,) = container["args"]
        assert config in script
        command = [*container["command"], script.replace(config, str(folder / "redis.conf"))]
        self.secret = {"REDIS_PASSWORD": "0123456789abcdef"}
        self.log = (folder / "log").open("w")
        self.processes = [
            subprocess.Popen(command, env={**os.environ, **self.secret}, stdout=self.log)
        ]
        self.probe = container["readinessProbe"]["exec"]["command"]
        self.store = variables(offbeat_in(server))["OFFBEAT_SPREAD_STORE"]

    def cli(self, *arguments: str) -> str:
        command = [*self.probe[:1], "-p", str(self.port), *self.probe[1:-1], *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        return done.stdout + done.stderr

    def serve(self) -> str:
        """Start a server, and return its address."""
        address = f"127.0.0.1:{free_port()}"
        store = self.store.replace("$(REDIS_PASSWORD)", self.secret["REDIS_PASSWORD"])
        store = store.replace("offbeat-redis:6379", f"127.0.0.1:{self.port}")
        here = {"OFFBEAT_LISTEN": address, "OFFBEAT_SPREAD_STORE": store}
        command = [BINARY, "serve", "--admin-listen", "off"]
        self.processes.append(
            subprocess.Popen(command, env={**os.environ, **here}, stderr=self.log)
        )
        wait_for(lambda: run(BINARY, "health", "--address", address).returncode == 0)
        return address

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.log.close()


def wait_for(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StoreOfTheManifests]:
    started = StoreOfTheManifests(tmp_path)
    try:
        wait_for(lambda: started.cli("ping") == "PONG\n")
        yield started
    finally:
        started.end()


def test_the_servers_may_do_what_they_need_in_the_redis_of_the_manifests(store, tmp_path):
    first, second = store.serve(), store.serve()
    here = {"OFFBEAT_ADDRESS": first}
    jobs = tmp_path / "jobs.tsv"
    jobs.write_text("".join(f"group-{job % 5}\tjob-{job}\n" for job in range(50)))
    submit = f"{BINARY} spread submit errands --feeders 4 <{jobs}"
    checked("bash", "-c", submit, **here)
    work = [BINARY, "spread", "work", "errands", "--until-empty", "--batch", "10"]
    done = run(*work, "--address", second, "--", "echo", "{}")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == sorted(f"job-{job}" for job in range(50))


def test_the_probes_of_the_redis_may_ask_whether_it_answers_and_nothing_else(store):
    assert store.cli("ping") == "PONG\n"
    assert "NOPERM" in store.cli("get", "offbeat:epoch")
    assert "NOPERM" in store.cli("info")


def test_what_other_machines_reach_has_tls_and_a_token():
    (pod,) = pods("standalone")
    environment = variables(offbeat_in(pod))
    assert "OFFBEAT_INSECURE" not in environment
    mounts = {mount["mountPath"]: mount for mount in offbeat_in(pod)["volumeMounts"]}
    for name in ("OFFBEAT_TLS_CERTIFICATE", "OFFBEAT_TLS_KEY", "OFFBEAT_TOKEN_FILE"):
        assert "subPath" not in mounts[os.path.dirname(environment[name])]
