"""Shards: spreads tenants over a fixed number of shards, as IDs are spread over slots."""

from __future__ import annotations

from .errors import refused
from .ids import IdEncoder, IdType, IdValue, checked_text
from .local.checks import check_salt
from .local.ids import read_id
from .local.limits import SLOT_COUNT, Limit, in_range
from .local.placement import HASH, Grid
from .local.rejections import Rejection

_SHARD_COUNT = Limit(SLOT_COUNT.minimum, SLOT_COUNT.maximum, "shards")


def shard(id: IdValue, shard_count: int, *, salt: str = "", id_type: IdType | None = None) -> int:
    """Return the shard of an ID, 0 to ``shard_count`` - 1; no sidecar is asked.

    The shard is the slot that ``Placement.HASH`` gives the ID among ``shard_count`` slots, 1 to
    1,048,576. A change to a multiple of the count splits each shard into equal parts, and moves
    nothing else. Another ``salt``, of up to 256 bytes, spreads IDs independently. IDs are as in
    ``Client.assign_slot``.

    >>> shard("acme", 16)
    5
    """
    if not isinstance(shard_count, int) or isinstance(shard_count, bool):
        raise refused("shard_count", shard_count, f"must be {_SHARD_COUNT}")
    message = IdEncoder(id_type).one(id)
    salt = checked_text("salt", salt)
    try:
        count = in_range("shard_count", shard_count, _SHARD_COUNT)
        check_salt(salt)
        try:
            offset, _ = Grid(HASH, count, 1, salt.encode()).offset(read_id(message))
        except Rejection as rejection:
            raise rejection if rejection.field else rejection.under("id") from None
    except Rejection as rejection:
        raise rejection.error() from None
    return offset
