#!/usr/bin/env bash
# Forty jobs of four customers, and two workers; one of them is killed.
offbeat=target/release/offbeat
list=$(mktemp)

# GROUP<TAB>JOB: customer-0 has job-4, job-8 and so on.
seq 40 | awk '{ print "customer-" $1 % 4 "\tjob-" $1 }' |
    $offbeat spread submit errands --feeders 4 --lease-duration 2s

work() {
    exec $offbeat spread work errands --until-empty -- sh -c 'sleep .05; echo "$2 by $1" >>"$0"' "$list" "$1" {}
}
work one &
work two &
sleep .5
kill -KILL $! # kills worker two; its job is redelivered when the lease ends
wait

echo "$(cut -d' ' -f1 "$list" | sort -u | wc -l) jobs done"
