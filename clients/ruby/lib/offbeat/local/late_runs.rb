# frozen_string_literal: true

require_relative "schedule"

module Offbeat
  module Local
    # Finds the starts of late runs of a kind, in turns of the catch-up clock, so that kinds keep apart however late
    # each is. See ListDueRunsRequest.
    class LateRuns
      # How many turns, and runs of other kinds, were examined.
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

      # The first start at or after `from`, within two cycles, for an ID with this place and this smear hash; nil if no
      # turn in them is free.
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

      # Raised when more turns and runs would have to be examined than an answer allows.
      class TooMuch < StandardError; end

      private

      # Whether a start is too near to a regular run of another kind.
      def near?(start, offset, lead)
        cycle, next_start = @asked.next_run(offset, start)
        last_start = @asked.start(offset, cycle - 1)
        (next_start - start < @lead && Instants.millis_in_time?(next_start)) ||
          # That run may itself start late, by the tolerance, and so after this start.
          (start - last_start < lead && Instants.millis_in_time?(last_start))
      end
    end
  end
end
