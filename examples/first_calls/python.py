from datetime import datetime, timedelta, timezone
from uuid import UUID

import offbeat

client = offbeat.Client()
every_8_hours = offbeat.Schedule(period=timedelta(hours=8))
new_year = datetime(2026, 1, 1, tzinfo=timezone.utc)

user = UUID("0190d7a2-1111-7abc-8def-0123456789ab")
assignment = client.assign_slot(every_8_hours, user, from_time=new_year)
print(assignment.slot_index, assignment.next_run.start_time)

users = [UUID(int=number) for number in range(100_000)]
for row in client.assign_slots(every_8_hours, users, from_time=new_year)[:3]:
    print(row.id, row.slot_index, row.next_run_time)
