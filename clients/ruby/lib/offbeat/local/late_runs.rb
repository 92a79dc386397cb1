# frozen_string_literal: true

require_relative "schedule"

module Offbeat
  module Local
    # Where late runs of a kind start: in turns of the catch-up clock, so that kinds keep apart however late each is.
    # See ListDueRunsRequest.
    class LateRuns
      # Turns and runs of other kinds that were looked at.
      attr_reader :work

      def initialize(asked)
        @asked, @schedule, @kind = asked, asked.schedule, asked.kind
        @turns = @schedule.kinds.turns
        @lead = @turns.lead(@kind)
        @others = (@schedule.kinds.all - [@kind]).map do |other|
          [(other.offset - @kind.offset) * @schedule.placement.slot_ticks, [@turns.lead(other), @lead].max]
        end
        @work = 0
      end

      # The first start at or after an instant, within two cycles, of the ID that stands at a place and is smeared by a
      # hash; nil if no turn there is free.
      def start(place, hash, from)
        others = @others.map { |ticks, lead| [(place.cycle_offset + ticks) % @schedule.period_ticks, lead] }
        turn = @turns.turn
        first = from + ((@turns.place(hash, @kind) - (from - @schedule.anchor)) % turn)
        first.step(from + (2 * @schedule.period) - 1, turn).find do |start|
          @work += 1 + others.size
          raise TooMuch unless DUE_CYCLES.allows?(@work)

          others.none? { |offset, lead| near?(start, offset, lead) }
        end
      end

      # More would have to be looked at than an answer may take.
      class TooMuch < StandardError; end

      private

      # Whether a start is too near to a regular run of another kind.
      def near?(start, offset, lead)
        cycle, next_start = @asked.next_run(offset, start)
        last_start = @asked.start(offset, cycle - 1)
        (next_start - start < @lead && Instants.millis_in_time?(next_start)) ||
          # It may start late by the tolerance, and so behind this one.
          (start - last_start < lead && Instants.millis_in_time?(last_start))
      end
    end
  end
end
