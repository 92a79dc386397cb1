# frozen_string_literal: true

require_relative "schedule"

module Offbeat
  module Local
    # A checked request for due runs. Instants and spans are in milliseconds. Instants are rounded up: runs start on
    # whole milliseconds, so that none lies between an instant and its rounding.
    class DueSpec
      A_MINUTE = 60 * Instants::SECOND
      IN_POLICY = %w[missed_run_policy on_time_tolerance horizon smear_span min_gap].freeze
      private_constant :A_MINUTE, :IN_POLICY

      attr_reader :now, :end, :on_time_from, :caught_up_from, :smear_span, :min_gap

      # @param now the instant of the request, in nanoseconds
      def initialize(request, asked, now)
        @asked, @schedule = asked, asked.schedule
        given = read(request)
        @drops = given["missed_run_policy"] == :MISSED_RUN_POLICY_DROP
        spans = in_policy { check(given) }
        @now = Instants.ceil_millis(now)
        @end = Instants.ceil_millis(now + spans["look_ahead"])
        @on_time_from = Instants.ceil_millis(now - spans["on_time_tolerance"])
        @caught_up_from = Instants.ceil_millis(now - spans["horizon"])
        @smear_span = spans["smear_span"] / Instants::MILLI
        @min_gap = Instants.ceil_millis(spans["min_gap"])
        @latest_skew = spans["look_ahead"] + spans["max_clock_skew"]
        @last_watermark = Instants.ceil_millis(now + @latest_skew)
      end

      def drops?
        @drops
      end

      # The watermarks of the IDs: one number for all, or an Array with one for each.
      def watermarks(request, id_count)
        field, each = "watermark_time", request.watermark_unix_millis
        time = request.watermark_time
        if each.empty?
          time = Refusal.required(field, time, "must be set, but for IDs with watermarks of their own")
          millis = Instants.ceil_millis(Instants.moment(field, time))
          return Refusal.under(field) { watermark(millis) }
        end
        if time
          raise Refusal.new(:CONTRADICTORY, field, Instants.text(Instants.moment(field, time)),
                            "must not be set together with watermark_unix_millis")
        end
        watermarks_of_each(each, id_count)
      end

      private

      def watermarks_of_each(each, id_count)
        field = "watermark_unix_millis"
        unless each.size == id_count
          raise Refusal.new(:CONTRADICTORY, field, "#{each.size} for #{id_count} IDs", "must be none, or one for each ID")
        end
        each.each_with_index { |millis, row| Refusal.under("#{field}[#{row}]") { watermark(millis) } }.to_a
      end

      def watermark(millis)
        shown = Instants.millis_in_time?(millis)
        if millis > @last_watermark
          latest = [@last_watermark * Instants::MILLI, Instants::MAX].min
          raise Refusal.new(:OUT_OF_RANGE, "", shown ? Instants.text_of_millis(millis) : "#{millis} ms",
                            "must be at most #{Instants.text(latest)}: max_clock_skew and look_ahead, " \
                            "#{Instants.seconds_text(@latest_skew)}, after now_time")
        end
        return millis if shown

        raise Refusal.new(:OUT_OF_RANGE, "", "#{millis} ms since the Unix epoch",
                          "must be #{Instants.text(Instants::MIN)} to #{Instants.text(Instants::MAX)}")
      end

      def in_policy
        yield
      rescue Refusal => e
        e.field = "catch_up_policy.#{e.field}" if IN_POLICY.include?(e.field)
        raise
      end

      # The values that the request sets; spans in nanoseconds.
      def read(request)
        spans = %w[max_clock_skew look_ahead].to_h { |name| [name, Instants.span(name, request[name])] }
        policy = request.catch_up_policy || V1::CatchUpPolicy.new
        in_policy do
          spans["missed_run_policy"] = Refusal.known("missed_run_policy", policy.missed_run_policy,
                                                     "0 to 3, a value of MissedRunPolicy",
                                                     default: :MISSED_RUN_POLICY_RUN_ONCE)
          %w[on_time_tolerance horizon smear_span min_gap].each { |name| spans[name] = Instants.span(name, policy[name]) }
        end
        spans
      end

      # All spans in nanoseconds, checked and with their defaults.
      def check(given)
        if @drops && given["on_time_tolerance"].nil?
          raise Refusal.missing("on_time_tolerance", "must be set with the policy DROP: at least the time between two " \
                                                     "requests, or runs are lost")
        end
        a_minute = [A_MINUTE, period].min
        spans = { "on_time_tolerance" => tolerance(given, a_minute), "smear_span" => smear(given) }
        { "look_ahead" => 0, "min_gap" => 0, "max_clock_skew" => a_minute }.each do |name, default|
          spans[name] = up_to_a_period(name, given[name] || default)
        end
        spans["horizon"] = horizon(given["horizon"] || period, spans["on_time_tolerance"])
        spans
      end

      def period
        @schedule.period * Instants::MILLI
      end

      def up_to_a_period(name, span)
        return span if span.between?(0, period)

        raise Refusal.new(:OUT_OF_RANGE, name, Instants.seconds_text(span),
                          "must be 0s to #{Instants.seconds_text(period)}, one period")
      end

      # With kinds, a run may start late by at most what a kind's run time leaves of its gap (the least over all kinds).
      def tolerance(given, a_minute)
        name = "on_time_tolerance"
        kinds = @schedule.kinds or return up_to_a_period(name, given[name] || a_minute)
        longest = kinds.longest_tolerance
        span = given[name] || [a_minute, longest].min
        return span if span.between?(0, longest)

        raise Refusal.new(:OUT_OF_RANGE, name, Instants.seconds_text(span),
                          "must be 0s to #{Instants.seconds_text(longest)}, what the run time of a kind leaves of the " \
                          "gap to the next one: a run that starts later could meet it")
      end

      def smear(given)
        span = up_to_a_period("smear_span", given["smear_span"] || 0)
        return span if @schedule.kinds.nil? || given["smear_span"].nil?

        raise Refusal.new(:CONTRADICTORY, "smear_span", Instants.seconds_text(span),
                          "must not be set where the schedule declares kinds: its catch_up_span says where late runs " \
                          "start, the same for all callers")
      end

      def horizon(span, tolerance)
        longest = HORIZON_MILLIS * Instants::MILLI
        return span if span.between?(tolerance, longest)

        raise Refusal.new(:OUT_OF_RANGE, "horizon", Instants.seconds_text(span),
                          "must be on_time_tolerance, #{Instants.seconds_text(tolerance)}, to " \
                          "#{Instants.seconds_text(longest)} (3660 days)")
      end
    end
  end
end
