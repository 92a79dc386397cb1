# frozen_string_literal: true

require_relative "turns"

module Offbeat
  module Local
    # A kind of a schedule: `offset` slots after kind 0, and `gap` slots before the next kind. `run_time` is in
    # nanoseconds or nil; `gap_time` is in milliseconds.
    Kind = Struct.new(:index, :name, :run_time, :offset, :gap, :gap_time)

    # The kinds that a schedule declares. No two of them may meet.
    class Kinds
      SHOWN = 8 # names in a refusal
      private_constant :SHOWN

      attr_reader :all, :turns

      # The kinds of a spec; nil if it declares none.
      def self.of(spec, schedule, spacing, spans)
        return new(spec, schedule, spacing, spans) unless spec.kinds.empty?

        refuse = lambda do |field, value|
          raise Refusal.new(:CONTRADICTORY, field, value, "must not be set without kinds")
        end
        refuse.call("kind_spacing", "STABLE") if spacing == "STABLE"
        span = spans[:catch_up_span]
        refuse.call("catch_up_span", Instants.seconds_text(span)) if span
      end

      def initialize(spec, schedule, spacing, spans)
        @spacing, @slots, @schedule = spacing, schedule.slot_count, schedule
        names, run_times = spec.kinds.map(&:name), spans[:run_times]
        check_names(names, run_times)
        offsets = positions(run_times)
        gaps = gaps(offsets)
        @all = names.each_with_index.map do |name, index|
          gap_time = schedule.period_ticks * gaps[index] / @slots * schedule.tick
          Kind.new(index, name, run_times[index], offsets[index], gaps[index], gap_time).freeze
        end.freeze
        @all.each { |kind| check_gap(kind) }
        @turns = Turns.new(spans[:catch_up_span], schedule, @all)
        freeze
      end

      # The kind with this name. Refuses an unknown or empty name.
      def find(name)
        kind = all.find { |one| one.name == name } and return kind

        more = all.size > SHOWN ? " and #{all.size - SHOWN} more" : ""
        allowed = "must be a kind of the schedule: #{all.first(SHOWN).map(&:name).join(", ")}#{more}"
        raise Refusal.missing("kind", allowed) if name.empty?

        raise Refusal.new(:OUT_OF_RANGE, "kind", Refusal.quoted(name), allowed)
      end

      # The longest on_time_tolerance, in nanoseconds, with which kinds keep apart even if their runs start late by it.
      def longest_tolerance
        all.map { |kind| (kind.gap_time * Instants::MILLI) - (kind.run_time || 0) }.min
      end

      def canonical_lines
        lines = all.map do |kind|
          kind.run_time ? "kind=#{kind.name} #{Instants.seconds_text(kind.run_time)}" : "kind=#{kind.name}"
        end
        ["kind_spacing=#{@spacing}", *lines, "catch_up_span=#{Instants.seconds_text(turns.span)}"]
      end

      # Writes the kinds into a resolved spec.
      def fill(spec)
        spec.kind_spacing = :"KIND_SPACING_#{@spacing}"
        spec.kinds.concat(all.map do |kind|
          V1::Kind.new(name: kind.name, run_time: Instants.duration_of_nanos(kind.run_time))
        end)
        spec.catch_up_span = Instants.duration_of_nanos(turns.span)
      end

      # The kinds as messages of a description.
      def described
        all.map do |kind|
          V1::DescribedKind.new(name: kind.name, offset_slot_count: kind.offset, gap_slot_count: kind.gap,
                                offset: Instants.duration(kind.offset * @schedule.slot),
                                run_budget: Instants.duration(kind.gap_time),
                                run_time: Instants.duration_of_nanos(kind.run_time))
        end
      end

      private

      def check_names(names, run_times)
        KIND_COUNT.check("kinds", names.size, "#{names.size} kinds")
        names.each_with_index do |name, index|
          Refusal.under("kinds[#{index}]") do
            KIND_NAME.check_part("name", name)
            if names.index(name) < index
              raise Refusal.new(:CONTRADICTORY, "name", name, "must be another name for each kind")
            end
            if run_times[index].nil? != run_times.first.nil?
              shown = run_times[index] ? Instants.seconds_text(run_times[index]) : "nothing"
              raise Refusal.new(:CONTRADICTORY, "run_time", shown, "must be set for every kind, or for none")
            end
          end
        end
      end

      # Slots from kind 0 to each kind.
      def positions(run_times)
        return by_needs(run_times) if run_times.first

        count = run_times.size
        places = Array.new(count) do |kind|
          @spacing == "EVEN" ? kind * @slots / count : (kind.digits(2).join.ljust(32, "0").to_i(2) * @slots) >> 32
        end
        return places if places.uniq.size == count

        allowed = "must be 1 to #{@slots} kinds on #{@slots} slots, one slot each"
        if @spacing == "STABLE"
          allowed = "two of so many kinds meet on #{@slots} slots with STABLE spacing: take fewer kinds, more slots or EVEN"
        end
        raise Refusal.new(:KINDS_DO_NOT_FIT, "kinds", count, allowed)
      end

      # Gives each kind the slots that its run time needs, and an even share of what is left.
      def by_needs(run_times)
        if @spacing == "STABLE"
          raise Refusal.new(:CONTRADICTORY, "kind_spacing", "STABLE",
                            "must be EVEN with run times: STABLE makes no room for them")
        end
        needs = run_times.each_with_index.map { |span, index| slots_needed(span, "kinds[#{index}].run_time") }
        slack = @slots - needs.sum
        if slack.negative?
          raise Refusal.new(:KINDS_DO_NOT_FIT, "kinds", "a need of #{needs.sum} slots",
                            "must be at most the #{@slots} slots of the cycle, one or more for each kind")
        end
        needs.each_index.map { |kind| needs.first(kind).sum + (kind * slack / needs.size) }
      end

      def slots_needed(span, field)
        unless span.between?(0, @schedule.period * Instants::MILLI)
          raise Refusal.new(:OUT_OF_RANGE, field, Instants.seconds_text(span),
                            "must be 0s to #{Instants.millis_text(@schedule.period)}, one period")
        end
        [-(-span / (@schedule.slot * Instants::MILLI)), 1].max
      end

      # Slots from each kind to the next one, around the cycle.
      def gaps(offsets)
        return [@slots] if offsets.size == 1

        order = offsets.sort
        following = order.zip(order.rotate).to_h
        offsets.map { |offset| (following[offset] - offset) % @slots }
      end

      def check_gap(kind)
        needed = [kind.run_time || 0, Instants::MILLI].max
        return if kind.gap_time * Instants::MILLI >= needed

        raise Refusal.new(:KINDS_DO_NOT_FIT, "kinds[#{kind.index}]", kind.name,
                          "must leave #{Instants.seconds_text(needed)} to the next kind, and leaves " \
                          "#{Instants.millis_text(kind.gap_time)}: take fewer kinds, or a longer cycle")
      end
    end
  end
end
