# frozen_string_literal: true

# Imports and exports bank accounts every 8 hours: a producer over SQLite.
#
#   ruby producer.rb begin [START]   once: creates the index, and sets the first watermarks
#   ruby producer.rb tick [NOW]      every minute: enqueues what starts until the next minute
#
# Both can run twice, run concurrently, or be killed: each job has the ID of its run, so
# nothing is enqueued twice. DATABASE names the file, OFFBEAT_ADDRESS the sidecar.

require "offbeat"
require "sqlite3"
require "time"

PERIOD = 8 * 3600
KINDS = %w[import export].freeze # both lock the account, so they must not meet on one account
SCHEDULE = Offbeat::Schedule.new(period: PERIOD, kinds: KINDS)
LOOK_AHEAD = 60 # the time between two ticks: a job is in the queue before it is due
ACCOUNTS = Offbeat::SqlTarget.new(dialect: :sqlite, table: "account", column: "hash_digits",
                                  column_type: :hash_digits, parameter_style: :question_mark)
BATCH = 100

# Makes the index that serves the predicates, and the watermarks.
def begin_at(db, client, start)
  predicate = client.window_predicate(SCHEDULE, ACCOUNTS, start_time: start, end_time: start, kind: KINDS.first)
  predicate.index.create_statements.each { |statement| db.execute(statement) }
  KINDS.each do |kind|
    db.execute("INSERT INTO watermark (kind, enqueued_until) VALUES (?, ?) ON CONFLICT DO NOTHING",
               [kind, millis(start)])
  end
end

# Enqueues the runs of each kind that start until the next tick, and those that were missed.
def tick(db, client, now)
  KINDS.each do |kind|
    watermark = db.get_first_value("SELECT enqueued_until FROM watermark WHERE kind = ?", [kind])
    enqueue(db, client, kind, Time.at(0, watermark, :millisecond), now)
  end
end

# Enqueues one kind, batch by batch. If this process dies, the next tick repeats it.
def enqueue(db, client, kind, watermark, now)
  ahead = now + LOOK_AHEAD
  return if watermark >= ahead

  # After an outage of a whole cycle or more, all accounts have missed a run.
  predicate = client.window_predicate(SCHEDULE, ACCOUNTS, start_time: [watermark, ahead - PERIOD].max,
                                                          end_time: ahead, kind: kind)
  ids = db.execute("SELECT id FROM account WHERE #{predicate.sql}", predicate.parameters).flatten
  # An ID that cannot be assigned must not block the runs of the others.
  due = client.list_due_runs(SCHEDULE, ids, watermark: watermark, now_time: now, look_ahead: LOOK_AHEAD,
                                            kind: kind, return_errors: true)
  due.errors.each { |error| warn("#{error.field}: #{error.value} is refused: #{error.allowed}") }
  due.each_slice(BATCH) do |batch|
    db.transaction do
      batch.each do |run|
        # A queue with unique job IDs does what ON CONFLICT does here.
        db.execute("INSERT INTO job (run_id, kind, account_id, run_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                   [run.run_id, kind, run.id, millis(run.start_time)])
      end
    end
  end
  # Only after all are enqueued; and another tick may have got further.
  db.execute("UPDATE watermark SET enqueued_until = max(enqueued_until, ?) WHERE kind = ?",
             [millis(due.next_watermark_time), kind])
  puts "#{kind}: #{due.count} jobs, #{due.late_run_count} of them late; #{due.superseded_run_count} superseded"
end

def millis(time)
  (time.to_r * 1000).to_i
end

db = SQLite3::Database.new(ENV.fetch("DATABASE"))
db.busy_timeout = 10_000
client = Offbeat::Client.new

case ARGV
in ["begin", *] | ["tick", *] if ARGV.size <= 2
  instant = ARGV[1] ? Time.iso8601(ARGV[1]) : Time.now
  ARGV.first == "begin" ? begin_at(db, client, instant) : tick(db, client, instant)
else abort(File.foreach(__FILE__).drop(2).take_while { |line| line.start_with?("#") }.join)
end
