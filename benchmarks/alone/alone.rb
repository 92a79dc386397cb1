# frozen_string_literal: true

# Compares decisions that the Ruby client makes itself with the same ones from a sidecar:
# alone.rb ADDRESS UNIX_ADDRESS [TURNS].
require "offbeat"

# The number of decisions in a turn, one after another, as in a handler of web requests.
DECISIONS = 200
CYCLE = 8 * 3600
turns = Integer(ARGV.fetch(2, 15))

source = Random.new(8)
ids = Array.new(DECISIONS) { source.bytes(16).unpack("H8H4H4H4H12").join("-") }
# Ruby 3.0 and 3.1 seed small numbers differently from later versions.
profile = RUBY_VERSION.match?(/\A3\.[01]\./) ? :ruby_3_0_to_3_1 : :ruby
questions = {
  "HASH" => [Offbeat::Schedule.new(period: CYCLE), nil],
  "HASH, two kinds" => [Offbeat::Schedule.new(period: CYCLE, kinds: %w[import export]), "export"],
  "TWISTER" => [Offbeat::Schedule.new(period: CYCLE, placement: :twister, profile: profile), nil]
}
clients = {
  "alone" => Offbeat::Client.new(mode: :local),
  "sidecar, TCP" => Offbeat::Client.new(ARGV.fetch(0), mode: :remote),
  "sidecar, Unix socket" => Offbeat::Client.new(ARGV.fetch(1), mode: :remote)
}

# All three must give the same answer.
start = Time.utc(2026, 1, 1)
questions.each do |name, (schedule, kind)|
  ids.each do |id|
    runs = clients.values.map do |client|
      client.assign_slot(schedule, id, kind: kind, id_type: :uuid, from_time: start).next_runs.map(&:inspect)
    end
    raise "#{name}: #{id}: #{runs.inspect}" unless runs.uniq.size == 1
  end
end

# In turns, so that other load on the machine affects all alike.
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
took = Hash.new { |all, name| all[name] = [] }
turns.times do
  questions.each do |name, (schedule, kind)|
    clients.each do |who, client|
      begun = now.call
      ids.each { |id| client.assign_slot(schedule, id, kind: kind, id_type: :uuid) }
      took["#{name}, #{who}"] << 1e6 * (now.call - begun) / DECISIONS
    end
  end
end
took.each { |name, measured| puts format("%<name>s\t%<median>.1f", name: name, median: measured.sort[turns / 2]) }
