# frozen_string_literal: true

require_relative "ids"

module Offbeat
  module Local
    # The place of an ID in every cycle: its slot, its offsets from the start of the slot and of the cycle in ticks, and
    # the `rule` and the `value` that decided.
    Place = Struct.new(:slot, :slot_offset, :cycle_offset, :rule, :value)

    # A cycle that is cut into slots, and the places of IDs in it. Times are in ticks.
    class Placement
      # Ruby 3.0 and 3.1 use only the low word of seeds with a magnitude from 2^32 to 2^33.
      NATIVE_PROFILE = Random.new(2**32).rand(2**30) == Random.new(0).rand(2**30) ? "RUBY_3_0_TO_3_1" : "RUBY"
      TYPES = { "HASH" => %i[UUID integer text], "TWISTER" => %i[UUID integer], "FRACTION" => %i[fraction] }.freeze
      ALLOWED = {
        "HASH" => "HASH takes UUIDs, integers and text; a stored fraction needs FRACTION",
        "TWISTER" => "TWISTER takes UUIDs and integers; text has no meaning as a seed: use HASH",
        "FRACTION" => "FRACTION takes the fraction in [0, 1) that the caller stored"
      }.freeze
      private_constant :TYPES, :ALLOWED

      attr_reader :name, :salt, :bucket_count, :profile, :slot_count, :slot_ticks, :cycle_ticks

      # @param name HASH, TWISTER or FRACTION
      def initialize(name, salt: "", bucket_count: nil, profile: nil)
        @name, @salt, @bucket_count, @profile = name, salt.b, bucket_count, profile
      end

      # A copy of this placement for a cycle of `cycle_ticks` ticks and `slot_count` slots.
      def on(slot_count, cycle_ticks)
        dup.tap { |placement| placement.cut(slot_count, cycle_ticks) }
      end

      # The place of an ID for a kind that runs `rotation` slots after kind 0.
      def place(id, rotation)
        raise Refusal.new(:ID_TYPE_UNSUITABLE, "", id, ALLOWED.fetch(name)) unless TYPES.fetch(name).include?(id.type)

        case name
        when "HASH"
          hash, = id.hashes(salt)
          at_offset((hash * cycle_ticks) >> 64, rotation, :hash, hash)
        when "TWISTER" then draw(id.number, rotation)
        else at_offset([(id.number * cycle_ticks.to_f).to_i, cycle_ticks - 1].min, rotation, :fraction, id.number)
        end
      end

      # The number that smears late runs of an ID.
      def smear_hash(id)
        id.hashes(salt).last
      end

      protected

      def cut(slot_count, cycle_ticks)
        @slot_count, @cycle_ticks, @slot_ticks = slot_count, cycle_ticks, cycle_ticks / slot_count
      end

      private

      def at_offset(offset, rotation, rule, value)
        offset = (offset + (rotation * slot_ticks)) % cycle_ticks
        slot, slot_offset = offset.divmod(slot_ticks)
        Place.new(slot, slot_offset, offset, rule, value)
      end

      # Draws from a generator of its own, so that the state of the global one does not change.
      def draw(seed, rotation)
        bucket = seed % bucket_count
        slot = ((bucket * slot_count / bucket_count) + rotation) % slot_count
        slot_offset = Random.new(seed).rand(slot_ticks)
        Place.new(slot, slot_offset, (slot * slot_ticks) + slot_offset, :bucket, bucket)
      end
    end
  end
end
