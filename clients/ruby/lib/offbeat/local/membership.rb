# frozen_string_literal: true

require_relative "sql_key"

module Offbeat
  module Local
    # Selects the rows of a slot or a window, for the placement HASH: those whose hash lies in a range.
    class Membership
      HASHES = 1 << 64
      DIALECTS = { SQL_DIALECT_POSTGRESQL: "PostgreSQL", SQL_DIALECT_MYSQL: "MySQL", SQL_DIALECT_MARIADB: "MariaDB",
                   SQL_DIALECT_SQLITE: "SQLite" }.freeze
      NUMBERED = %i[SQL_PARAMETER_STYLE_DOLLAR SQL_PARAMETER_STYLE_NAMED].freeze
      NAMES = { "schema" => true, "table" => false, "column" => false, "table_alias" => true,
                "time_zone_column" => true }.freeze # and whether each may be left out
      private_constant :HASHES, :DIALECTS, :NUMBERED, :NAMES

      # The index that serves the predicates.
      attr_reader :index

      def self.refuse_zones(target)
        return if target.nil? || target.time_zone_column.empty?

        raise Refusal.new(:CONTRADICTORY, "sql_target.time_zone_column", Refusal.quoted(target.time_zone_column),
                          "must be set with time_zones of GetWindowPredicate alone")
      end

      # @param asked the {KindSchedule}
      # @param target a SqlTarget
      def initialize(asked, target)
        @asked, @schedule = asked, asked.schedule
        dialect = Refusal.known("dialect", target.dialect, "1 to 4, a value of SqlDialect")
        type = Refusal.known("column_type", target.column_type, "1 to 9, a value of SqlColumnType")
        @style = Refusal.known("parameter_style", target.parameter_style, "0 to 5, a value of SqlParameterStyle",
                               default: :SQL_PARAMETER_STYLE_LITERAL)
        NAMES.each { |name, optional| check_name(name, target[name], optional) }
        @first_number = first_number(target)
        key = SqlKey.new(DIALECTS.fetch(dialect), type.to_s.delete_prefix("SQL_COLUMN_TYPE_"), @schedule.placement.salt)
        @index = key.index(target)
        @compared = key.compared(target)
        @compared = @compared.gsub("%", "%%") if @style == :SQL_PARAMETER_STYLE_FORMAT
      end

      # Gives each of these slots the predicate of its rows.
      def add_to(slots)
        bytes = 0
        slots.each do |slot|
          first = (slot.slot_index - @asked.rotation) % @schedule.slot_count
          slot.predicate = predicate([range(first * slot_ticks, (first + 1) * slot_ticks)])
          bytes += slot.predicate.sql.bytesize
          next if PREDICATE_BYTES.allows?(bytes)

          raise Refusal.new(:OUT_OF_RANGE, "end_time", "a window of #{slots.size} slots",
                            "their predicates must be #{PREDICATE_BYTES}: end it earlier")
        end
      end

      # The predicate of the rows that run between two instants, in nanoseconds.
      def window(start, finish)
        if finish < start
          raise Refusal.new(:CONTRADICTORY, "end_time", Instants.text(finish),
                            "must not be before start_time, #{Instants.text(start)}")
        end
        first, behind = [start, finish].map { |moment| ticks_before(moment) }
        if behind - first > period
          raise Refusal.new(:OUT_OF_RANGE, "end_time", Instants.text(finish),
                            "must be at most a period of #{Instants.millis_text(@schedule.period)} after start_time, " \
                            "#{Instants.text(start)}: in it every ID runs once")
        end
        predicate(hashes(first, behind - first))
      end

      private

      def period
        @schedule.period_ticks
      end

      def slot_ticks
        @schedule.placement.slot_ticks
      end

      # The number of ticks that start before an instant, counted from the anchor.
      def ticks_before(moment)
        -((@schedule.anchor - Instants.ceil_millis(moment)).div(@schedule.tick))
      end

      # The ranges of hashes whose IDs run in `length` ticks from the tick `first` on. These ticks are one or two ranges
      # of the cycle; the offset of the kind may cut each of them once more.
      def hashes(first, length)
        from = first % period
        ticks = split(length == period ? 0 : from, length)
        shift = @asked.rotation * slot_ticks
        return ticks.map { |start, behind| range(start, behind) } if shift.zero?

        ranges = ticks.flat_map { |start, behind| split((start - shift) % period, behind - start) }
        merged(ranges.map { |start, behind| range(start, behind) })
      end

      # A range of ticks, cut at the end of the cycle. An empty range stays one range.
      def split(from, length)
        return [[from, from + length]] if from + length <= period

        [[from, period], [0, from + length - period]]
      end

      # ⌈t·2^64/T⌉ is the smallest hash whose offset is t or more.
      def range(start, behind)
        [start, behind].map { |tick| -(-(tick << 64) / period) }
      end

      def merged(ranges)
        ranges.sort.each_with_object([]) do |(start, behind), merged|
          merged.any? && start <= merged.last[1] ? merged.last[1] = [merged.last[1], behind].max : merged << [start, behind]
        end
      end

      def predicate(ranges)
        message = V1::SqlPredicate.new
        conditions = ranges.map do |start, behind|
          low = "#{@compared} >= #{bind(message, start)}"
          behind < HASHES ? "#{low} AND #{@compared} < #{bind(message, behind)}" : low
        end
        message.sql = conditions.size > 1 ? "((#{conditions.join(") OR (")}))" : "(#{conditions.first})"
        message
      end

      # The text of a bound in the condition. Unless it is a literal, it is a placeholder, and the bound becomes a
      # parameter.
      def bind(message, hash)
        digits = format("%016x", hash)
        return "'#{digits}'" if @style == :SQL_PARAMETER_STYLE_LITERAL

        number = @first_number + message.parameters.size
        named = @style == :SQL_PARAMETER_STYLE_NAMED
        message.parameters << V1::SqlParameter.new(name: named ? "offbeat_#{number}" : "", text: digits)
        { SQL_PARAMETER_STYLE_NAMED: ":offbeat_#{number}", SQL_PARAMETER_STYLE_DOLLAR: "$#{number}",
          SQL_PARAMETER_STYLE_FORMAT: "%s", SQL_PARAMETER_STYLE_QUESTION_MARK: "?" }.fetch(@style)
      end

      def check_name(field, name, optional)
        if name.empty?
          raise Refusal.missing(field, "must be #{SQL_NAME}") unless optional

          return
        end
        SQL_NAME.check(field, name.bytesize, "a name of #{name.bytesize} bytes")
        return unless name.include?("\0")

        raise Refusal.new(:MALFORMED, field, Refusal.quoted(name), "must not hold U+0000, which no name can")
      end

      def first_number(target)
        return 1 unless target.has_first_parameter_number?

        number = target.first_parameter_number
        return FIRST_PARAMETER_NUMBER.check("first_parameter_number", number) if NUMBERED.include?(@style)

        raise Refusal.new(:CONTRADICTORY, "first_parameter_number", number,
                          "must not be set with placeholders that have no numbers")
      end
    end
  end
end
