"""Decisions without a sidecar: the same answers to the bit, for what a few lines can decide.

Requests and responses are the messages of the protocol. What is not decided here raises
:class:`~offbeat.NeedsSidecar`, with the reason; bad input is refused in the sidecar's words. The
contract is ``proto/offbeat/v1``; the golden decisions and a comparison with a real sidecar keep
both equal.
"""
