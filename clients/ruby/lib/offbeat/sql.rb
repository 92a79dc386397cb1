# frozen_string_literal: true

module Offbeat
  # A column of IDs in a database, and how to write statements about it. nil stands for the sidecar's default.
  #
  #   Offbeat::SqlTarget.new(dialect: :postgresql, table: "customers", column: "id", column_type: :uuid)
  #
  # The values are checked when the target is first used: a column that does not suit the placement of the schedule
  # raises {InvalidArgument}. Names are quoted in the statements.
  class SqlTarget
    DIALECTS = {
      postgresql: :SQL_DIALECT_POSTGRESQL, mysql: :SQL_DIALECT_MYSQL, mariadb: :SQL_DIALECT_MARIADB,
      sqlite: :SQL_DIALECT_SQLITE
    }.freeze
    COLUMN_TYPES = {
      uuid: :SQL_COLUMN_TYPE_UUID, uuid_bytes: :SQL_COLUMN_TYPE_UUID_BYTES,
      uuid_bytes_swapped: :SQL_COLUMN_TYPE_UUID_BYTES_SWAPPED, uuid_text: :SQL_COLUMN_TYPE_UUID_TEXT,
      uuid_digits: :SQL_COLUMN_TYPE_UUID_DIGITS, integer: :SQL_COLUMN_TYPE_INTEGER, text: :SQL_COLUMN_TYPE_TEXT,
      fraction: :SQL_COLUMN_TYPE_FRACTION, hash_digits: :SQL_COLUMN_TYPE_HASH_DIGITS
    }.freeze
    PARAMETER_STYLES = {
      literal: :SQL_PARAMETER_STYLE_LITERAL, question_mark: :SQL_PARAMETER_STYLE_QUESTION_MARK,
      format: :SQL_PARAMETER_STYLE_FORMAT, dollar: :SQL_PARAMETER_STYLE_DOLLAR, named: :SQL_PARAMETER_STYLE_NAMED
    }.freeze

    attr_reader :dialect, :table, :column, :column_type, :schema, :table_alias, :parameter_style,
                :first_parameter_number, :time_zone_column

    # @param dialect :postgresql, :mysql, :mariadb or :sqlite
    # @param table the table, without quotes, like all names here
    # @param column the column; rows with NULL there belong to no slot
    # @param column_type what the column holds: :uuid (the database's own type), :uuid_bytes (16 bytes),
    #   :uuid_bytes_swapped (as UUID_TO_BIN(x, 1) makes them), :uuid_text, :uuid_digits (32, no hyphens), :integer,
    #   :text, :fraction, or :hash_digits (the first 16 or all 32 hexadecimal digits of MD5(salt ‖ canonical text of the
    #   ID), in lower case; for SQLite, which has no MD5)
    # @param schema the schema of the table. Default: the current one
    # @param table_alias the name that your query gives the table. Default: the column is not qualified
    # @param parameter_style :literal (the default: there is nothing to bind), :question_mark, :format (%s), :dollar
    #   ($1) or :named (:offbeat_1)
    #   :dollar ($1) or :named (:offbeat_1)
    # @param first_parameter_number :dollar and :named only: the number of the first placeholder. Default: 1
    # @param time_zone_column only for {Client#window_predicate} with a calendar and `time_zones`: the column with the
    #   IANA name of the time zone that a row lives in. Default: all rows live in the zone of the schedule
    def initialize(dialect:, table:, column:, column_type:, schema: nil, table_alias: nil, parameter_style: nil,
                   first_parameter_number: nil, time_zone_column: nil)
      @dialect, @table, @column, @column_type, @schema = dialect, table, column, column_type, schema
      @table_alias, @parameter_style, @first_parameter_number = table_alias, parameter_style, first_parameter_number
      @time_zone_column = time_zone_column
      freeze
    end

    # The target as a protobuf message.
    def to_message
      message = V1::SqlTarget.new(dialect: named("dialect", dialect, DIALECTS),
                                  column_type: named("column_type", column_type, COLUMN_TYPES))
      %w[schema table column table_alias first_parameter_number time_zone_column].each do |field|
        Offbeat.set_field(message, field, public_send(field), "sql_target.#{field}")
      end
      message.parameter_style = named("parameter_style", parameter_style, PARAMETER_STYLES) if parameter_style
      message
    end

    private

    def named(field, value, names)
      Offbeat.named("sql_target.#{field}", value, names)
    end
  end

  # Selects the rows of a table that belong to a slot or a window. `sql` is a condition for the WHERE clause of a query,
  # in parentheses. `parameters` are the values to bind: an Array in the order of the placeholders or, with the
  # parameter style :named, a Hash by name, without the colon. `index` is the {SqlIndex} that serves the condition.
  Predicate = Struct.new(:sql, :parameters, :index, keyword_init: true) do
    def self.of(message, index, sql_target)
      values = message.parameters.map { |parameter| parameter[parameter.value.to_s] }
      values = message.parameters.map(&:name).zip(values).to_h if sql_target.parameter_style == :named
      new(sql: message.sql, parameters: values, index: index)
    end
  end

  # An index that serves predicates. `name` is its name; in MySQL and MariaDB also that of an invisible generated
  # column, which the conditions name. Run the `create_statements` once, in order, before the first predicate.
  SqlIndex = Struct.new(:name, :create_statements, keyword_init: true) do
    def self.of(message)
      new(name: message.name, create_statements: message.create_statements.to_a)
    end
  end
end
