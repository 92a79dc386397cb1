# frozen_string_literal: true

require "digest/sha2"
require_relative "limits"

module Offbeat
  module Local
    # The SQL expression with which a database computes the hash of a column, and the index over it.
    class SqlKey
      SPECIAL = /[[:cntrl:]'\\%?:$]/ # characters with a meaning in statements, in patterns, or as placeholders
      private_constant :SPECIAL

      # @param dialect its name, such as "PostgreSQL"
      # @param type that of the column, such as "UUID_TEXT"
      def initialize(dialect, type, salt)
        @dialect, @type, @salt = dialect, type, salt.dup.force_encoding("UTF-8")
        check
      end

      # The operand that predicates compare: the expression or, in MySQL and MariaDB, the generated column that holds
      # it.
      def compared(target)
        name = generated? ? index_name(target) : nil
        name ? qualified(target, name) : expression(qualified(target, target.column))
      end

      def index(target)
        V1::SqlIndex.new(name: index_name(target), create_statements: statements(target, index_name(target)))
      end

      private

      def postgresql?
        @dialect == "PostgreSQL"
      end

      def sqlite?
        @dialect == "SQLite"
      end

      # Whether the index is over a generated column: MySQL and MariaDB have no common syntax for one over an
      # expression.
      def generated?
        !postgresql? && !sqlite?
      end

      def check
        if @type == "UUID" && %w[MySQL SQLite].include?(@dialect)
          refuse("column_type", "UUID of #{@dialect}",
                 "only PostgreSQL and MariaDB have a type uuid: say how the column stores it")
        end
        if @type == "FRACTION"
          raise Refusal.new(:ID_TYPE_UNSUITABLE, "column_type", @type,
                            "HASH takes columns of UUIDs, integers and text, and of their hash")
        end
        return if @type == "HASH_DIGITS"

        if postgresql? && @salt.include?("\0")
          refuse("dialect", @dialect, "PostgreSQL's text cannot hold U+0000, and the salt does")
        end
        refuse("column_type", "#{@type} of SQLite", <<~TEXT.tr("\n", " ").rstrip) if sqlite?
          SQLite has no MD5: store the first 16 hexadecimal digits of MD5(salt ‖ canonical text of the ID) in a column
          of their own, and name that with SQL_COLUMN_TYPE_HASH_DIGITS (or use TWISTER)
        TEXT
      end

      def refuse(field, value, allowed)
        raise Refusal.new(:CONTRADICTORY, field, value, allowed)
      end

      def quote(name)
        mark = postgresql? ? '"' : "`"
        "#{mark}#{name.gsub(mark, mark * 2)}#{mark}"
      end

      def qualified(target, name)
        target.table_alias.empty? ? quote(name) : "#{quote(target.table_alias)}.#{quote(name)}"
      end

      def in_schema(target, name)
        target.schema.empty? ? quote(name) : "#{quote(target.schema)}.#{quote(name)}"
      end

      # In the column's own collation, "aa" may come after "ff": hence COLLATE.
      def expression(column)
        if @type == "HASH_DIGITS"
          return column if sqlite?

          return postgresql? ? "#{column} COLLATE \"C\"" : "LEFT(RTRIM(#{column}), 16)"
        end
        text = postgresql? ? postgresql_text(column) : mysql_text(column)
        if postgresql?
          salted = @salt.empty? ? text : "#{postgresql_salt} || #{text}"
          return "md5(#{salted}) COLLATE \"C\""
        end
        # In sql_mode ORACLE, CONCAT ignores NULL: hence IF.
        salted = @salt.empty? ? text : "CONCAT(#{utf8(mysql_salt)}, #{text})"
        "IF(#{stored(column)} IS NULL, NULL, LEFT(MD5(#{salted}), 16))"
      end

      # The canonical text of an ID in the column.
      def postgresql_text(column)
        digits = "encode(#{column}, 'hex')"
        case @type
        when "UUID", "INTEGER" then "CAST(#{column} AS text)"
        when "UUID_BYTES" then hyphenated(digits)
        when "UUID_BYTES_SWAPPED"
          parts = [[9, 8], [5, 4], [1, 4]].map { |from, count| "substr(#{digits}, #{from}, #{count})" }
          hyphenated([*parts, "substr(#{digits}, 17)"].join(" || "))
        when "UUID_TEXT" then "lower(#{column})"
        when "UUID_DIGITS" then hyphenated("lower(#{column})")
        else column
        end
      end

      def mysql_text(column)
        case @type
        when "UUID" then utf8("CAST(#{column} AS CHAR)")
        when "UUID_BYTES" then of_bytes(column, [[1, 4], [5, 2], [7, 2]])
        # UUID_TO_BIN(x, 1) swaps the first and the third group of digits.
        when "UUID_BYTES_SWAPPED" then of_bytes(column, [[5, 4], [3, 2], [1, 2]])
        when "UUID_TEXT" then "LOWER(#{utf8(stored(column))})"
        when "UUID_DIGITS"
          digits = "LOWER(#{utf8(stored(column))})"
          groups = [[1, 8], [9, 4], [13, 4], [17, 4], [21, 12]]
          utf8(joined(groups.map { |from, count| "SUBSTR(#{digits}, #{from}, #{count})" }))
        when "INTEGER" then utf8("CONCAT(#{column} + 0)") # as a number, because ZEROFILL changes only its text
        else utf8(column)
        end
      end

      # The column without the padding that CHAR columns have.
      def stored(column)
        %w[UUID_TEXT UUID_DIGITS].include?(@type) ? "RTRIM(#{column})" : column
      end

      # Converts text to UTF-8: its bytes then do not depend on the character sets of column, table and connection.
      def utf8(text)
        "CONVERT(#{text} USING utf8mb4)"
      end

      def hyphenated(digits)
        "CAST(CAST(#{digits} AS uuid) AS text)"
      end

      def of_bytes(column, groups)
        parts = [*groups, [9, 2], [11, 6]].map { |from, count| "HEX(SUBSTR(#{column}, #{from}, #{count}))" }
        utf8("LOWER(#{joined(parts)})")
      end

      def joined(parts)
        "CONCAT(#{parts.join(", '-', ")})"
      end

      def postgresql_salt
        parts = @salt.scan(/#{SPECIAL}|(?:(?!#{SPECIAL}).)+/m)
        parts.map { |part| part.match?(SPECIAL) ? "chr(#{part.ord})" : "'#{part}'" }.join(" || ")
      end

      def mysql_salt
        plain = @salt.ascii_only? && !@salt.match?(SPECIAL)
        plain ? "'#{@salt}'" : "X'#{@salt.unpack1("H*")}'"
      end

      # The name of the index: a digest of the expression and, except in MySQL and MariaDB, of the table.
      def index_name(target)
        table = generated? ? "" : target.table
        "offbeat_hash_#{Digest::SHA256.hexdigest("#{table}\0#{expression(quote(target.column))}")[0, 8]}"
      end

      def statements(target, name)
        expression, index = expression(quote(target.column)), quote(name)
        return ["CREATE INDEX IF NOT EXISTS #{index} ON #{in_schema(target, target.table)} ((#{expression}))"] if postgresql?
        return ["CREATE INDEX IF NOT EXISTS #{in_schema(target, name)} ON #{quote(target.table)} (#{expression})"] if sqlite?

        # Two statements: a single one would lock the table against writes.
        add = "ALTER TABLE #{in_schema(target, target.table)} ADD"
        unless_there = @dialect == "MariaDB" ? "IF NOT EXISTS " : ""
        ["#{add} COLUMN #{unless_there}#{index} CHAR(16) CHARACTER SET ascii COLLATE ascii_bin " \
         "GENERATED ALWAYS AS (#{expression}) VIRTUAL INVISIBLE",
         "#{add} INDEX #{unless_there}#{index} (#{index})"]
      end
    end
  end
end
