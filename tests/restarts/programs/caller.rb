# frozen_string_literal: true

# Calls about one ID and about many, in turn, until a file exists; then reports the results.

require "json"
require "offbeat"

$stdout.sync = true

# Every attempt but the first comes after a pause.
module CountedPauses
  COUNT = [0]

  def sleep(seconds)
    COUNT[0] += 1
    super
  end
end
Offbeat::Transport.prepend(CountedPauses)

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

address, pause, stop = ARGV
schedule = Offbeat::Schedule.new(period: 8 * 3600)
client = Offbeat::Client.new(address)
expected = client.assign_slot(schedule, "acme").slot_index
puts "ready"
calls, failures, slowest, before = 0, [], 0.0, CountedPauses::COUNT[0]
until File.exist?(stop)
  begun = now
  begin
    given = if calls.even?
              [client.assign_slot(schedule, "acme").slot_index]
            else
              client.assign_slots(schedule, ["acme"] * 500).slot_indexes.to_a
            end
    failures << "a wrong answer: #{given.first(5)}" unless given.uniq == [expected]
  rescue Offbeat::Error => e
    failures << "#{e.class}: #{e.message}"
  end
  calls += 1
  slowest = [slowest, now - begun].max
  sleep(Float(pause))
end
retries = CountedPauses::COUNT[0] - before
puts JSON.generate(calls: calls, retries: retries, slowest: slowest, failures: failures)
