# frozen_string_literal: true

module Offbeat
  # Asks when single IDs run, and about schedules. Every method that takes a {Schedule} also takes a {ScheduleReference}
  # or its text, such as "bank-sync/3". If the schedule declares kinds, calls about runs must name one of them.
  class Client
    DEFAULT_KIND = "default" # the same as the sidecar's
    private_constant :DEFAULT_KIND

    # Describes a schedule: a {Description} with its defaults filled in, its fingerprint, its kinds, its slot at
    # `at_time` (default: now), and the load to expect for a `population`.
    def describe_schedule(schedule, at_time: nil, population: nil, timeout: nil)
      request = V1::DescribeScheduleRequest.new(schedule: Fields.schedule(schedule))
      request.at_time = Times.to_timestamp("at_time", at_time) if at_time
      Offbeat.set_field(request, "population", population)
      answered = ask("DescribeSchedule", request, V1::DescribeScheduleResponse, timeout)
      Description.of(answered.message, answered.decided_by)
    end

    # The {ListedSchedule}s that the sidecar has loaded; with a `name`, only its versions.
    def list_schedules(name: nil, timeout: nil)
      request = V1::ListSchedulesRequest.new
      Offbeat.set_field(request, "name", name)
      listed = []
      loop do
        response = call("ListSchedules", request, V1::ListSchedulesResponse, timeout)
        listed.concat(response.schedules.map { |schedule| ListedSchedule.of(schedule) })
        return listed if response.next_page_token.empty?

        request.page_token = response.next_page_token
      end
    end

    # The {Slot}s that start in a window; by default as many as a cycle has, from now on. With a {SqlTarget}, each has
    # the {Predicate} that selects its rows: those of a cycle's slots are a partition of all rows whose ID is not NULL.
    # `kind` is the kind whose rows the predicates select, if the schedule declares kinds.
    def list_slots(schedule, start_time: nil, end_time: nil, sql_target: nil, kind: nil, timeout: nil)
      request = V1::ListSlotsRequest.new(schedule: Fields.schedule(schedule))
      request.start_time = Times.to_timestamp("start_time", start_time) if start_time
      request.end_time = Times.to_timestamp("end_time", end_time) if end_time
      request.sql_target = sql_target.to_message if sql_target
      Offbeat.set_field(request, "kind", kind)
      response = call("ListSlots", request, V1::ListSlotsResponse, timeout)
      index = sql_target && SqlIndex.of(response.sql_index)
      response.slots.map do |message|
        found = Slot.of(message)
        found.predicate = Predicate.of(message.predicate, index, sql_target) if sql_target
        found
      end
    end

    # The rows that run in a window, as a {Predicate}. Not for :twister, because no database computes its offsets.
    #
    # @param start_time when the window starts. Default: now
    # @param end_time when the window ends: at most the longest cycle after its start (with a calendar, up to 24 h more)
    # @param kind the kind whose runs count, if the schedule declares kinds
    # @param time_zones with a calendar and a `time_zone_column`: the time zones that rows live in, each once. Rows of
    #   others, or of none, are not selected
    def window_predicate(schedule, sql_target, end_time:, start_time: nil, kind: nil, time_zones: [], timeout: nil)
      request = V1::GetWindowPredicateRequest.new(schedule: Fields.schedule(schedule), sql_target: sql_target.to_message,
                                                  end_time: Times.to_timestamp("end_time", end_time))
      request.start_time = Times.to_timestamp("start_time", start_time) if start_time
      Offbeat.set_field(request, "kind", kind)
      Fields.add_time_zones(request, time_zones)
      response = call("GetWindowPredicate", request, V1::GetWindowPredicateResponse, timeout)
      Predicate.of(response.predicate, SqlIndex.of(response.sql_index), sql_target)
    end

    # Assigns one ID: an {Assignment}. For more than a few IDs, {#assign_slots} is far faster. `kind` is the kind of
    # job, which is part of the run keys. If the schedule declares kinds, it must be one of them, and decides slot and
    # time; otherwise it is a label that moves nothing, by default "default". `weight` is the size of the ID, in the
    # unit of the schedule's weight_quantum. With a {NewId} as `new_id`, the answer has the first run too. With a
    # calendar, `time_zone` is the time zone that the ID lives in, by default that of the schedule.
    def assign_slot(schedule, id, from_time: nil, next_run_count: nil, kind: nil, id_type: nil, weight: nil,
                    new_id: nil, time_zone: nil, timeout: nil)
      request = V1::AssignSlotRequest.new(schedule: Fields.schedule(schedule), id: IdEncoder.new(id_type).one(id))
      request.from_time = Times.to_timestamp("from_time", from_time) if from_time
      Offbeat.set_field(request, "next_run_count", next_run_count)
      Offbeat.set_field(request, "kind", kind)
      Offbeat.set_field(request, "weight", weight)
      Offbeat.set_field(request, "time_zone", Fields.time_zone(time_zone))
      request.new_id = Fields.message(new_id, NewId, "new_id") if new_id
      kind = DEFAULT_KIND if request.kind.empty?
      answered = ask("AssignSlot", request, V1::AssignSlotResponse, timeout)
      Assignment.of(id, kind, answered.message, answered.decided_by)
    end

    # The slots in which kinds of job must run so that no two of them meet on the same ID: {Reciprocals}. Give
    # `kind_count` or, in `run_times`, how long a run of each kind takes, in seconds. A schedule that declares `kinds`
    # places them in the same way.
    #
    # @param kind_spacing :even (the default) or :stable
    # @param kind_conflicts which kinds must not meet, if others may, as pairs of their indexes: [[0, 1], [1, 2]].
    #   Default: no two kinds may meet
    # @param polling_delay how long a due job may wait until it is enqueued, in seconds
    # @param slot_job_delay how long the job that enqueues a slot may itself wait and run, in seconds
    def reciprocal_slots(schedule, slot_index: 0, kind_count: nil, run_times: [], kind_spacing: nil,
                         kind_conflicts: [], polling_delay: nil, slot_job_delay: nil, timeout: nil)
      times = run_times.each_with_index.map { |time, index| Times.to_duration("run_times[#{index}]", time) }
      request = V1::GetReciprocalSlotsRequest.new(schedule: Fields.schedule(schedule), run_times: times)
      Offbeat.set_field(request, "slot_index", slot_index)
      Offbeat.set_field(request, "kind_count", kind_count)
      request.kind_spacing = Offbeat.named("kind_spacing", kind_spacing, Schedule::SPACINGS) if kind_spacing
      Fields.each_indexed(kind_conflicts, "kind_conflicts") do |pair, place|
        indexes = %w[first_kind_index second_kind_index]
        request.kind_conflicts << Fields.pair(V1::KindIndexConflict, pair, place, indexes, [0, 1])
      end
      request.polling_delay = Times.to_duration("polling_delay", polling_delay) if polling_delay
      request.slot_job_delay = Times.to_duration("slot_job_delay", slot_job_delay) if slot_job_delay
      Reciprocals.of(call("GetReciprocalSlots", request, V1::GetReciprocalSlotsResponse, timeout))
    end

    # Whether jobs that lock the same ID are kept apart by the schedules that they have today: a {Comparison}. The
    # answer is :apart only if that is certain.
    #
    # @param jobs 2 to 32 {ComparedJob}s, or schedules without kinds
    def compare_schedules(jobs, timeout: nil)
      request = V1::CompareSchedulesRequest.new
      Fields.each_indexed(jobs, "jobs") do |job, place|
        job = ComparedJob.new(schedule: job) unless job.is_a?(ComparedJob)
        request.jobs << job.to_message(place)
      end
      Comparison.of(call("CompareSchedules", request, V1::CompareSchedulesResponse, timeout))
    end
  end
end
