-- UUIDs are stored as by UUID_TO_BIN(x, 1) of MySQL. All times are in UTC.
CREATE TABLE account (id BINARY(16) PRIMARY KEY);

-- Of each kind of job, until when its runs are enqueued.
CREATE TABLE watermark (kind VARCHAR(64) PRIMARY KEY, enqueued_until DATETIME(3) NOT NULL);

-- The queue. The ID of a run is the same, however often it is enqueued.
CREATE TABLE job (
    run_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    kind VARCHAR(64) NOT NULL,
    account_id BINARY(16) NOT NULL,
    run_at DATETIME(3) NOT NULL
);
