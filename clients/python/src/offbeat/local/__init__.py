"""Decisions without a sidecar: bit for bit the same answers, for the simpler requests.

Requests and responses are the messages of the protocol. A request that is not decided here raises
:class:`~offbeat.NeedsSidecar`, with the reason; bad input is refused in the sidecar's words. The
contract is ``proto/offbeat/v1``; golden decisions and comparisons with a real sidecar check that
both answer alike.
"""
