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

  # Last runs are included only if they are requested by name.
  def test_last_runs_are_a_column_of_their_own
    bytes = (1..300).to_a.pack("q<*")
    wanted = %i[next_run_unix_millis last_run_unix_millis]
    expected = (1..300).map { |id| client.assign_slot(EIGHT_HOURS, id, from_time: NOON).last_run.start_time }
    millis = expected.map { |time| time.to_i * 1_000 }
    packed = client.assign_packed(EIGHT_HOURS, integers: bytes, from_time: NOON, columns: wanted)
    rows = client.assign_slots(EIGHT_HOURS, 1..300, from_time: NOON, columns: wanted)
    streamed = client.stream_slot_assignments(EIGHT_HOURS, 1..300, from_time: NOON, columns: wanted).first
    assert_equal [millis] * 3, [packed, rows, streamed].map(&:last_run_unix_millis)
    assert_equal millis.pack("q<*"), packed.bytes(:last_run_unix_millis)
    assert_equal expected, rows.map(&:last_run_time)
    [client.assign_packed(EIGHT_HOURS, integers: bytes), client.assign_slots(EIGHT_HOURS, 1..300)].each { |found| assert_empty found.last_run_unix_millis }
    assert_nil client.assign_slots(EIGHT_HOURS, [1]).first.last_run_time
  end

  def test_rows_tell_what_their_columns_do
    full = client.assign_slots(EIGHT_HOURS, 1..3, from_time: NOON).to_a
    [*COLUMNS, :last_run_unix_millis].each do |column|
      rows = client.assign_slots(EIGHT_HOURS, 1..3, from_time: NOON, columns: [column])
      assert_equal [3, [1, 2, 3]], [rows.size, rows.map(&:id)], column
    end
    times = client.assign_slots(EIGHT_HOURS, 1..3, from_time: NOON, columns: %i[cycle_indexes next_run_unix_millis])
    assert_equal full.map(&:next_run), times.map(&:next_run)
    assert_equal [nil, nil, nil], times.first.to_a.values_at(2, 3, 4)
    slots = client.assign_slots(EIGHT_HOURS, 1..3, from_time: NOON, columns: [:slot_indexes])
    assert_equal full.map(&:slot_index), slots.map(&:slot_index)
    assert_equal [nil] * 4, [slots[0].next_run, slots[0].next_run_time, slots[0].run_key, slots[0].cycle_index]
    assert_equal "read_mask.paths[1]",
                 assert_raises(Offbeat::InvalidArgument) { client.assign_slots(EIGHT_HOURS, [1], columns: %i[slot_indexes errors]) }.field
  end

  # With any selection of columns; and a valid time before the epoch may be -1 too.
  def test_refused_rows_raise_with_any_columns
    ids = ["a", "x" * 1_025, "b"]
    [*COLUMNS, :last_run_unix_millis].each do |column|
      rows = client.assign_slots(EIGHT_HOURS, ids, from_time: NOON, columns: [column], return_errors: true)
      assert_equal %w[a b], rows.accepted.map(&:id), column
      [1, -2].each { |index| assert_match(/ids\[1\]/, assert_raises(KeyError) { rows[index] }.message) }
      assert_equal "b", rows[-1].id
      [3, -4].each { |index| assert_raises(IndexError) { rows[index] } }
    end
    every_second = Offbeat::Schedule.new(period: 1, slot_count: 1, resolution: 0.001r, placement: :fraction)
    early = client.assign_slots(every_second, [0.9995], from_time: Time.at(-1, 500, :millisecond), columns: [:next_run_unix_millis])
    assert_equal [[-1], [0.9995]], [early.next_run_unix_millis, early.map(&:id)]
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
