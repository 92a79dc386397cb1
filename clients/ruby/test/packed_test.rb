# frozen_string_literal: true

require_relative "helper"
require "digest"

# Packed batches, against what Ruby itself computes and against batches of IDs.
class PackedTest < OffbeatTest
  COLUMNS = %i[slot_indexes slot_offset_ticks cycle_offset_ticks cycle_indexes next_run_unix_millis].freeze

  def uuids(bytes)
    bytes.unpack("H32" * (bytes.bytesize / 16)).map { |hex| hex.sub(/(.{8})(.{4})(.{4})(.{4})/, '\1-\2-\3-\4-') }
  end

  def test_hashes_of_uuids_equal_md5
    schedule = Offbeat::Schedule.new(period: 86_400, slot_count: 96, salt: "billing")
    bytes = Random.new(1).bytes(16 * 2_000)
    found = client.assign_packed(schedule, uuids: bytes, from_time: NOON)
    hashes = uuids(bytes).map { |id| Digest::MD5.hexdigest("billing#{id}")[0, 16].to_i(16) }
    assert_equal hashes.map { |hash| hash * 96 >> 64 }, found.slot_indexes
    assert_equal hashes.map { |hash| hash * 86_400 >> 64 }, found.cycle_offset_ticks
  end

  def test_twisters_of_integers_equal_this_very_interpreter
    profile = RUBY_VERSION.match?(/\A3\.[01]\./) ? :ruby_3_0_to_3_1 : :ruby
    schedule = Offbeat::Schedule.new(period: 8 * 3600, slot_count: 15, placement: :twister, profile: profile)
    source = Random.new(2)
    ids = Array.new(2_000) { |n| source.rand(-(2**63)...2**63) >> [0, 31, 56][n % 3] }
    found = client.assign_packed(schedule, integers: ids.pack("q<*"), from_time: NOON)
    assert_equal ids.map { |id| id % 256 * 15 / 256 }, found.slot_indexes
    assert_equal ids.map { |id| Random.new(id).rand(1_920) }, found.slot_offset_ticks
  end

  def test_packed_ids_and_ids_are_answered_alike
    schedule = Offbeat::Schedule.new(period: 7 * 86_400, slot_count: 168, resolution: 0.001r)
    [1, 256, 257, 65_537, 140_000].each do |count|
      bytes = Random.new(count).bytes(16 * count)
      found = client.assign_packed(schedule, uuids: bytes, from_time: NOON, kind: "sync")
      same = client.assign_slots(schedule, uuids(bytes), from_time: NOON, kind: "sync")
      assert_equal count, found.size
      COLUMNS.each { |name| assert_equal same.public_send(name), found.public_send(name), "#{count} #{name}" }
      assert_equal same.fingerprint, found.fingerprint
      assert_equal 0.001r, found.resolution
      key = "#{found.run_key_prefix}/#{found.cycle_indexes.last}/0/#{uuids(bytes).last}"
      assert_equal same.run_key(count - 1), key
    end
  end

  def test_columns_are_there_as_bytes
    found = client.assign_packed(EIGHT_HOURS, integers: (1..300).to_a.pack("q<*"))
    assert_equal found.slot_indexes, found.bytes(:slot_indexes).unpack("l<*")
    assert_equal found.cycle_indexes, found.bytes(:cycle_indexes).unpack("q<*")
  end

  def test_columns_that_nobody_wants_stay_empty
    bytes = (1..70_000).to_a.pack("q<*")
    every = client.assign_packed(EIGHT_HOURS, integers: bytes, from_time: NOON)
    [*COLUMNS.map { |name| [name] }, %i[slot_indexes next_run_unix_millis]].each do |wanted|
      found = client.assign_packed(EIGHT_HOURS, integers: bytes, from_time: NOON, columns: wanted)
      assert_equal 70_000, found.size
      COLUMNS.each do |name|
        assert_equal wanted.include?(name) ? every.bytes(name) : "", found.bytes(name), "#{wanted} #{name}"
      end
    end
    refused = assert_raises(Offbeat::InvalidArgument) do
      client.assign_packed(EIGHT_HOURS, integers: bytes, columns: [:errors])
    end
    assert_equal "read_mask.paths[0]", refused.field
  end

  def test_no_ids_are_an_answer
    nothing = client.assign_packed(EIGHT_HOURS, uuids: "")
    assert_equal [0, [], client.describe_schedule(EIGHT_HOURS).fingerprint],
                 [nothing.size, nothing.slot_indexes, nothing.fingerprint]
  end

  def test_refused_ids_stand_in_the_errors
    cycle = Offbeat::CalendarCycle.new(unit: :day, time_zone: "Asia/Kolkata")
    never = Offbeat::Exclusion.new(calendar: cycle, window: 43_200...64_800, policy: :skip)
    schedule = Offbeat::Schedule.new(calendar: cycle, slot_count: 24, exclusions: [never])
    bad = assert_raises(Offbeat::BadIds) { client.assign_packed(schedule, integers: (0...500).to_a.pack("q<*")) }
    found = client.assign_packed(schedule, integers: (0...500).to_a.pack("q<*"), return_errors: true)
    same = client.assign_slots(schedule, 0...500, return_errors: true)
    assert_equal same.errors, found.errors
    assert_equal bad.errors, found.errors
    assert_includes 50..250, found.errors.size
    assert(found.errors.all? { |error| found.slot_indexes[error.id_index] == -1 })
  end

  def test_what_is_not_packed_is_refused
    [{}, { uuids: "", integers: "" }, { uuids: "x" * 17 }, { uuids: ["a"] }, { integers: "x" * 9 }].each do |given|
      assert_raises(Offbeat::InvalidArgument, given.inspect) { client.assign_packed(EIGHT_HOURS, **given) }
    end
  end
end
