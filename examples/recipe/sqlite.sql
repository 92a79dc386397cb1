-- SQLite has no MD5: an account is inserted with the first 16 hexadecimal digits of
-- MD5(id).
CREATE TABLE account (id TEXT PRIMARY KEY, hash_digits TEXT NOT NULL);

-- Of each kind of job, until when its runs are enqueued; all times in milliseconds since
-- the Unix epoch.
CREATE TABLE watermark (kind TEXT PRIMARY KEY, enqueued_until INTEGER NOT NULL);

-- The queue. The ID of a run is the same, however often it is enqueued.
CREATE TABLE job (
    run_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    run_at INTEGER NOT NULL
);
