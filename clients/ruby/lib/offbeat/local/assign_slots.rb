# frozen_string_literal: true

require_relative "schedule"

module Offbeat
  module Local
    # `AssignSlots`: a column of IDs in, columns of assignments out.
    class AssignSlots
      DEFAULT_COLUMNS = %w[slot_indexes slot_offset_ticks cycle_offset_ticks cycle_indexes next_run_unix_millis].freeze
      COLUMNS = [*DEFAULT_COLUMNS, "last_run_unix_millis"].freeze
      REFUSED = -1
      private_constant :DEFAULT_COLUMNS, :COLUMNS, :REFUSED

      def self.needs_sidecar(request)
        return "weights need a sidecar: clients decide IDs of one piece" unless request.weights.empty?

        ids = request.ids
        zones = ids && !(ids.time_zones.empty? && ids.time_zone_indexes.empty?)
        "time zones of IDs need a sidecar: clients know no time zones" if zones
      end

      def self.answer(request, resolve, now)
        new(request, resolve.call.of_kind(request.kind), now).answer
      end

      def initialize(request, asked, now)
        @asked, @schedule = asked, asked.schedule
        @from = asked.check_from(Instants.moment("from_time", request.from_time) || now, 1)
        @prefix = asked.run_key_prefix
        @wanted = wanted(request.read_mask)
        @ids = IdColumn.new(request.ids)
      end

      def answer
        rows = []
        @ids.place_each(@asked) { |_, place| rows << (place ? row(place) : [REFUSED] * COLUMNS.size) }
        filled = COLUMNS.zip(rows.transpose).to_h.slice(*@wanted).transform_keys(&:to_sym)
        assignments = V1::SlotAssignments.new(resolution: Instants.duration(@schedule.tick), run_key_prefix: @prefix,
                                              errors: @ids.errors, **filled)
        V1::AssignSlotsResponse.new(identity: @schedule.identity, assignments: assignments)
      end

      private

      def row(place)
        cycle, start = @asked.next_run(place.cycle_offset, @from)
        [place.slot, place.slot_offset, place.cycle_offset, cycle, start, start - @schedule.period]
      end

      def wanted(mask)
        paths = mask.nil? || mask.paths.empty? ? DEFAULT_COLUMNS : mask.paths.to_a
        MASK_PATHS.check("read_mask.paths", paths.size, "#{paths.size} paths")
        paths.each_with_index do |path, place|
          next if COLUMNS.include?(path)

          raise Refusal.new(:MALFORMED, "read_mask.paths[#{place}]", "\"#{Refusal.shorten(path)}\"",
                            "must be #{COLUMNS[..-2].join(", ")} or #{COLUMNS.last}")
        end
      end
    end
  end
end
