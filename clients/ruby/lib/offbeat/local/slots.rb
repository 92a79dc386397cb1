# frozen_string_literal: true

require_relative "membership"
require_relative "schedule"

module Offbeat
  module Local
    # The slots of a schedule as spans of time.
    class SlotsOnClock
      def initialize(schedule)
        @schedule = schedule
      end

      # The slot that runs at an instant, in nanoseconds.
      def at(moment)
        slot(before((moment.div(Instants::MILLI)) + 1) - 1) || raise(outside_time("at_time", Instants.text(moment)))
      end

      # The slots that start between two instants, in nanoseconds.
      def starting_in(start, finish)
        if finish < start
          raise Refusal.new(:CONTRADICTORY, "end_time", Instants.text(finish),
                            "must not be before start_time, #{Instants.text(start)}")
        end
        numbered(before(Instants.ceil_millis(start)), before(Instants.ceil_millis(finish)), Instants.text(finish))
      end

      # As many slots as a period has, from an instant on, in nanoseconds.
      def of_a_period_from(start)
        first = before(Instants.ceil_millis(start))
        numbered(first, first + @schedule.slot_count, "one period after #{Instants.text(start)}")
      end

      private

      def numbered(first, behind, shown)
        unless LISTED_SLOTS.allows?(behind - first)
          raise Refusal.new(:OUT_OF_RANGE, "end_time", "#{shown} (a window of #{behind - first} slots)",
                            "the window must hold #{LISTED_SLOTS}: end it earlier")
        end
        (first...behind).map { |number| slot(number) || raise(outside_time("end_time", shown)) }
      end

      # How many slots start before an instant, counted from the anchor.
      def before(millis)
        -((@schedule.anchor - millis).div(@schedule.slot))
      end

      # The slot of a number counted from the anchor; nil outside of the years 1 to 9999.
      def slot(number)
        start, finish = [number, number + 1].map { |one| Instants.timestamp(@schedule.anchor + (one * @schedule.slot)) }
        cycle, index = number.divmod(@schedule.slot_count)
        V1::Slot.new(slot_index: index, cycle_index: cycle, start_time: start, end_time: finish) if start && finish
      end

      def outside_time(field, shown)
        Refusal.new(:OUT_OF_RANGE, field, shown,
                    "must be such that its slots start and end in #{Instants.text(Instants::MIN)} to " \
                    "#{Instants.text(Instants::MAX)}")
      end
    end

    # `DescribeSchedule`: a schedule with its defaults, and its slot at an instant.
    module DescribeSchedule
      module_function

      def needs_sidecar(request)
        "estimates of load need a sidecar" if request.has_population?
      end

      def answer(request, resolve, now)
        schedule = resolve.call
        at = Instants.moment("at_time", request.at_time) || now
        slot = SlotsOnClock.new(schedule).at(at)
        cycle = schedule.cycle_of(at.div(Instants::MILLI))
        V1::DescribeScheduleResponse.new(
          identity: schedule.identity, spec: schedule.resolved, canonical_text: schedule.canonical_text,
          slot_duration: Instants.duration(schedule.slot), slot: slot, bucket_share: bucket_share(schedule),
          cycle_start_time: Instants.timestamp(schedule.cycle_start(cycle)),
          cycle_end_time: Instants.timestamp(schedule.cycle_start(cycle + 1)),
          active_duration: Instants.duration(schedule.period), kinds: schedule.kinds&.described || [],
          max_cycle_duration: Instants.duration(schedule.period)
        )
      end

      def bucket_share(schedule)
        buckets, slots = schedule.placement.bucket_count, schedule.slot_count
        return unless buckets

        largest = -(-buckets / slots)
        V1::BucketShare.new(min_bucket_count: buckets / slots, max_bucket_count: largest,
                            fullest_to_mean_ratio: largest / (buckets.to_f / slots))
      end
    end

    # `ListSlots`: the slots of a window, with the predicate of each if a column is named.
    module ListSlots
      module_function

      def needs_sidecar(_request); end

      def answer(request, resolve, now)
        target = request.sql_target
        Membership.refuse_zones(target)
        schedule = resolve.call
        # The slots are the same for all kinds, but the rows are those of one.
        asked = target || !request.kind.empty? ? schedule.of_kind(request.kind) : nil
        members = target && Refusal.under("sql_target") { Membership.new(asked, target) }
        slots = slots(request, SlotsOnClock.new(schedule), now)
        members&.add_to(slots)
        V1::ListSlotsResponse.new(identity: schedule.identity, slots: slots, sql_index: members&.index)
      end

      def slots(request, on_clock, now)
        start = Instants.moment("start_time", request.start_time) || now
        finish = Instants.moment("end_time", request.end_time)
        finish ? on_clock.starting_in(start, finish) : on_clock.of_a_period_from(start)
      end
    end

    # `GetWindowPredicate`: the predicate of the rows that run in a window.
    module GetWindowPredicate
      module_function

      def needs_sidecar(request)
        "time zones of rows need a sidecar: clients know no time zones" unless request.time_zones.empty?
      end

      def answer(request, resolve, now)
        asked = resolve.call.of_kind(request.kind)
        Membership.refuse_zones(request.sql_target)
        target = Refusal.required("sql_target", request.sql_target, "it must be set")
        members = Refusal.under("sql_target") { Membership.new(asked, target) }
        start = Instants.moment("start_time", request.start_time) || now
        finish = Refusal.required("end_time", request.end_time, "must be at most a period after start_time")
        predicate = members.window(start, Instants.moment("end_time", finish))
        V1::GetWindowPredicateResponse.new(identity: asked.schedule.identity, predicate: predicate, sql_index: members.index)
      end
    end
  end
end
