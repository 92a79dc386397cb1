# frozen_string_literal: true

require_relative "due_spec"
require_relative "late_runs"
require_relative "page"

module Offbeat
  module Local
    # `ListDueRuns`: the runs that are due, and those that were missed. Instants are in milliseconds.
    class ListDueRuns
      COLUMNS = %i[id_indexes piece_indexes cycle_indexes scheduled_unix_millis start_unix_millis].freeze
      private_constant :COLUMNS

      def self.needs_sidecar(request)
        if request.catch_up_policy&.missed_run_policy == :MISSED_RUN_POLICY_RUN_ALL
          return "the policy run_all needs a sidecar: clients decide drop and run_once"
        end

        AssignSlots.needs_sidecar(request)
      end

      def self.answer(request, resolve, now)
        new(request, resolve, now).answer
      end

      def initialize(request, resolve, clock)
        @ids = IdColumn.new(request.ids)
        @page = Page.new(request, @ids.size)
        @now = @page.now(Instants.moment("now_time", request.now_time), clock)
        @schedule = resolve.call
        @asked = @schedule.of_kind(request.kind)
        @spec = DueSpec.new(request, @asked, @now)
        @watermarks = @spec.watermarks(request, @ids.size)
        @prefix = @asked.run_key_prefix
        @page_size = DUE_RUNS.check("page_size", request.page_size.zero? ? DUE_RUNS.range.end : request.page_size)
        unless DUE_PAGED_RUNS.allows?(@page.first_row)
          raise refuse("IDs with more than #{@page.first_row} due runs", "must have #{DUE_PAGED_RUNS}")
        end
        @late_runs = LateRuns.new(@asked) if @asked.kind
        @rows, @met, @wanted = [], 0, 0
        @late = @dropped = @superseded = 0
        @next_due = nil
      end

      def answer
        is_full = false
        @ids.place_each(@asked) do |id, place, row|
          # Once the page is full, the remaining IDs are only checked, for their errors.
          is_full ||= catch(:full) { add(row, id, place) } if id
        end
        return last_page unless is_full

        V1::ListDueRunsResponse.new(identity: @schedule.identity, runs: runs,
                                    next_page_token: @page.token(@now, @page.first_row + @page_size))
      rescue LateRuns::TooMuch
        raise refuse("IDs with runs in so many cycles",
                     "must need #{DUE_CYCLES} looked through: ask for fewer IDs at once, with later watermarks")
      end

      private

      def refuse(value, allowed)
        Refusal.new(:OUT_OF_RANGE, "ids", value, allowed)
      end

      def runs
        columns = @rows.empty? ? {} : COLUMNS.zip(@rows.transpose).to_h
        V1::DueRuns.new(run_key_prefix: @prefix, errors: @ids.errors, **columns)
      end

      def last_page
        shared = @watermarks.is_a?(Array) ? @spec.end : @watermarks
        V1::ListDueRunsResponse.new(
          identity: @schedule.identity, runs: runs, late_run_count: @late, dropped_run_count: @dropped,
          superseded_run_count: @superseded, next_due_time: @next_due && Instants.timestamp(@next_due),
          next_watermark_time: Instants.timestamp([@spec.end, shared].max)
        )
      end

      # Adds the runs of an ID, the late one first. Throws :full if the page is full; otherwise returns false.
      def add(row, id, place)
        watermark = @watermarks.is_a?(Array) ? @watermarks[row] : @watermarks
        finish = [@spec.end, watermark].max
        bounds = [@spec.caught_up_from, @spec.on_time_from, @spec.now].map { |bound| bound.clamp(watermark, finish) }
        first, caught_up, on_time, now, last = [watermark, *bounds, finish].map do |bound|
          @asked.first_cycle(place.cycle_offset, Instants.within_time(bound))
        end
        late_count = on_time - caught_up
        # A run that is due and on time replaces the missed one. A run that look_ahead lists early does not.
        wanted = @spec.drops? || now > on_time ? 0 : [late_count, 1].min
        want(wanted + last - on_time)
        @dropped += on_time - first - wanted
        expect(@asked.start(place.cycle_offset, last))
        add_late(row, id, place, on_time - 1) if wanted.positive?
        (on_time...last).each do |cycle|
          start = @asked.start(place.cycle_offset, cycle)
          push(row, cycle, start, start)
        end
        false
      end

      def want(count)
        @wanted += count
        return if DUE_PAGED_RUNS.allows?(@wanted)

        raise refuse("IDs with #{@wanted} or more due runs",
                     "must have #{DUE_PAGED_RUNS}: ask for fewer IDs at once, or shorten the horizon")
      end

      # Notes the start of the next run of an ID, which is not listed.
      def expect(start)
        @next_due = [@next_due || start, start].min if Instants.millis_in_time?(start)
      end

      # Adds the latest of the missed runs, unless it is dropped or superseded.
      def add_late(row, id, place, cycle)
        hash = @schedule.placement.smear_hash(id)
        start = @late_runs ? @late_runs.start(place, hash, @spec.now) : @spec.now + ((hash * @spec.smear_span) >> 64)
        if start.nil?
          @dropped += 1
        elsif start > last_start(place)
          @superseded += 1
        else
          @late += 1
          push(row, cycle, @asked.start(place.cycle_offset, cycle), start)
        end
      end

      # The latest start of a late run at which the next regular run does not supersede it.
      def last_start(place)
        _, start = @asked.next_run(place.cycle_offset, Instants.within_time(@spec.now))
        Instants.millis_in_time?(start) ? start - [@spec.min_gap, 1].max : Float::INFINITY
      end

      def push(row, cycle, scheduled, start)
        @met += 1
        return if @met <= @page.first_row

        throw :full, true if @rows.size >= @page_size
        @rows << [row, 0, cycle, scheduled, start]
      end
    end
  end
end
