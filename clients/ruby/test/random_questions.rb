# frozen_string_literal: true

require "date"

# Random requests that need no sidecar, valid and invalid ones, as messages. The seed is today's
# date, or OFFBEAT_SALT.
class RandomQuestions
  SALT = ENV.fetch("OFFBEAT_SALT") { Date.today.iso8601 }
  V1 = Offbeat::V1
  NATIVE = RUBY_VERSION.start_with?("3.0", "3.1") ? :TWISTER_PROFILE_RUBY_3_0_TO_3_1 : :TWISTER_PROFILE_RUBY
  MILLION = 1_000_000
  NAMES = %w[import export report audit poll push].freeze
  TEXTS = ["acme", "", "é✓", "a/b", "0190d7a2-1111-7abc-8def-0123456789ab", "\u0000", "\"q\\", "x" * 1_024].freeze

  def initialize(name)
    @random = Random.new(Digest::SHA256.hexdigest("#{SALT} #{name}").to_i(16))
  end

  def request(method)
    public_send(method.gsub(/([a-z])([A-Z])/, '\1_\2').downcase)
  end

  def assign_slot
    schedule = schedule()
    request = V1::AssignSlotRequest.new(schedule: schedule, id: id(schedule), from_time: instant, kind: kind(schedule))
    request.next_run_count = pick(0, 1, 2, 7, 1_000, -1, 1_001) if chance(0.5)
    request
  end

  def assign_slots
    schedule = schedule()
    request = V1::AssignSlotsRequest.new(schedule: schedule, ids: ids(schedule), from_time: instant, kind: kind(schedule))
    names = %w[slot_indexes slot_offset_ticks cycle_offset_ticks cycle_indexes next_run_unix_millis last_run_unix_millis]
    names << "*" if chance(0.05)
    request.read_mask = Google::Protobuf::FieldMask.new(paths: names.sample(1 + number(5), random: @random)) if chance(0.4)
    request
  end

  def describe_schedule
    V1::DescribeScheduleRequest.new(schedule: schedule, at_time: instant)
  end

  def list_slots
    schedule = schedule()
    start = instant
    request = V1::ListSlotsRequest.new(schedule: schedule, start_time: start)
    request.end_time = later(start, length(schedule)) if chance(0.8)
    if hash?(schedule) && chance(0.7)
      request.sql_target = target
      request.kind = kind(schedule)
    end
    request
  end

  def get_window_predicate
    schedule = schedule(placement: :PLACEMENT_HASH)
    start = instant
    request = V1::GetWindowPredicateRequest.new(schedule: schedule, start_time: start, sql_target: target, kind: kind(schedule))
    request.end_time = later(start, length(schedule)) if chance(0.97)
    request
  end

  def list_due_runs
    schedule = schedule(kind_chance: 0.6)
    now = instant
    ids = ids(schedule)
    request = V1::ListDueRunsRequest.new(schedule: schedule, ids: ids, now_time: now, kind: kind(schedule))
    watermark(request, now, length(schedule))
    request.catch_up_policy = policy(schedule) if chance(0.8)
    request.look_ahead = duration(@random.rand * length(schedule) * 1.05) if chance(0.3)
    request.max_clock_skew = duration(@random.rand * length(schedule) * 1.05) if chance(0.2)
    request.page_size = pick(1, 2, 3, 50, 65_536, 65_537, -1) if chance(0.4)
    request
  end

  def route_job
    names = %w[a b c d e].first(chance(0.95) ? 2 + number(4) : number(2))
    timeout = 0
    lanes = names.each_with_index.map do |name, index|
      timeout += chance(0.97) ? 1 + number(1_000_000) : 0
      lane = V1::Lane.new(name: chance(0.98) ? name : "a", worker_count: pick(0, 1, 5, 5, 5))
      lane.attempt_timeout = duration(timeout / 1_000r) unless index == names.size - 1 && chance(0.5)
      lane
    end
    ends = [lanes.first, lanes.last].compact
    ends.each { |lane| lane.worker_count = 1 + number(3) } if chance(0.95)
    request = V1::RouteJobRequest.new(lane_set: V1::LaneSet.new(lanes: lanes))
    request.lane_set.on_timeout = pick(:TIMEOUT_ACTION_SUSPEND, :TIMEOUT_ACTION_ABORT, 7) if chance(0.3)
    request.lane_set.max_express_slow_probability = pick(0.0, 0.3, 1.0, 1.5, -1e-7, 1e20) if chance(0.3)
    request.timed_out_lane_names.concat(names.sample(number(names.size + 1), random: @random)) if chance(0.5)
    request.timed_out_lane_names << "zzz\n" if chance(0.03)
    request.worker_lane_name = pick(*names, "none") if chance(0.4) && names.any?
    request.prediction = prediction(timeout) if chance(0.5)
    request
  end

  private

  def prediction(millis)
    return V1::LanePrediction.new if chance(0.05)
    return V1::LanePrediction.new(slow_probability: pick(0.0, 0.2, 0.9, 1.0, 1.25, Float::NAN)) if chance(0.5)

    V1::LanePrediction.new(run_time: duration(@random.rand(-0.05..1.5) * millis / 1_000))
  end

  def chance(probability)
    @random.rand < probability
  end

  def number(limit)
    @random.rand([limit, 1].max)
  end

  def pick(*values)
    values.sample(random: @random)
  end

  # Seconds as a message, to the nanosecond.
  def duration(seconds)
    Offbeat::Times.to_duration("seconds", seconds.is_a?(Float) ? seconds.round(pick(0, 3, 3, 9)) : seconds)
  end

  def instant
    return Google::Protobuf::Timestamp.new(seconds: pick(-62_135_596_800, 253_402_300_799, 253_402_300_800, 0, -1)) if chance(0.04)

    nanos = chance(0.6) ? number(1_000) * MILLION : number(1_000_000_000)
    Google::Protobuf::Timestamp.new(seconds: @random.rand(-5_000_000_000..5_000_000_000), nanos: nanos)
  end

  def later(start, seconds)
    total = (start.seconds * 1_000_000_000) + start.nanos + (@random.rand(-0.05..1.1) * seconds * 1_000_000_000).round
    Google::Protobuf::Timestamp.new(seconds: total.div(1_000_000_000), nanos: total % 1_000_000_000)
  end

  def schedule(placement: nil, kind_chance: 0.4)
    resolution = pick(1_000, 1_000, 500, 100, 10, 1)
    has_kinds = chance(kind_chance)
    slots = has_kinds && chance(0.9) ? pick(96, 240, 1_000) : pick(1, 2, 3, 7, 12, 24, 96, 128, 240, 256, 1_000)
    ticks = slots * (1 + number(pick(2, 50, 5_000, 400_000)))
    spec = V1::ScheduleSpec.new(period: duration(ticks * resolution / 1_000r))
    spec.resolution = duration(resolution / 1_000r) if resolution != 1_000 || chance(0.2)
    spec.slot_count = chance(0.93) ? slots : slots + 1 + number(3) if chance(0.9)
    spec.anchor_time = anchor(resolution) if chance(0.5)
    place(spec, placement)
    kinds(spec, slots, ticks * resolution) if has_kinds
    spoil(spec) if chance(0.08)
    V1::Schedule.new(spec: spec)
  end

  def anchor(resolution)
    ticks = @random.rand(-5_000_000_000_000..5_000_000_000_000) / resolution * resolution
    Google::Protobuf::Timestamp.new(seconds: ticks.div(1_000), nanos: ticks % 1_000 * MILLION)
  end

  def place(spec, placement)
    spec.placement = placement || pick(:PLACEMENT_UNSPECIFIED, :PLACEMENT_HASH, :PLACEMENT_HASH, :PLACEMENT_TWISTER, :PLACEMENT_FRACTION)
    case spec.placement
    when :PLACEMENT_TWISTER
      spec.profile = NATIVE
      spec.bucket_count = pick(256, 65_536, 65_536, 1_000) if chance(0.7)
    when :PLACEMENT_HASH, :PLACEMENT_UNSPECIFIED
      spec.salt = pick("tenant", "é'?", "a\\b:$%", "x" * 256, "\u0000z", "x" * 257) if chance(0.5)
    end
  end

  def kinds(spec, slots, period_millis)
    names = NAMES.first(1 + number(NAMES.size))
    timed = chance(0.4)
    most = period_millis / (3.0 * (names.size**2)) * pick(0.3, 1, 1, 2, 8)
    names.each do |name|
      kind = V1::Kind.new(name: name)
      kind.run_time = duration(@random.rand * most / 1_000) if timed
      spec.kinds << kind
    end
    spec.kind_spacing = pick(:KIND_SPACING_EVEN, timed && chance(0.9) ? :KIND_SPACING_EVEN : :KIND_SPACING_STABLE) if chance(0.5)
    spec.catch_up_span = duration(period_millis / 1_000.0 / pick(2, 5, 12, 40, 100) * @random.rand(0.5..1.05)) if chance(0.3)
    spec.slot_count = slots if chance(0.9)
  end

  # Usually makes one field invalid.
  def spoil(spec)
    pick(
      -> { spec.period = pick(nil, duration(0), duration(-5), duration(400_000_000), duration(0.0000005r)) },
      -> { spec.resolution = pick(duration(0.3r), duration(2), duration(-1), Google::Protobuf::Duration.new(seconds: 1, nanos: -1)) },
      -> { spec.anchor_time = Google::Protobuf::Timestamp.new(seconds: 5, nanos: pick(1, 300_000_000, -1)) },
      -> { spec.slot_count = pick(0, -1, 1 << 21, 7, 1_048_573) },
      -> { spec.placement = 9 }, -> { spec.profile = pick(8, :TWISTER_PROFILE_RUBY) }, -> { spec.salt = "salt" },
      -> { spec.kind_spacing = pick(5, :KIND_SPACING_STABLE) }, -> { spec.catch_up_span = duration(pick(1, -1)) },
      -> { spec.kinds << V1::Kind.new(name: pick("import", "", "a/b", "x" * 65, "\"\u200B\n")) },
      -> { spec.kinds << V1::Kind.new(name: "late", run_time: duration(pick(5, -1))) }
    ).call
  end

  def hash?(schedule)
    %i[PLACEMENT_HASH PLACEMENT_UNSPECIFIED].include?(schedule.spec.placement)
  end

  # The length of the cycle in seconds.
  def length(schedule)
    period = schedule.spec.period
    period ? [period.seconds + (period.nanos / 1_000_000_000.0), 0.001].max : 1
  end

  def kind(schedule)
    kinds = schedule.spec.kinds
    return pick("", "", "label", "", "a b") if kinds.empty?

    chance(0.93) ? kinds[number(kinds.size)].name : pick("", "unknown", "é")
  end

  def id(schedule)
    return V1::Id.new if chance(0.01)
    return V1::Id.new(fraction: fraction) if schedule.spec.placement == :PLACEMENT_FRACTION && chance(0.97)

    field = pick(:uuid, :uuid_bytes, :integer, :decimal, *(hash?(schedule) || chance(0.1) ? %i[text text] : []))
    V1::Id.new(field => value(field))
  end

  def fraction
    pick(@random.rand, @random.rand, 0.0, -0.0, 1 - (2**-53r).to_f, 1.0, -0.25, Float::NAN, Float::INFINITY, 1e-9, 1e17)
  end

  def value(field)
    case field
    when :uuid then pick(uuid, uuid, uuid.upcase, uuid.delete("-"), "oops", "#{uuid[0..-2]}g")
    when :uuid_bytes then @random.bytes(chance(0.97) ? 16 : 15)
    when :integer then @random.rand(-(2**pick(8, 31, 33, 62))..(2**pick(8, 31, 33, 62)))
    when :decimal then pick((@random.rand(2**pick(33, 64, 128)) * pick(1, -1)).to_s, "007", "-0", "1" * 60, "x")
    else pick(*TEXTS, "user #{number(10**9)}", "user #{number(10**9)}", "y" * 1_025)
    end
  end

  def uuid
    bytes = @random.bytes(16).unpack1("H*")
    [bytes[0, 8], bytes[8, 4], bytes[12, 4], bytes[16, 4], bytes[20, 12]].join("-")
  end

  def ids(schedule)
    return V1::IdBatch.new if chance(0.01)

    count = pick(1, 2, 5, 40)
    return V1::IdBatch.new(fractions: Array.new(count) { fraction }) if schedule.spec.placement == :PLACEMENT_FRACTION

    field = pick(:uuid, :uuid_bytes, :integer, :decimal, *(hash?(schedule) || chance(0.1) ? %i[text text] : []))
    values = Array.new(count) { value(field) }
    batch = field == :uuid_bytes ? { packed_uuids: values.join } : { "#{field}s": values }
    batch[:texts] = ["also"] if chance(0.01)
    V1::IdBatch.new(**batch)
  end

  def watermark(request, now, length)
    count = [request.ids.packed_uuids.bytesize / 16, *%w[uuids integers decimals texts fractions].map { |name| request.ids[name].size }].max
    cycles = pick(0.01, 0.5, 2, 10)
    if chance(0.75)
      request.watermark_time = later(now, -length * cycles)
    else
      millis = now.seconds * 1_000
      count += 1 if chance(0.05)
      request.watermark_unix_millis.concat(Array.new(count) { millis - (@random.rand(-0.01..1.0) * length * cycles * 1_000).round })
    end
    request.watermark_time = nil if chance(0.02)
  end

  def policy(schedule)
    length, has_kinds = length(schedule), schedule.spec.kinds.any?
    policy = V1::CatchUpPolicy.new
    policy.missed_run_policy = pick(:MISSED_RUN_POLICY_DROP, :MISSED_RUN_POLICY_RUN_ONCE, :MISSED_RUN_POLICY_RUN_ONCE, 9) if chance(0.5)
    policy.on_time_tolerance = duration(@random.rand(-0.02..0.4) * length * pick(1, 0.01, 0)) if chance(has_kinds ? 0.3 : 0.6)
    policy.horizon = duration(@random.rand(0.5..1.0) * length * pick(1, 3, 20)) if chance(0.4)
    policy.smear_span = duration(@random.rand * length * pick(1, 0.1)) if chance(has_kinds ? 0.02 : 0.4)
    policy.min_gap = duration(@random.rand * length * pick(1.02, 0.1)) if chance(0.3)
    policy
  end

  def target
    V1::SqlTarget.new(
      dialect: pick(*(1..4), *(1..3), chance(0.02) ? 0 : 1), column_type: pick(*(1..9), 1, 3, 4, 7, chance(0.02) ? 0 : 6),
      table: pick("users", "t`a\"b", chance(0.05) ? "" : "t"), column: pick("id", "i%d", chance(0.05) ? "n\u0000" : "c"),
      schema: pick("", "app"), table_alias: pick("", "u", chance(0.05) ? "x" * 257 : ""), parameter_style: pick(0, 1, 2, 3, 4, 5, chance(0.05) ? 6 : 1)
    ).tap { |target| target.first_parameter_number = pick(1, 7, 65_000, 0, 65_001) if chance(0.15) }
     .tap { |target| target.time_zone_column = "zone" if chance(0.02) }
  end
end
