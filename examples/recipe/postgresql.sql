CREATE TABLE account (id uuid PRIMARY KEY);

-- Of each kind of job, until when its runs are enqueued.
CREATE TABLE watermark (kind text PRIMARY KEY, enqueued_until timestamptz NOT NULL);

-- The queue. The ID of a run is the same, however often it is enqueued.
CREATE TABLE job (
    run_id uuid PRIMARY KEY,
    kind text NOT NULL,
    account_id uuid NOT NULL,
    run_at timestamptz NOT NULL
);
