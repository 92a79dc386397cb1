# frozen_string_literal: true

# Compares batches over the wire with decisions in process, in Ruby: ADDRESS [SECONDS [IDS PER CALL]].
require "offbeat"
require "securerandom"

SLOT_SECONDS = 28_800
# The same decision in process.
OFFSETS = %i[slot_offset_ticks].freeze
address = ARGV.fetch(0)
seconds = Float(ARGV.fetch(1, 2))
count = Integer(ARGV.fetch(2, 20_000))

source = Random.new(8)
packed_uuids = source.bytes(16 * count)
uuids = packed_uuids.unpack("H32" * count).map { |hex| hex.sub(/(.{8})(.{4})(.{4})(.{4})/, '\1-\2-\3-\4-') }
integers = Array.new(count) { source.rand(2**63) }
integer_bytes = integers.pack("q<*")
few = 2_000

client = Offbeat::Client.new(address)
# Ruby 3.0 and 3.1 seed small numbers differently from later versions.
profile = RUBY_VERSION.match?(/\A3\.[01]\./) ? :ruby_3_0_to_3_1 : :ruby
schedule = Offbeat::Schedule.new(period: 3 * SLOT_SECONDS, slot_count: 3, placement: :twister, profile: profile)
by_hash = Offbeat::Schedule.new(period: 3 * SLOT_SECONDS, slot_count: 3)

decide = ->(uuid) { Random.new(uuid.delete("-").to_i(16)).rand(SLOT_SECONDS) }
contenders = {
  "in process, UUIDs" => [few, -> { uuids.first(few).each(&decide) }],
  "in process, integers" => [few, -> { integers.first(few).each { |id| Random.new(id).rand(SLOT_SECONDS) } }],
  "assign_packed, UUIDs" => [count, -> { client.assign_packed(schedule, uuids: packed_uuids).slot_indexes }],
  "assign_packed, integers" => [count, -> { client.assign_packed(schedule, integers: integer_bytes).slot_indexes }],
  "assign_packed, offsets, UUIDs" => [count, lambda {
    client.assign_packed(schedule, uuids: packed_uuids, columns: OFFSETS).slot_offset_ticks
  }],
  "assign_packed, offsets, integers" => [count, lambda {
    client.assign_packed(schedule, integers: integer_bytes, columns: OFFSETS).slot_offset_ticks
  }],
  "assign_slots, UUIDs" => [count, -> { client.assign_slots(schedule, uuids) }],
  "assign_slots, integers" => [count, -> { client.assign_slots(schedule, integers) }],
  "assign_packed, UUIDs, HASH" => [count, -> { client.assign_packed(by_hash, uuids: packed_uuids).slot_indexes }]
}

# The answers must be those of Ruby itself.
answer = client.assign_packed(schedule, uuids: packed_uuids)
raise "UUIDs differ" unless answer.slot_offset_ticks == uuids.map(&decide)

answer = client.assign_packed(schedule, integers: integer_bytes)
raise "integers differ" unless answer.slot_offset_ticks == integers.map { |id| Random.new(id).rand(SLOT_SECONDS) }

# A turn: one batch after another, as a producer with more rows than fit into one batch sends them.
TURN_SECONDS = 0.1

# In turns, so that other load on the machine affects all alike.
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
rates = contenders.transform_values { [] }
finish = now.call + seconds * contenders.size
while now.call < finish || rates.values.first.size < 5
  contenders.each do |name, (size, run)|
    begun = now.call
    done = took = 0
    while took < TURN_SECONDS
      run.call
      done += size
      took = now.call - begun
    end
    rates[name] << done / took
  end
end
rates.each { |name, measured| puts "#{name}\t#{measured.sort[measured.size / 2].round}" }
