# frozen_string_literal: true

# Submits groups over some seconds, waits until all are settled, and reports each event.

require "json"
require "offbeat"

$stdout.sync = true

def say(event, **what)
  puts JSON.generate(event: event, **what)
end

address, name, prefix, group_count, jobs_per_group, seconds = ARGV
group_count, jobs_per_group = Integer(group_count), Integer(jobs_per_group)
spread = Offbeat::Client.new(address).named_spread(name, feeder_count: 4, lease_duration: 1, max_attempt_count: 1_000)
producer = spread.producer(patience: 120)

settled = lambda do |timeout|
  producer.wait(timeout: timeout).each { |group, status| say("settled", group: group, dead_letters: status.dead_letter_count) }
rescue Offbeat::DeadlineExceeded
  # not all of them yet
end

begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
group_count.times do |number|
  group = "#{prefix}-#{number}"
  say("submitting", group: group, jobs: jobs_per_group)
  producer.submit(group, Array.new(jobs_per_group) { |index| "#{group}/#{index}" })
  say("received", group: group)
  next_time = begun + (Float(seconds) * (number + 1) / group_count)
  while (left = next_time - Process.clock_gettime(Process::CLOCK_MONOTONIC)).positive?
    settled.call(left)
    sleep([left, 0.05].min) if producer.unsettled.empty?
  end
end
settled.call(5) until producer.unsettled.empty?
