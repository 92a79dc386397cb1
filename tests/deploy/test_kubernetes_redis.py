"""The Redis of the manifests, and the servers that keep named spreads in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from containers import ROOT, checked, run
from manifests import WITH_REDIS, Manifest, memory_limit, offbeat_in, one, pods, variables
from support.ports import free_port
from support.waiting import wait_until

BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))


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
        healthy = lambda: run(BINARY, "health", "--address", address).returncode == 0  # noqa: E731
        wait_until(10, healthy, pause=0.05)
        return address

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.log.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StoreOfTheManifests]:
    started = StoreOfTheManifests(tmp_path)
    try:
        wait_until(10, lambda: started.cli("ping") == "PONG\n", pause=0.05)
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
