# frozen_string_literal: true

require_relative "helper"
require "digest"
require "sqlite3"

# Predicates, run by SQLite against what the sidecar assigns.
class SqlTest < OffbeatTest
  STYLES = %i[literal question_mark named].freeze # those that SQLite takes
  AFFINITIES = { integer: "INTEGER", fraction: "REAL" }.freeze
  ROWS = 3_000
  RANDOM = Random.new(1)
  UUIDS = Array.new(ROWS) do |number|
    digits = RANDOM.bytes(16).unpack1("H*")
    uuid = [digits[0, 8], digits[8, 4], digits[12, 4], digits[16, 4], digits[20, 12]].join("-")
    number.even? ? uuid : uuid.upcase
  end
  TEXTS = Array.new(ROWS) { |number| "tenant #{number} ✓" }
  SALT = "é"
  HASHES = TEXTS.map { |text| Digest::MD5.hexdigest(SALT + text) }
  FRACTIONS = [0.0, 1 / 3.0, (2 / 3.0).prev_float, 2 / 3.0, 1.0.prev_float, *Array.new(ROWS) { RANDOM.rand }].freeze

  TWISTER = Offbeat::Schedule.new(period: 28_800, slot_count: 15, placement: :twister)
  HASH = Offbeat::Schedule.new(period: 28_800, slot_count: 15, salt: SALT)
  FRACTION = Offbeat::Schedule.new(period: 86_400, slot_count: 96, placement: :fraction)

  # A table of the column's name with the values and a NULL, and the index.
  def database(column, values, index)
    base = SQLite3::Database.new(":memory:")
    base.execute("CREATE TABLE #{quoted(column.table)} (#{quoted(column.column)} #{AFFINITIES.fetch(column.column_type, "TEXT")})")
    base.transaction { [*values, nil].each { |value| base.execute("INSERT INTO #{quoted(column.table)} VALUES (?)", [value]) } }
    index.create_statements.each { |statement| base.execute(statement) }
    base
  end

  def quoted(name)
    %("#{name.gsub('"', '""')}")
  end

  # The result of SELECT `what` for the rows of a predicate.
  def select(base, what, column, predicate, before = "")
    from = "#{quoted(column.table)} #{column.table_alias}"
    base.execute("#{before} SELECT #{what} FROM #{from} WHERE #{predicate.sql}", predicate.parameters)
  end

  # The rows that a predicate selects, by their number from 0.
  def selected(base, column, predicate)
    select(base, "rowid - 1", column, predicate).flatten.sort
  end

  def column(type, style, **more)
    Offbeat::SqlTarget.new(dialect: :sqlite, table: "tenants", column: "id", column_type: type, parameter_style: style, **more)
  end

  def each_style(type, **more)
    STYLES.each { |style| yield column(type, style, **more), style.to_s }
  end

  def assert_slots_select(schedule, column, values, slot_indexes, style)
    slots = client.list_slots(schedule, start_time: NOON, end_time: NOON + schedule.period, sql_target: column)
    base = database(column, values, slots[0].predicate.index)
    rows = slots.to_h { |slot| [slot.slot_index, selected(base, column, slot.predicate)] }
    # Each row is in exactly one slot, the one of assign_slots, and NULL is in none.
    assert_equal values.each_index.group_by { |row| slot_indexes[row] }, rows, style
  end

  def test_slots_of_uuids_hold_what_is_assigned
    slot_indexes = client.assign_slots(TWISTER, UUIDS, from_time: NOON).slot_indexes
    each_style(:uuid_text) { |column, style| assert_slots_select(TWISTER, column, UUIDS, slot_indexes, style) }
  end

  def test_slots_of_hashes_hold_what_is_assigned
    slot_indexes = client.assign_slots(HASH, TEXTS, from_time: NOON).slot_indexes
    each_style(:hash_digits) { |column, style| assert_slots_select(HASH, column, HASHES, slot_indexes, style) }
  end

  def test_slots_of_integers_and_fractions_hold_what_is_assigned
    integers = Array.new(ROWS) { RANDOM.rand(2**63) * [1, -1].sample(random: RANDOM) }
    { [TWISTER, :integer] => integers, [FRACTION, :fraction] => FRACTIONS }.each do |(schedule, type), values|
      slot_indexes = client.assign_slots(schedule, values, from_time: NOON).slot_indexes
      each_style(type, table_alias: "t") { |column, style| assert_slots_select(schedule, column, values, slot_indexes, style) }
    end
  end

  def test_the_index_serves_the_predicates
    [[TWISTER, :uuid_text], [TWISTER, :integer], [HASH, :hash_digits], [FRACTION, :fraction]].each do |schedule, type|
      each_style(type) do |column, style|
        slot = client.list_slots(schedule, start_time: NOON, sql_target: column)[0]
        plan = select(database(column, [], slot.predicate.index), "*", column, slot.predicate, "EXPLAIN QUERY PLAN")
        assert_match(/SEARCH .* USING .*INDEX offbeat_/, plan.flatten.join(" "), "#{type} #{style}")
      end
    end
  end

  def test_windows_select_what_runs_in_them
    { [HASH, :hash_digits, TEXTS] => HASHES, [FRACTION, :fraction, FRACTIONS] => FRACTIONS }.each do |(schedule, type, ids), values|
      windows = [[NOON, 60], [NOON + 1, 3_600], [NOON - 100, schedule.period], [NOON + schedule.period - 600, 1_200], [NOON, 0]]
      windows.each do |start, length|
        runs = client.assign_slots(schedule, ids, from_time: start).map(&:next_run_time)
        expected = runs.each_index.select { |row| runs[row] < start + length }
        each_style(type) do |column, style|
          predicate = client.window_predicate(schedule, column, start_time: start, end_time: start + length)
          base = database(column, values, predicate.index)
          assert_equal expected, selected(base, column, predicate), "#{type} #{style} #{start} #{length}"
        end
      end
    end
  end

  def test_a_window_starts_now_unless_told_otherwise
    ends = Time.now + 60
    predicate = client.window_predicate(HASH, column(:hash_digits, :question_mark), end_time: ends)
    assert_match(/\A\(.*\)\z/, predicate.sql)
    assert_raises(Offbeat::InvalidArgument) { client.window_predicate(HASH, column(:hash_digits, nil), end_time: ends - 3_600) }
  end

  def test_styles_bind_what_they_say
    described = {
      nil => [/>= '0000000000000000' AND .* < '1111111111111112'/, []],
      question_mark: [/>= \? AND .* < \?/, %w[0000000000000000 1111111111111112]],
      format: [/>= %s AND .* < %s/, %w[0000000000000000 1111111111111112]],
      dollar: [/>= \$7 AND .* < \$8/, %w[0000000000000000 1111111111111112]],
      named: [/>= :offbeat_7 AND .* < :offbeat_8/, { "offbeat_7" => "0000000000000000", "offbeat_8" => "1111111111111112" }]
    }
    described.each do |style, (words, parameters)|
      numbered = %i[dollar named].include?(style) ? 7 : nil
      column = Offbeat::SqlTarget.new(dialect: :postgresql, table: "tenants", column: "id", column_type: :uuid, schema: "app",
                                      parameter_style: style, first_parameter_number: numbered)
      slots = client.list_slots(HASH, start_time: Time.at(0), end_time: Time.at(1), sql_target: column)
      assert_match words, slots[0].predicate.sql
      assert_equal parameters, slots[0].predicate.parameters
      assert_includes slots[0].predicate.index.create_statements.first, %("app"."tenants")
    end
  end

  def test_values_are_bound_as_what_they_are
    { [TWISTER, :integer] => Integer, [FRACTION, :fraction] => Float, [HASH, :hash_digits] => String }.each do |(schedule, type), expected|
      slot = client.list_slots(schedule, start_time: Time.at(0), sql_target: column(type, :question_mark))[0]
      assert_equal [expected] * 2, slot.predicate.parameters.map(&:class)
    end
  end

  def test_each_dialect_and_type_is_known_to_the_sidecar
    { "SQL_DIALECT" => [Offbeat::V1::SqlDialect, Offbeat::SqlTarget::DIALECTS],
      "SQL_COLUMN_TYPE" => [Offbeat::V1::SqlColumnType, Offbeat::SqlTarget::COLUMN_TYPES],
      "SQL_PARAMETER_STYLE" => [Offbeat::V1::SqlParameterStyle, Offbeat::SqlTarget::PARAMETER_STYLES] }.each do |prefix, (enum, names)|
      assert_equal (enum.constants - [:"#{prefix}_UNSPECIFIED"]).sort, names.values.sort
      assert_equal names.keys.map { |name| :"#{prefix}_#{name.upcase}" }, names.values
    end
    Offbeat::SqlTarget::DIALECTS.each_key do |dialect|
      Offbeat::SqlTarget::COLUMN_TYPES.each_key do |type|
        schedule = { fraction: FRACTION, text: HASH, hash_digits: HASH }.fetch(type, TWISTER)
        next if (type == :uuid && %i[mysql sqlite].include?(dialect)) || (type == :text && dialect == :sqlite)

        column = Offbeat::SqlTarget.new(dialect: dialect, table: "tenants", column: "id", column_type: type)
        slots = client.list_slots(schedule, start_time: NOON, sql_target: column)
        assert_equal [schedule.slot_count] * 2, [slots.size, slots.map { |slot| slot.predicate.sql }.uniq.size]
      end
    end
  end

  def test_names_are_quoted
    evil = %(x" y` 'z'; DROP TABLE tenants; --)
    slot_indexes = client.assign_slots(TWISTER, UUIDS.first(50), from_time: NOON).slot_indexes
    STYLES.each do |style|
      column = Offbeat::SqlTarget.new(dialect: :sqlite, table: evil, column: "? :a #{evil}", column_type: :uuid_text, parameter_style: style)
      slots = client.list_slots(TWISTER, start_time: NOON, sql_target: column)
      base = database(column, UUIDS.first(50), slots[0].predicate.index)
      base.execute("CREATE TABLE tenants (id)")
      slots.each do |slot|
        expected = slot_indexes.each_index.select { |row| slot_indexes[row] == slot.slot_index }
        assert_equal expected, selected(base, column, slot.predicate)
      end
      assert_equal [[0]], base.execute("SELECT count(*) FROM tenants")
    end
  end

  def test_slots_have_no_predicate_without_a_column
    assert_nil client.list_slots(HASH, start_time: NOON)[0].predicate
    assert_nil client.describe_schedule(HASH).slot.predicate
  end

  def test_what_cannot_be_decided_is_refused
    sqlite = { dialect: :sqlite, table: "tenants", column: "id", column_type: :hash_digits }
    {
      "sql_target.dialect" => [{ dialect: :oracle }, { dialect: nil }, { dialect: "sqlite" }],
      "sql_target.table" => [{ table: 5 }, { table: nil }, { table: "" }, { table: "x" * 257 }, { table: "\0" }],
      "sql_target.column" => [{ column: nil }],
      "sql_target.schema" => [{ schema: 5 }],
      "sql_target.table_alias" => [{ table_alias: ["t"] }],
      "sql_target.column_type" => [
        { column_type: :json }, { column_type: nil }, { column_type: :text }, { column_type: :uuid }, { column_type: :uuid_text }
      ],
      "sql_target.parameter_style" => [{ parameter_style: :pyformat }],
      "sql_target.first_parameter_number" => [
        { first_parameter_number: 2 }, { first_parameter_number: 0, parameter_style: :named },
        { first_parameter_number: 2**40, parameter_style: :dollar }
      ]
    }.each do |field, wrong|
      wrong.each do |fields|
        column = Offbeat::SqlTarget.new(**sqlite, **fields)
        [-> { client.list_slots(HASH, sql_target: column) },
         -> { client.window_predicate(HASH, column, start_time: NOON, end_time: NOON + 60) }].each do |ask|
          error = assert_raises(Offbeat::InvalidArgument, fields.to_s, &ask)
          assert_equal field, error.field, fields.to_s
          refute_empty error.allowed
        end
      end
    end
  end

  def test_schedules_refuse_what_they_cannot_place
    { [TWISTER, :text] => "ID_TYPE_UNSUITABLE", [TWISTER, :fraction] => "ID_TYPE_UNSUITABLE",
      [TWISTER, :hash_digits] => "ID_TYPE_UNSUITABLE", [FRACTION, :integer] => "ID_TYPE_UNSUITABLE" }.each do |(schedule, type), reason|
      error = assert_raises(Offbeat::InvalidArgument) { client.list_slots(schedule, sql_target: column(type, nil)) }
      assert_equal ["sql_target.column_type", "ERROR_REASON_#{reason}"], [error.field, error.reason]
    end
    window = { start_time: NOON, end_time: NOON + 60 }
    error = assert_raises(Offbeat::InvalidArgument) { client.window_predicate(TWISTER, column(:uuid_text, nil), **window) }
    assert_equal "schedule.spec.placement", error.field
    error = assert_raises(Offbeat::InvalidArgument) { client.window_predicate(HASH, column(:hash_digits, nil), end_time: nil) }
    assert_equal "end_time", error.field
  end
end
