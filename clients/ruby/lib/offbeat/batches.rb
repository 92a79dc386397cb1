# frozen_string_literal: true

require_relative "ids"

module Offbeat
  # Values that go with the IDs of one call, one for each: weights, watermarks, time zones. Like the IDs, they are read
  # on demand.
  class Beside
    def initialize(name, values)
      unless values.is_a?(Enumerable) && !values.is_a?(Struct)
        raise Offbeat.refused(name, values, "must be an Array or another Enumerable")
      end

      @name, @values, @count = name, values.to_enum, 0
    end

    # The values for the next `count` IDs. The block converts each value, and also gets its path.
    def take(count)
      Array.new(count) do
        made = yield @values.next, "#{@name}[#{@count}]"
        @count += 1
        made
      end
    rescue StopIteration
      raise not_one_for_each
    end

    # Refuses values that are left when there are no more IDs.
    def finish
      @values.next
      raise not_one_for_each
    rescue StopIteration
      nil
    end

    # The time zones of IDs; nil if none are given.
    def self.time_zones(zones)
      zones && new("time_zones", zones)
    end

    # The names of the next time zones; nil for an ID in the zone of the schedule.
    def take_time_zones(count)
      take(count) do |zone, place|
        name = Fields.time_zone(zone)
        next name if name.nil? || name.is_a?(String)

        raise Offbeat.refused(place, zone, "must be an IANA name, a zone of TZInfo or ActiveSupport, or nil")
      end
    end

    private

    def not_one_for_each
      Offbeat.refused(@name, @count, "must be one for each ID", reason: "ERROR_REASON_CONTRADICTORY")
    end
  end

  # The IDs of one call with their weights, cut on demand into batches that fit into messages.
  class Batches
    WEIGHTS = (0..2**53).freeze
    # The sidecar's limit on the pieces into which weights cut the IDs of one batch.
    BATCH_PIECES = 65_536

    # @param spec that of the schedule, with every default filled in; with weights only
    def initialize(ids, size, weights: nil, spec: nil)
      @ids, @size = ids, size
      @weights = weights && Beside.new("weights", weights)
      @quantum, @slot_count = spec.weight_quantum, spec.slot_count if spec
    end

    # Yields the IDs and the weights of each batch. Without weights, their list is empty.
    def each(&block)
      IdEncoder.batches(@ids, @size).each do |batch|
        @weights ? by_pieces(batch, Batches.weights(@weights, batch.size), &block) : yield(batch, [])
      end
      @weights&.finish
    end

    # The weights of the next `count` IDs.
    def self.weights(weights, count)
      weights.take(count) do |weight, place|
        next weight if weight.is_a?(Integer) && WEIGHTS.cover?(weight)

        raise Offbeat.refused(place, weight, "must be an Integer, 0 to #{WEIGHTS.end}", reason: "ERROR_REASON_OUT_OF_RANGE")
      end
    end

    private

    def by_pieces(ids, weights)
      start = pieces = 0
      weights.each_with_index do |weight, index|
        count = piece_count(weight)
        if index > start && pieces + count > BATCH_PIECES
          yield ids[start...index], weights[start...index]
          start, pieces = index, 0
        end
        pieces += count
      end
      yield ids[start..], weights[start..]
    end

    # The number of pieces, by the formula of AssignSlotRequest.weight.
    def piece_count(weight)
      return 1 unless @quantum.positive? # the sidecar will say what is missing

      (-(-weight / @quantum)).clamp(1, @slot_count) # rounded up
    end
  end
end
