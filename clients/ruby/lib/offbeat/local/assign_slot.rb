# frozen_string_literal: true

require_relative "schedule"

module Offbeat
  module Local
    # `AssignSlot`: the place of one ID, and its runs.
    class AssignSlot
      def self.needs_sidecar(request)
        return "weights need a sidecar: clients decide IDs of one piece" if request.has_weight?
        return "first runs of new IDs need a sidecar: clients decide regular runs" if request.new_id

        "time zones of IDs need a sidecar: clients know no time zones" unless request.time_zone.empty?
      end

      # @param resolve returns the {Schedule} or refuses it; called at the point where the sidecar also checks the
      #   schedule
      # @param now the default of from_time, in nanoseconds
      def self.answer(request, resolve, now)
        new(request, resolve.call.of_kind(request.kind), now).answer
      end

      def initialize(request, asked, now)
        @asked, @schedule = asked, asked.schedule
        @id = read_id(Refusal.required("id", request.id, "it must be set"))
        @count = NEXT_RUNS.check("next_run_count", request.has_next_run_count? ? request.next_run_count : 1)
        @from = asked.check_from(Instants.moment("from_time", request.from_time) || now, @count)
        @prefix = asked.run_key_prefix
        @place = Refusal.under("id") { asked.place(@id) }
      end

      def answer
        explanation = V1::PlacementExplanation.new(canonical_id: @id.canonical, @place.rule => explained)
        V1::AssignSlotResponse.new(identity: @schedule.identity, pieces: [piece], explanation: explanation)
      end

      private

      def read_id(message)
        field = Refusal.required("id", message.id, "one of its fields must be set")
        Refusal.under("id.#{field}") { Id.of(field, message[field.to_s]) }
      end

      def explained
        @place.rule == :hash ? format("%016x", @place.value) : @place.value
      end

      def piece
        first, = @asked.next_run(@place.cycle_offset, @from)
        V1::Piece.new(slot_index: @place.slot, slot_offset: Instants.duration(@place.slot_offset * @schedule.tick),
                      cycle_offset: Instants.duration(@place.cycle_offset * @schedule.tick), last_run: run(first - 1),
                      next_runs: Array.new(@count) { |index| run(first + index) })
      end

      def run(cycle)
        key = @id.identity? ? "#{@prefix}/#{cycle}/0/#{@id.canonical}" : ""
        start = @asked.start(@place.cycle_offset, cycle)
        V1::Run.new(start_time: Instants.timestamp(start), cycle_index: cycle, run_key: key, run_id: Offbeat.run_id(key))
      end
    end
  end
end
