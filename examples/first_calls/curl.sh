curl -sS "http://${OFFBEAT_ADDRESS:-127.0.0.1:2328}/offbeat.v1.SlotService/AssignSlot" \
    -H 'content-type: application/json' \
    -d '{"schedule": {"spec": {"period": "28800s"}},
         "id": {"uuid": "0190d7a2-1111-7abc-8def-0123456789ab"},
         "fromTime": "2026-01-01T00:00:00Z"}'
