# frozen_string_literal: true

require_relative "transport"

module Offbeat
  # Asks a sidecar.
  #
  #   client = Offbeat::Client.new("127.0.0.1:2328")
  #   client.assign_slot(Offbeat::Schedule.new(period: 8 * 3600), "acme").next_run.start_time
  #
  # Connects at its first call, may be shared by threads, and may be used on both
  # sides of a fork. Calls that did not reach the sidecar are made again for some four
  # seconds, or until their timeout: a restart of the sidecar costs time, but no call.
  class Client
    STREAM_IDS = 8_192
    SPACINGS = { even: :KIND_SPACING_EVEN, stable: :KIND_SPACING_STABLE }.freeze

    attr_reader :timeout

    # @param address HOST:PORT or unix:PATH; by default OFFBEAT_ADDRESS, else 127.0.0.1:2328
    # @param timeout bounds every call, and each call of a large batch; in seconds
    # @param token what the sidecar knows us by: a String, or what answers `call` with the one of now and is
    #   asked before every call and stream. Not over plain TCP, but to a loopback address
    # @param tls a {Tls}; true for one that trusts the system's authorities; false for none
    def initialize(address = nil, timeout: nil, token: nil, tls: nil)
      defaults = Offbeat.configuration
      @timeout = checked_timeout(timeout || defaults.timeout)
      @transport = Transport.new(address || defaults.address, token: token || defaults.token,
                                                              tls: tls.nil? ? defaults.tls : tls)
    end

    def address
      @transport.address
    end

    # Closes the connections; the next call makes new ones.
    def close
      @transport.close
    end

    # What a schedule's defaults resolve to, its fingerprint, slot and expected load.
    def describe_schedule(schedule, at_time: nil, population: nil, timeout: nil)
      request = V1::DescribeScheduleRequest.new(schedule: schedule.to_message)
      request.at_time = Times.to_timestamp("at_time", at_time) if at_time
      Offbeat.set_field(request, "population", population)
      description(call("DescribeSchedule", request, V1::DescribeScheduleResponse, timeout))
    end

    # The slots that start in a window; by default in the period from now on. With a
    # {SqlColumn}, each with the {Predicate} that selects its rows: those of a cycle's
    # slots share out all rows whose ID is not NULL.
    def list_slots(schedule, start_time: nil, end_time: nil, sql_column: nil, timeout: nil)
      request = V1::ListSlotsRequest.new(schedule: schedule.to_message)
      request.start_time = Times.to_timestamp("start_time", start_time) if start_time
      request.end_time = Times.to_timestamp("end_time", end_time) if end_time
      request.sql_column = sql_column.to_message if sql_column
      response = call("ListSlots", request, V1::ListSlotsResponse, timeout)
      response.slots.map do |message|
        found = slot(message)
        found.predicate = predicate(message.predicate, response, sql_column) if sql_column
        found
      end
    end

    # The rows that run in a window of at most a period, by default from now on, as a
    # {Predicate}. Not for :twister, whose offsets no database computes.
    def window_predicate(schedule, sql_column, end_time:, start_time: nil, timeout: nil)
      request = V1::GetWindowPredicateRequest.new(schedule: schedule.to_message, sql_column: sql_column.to_message,
                                                  end_time: Times.to_timestamp("end_time", end_time))
      request.start_time = Times.to_timestamp("start_time", start_time) if start_time
      response = call("GetWindowPredicate", request, V1::GetWindowPredicateResponse, timeout)
      predicate(response.predicate, response, sql_column)
    end

    # One ID: for more than a few, {#assign_slots} is far quicker. `kind` names the kind
    # of job: it is part of the run keys, and changes neither slot nor time.
    def assign_slot(schedule, id, from_time: nil, next_run_count: nil, kind: nil, id_type: nil, timeout: nil)
      request = V1::AssignSlotRequest.new(schedule: schedule.to_message, id: IdEncoder.new(id_type).one(id))
      request.from_time = Times.to_timestamp("from_time", from_time) if from_time
      Offbeat.set_field(request, "next_run_count", next_run_count)
      Offbeat.set_field(request, "kind", kind)
      assignment(id, call("AssignSlot", request, V1::AssignSlotResponse, timeout))
    end

    # Any number of IDs of one type, in as few calls as that takes. If some are refused,
    # raises {BadIds}, which carries the answers of the others; with `return_errors`
    # returns them all, the refused ones in `errors`.
    def assign_slots(schedule, ids, from_time: nil, kind: nil, id_type: nil, return_errors: false, timeout: nil)
      answer = nil
      options = { from_time: from_time, kind: kind, id_type: id_type, timeout: timeout }
      each_batch(schedule, ids, IdEncoder::BATCH_IDS, **options) do |encoder, batch, response|
        answer ||= SlotAssignments.new(encoder)
        answer.fingerprint = response.identity.fingerprint
        answer.add(batch, response.assignments)
      end
      answer ||= nothing(schedule, id_type, timeout)
      raise BadIds, answer unless answer.errors.empty? || return_errors

      answer
    end

    # IDs as they come: an Enumerator of the answers, batch by batch, that holds one
    # batch at a time. Refused IDs stand in the `errors` of their batch.
    def stream_slot_assignments(schedule, ids, from_time: nil, kind: nil, id_type: nil, timeout: nil)
      options = { from_time: from_time, kind: kind, id_type: id_type, timeout: timeout }
      Enumerator.new do |answers|
        first = 0
        each_batch(schedule, ids, STREAM_IDS, **options) do |encoder, batch, response|
          answer = SlotAssignments.new(encoder, first)
          answer.fingerprint = response.identity.fingerprint
          answers << answer.add(batch, response.assignments)
          first += batch.size
        end
      end
    end

    # At which slots kinds of job must run so that no two meet on the same user. Give
    # `kind_count`, or how long a run of each kind takes in `run_times`. A schedule for
    # each kind is `schedule.shifted(kind.offset)`.
    def reciprocal_slots(schedule, slot_index: 0, kind_count: nil, run_times: [], spacing: nil, timeout: nil)
      times = run_times.each_with_index.map { |time, index| Times.to_duration("run_times[#{index}]", time) }
      request = V1::GetReciprocalSlotsRequest.new(schedule: schedule.to_message, run_times: times)
      Offbeat.set_field(request, "slot_index", slot_index)
      Offbeat.set_field(request, "kind_count", kind_count)
      request.spacing = Offbeat.named("spacing", spacing, SPACINGS) if spacing
      reciprocals(call("GetReciprocalSlots", request, V1::GetReciprocalSlotsResponse, timeout))
    end

    # The jobs of groups, so that jobs of one group stay `feeder_count` turns apart: an
    # Enumerable of {SpreadTurn}s, with a certificate when they have all been taken.
    #
    # Groups and jobs are pulled when they are needed: up to `job_window` jobs (256 by
    # default) of each group that is open, and up to `group_window` groups (0 by default)
    # before a feeder needs them. `max_open_groups` and `on_shortage` (:emit or :wait)
    # belong to the policy :cooldown, whose groups must have a size.
    def spread(groups, feeder_count:, policy: nil, max_open_groups: nil, on_shortage: nil, job_window: nil,
               group_window: nil, timeout: nil)
      spec = V1::SpreadSpec.new
      spec.policy = Offbeat.named("spec.policy", policy, Spread::POLICIES) if policy
      spec.on_shortage = Offbeat.named("spec.on_shortage", on_shortage, Spread::SHORTAGES) if on_shortage
      { feeder_count: feeder_count, max_open_groups: max_open_groups, job_window: job_window,
        group_window: group_window }.each { |name, value| Offbeat.set_field(spec, name.to_s, value, "spec.#{name}") }
      spread_from(groups, V1::SpreadRequest.new(spec: spec), timeout)
    end

    # Goes on with a spread behind the turns that were taken, by its `resume_token`. The
    # groups must be the same, in the same order: they are pulled from the first on, and what
    # had its turn is dropped. Other groups are refused ({FailedPrecondition}) before a turn.
    def resume_spread(groups, resume_token, timeout: nil)
      token = V1::ResumeToken.decode(resume_token)
      spread_from(groups, V1::SpreadRequest.new(resume_token: token), timeout)
    rescue Google::Protobuf::ParseError, TypeError
      raise Offbeat.refused("resume_token", resume_token, "must be a spread's resume_token")
    end

    # A spread that outlives calls and is shared by its name: producers hand over groups, and
    # consumers draw their jobs. Nothing connects yet: calls open it where it is needed, and again
    # after a restart of the sidecar.
    #
    # `policy` is :round_robin, the default, or :cooldown, with `max_open_groups`. A job is
    # lent for `lease` seconds, at most `max_attempts` times.
    def named_spread(name, feeder_count:, policy: nil, max_open_groups: nil, lease: nil, max_attempts: nil,
                     max_consumer_leases: nil, max_groups: nil, max_jobs: nil, max_bytes: nil)
      spec = V1::NamedSpreadSpec.new
      spec.policy = Offbeat.named("spec.policy", policy, Spread::POLICIES) if policy
      spec.lease = Times.to_duration("spec.lease", lease) if lease
      { feeder_count: feeder_count, max_open_groups: max_open_groups, max_attempts: max_attempts,
        max_consumer_leases: max_consumer_leases, max_groups: max_groups, max_jobs: max_jobs,
        max_bytes: max_bytes }.each { |field, value| Offbeat.set_field(spec, field.to_s, value, "spec.#{field}") }
      NamedSpread.new(Named::Calls.new(@transport, @timeout, name, spec))
    end

    # The named spreads, by name, as an Enumerator of {SpreadDescription}s that asks for a
    # page when it is needed.
    def list_spreads
      Enumerator.new do |spreads|
        request = V1::ListSpreadsRequest.new
        loop do
          bytes = @transport.call("ListSpreads", request.class.encode(request), @timeout, service: Named::SERVICE)
          page = V1::ListSpreadsResponse.decode(bytes)
          page.spreads.each { |message| spreads << SpreadDescription.of(message) }
          break unless page.has_more

          request.after_spread = page.spreads.to_a.last.spread
        end
      end
    end

    private

    def spread_from(groups, first, timeout)
      seconds = timeout && checked_timeout(timeout)
      converse = -> { @transport.converse("/offbeat.v1.SpreadService/Spread", seconds, opening: seconds || @timeout) }
      Spread.new(groups, first, converse)
    end

    def call(method, request, response, timeout, service: "SlotService")
      seconds = timeout.nil? ? @timeout : checked_timeout(timeout)
      response.decode(@transport.call(method, request.class.encode(request), seconds, service: service))
    end

    def each_batch(schedule, ids, size, from_time:, kind:, id_type:, timeout:)
      encoder = IdEncoder.new(id_type)
      # Now is taken once, so that all IDs of a call are asked about at one instant.
      opening = V1::AssignSlotsRequest.new(schedule: schedule.to_message,
                                           from_time: Times.to_timestamp("from_time", from_time || Time.now))
      Offbeat.set_field(opening, "kind", kind)
      IdEncoder.batches(ids, size).each do |batch|
        request = opening.dup
        request.ids = encoder.column(batch)
        yield encoder, batch, call("AssignSlots", request, V1::AssignSlotsResponse, timeout)
      end
    end

    # Nothing was asked: let the schedule be checked all the same.
    def nothing(schedule, id_type, timeout)
      answer = SlotAssignments.new(IdEncoder.new(id_type))
      answer.fingerprint = describe_schedule(schedule, timeout: timeout).fingerprint
      answer
    end

    def checked_timeout(timeout)
      return timeout.to_f if timeout.is_a?(Numeric) && timeout.to_f.positive?

      raise Offbeat.refused("timeout", timeout, "must be a positive number of seconds")
    end

    def assignment(id, message)
      Assignment.new(
        id: id, slot_index: message.slot_index, slot_offset: Times.from_duration(message.slot_offset),
        cycle_offset: Times.from_duration(message.cycle_offset), last_run: run(message.last_run),
        next_runs: message.next_runs.map { |next_run| run(next_run) },
        fingerprint: message.identity.fingerprint, canonical_id: message.reason.canonical_id,
        reason: message.reason[message.reason.rule.to_s]
      )
    end

    def run(message)
      Run.new(start_time: Times.from_timestamp(message.start_time), cycle_index: message.cycle_index,
              run_key: message.run_key)
    end

    def slot(message)
      Slot.new(slot_index: message.slot_index, cycle_index: message.cycle_index,
               start_time: Times.from_timestamp(message.start_time), end_time: Times.from_timestamp(message.end_time))
    end

    def predicate(message, response, sql_column)
      values = message.parameters.map { |parameter| parameter[parameter.value.to_s] }
      values = message.parameters.map(&:name).zip(values).to_h if sql_column.parameter_style == :named
      index = SqlIndex.new(name: response.sql_index.name,
                           create_statements: response.sql_index.create_statements.to_a)
      Predicate.new(sql: message.sql, parameters: values, index: index)
    end

    def description(message)
      share = message.bucket_share
      Description.new(
        fingerprint: message.identity.fingerprint, canonical_text: message.canonical_text,
        slot_count: message.spec.slot_count, slot_duration: Times.from_duration(message.slot_duration),
        slot: slot(message.slot), cycle_start_time: Times.from_timestamp(message.cycle_start_time),
        bucket_share: share && BucketShare.new(**share.to_h),
        slot_load: message.slot_load && ExpectedLoad.new(**message.slot_load.to_h),
        second_load: message.second_load && ExpectedLoad.new(**message.second_load.to_h)
      )
    end

    def reciprocals(message)
      kinds = message.kinds.map do |kind|
        KindSlot.new(
          kind_index: kind.kind_index, offset_slot_count: kind.offset_slot_count,
          offset: Times.from_duration(kind.offset), user_slot_index: kind.user_slot_index,
          time_slot_index: kind.time_slot_index, gap_slot_count: kind.gap_slot_count,
          run_budget: Times.from_duration(kind.run_budget)
        )
      end
      Reciprocals.new(
        kinds: kinds, gap_slot_count: message.gap_slot_count, gap: Times.from_duration(message.gap),
        run_budget: Times.from_duration(message.run_budget),
        independent_run_budget: Times.from_duration(message.independent_run_budget)
      )
    end
  end
end
