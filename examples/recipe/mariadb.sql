-- UUIDs are stored as by UUID_TO_BIN(x, 1) of MySQL. All times are in UTC.
CREATE TABLE account (id BINARY(16) PRIMARY KEY);

-- One for each slot of a cycle.
CREATE TABLE slot_job (
    cycle_index BIGINT NOT NULL,
    slot_index INT NOT NULL,
    start_time DATETIME NOT NULL,
    end_time DATETIME NOT NULL,
    done BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (cycle_index, slot_index)
);

-- The queue. The key of a run is the same, however often it is enqueued.
CREATE TABLE job (
    run_key VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    account_id BINARY(16) NOT NULL,
    run_at DATETIME NOT NULL
);
