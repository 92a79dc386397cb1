# frozen_string_literal: true

require_relative "instants"
require_relative "placement"

module Offbeat
  module Local
    # Checks the fields of a spec one by one, in the order of the sidecar: the first invalid field is refused.
    module SpecChecks
      BUCKET_COUNTS = [256, 65_536].freeze
      DIVISOR_STEPS = 1_024

      module_function

      # The length of a tick in milliseconds.
      def tick_millis(span)
        return 1_000 if span.nil?

        millis, rest = span.divmod(Instants::MILLI)
        return millis if rest.zero? && millis.positive? && (1_000 % millis).zero?

        raise Refusal.new(:OUT_OF_RANGE, "resolution", Instants.seconds_text(span),
                          "must be #{RESOLUTION}, and divide one second (1000, 500, 250, … 1 ms)")
      end

      # The length of the period in ticks.
      def period_ticks(span, tick)
        millis, rest = span.divmod(Instants::MILLI)
        return millis / tick if rest.zero? && PERIOD_MILLIS.allows?(millis) && (millis % tick).zero?

        tick = Instants.millis_text(tick)
        raise Refusal.new(:OUT_OF_RANGE, "period", Instants.seconds_text(span),
                          "must be #{tick} to #{PERIOD_MILLIS.range.end / 1_000}s (3660 days), " \
                          "a whole number of ticks of #{tick}")
      end

      def anchor_millis(moment, tick)
        return 0 if moment.nil?

        millis, rest = moment.divmod(Instants::MILLI)
        return millis if rest.zero? && (millis % tick).zero?

        raise Refusal.new(:OUT_OF_RANGE, "anchor_time", Instants.text(moment),
                          "must be a whole number of ticks of #{Instants.millis_text(tick)} since the Unix epoch")
      end

      def placement(spec, name, profile)
        contradict(spec, name, profile)
        return Placement.new(name, salt: salt(spec.salt)) if name == "HASH"
        return Placement.new(name) if name == "FRACTION"

        Placement.new(name, bucket_count: bucket_count(spec), profile: profile || "RUBY")
      end

      def contradict(spec, name, profile)
        refuse = lambda do |field, value, owner|
          raise Refusal.new(:CONTRADICTORY, field, value, "must not be set with placement #{name}: only #{owner} reads it")
        end
        refuse.call("salt", Refusal.quoted(spec.salt), "HASH") unless name == "HASH" || spec.salt.empty?
        return if name == "TWISTER"

        refuse.call("bucket_count", spec.bucket_count, "TWISTER") if spec.has_bucket_count?
        refuse.call("profile", profile, "TWISTER") if profile
      end

      def salt(salt)
        SALT.check("salt", salt.bytesize, "a salt of #{salt.bytesize} bytes")
        salt
      end

      def bucket_count(spec)
        return BUCKET_COUNTS.first unless spec.has_bucket_count?
        return spec.bucket_count if BUCKET_COUNTS.include?(spec.bucket_count)

        raise Refusal.new(:OUT_OF_RANGE, "bucket_count", spec.bucket_count,
                          "must be 256 or 65536 buckets (the last byte of an ID, or its last two)")
      end

      def slot_count(spec, ticks, tick, placement)
        return default_slot_count(ticks * tick) unless spec.has_slot_count?

        count = SLOT_COUNT.check("slot_count", spec.slot_count)
        buckets = placement.bucket_count
        if buckets && count > buckets
          raise Refusal.new(:OUT_OF_RANGE, "slot_count", count,
                            "must be 1 to #{buckets} slots with #{buckets} buckets: beyond, slots stay empty " \
                            "(bucket_count 65536, or placement HASH, take more)")
        end
        return count if (ticks % count).zero?

        raise Refusal.new(:SLOT_COUNT_DOES_NOT_DIVIDE, "slot_count", count,
                          "must divide the period of #{ticks} ticks of #{Instants.millis_text(tick)} " \
                          "(#{nearest_divisors(ticks, count)})")
      end

      def default_slot_count(millis)
        return (millis / 1_000).gcd(BUCKET_COUNTS.first) if (millis % 1_000).zero?

        raise Refusal.missing("slot_count", "the period #{Instants.millis_text(millis)} is no whole number of seconds, " \
                                            "so the slot count must be given")
      end

      # Searches for divisors near the count; if there are none, near the number of times that the count goes into the
      # period.
      def nearest_divisors(period, count)
        times = period / count
        divides = ->(number) { (period % number).zero? }
        below = ([count - DIVISOR_STEPS, 1].max...count).reverse_each.find(&divides)
        below ||= (times + 1..times + DIVISOR_STEPS).find(&divides)&.then { |more| period / more }
        above = (count + 1..count + DIVISOR_STEPS).find(&divides)
        above ||= ([times - DIVISOR_STEPS, 1].max..times).reverse_each.find(&divides)&.then { |fewer| period / fewer }
        found = [below, above&.then { |slots| slots if SLOT_COUNT.allows?(slots) }].compact
        found.empty? ? "nearest: none within 1024 steps" : "nearest: #{found.join(" and ")} slots"
      end
    end
  end
end
