CREATE TABLE account (id uuid PRIMARY KEY);

-- One for each slot of a cycle.
CREATE TABLE slot_job (
    cycle_index bigint NOT NULL,
    slot_index integer NOT NULL,
    start_time timestamptz NOT NULL,
    end_time timestamptz NOT NULL,
    done boolean NOT NULL DEFAULT false,
    PRIMARY KEY (cycle_index, slot_index)
);

-- The queue. The key of a run is the same, however often it is enqueued.
CREATE TABLE job (
    run_key text PRIMARY KEY,
    account_id uuid NOT NULL,
    run_at timestamptz NOT NULL
);
