# frozen_string_literal: true

require_relative "instants"
require_relative "limits"

module Offbeat
  module Local
    # The turns of a cycle: equal parts in which every kind has a place for late runs. See ListDueRunsRequest.
    class Turns
      DEFAULT_COUNT = 8 # or more
      private_constant :DEFAULT_COUNT

      # The number of turns in a cycle; and the span over which late runs are spread, in nanoseconds.
      attr_reader :count, :span

      # @param span nanoseconds; nil for the default
      def initialize(span, schedule, kinds)
        @period, @slots = schedule.period, schedule.slot_count
        @fewest = 2 * kinds.size
        counts = divisors(schedule.period_ticks, CATCH_UP_TURNS.range.end).select { |count| count >= @fewest }
        most = most(counts, least_turn(kinds), kinds.size)
        @count = span ? count_for(span, counts, most) : default_count(counts, most)
        @span = span || (@period / count * Instants::MILLI)
        gap = kinds.map(&:gap).min
        @leads = kinds.map do |kind|
          kind.run_time ? Instants.ceil_millis(kind.run_time) : turn * gap / @slots / 2
        end.freeze
        freeze
      end

      # The length of a turn in milliseconds.
      def turn
        @period / count
      end

      # The time that is kept free after a run of a kind, in milliseconds.
      def lead(kind)
        @leads.fetch(kind.index)
      end

      # From the start of a turn to the place of a kind in it, in milliseconds, for an ID with this smear hash.
      def place(hash, kind)
        (((hash * turn) >> 64) + (turn * kind.offset / @slots)) % turn
      end

      private

      # All divisors of a number that are at most `most`, in rising order.
      def divisors(number, most)
        found, prime = [1], 2
        while prime * prime <= number && prime <= most
          multiples = found
          while (number % prime).zero?
            number /= prime
            multiples = multiples.map { |divisor| divisor * prime }.select { |divisor| divisor <= most }
            found += multiples
          end
          prime += prime == 2 ? 1 : 2
        end
        found += found.map { |divisor| divisor * number } if number > 1
        found.select { |divisor| divisor <= most }.sort
      end

      # The shortest turn, in milliseconds, that leaves each kind its run time, and a millisecond for rounding, before
      # the next kind.
      def least_turn(kinds)
        return 1 if kinds.size < 2

        kinds.map do |kind|
          run_time = [kind.run_time ? Instants.ceil_millis(kind.run_time) : 1, 1].max
          -(-(run_time + 1) * @slots / kind.gap)
        end.max
      end

      def most(counts, least, kind_count)
        counts.reverse_each.find { |count| @period / count >= least } or
          raise Refusal.new(:KINDS_DO_NOT_FIT, "kinds", "#{kind_count} kinds",
                            "must leave late runs room: #{@fewest} turns or more, each " \
                            "#{Instants.millis_text(least)} or longer; a cycle has only " \
                            "#{Instants.millis_text(@period)} (take shorter run times, fewer kinds, or a longer " \
                            "cycle)")
      end

      def default_count(counts, most)
        [counts.find { |count| count >= [DEFAULT_COUNT, @fewest].max } || most, most].min
      end

      def count_for(span, counts, most)
        parts = -(-@period / [span / Instants::MILLI, 1].max)
        count = counts.find { |one| one >= parts }
        longest = @period / @fewest
        return count if count && count <= most && span <= longest * Instants::MILLI

        raise Refusal.new(:OUT_OF_RANGE, "catch_up_span", Instants.seconds_text(span),
                          "must be #{Instants.millis_text(@period / most)} to #{Instants.millis_text(longest)}: " \
                          "#{@fewest} turns or more in a cycle, each long enough to keep late runs apart")
      end
    end
  end
end
