printf '%s\n' 0190d7a2-1111-7abc-8def-0123456789ab 42 acme-corp |
    target/release/offbeat slots assign --cycle 8h --from 2026-01-01T00:00:00Z
