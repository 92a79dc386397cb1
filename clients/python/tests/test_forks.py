"""Both processes of a fork can call, even with parent threads in calls, and over TLS."""

from __future__ import annotations

import pytest
from authority import Authority
from conftest import Sidecar, free_port, run_python

#: The start of all programs: a client, a call, and a child whose exit status says whether its
#: call succeeded.
BEGIN = """
    import os, sys, threading, time
    from datetime import timedelta
    import offbeat
    address, authority, count, used_before = sys.argv[1:5]
    tls = offbeat.Tls(authority) if authority else None
    client = offbeat.Client(address, tls=tls, timeout=10)
    schedule = offbeat.Schedule(timedelta(hours=8))
    ids = range(2_000)
    def ask():
        assert len(client.assign_slots(schedule, ids)) == len(ids)
        return client.assign_slot(schedule, 42).slot_index
    def child():
        pid = os.fork()
        if pid == 0:
            try:
                ask()
                os._exit(0)
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}\\n".encode())
                os._exit(1)
        return pid
    def status(pid):
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if used_before == "True":
        ask()
"""

QUIET = (
    BEGIN
    + """
    children = [child() for _ in range(int(count))]
    ask()
    print([status(pid) for pid in children].count(0))
    kept = client._channel._calls._pool
    before = set(kept._open)
    ask()
    print(len(before), before == kept._open, "grpc" in sys.modules)
"""
)

BUSY = (
    BEGIN
    + """
    calls, failures, stop = [], [], threading.Event()
    def keep_asking():
        while not stop.is_set():
            try:
                calls.append(ask())
            except Exception as error:
                failures.append(repr(error))
    threads = [threading.Thread(target=keep_asking, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    statuses = []
    while len(statuses) < int(count):
        some = [child() for _ in range(10)]
        statuses += map(status, some)
    stop.set()
    for thread in threads:
        thread.join()
    print(statuses.count(0), len(calls) > 20, failures)
"""
)


@pytest.fixture(scope="module", params=["plain", "tls", "unix"])
def target(request, tmp_path_factory):
    """Return the address of a sidecar, and the authority of its certificate, if it has one."""
    folder, flags, ca = tmp_path_factory.mktemp("sidecar"), [], ""
    listen = f"unix:{folder}/sock" if request.param == "unix" else f"127.0.0.1:{free_port()}"
    if request.param == "tls":
        authority = Authority(folder, "ours")
        signed, ca = authority.sign("IP:127.0.0.1"), str(authority.ca)
        flags = ["--tls-certificate", str(signed.certificate), "--tls-key", str(signed.key)]
    sidecar = Sidecar(listen, *flags)
    yield sidecar.address, ca
    assert sidecar.stop() == 0


@pytest.mark.parametrize("used_before", [True, False])
def test_both_sides_of_a_fork_may_ask(target, used_before):
    output = run_python(QUIET, *target, "10", str(used_before))
    # The parent's connection outlives the children that inherited it, and grpc is not loaded.
    assert output == "10\n1 True False\n"


def test_children_may_ask_while_threads_of_their_parent_do(target):
    count = 60 if target[1] else 200
    output = run_python(BUSY, *target, str(count), "False", timeout=120)
    assert output == f"{count} True []\n"


def test_a_fork_without_hooks_is_noticed(target):
    """A server in C may fork an interpreter without running Python's after-fork hooks."""
    code = (
        BEGIN
        + """
    import ctypes
    pid = ctypes.PyDLL(None).fork()
    if pid == 0:
        taken = client._channel._calls._pool.take()
        os._exit(0 if taken is None and ask() >= 0 else 1)
    print(status(pid), ask() >= 0)
"""
    )
    assert run_python(code, *target, "1", "True") == "0 True\n"


def test_a_lock_that_another_thread_held_at_the_fork_is_free_in_the_child(target):
    code = (
        BEGIN
        + """
    held, forked = threading.Event(), threading.Event()
    def hold():
        with client._channel._calls._pool._lock:
            held.set()
            forked.wait()
    threading.Thread(target=hold).start()
    held.wait()
    pid = child()
    print(status(pid))
    forked.set()
"""
    )
    assert run_python(code, *target, "1", "True", timeout=20) == "0\n"


def test_the_lock_of_protobuf_is_free_in_the_child(sidecar, monkeypatch):
    """The pure Python implementation of protobuf takes this lock for messages."""
    monkeypatch.setenv("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
    code = (
        BEGIN
        + """
    from google.protobuf import descriptor
    with descriptor._lock:
        pid = child()
    print(status(pid))
"""
    )
    assert run_python(code, sidecar.address, "", "1", "False", timeout=20) == "0\n"
