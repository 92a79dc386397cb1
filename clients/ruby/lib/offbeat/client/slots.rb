# frozen_string_literal: true

module Offbeat
  # Asks when IDs run, one by one, and about schedules. Where a {Schedule} goes, a {ScheduleVersion} does.
  class Client
    SPACINGS = { even: :KIND_SPACING_EVEN, stable: :KIND_SPACING_STABLE }.freeze

    # What a schedule's defaults resolve to, its fingerprint, slot and expected load.
    def describe_schedule(schedule, at_time: nil, population: nil, timeout: nil)
      request = V1::DescribeScheduleRequest.new(schedule: Fields.schedule(schedule))
      request.at_time = Times.to_timestamp("at_time", at_time) if at_time
      Offbeat.set_field(request, "population", population)
      Description.of(call("DescribeSchedule", request, V1::DescribeScheduleResponse, timeout))
    end

    # The slots that start in a window; by default in the period from now on. With a
    # {SqlColumn}, each with the {Predicate} that selects its rows: those of a cycle's
    # slots share out all rows whose ID is not NULL.
    def list_slots(schedule, start_time: nil, end_time: nil, sql_column: nil, timeout: nil)
      request = V1::ListSlotsRequest.new(schedule: Fields.schedule(schedule))
      request.start_time = Times.to_timestamp("start_time", start_time) if start_time
      request.end_time = Times.to_timestamp("end_time", end_time) if end_time
      request.sql_column = sql_column.to_message if sql_column
      response = call("ListSlots", request, V1::ListSlotsResponse, timeout)
      index = sql_column && SqlIndex.of(response.sql_index)
      response.slots.map do |message|
        found = Slot.of(message)
        found.predicate = Predicate.of(message.predicate, index, sql_column) if sql_column
        found
      end
    end

    # The rows that run in a window of at most a period, by default from now on, as a
    # {Predicate}. Not for :twister, whose offsets no database computes.
    def window_predicate(schedule, sql_column, end_time:, start_time: nil, timeout: nil)
      request = V1::GetWindowPredicateRequest.new(schedule: Fields.schedule(schedule), sql_column: sql_column.to_message,
                                                  end_time: Times.to_timestamp("end_time", end_time))
      request.start_time = Times.to_timestamp("start_time", start_time) if start_time
      response = call("GetWindowPredicate", request, V1::GetWindowPredicateResponse, timeout)
      Predicate.of(response.predicate, SqlIndex.of(response.sql_index), sql_column)
    end

    # One ID: for more than a few, {#assign_slots} is far quicker. `kind` names the kind
    # of job: it is part of the run keys, and changes neither slot nor time. `weight` says how large the ID
    # is, in the unit of the schedule's weight_quantum; `newcomer` is a {Newcomer}, if its first run is wanted.
    def assign_slot(schedule, id, from_time: nil, next_run_count: nil, kind: nil, id_type: nil, weight: nil,
                    newcomer: nil, timeout: nil)
      request = V1::AssignSlotRequest.new(schedule: Fields.schedule(schedule), id: IdEncoder.new(id_type).one(id))
      request.from_time = Times.to_timestamp("from_time", from_time) if from_time
      Offbeat.set_field(request, "next_run_count", next_run_count)
      Offbeat.set_field(request, "kind", kind)
      Offbeat.set_field(request, "weight", weight)
      request.newcomer = Fields.message(newcomer, Newcomer, "newcomer") if newcomer
      Assignment.of(id, call("AssignSlot", request, V1::AssignSlotResponse, timeout))
    end

    # At which slots kinds of job must run so that no two meet on the same user. Give
    # `kind_count`, or how long a run of each kind takes in `run_times`. A schedule for
    # each kind is `schedule.shifted(kind.offset)`.
    #
    # @param spacing :even (the default) or :stable
    # @param conflicts which kinds must not meet, where others may, as pairs: [[0, 1], [1, 2]]. Default: no two
    # @param kind_schedules the schedules that the kinds have today, to be compared: refused unless a slot of
    #   one is a slot of the others
    # @param polling_delay how long a due job may wait for whoever enqueues it, in seconds
    # @param slot_job_delay how long the job that enqueues a slot may itself wait and run, in seconds
    def reciprocal_slots(schedule, slot_index: 0, kind_count: nil, run_times: [], spacing: nil, conflicts: [],
                         kind_schedules: [], polling_delay: nil, slot_job_delay: nil, timeout: nil)
      times = run_times.each_with_index.map { |time, index| Times.to_duration("run_times[#{index}]", time) }
      request = V1::GetReciprocalSlotsRequest.new(schedule: Fields.schedule(schedule), run_times: times)
      Offbeat.set_field(request, "slot_index", slot_index)
      Offbeat.set_field(request, "kind_count", kind_count)
      request.spacing = Offbeat.named("spacing", spacing, SPACINGS) if spacing
      Fields.each_indexed(conflicts, "conflicts") { |pair, place| request.conflicts << conflict(pair, place) }
      Fields.each_indexed(kind_schedules, "kind_schedules") do |today, place|
        request.kind_schedules << Fields.schedule(today, place)
      end
      request.polling_delay = Times.to_duration("polling_delay", polling_delay) if polling_delay
      request.slot_job_delay = Times.to_duration("slot_job_delay", slot_job_delay) if slot_job_delay
      Reciprocals.of(call("GetReciprocalSlots", request, V1::GetReciprocalSlotsResponse, timeout))
    end

    private

    def conflict(pair, place)
      unless pair.is_a?(Array) && pair.size == 2
        raise Offbeat.refused(place, pair, "must be a pair of kinds, such as [0, 1]")
      end

      message = V1::KindConflict.new
      Offbeat.set_field(message, "first_kind_index", pair[0], "#{place}.first_kind_index")
      Offbeat.set_field(message, "second_kind_index", pair[1], "#{place}.second_kind_index")
      message
    end
  end
end
