# frozen_string_literal: true

module Offbeat
  # Asks about many IDs at once. The IDs of a call are of one type. If some are refused, {BadIds} is raised, which has
  # the answer for the others; with `return_errors`, the answer is returned, and the refused IDs are in its `errors`.
  #
  # `weights` are the sizes of the IDs, one for each, in the unit of the schedule's weight_quantum. With a calendar,
  # `time_zones` are the time zones that the IDs live in, one for each: an IANA name, a zone of TZInfo or ActiveSupport,
  # or nil for that of the schedule. `kind` is the kind of job: one of those that the schedule declares; if it declares
  # none, a label, by default "default".
  class Client
    STREAM_IDS = 8_192

    # Assigns any number of IDs of one type, in as few calls as possible: {SlotAssignments}. If some are refused, raises
    # {BadIds}, which has the answer for the others; with `return_errors`, returns the answer, with the refused IDs in
    # `errors`.
    #
    # @param columns the columns to return, by their names in {SlotAssignments}. Others are neither sent nor read.
    #   Default: all except :last_run_unix_millis, which must be named
    def assign_slots(schedule, ids, from_time: nil, kind: nil, id_type: nil, weights: nil, time_zones: nil, columns: nil,
                     return_errors: false, timeout: nil)
      answer = nil
      options = { from_time: from_time, kind: kind, id_type: id_type, weights: weights, time_zones: time_zones,
                  columns: columns, timeout: timeout }
      each_assigned(schedule, ids, IdEncoder::BATCH_IDS, **options) do |encoder, batch, response|
        answer ||= SlotAssignments.new(encoder)
        answer.add(batch, response.message, response.decided_by)
      end
      accepted(answer || nothing(schedule, id_type, timeout), return_errors)
    end

    # Assigns packed IDs: {PackedAssignments}. Bytes go in and columns come out, without a Ruby object for each ID.
    #
    # @param uuids a String of UUIDs, 16 bytes each, end to end
    # @param integers instead of uuids: a String of 64-bit integers, as `ids.pack("q<*")` makes it
    # @param columns the columns to return, such as `[:next_run_unix_millis]`: fewer take less time. Default: all except
    #   :last_run_unix_millis, which must be named
    # @param time_zones the time zones that IDs live in, each once
    # @param time_zone_indexes with time_zones: the index of the time zone of each ID, from 0, as `indexes.pack("l<*")`
    #   makes it; -1 for that of the schedule
    def assign_packed(schedule, uuids: nil, integers: nil, from_time: nil, kind: nil, columns: nil, time_zones: nil,
                      time_zone_indexes: nil, return_errors: false, timeout: nil)
      opening = V1::AssignSlotsRequest.encode(assigning(schedule, from_time, kind, columns))
      answer = PackedAssignments.new
      ids = PackedIds.new({ uuids: uuids, integers: integers }, time_zones, time_zone_indexes)
      ids.each_question(opening) { |question| answer.add(*packed_answer(question, timeout)) }
      if answer.fingerprint.empty? # no IDs: let the sidecar check the schedule anyway
        answer.identify(*resolved(Fields.schedule(schedule), timeout))
      end
      accepted(answer, return_errors)
    end

    # Assigns IDs as they come: an Enumerator of {SlotAssignments}, batch by batch, which holds one batch at a time.
    # Refused IDs are in the `errors` of their batch.
    #
    # @param columns as in {#assign_slots}
    def stream_slot_assignments(schedule, ids, from_time: nil, kind: nil, id_type: nil, weights: nil,
                                time_zones: nil, columns: nil, timeout: nil)
      options = { from_time: from_time, kind: kind, id_type: id_type, weights: weights, time_zones: time_zones,
                  columns: columns, timeout: timeout }
      Enumerator.new do |answers|
        first = 0
        each_assigned(schedule, ids, STREAM_IDS, **options) do |encoder, batch, response|
          answers << SlotAssignments.new(encoder, first_id_index: first).add(batch, response.message, response.decided_by)
          first += batch.size
        end
      end
    end

    # Lists the runs that have become due since the last call, as {DueRuns}: each run once, however often and
    # irregularly this is called, and after an outage those that were missed. Keep `next_watermark_time` with the jobs,
    # ideally in the same transaction, and pass it as the watermark of the next call.
    #
    # @param watermark `next_watermark_time` of the last answer; in the first call, the time since which the IDs exist
    # @param watermarks instead of watermark: one for each ID. The next watermark of an ID is the later of its own and
    #   `next_watermark_time`
    # @param now_time the time before which runs are due. Default: now
    # @param catch_up_policy a {CatchUpPolicy}: what happens to missed runs
    # @param max_clock_skew how far in the future a watermark may lie, in seconds, beyond `look_ahead`. Default:
    #   60, or the shortest cycle if that is shorter
    # @param look_ahead runs of this many seconds after `now_time` are listed too, to be enqueued with their start
    #   times. Lateness is still measured against `now_time`. Default: 0
    def list_due_runs(schedule, ids, watermark: nil, watermarks: nil, now_time: nil, catch_up_policy: nil,
                      max_clock_skew: nil, look_ahead: nil, weights: nil, kind: nil, id_type: nil, time_zones: nil,
                      return_errors: false, timeout: nil)
      # Now is taken once, so that all batches of a call use the same instant.
      opening = V1::ListDueRunsRequest.new(schedule: Fields.schedule(schedule),
                                           now_time: Times.to_timestamp("now_time", now_time || now))
      opening.watermark_time = Times.to_timestamp("watermark_time", watermark) if watermark
      Offbeat.set_field(opening, "kind", kind)
      if catch_up_policy
        opening.catch_up_policy = Fields.message(catch_up_policy, CatchUpPolicy, "catch_up_policy")
      end
      opening.max_clock_skew = Times.to_duration("max_clock_skew", max_clock_skew) unless max_clock_skew.nil?
      opening.look_ahead = Times.to_duration("look_ahead", look_ahead) unless look_ahead.nil?
      encoder = IdEncoder.new(id_type)
      parts = due_parts(opening, ids, watermarks, encoder, weights, time_zones, timeout)
      decided_by = Answered.by(parts.flat_map(&:last))
      parts = parts.map { |batch, answers| [batch, answers.map(&:message)] }
      accepted(DueRuns.new(encoder, parts, decided_by), return_errors)
    end

    # Checks how evenly a sample of IDs fills the slots, and what is wrong if it does not: an {Audit}. Send at most
    # 65,536 IDs: all of them, or some drawn at random, rather than the oldest. The audit warns of IDs that have no run
    # from `from_time` (default: now) on because of exclusions.
    def audit_ids(schedule, ids, weights: nil, kind: nil, id_type: nil, from_time: nil, return_errors: false,
                  timeout: nil)
      request = V1::AuditIdsRequest.new(schedule: Fields.schedule(schedule))
      Offbeat.set_field(request, "kind", kind)
      request.from_time = Times.to_timestamp("from_time", from_time) if from_time
      ids = IdEncoder.enumerable(ids).first(IdEncoder::BATCH_IDS + 1) # one too many, for the sidecar to refuse
      request.ids = IdEncoder.new(id_type).column(ids)
      if weights
        beside = Beside.new("weights", weights)
        request.weights.concat(Batches.weights(beside, ids.size))
        beside.finish
      end
      accepted(Audit.of(call("AuditIds", request, V1::AuditIdsResponse, timeout)), return_errors)
    end

    private

    def accepted(answer, return_errors)
      raise BadIds, answer unless answer.errors.empty? || return_errors

      answer
    end

    def each_assigned(schedule, ids, size, from_time:, kind:, id_type:, weights:, time_zones:, columns:, timeout:)
      encoder = IdEncoder.new(id_type)
      opening = assigning(schedule, from_time, kind, columns)
      zones = Beside.time_zones(time_zones)
      batches(opening.schedule, ids, size, weights, timeout).each do |batch, its_weights|
        request = Google::Protobuf.deep_copy(opening)
        request.ids = encoder.column(batch, zones&.take_time_zones(batch.size) || [])
        request.weights.concat(its_weights)
        yield encoder, batch, ask("AssignSlots", request, V1::AssignSlotsResponse, timeout)
      end
      zones&.finish
    end

    # A request without its IDs. Now is taken once, so that all batches of a call use the same instant.
    def assigning(schedule, from_time, kind, columns)
      opening = V1::AssignSlotsRequest.new(schedule: Fields.schedule(schedule),
                                           from_time: Times.to_timestamp("from_time", from_time || now))
      Offbeat.set_field(opening, "kind", kind)
      opening.read_mask = Google::Protobuf::FieldMask.new(paths: columns.map(&:to_s)) if columns
      opening
    end

    # Weights are cut by the schedule with its defaults filled in, which may also be given by name.
    def batches(schedule, ids, size, weights, timeout)
      spec = weights && resolved(schedule, timeout).message.spec
      Batches.new(ids, size, weights: weights, spec: spec)
    end

    def resolved(schedule, timeout)
      ask("DescribeSchedule", V1::DescribeScheduleRequest.new(schedule: schedule), V1::DescribeScheduleResponse, timeout)
    end

    # The bytes of the answer to a request about packed IDs, given as bytes, and where it was decided.
    def packed_answer(question, timeout)
      return [call_bytes("AssignSlots", question, timeout), :sidecar] if mode == :remote

      answer, decided_by = *@decisions.answered("AssignSlots", V1::AssignSlotsRequest.decode(question)) do |attempts|
        call_bytes("AssignSlots", question, timeout, attempts: attempts)
      end
      [answer.is_a?(String) ? answer : V1::AssignSlotsResponse.encode(answer), decided_by]
    end

    # Pairs: the IDs of a batch, and the pages of its answer.
    def due_parts(opening, ids, watermarks, encoder, weights, time_zones, timeout)
      watermarks &&= Beside.new("watermarks", watermarks)
      zones = Beside.time_zones(time_zones)
      parts = []
      batches(opening.schedule, ids, IdEncoder::BATCH_IDS, weights, timeout).each do |batch, its_weights|
        encoder.checked(batch)
        millis = watermarks ? watermarks.take(batch.size) { |time, place| Times.to_unix_millis(place, time) } : []
        its_zones = zones&.take_time_zones(batch.size) || []
        parts.concat(due_halves(opening, encoder, [batch, its_weights, millis, its_zones], timeout))
      end
      watermarks&.finish
      zones&.finish
      parts.empty? ? [[[], [no_due_runs(opening, timeout)]]] : parts
    end

    # The answer for a batch. If the sidecar refuses the batch because it needs too much work, the answers for its
    # halves.
    # @param columns IDs, weights, watermarks and time zones
    def due_halves(opening, encoder, columns, timeout)
      ids, weights, watermarks, zones = columns
      request = Google::Protobuf.deep_copy(opening)
      request.ids = encoder.encode(ids, zones)
      request.weights.concat(weights)
      request.watermark_unix_millis.concat(watermarks)
      [[ids, due_pages(request, timeout)]]
    rescue InvalidArgument => e
      raise unless ids.size > 1 && e.field == "ids" && e.reason == "ERROR_REASON_OUT_OF_RANGE"

      half = ids.size / 2
      [0...half, half..].flat_map do |part|
        due_halves(opening, encoder, columns.map { |column| column[part] || [] }, timeout)
      end
    end

    # All pages of an answer.
    def due_pages(request, timeout)
      pages = []
      loop do
        pages << ask("ListDueRuns", request, V1::ListDueRunsResponse, timeout)
        request.page_token = pages.last.message.next_page_token
        break pages if request.page_token.empty?
      end
    end

    # The answer without IDs: no runs. The sidecar checks the schedule anyway.
    def no_due_runs(opening, timeout)
      times = [Times.from_timestamp(opening.now_time) + (Times.from_optional(opening.look_ahead) || 0),
               Times.from_optional_timestamp(opening.watermark_time)]
      millis = times.compact.map { |time| Times.to_unix_millis("watermark_time", time) }.max
      watermark = Times.to_timestamp("watermark_time", Times.from_unix_millis(millis))
      answered = resolved(opening.schedule, timeout)
      Answered.new(V1::ListDueRunsResponse.new(identity: answered.message.identity, next_watermark_time: watermark,
                                               runs: V1::DueRuns.new), answered.decided_by)
    end

    # The answer without IDs. The sidecar checks the schedule anyway.
    def nothing(schedule, id_type, timeout)
      answer = SlotAssignments.new(IdEncoder.new(id_type))
      answer.identify(*resolved(Fields.schedule(schedule), timeout))
      answer
    end
  end
end
