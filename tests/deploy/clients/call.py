"""call.py ADDRESS [UID GID]: makes a call as that user, and prints the slot or the error's name."""

import os
import sys
from datetime import datetime, timedelta, timezone
from uuid import UUID

import offbeat

FROM = datetime(2026, 1, 1, tzinfo=timezone.utc)
USER = UUID("0190d7a2-1111-7abc-8def-0123456789ab")


def call(address: str) -> str:
    client = offbeat.Client(address, timeout=5)
    try:
        every_8_hours = offbeat.Schedule(period=timedelta(hours=8))
        return str(client.assign_slot(every_8_hours, USER, from_time=FROM).slot_index)
    except offbeat.OffbeatError as error:
        return type(error).__name__
    finally:
        client.close()


address, *user = sys.argv[1:]
if user:
    # A first call loads lazy modules while this user may still read the files.
    call("unix:/nowhere")
    uid, gid = map(int, user)
    os.setgroups([gid])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
print(call(address))
