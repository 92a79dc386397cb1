# frozen_string_literal: true

# Takes and acks jobs until the spread is closed, and reports each event as a line of JSON.

require "json"
require "offbeat"

$stdout.sync = true
trap("TERM", "SYSTEM_DEFAULT") # ends at once: nothing is flushed

def now
  Process.clock_gettime(Process::CLOCK_REALTIME, :float_millisecond)
end

address, spread_name, name, mode = ARGV
spread = Offbeat::Client.new(address).named_spread(spread_name, feeder_count: 4, lease_duration: 1, max_attempt_count: 1_000)
consumer = if mode == "stream"
             spread.stream(name, window: 8, patience: 120)
           else
             spread.consumer(name, batch_size: 8, patience: 120)
           end

say = lambda do |event, job, time = now, **what|
  puts JSON.generate(event: event, consumer: name, group: job.group_id, job_index: job.job_index,
                     epoch: job.epoch.to_s, sequence: job.sequence, attempt: job.attempt,
                     time: time, **what)
end

consumer.each do |job|
  time = now
  say.call("begin", job, time, payload: job.payload, until: time + (job.lease_ends_in * 1_000))
  sleep(rand * (rand(60).zero? ? 0.9 : 0.003)) # a few jobs take most of their lease
  unless job.expired?
    say.call("ack", job) # before the ack, after which it may be killed at any time
    job.ack
  end
  consumer.flush.each { |settled, outcome| say.call("outcome", settled, outcome: outcome.upcase) }
end
consumer.close
