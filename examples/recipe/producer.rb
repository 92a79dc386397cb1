# frozen_string_literal: true

# Synchronises bank accounts every 8 hours: a producer over SQLite.
#
#   ruby producer.rb migrate             once: the index for the slots of accounts
#   ruby producer.rb bootstrap [START]   once a cycle: a job for each slot to come
#   ruby producer.rb work                those that are due: each enqueues its accounts
#
# All may be run twice, at the same time, or be killed: the keys of the jobs see to it
# that nothing is enqueued twice. DATABASE names the file, OFFBEAT_ADDRESS the sidecar.

require "offbeat"
require "sqlite3"
require "time"

PERIOD = 8 * 3600
SCHEDULE = Offbeat::Schedule.new(period: PERIOD, slot_count: 32)
ACCOUNTS = Offbeat::SqlColumn.new(dialect: :sqlite, table: "account", name: "hash_digits",
                                  type: :hash_digits, parameter_style: :question_mark)
BATCH = 100

# Makes the index that serves the predicates.
def migrate(db, client)
  slot = client.list_slots(SCHEDULE, sql_column: ACCOUNTS).first
  slot.predicate.index.create_statements.each { |statement| db.execute(statement) }
end

# Plans a job for each slot of two cycles: so a bootstrap may be late, up to a cycle.
def bootstrap(db, client, start)
  slots = client.list_slots(SCHEDULE, start_time: start, end_time: start + 2 * PERIOD)
  db.transaction do
    slots.each do |slot|
      db.execute("INSERT INTO slot_job (cycle_index, slot_index, start_time, end_time) VALUES (?, ?, ?, ?) " \
                 "ON CONFLICT DO NOTHING",
                 [slot.cycle_index, slot.slot_index, slot.start_time.to_i, slot.end_time.to_i])
    end
  end
end

# Runs the slot jobs that are due; one that dies stays, and is run again.
def work(db, client)
  due = db.execute("SELECT cycle_index, slot_index, start_time, end_time FROM slot_job " \
                   "WHERE start_time <= ? AND NOT done ORDER BY start_time", [Time.now.to_i])
  due.each do |cycle_index, slot_index, start_time, end_time|
    run_slot(db, client, Time.at(start_time), Time.at(end_time))
    db.execute("UPDATE slot_job SET done = 1 WHERE cycle_index = ? AND slot_index = ?", [cycle_index, slot_index])
  end
end

# Enqueues the accounts of one slot, each for its own time.
def run_slot(db, client, start_time, end_time)
  slot = client.list_slots(SCHEDULE, start_time: start_time, end_time: end_time, sql_column: ACCOUNTS).first
  ids = db.execute("SELECT id FROM account WHERE #{slot.predicate.sql}", slot.predicate.parameters).flatten
  ids.each_slice(BATCH) do |batch|
    # An ID that cannot be assigned must not keep the others from their runs.
    assigned = client.assign_slots(SCHEDULE, batch, from_time: start_time, kind: "bank-sync", return_errors: true)
    assigned.errors.each { |error| warn("#{error.field}: #{error.value} is refused: #{error.allowed}") }
    db.transaction do
      assigned.accepted.each do |row|
        # A queue that takes a unique key does what the conflict does here.
        db.execute("INSERT INTO job (run_key, account_id, run_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                   [row.run_key, row.id, row.next_run_time.to_i])
      end
    end
  end
end

db = SQLite3::Database.new(ENV.fetch("DATABASE"))
db.busy_timeout = 10_000
client = Offbeat::Client.new

case ARGV
in ["migrate"] then migrate(db, client)
in ["bootstrap"] then bootstrap(db, client, Time.now)
in ["bootstrap", start] then bootstrap(db, client, Time.iso8601(start))
in ["work"] then work(db, client)
else abort(File.foreach(__FILE__).drop(2).take_while { |line| line.start_with?("#") }.join)
end
