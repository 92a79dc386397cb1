-- SQLite has no MD5: whoever inserts an account stores the first 16 hexadecimal
-- digits of MD5(id) with it.
CREATE TABLE account (id TEXT PRIMARY KEY, hash_digits TEXT NOT NULL);

-- One for each slot of a cycle; all times in seconds since the Unix epoch.
CREATE TABLE slot_job (
    cycle_index INTEGER NOT NULL,
    slot_index INTEGER NOT NULL,
    start_time INTEGER NOT NULL,
    end_time INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (cycle_index, slot_index)
);

-- The queue. The key of a run is the same, however often it is enqueued.
CREATE TABLE job (
    run_key TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    run_at INTEGER NOT NULL
);
