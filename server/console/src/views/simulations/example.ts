/** The scenario that a newcomer meets: two kinds of job that lock the same user. */
export const EXAMPLE = `name = "Two nights"
duration = "2d"
workers = 8

[users]
count = 5000
cycle = "8h"

[[kinds]]
name = "balance"
run_time = { p50 = "6s", p90 = "15s" }

[[kinds]]
name = "transactions"
run_time = { p50 = "10s", p90 = "30s" }

[lock]
retry_after = "1m"

[[strategies]]
kind = "at_once"

[[strategies]]
kind = "random_smear"

[[strategies]]
kind = "slots"
`;
