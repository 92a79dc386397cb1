# frozen_string_literal: true

# Simulates a week of slots in ticks of one second, with eight metrics for every tick: in memory, or
# as rows in SQLite, many per INSERT. The design is from the talk "On The Virtues Of Slot
# Scheduling".

require "sqlite3"
require "tmpdir"

WEEK = 7 * 24 * 3_600
CYCLE = 8 * 3_600
USERS = 29_000
WORKERS = 15
MU = Math.log(6) # of run times: their p50 is 6 s, their p90 18 s
SIGMA = Math.log(18 / 6.0) / 1.2815515655446004

class Job
  attr_reader :enqueued_at, :started_at

  def initialize(enqueued_at, run_time)
    @enqueued_at = enqueued_at
    @run_time = run_time
  end

  def started!(tick)
    @started_at = tick
    @finished_at = tick + @run_time
  end

  def finished?(tick) = tick >= @finished_at
end

class Memory
  def initialize = @series = Hash.new { |series, name| series[name] = [] }

  def add(_tick, name, value) = @series[name] << value

  def close = nil

  def size = @series.sum { |_name, values| values.size }
end

class Rows
  WIDTH = 4
  ROWS = 999 / WIDTH # SQLite used to allow 999 parameters
  INSERTS = 400 # to a transaction

  def initialize(path)
    @database = SQLite3::Database.new(path)
    @database.execute("CREATE TABLE measurements (tick INTEGER, metric_name TEXT, metric_type TEXT, value REAL)")
    @pending = []
  end

  def add(tick, name, value)
    @pending << [tick, name, "tick", value]
    write if @pending.size == ROWS * INSERTS
  end

  def close
    write
    @size = @database.get_first_value("SELECT count(*) FROM measurements")
    @database.close
  end

  attr_reader :size

  private

  def write
    statements = Hash.new { |made, count| made[count] = prepare(count) }
    @database.transaction do
      @pending.each_slice(ROWS) { |rows| statements[rows.size].execute(rows.flatten) }
    end
    statements.each_value(&:close)
    @pending.clear
  end

  def prepare(count)
    places = (["(?, ?, ?, ?)"] * count).join(",")
    @database.prepare("INSERT INTO measurements (tick, metric_name, metric_type, value) VALUES #{places}")
  end
end

class Simulator
  attr_reader :jobs

  def initialize(metrics)
    @metrics = metrics
    @random = Random.new(1)
    @due = Array.new(CYCLE, 0)
    USERS.times { @due[@random.rand(CYCLE)] += 1 }
    @queue = []
    @running = []
    @jobs = 0
  end

  def run = WEEK.times { |tick| step(tick) }

  private

  def step(tick)
    due = @due[tick % CYCLE]
    due.times { @queue << Job.new(tick, run_time) }
    finished, @running = @running.partition { |job| job.finished?(tick) }
    @jobs += finished.size
    started = @queue.shift(WORKERS - @running.size)
    started.each { |job| job.started!(tick) }
    @running.concat(started)
    count(tick, due, started, finished)
  end

  def count(tick, due, started, finished)
    @metrics.add(tick, "queue_depth", @queue.size)
    @metrics.add(tick, "enqueued", due)
    @metrics.add(tick, "started", started.size)
    @metrics.add(tick, "finished", finished.size)
    @metrics.add(tick, "busy_workers", @running.size)
    @metrics.add(tick, "idle_workers", WORKERS - @running.size)
    @metrics.add(tick, "waited", started.sum { |job| tick - job.enqueued_at })
    @metrics.add(tick, "ran", finished.sum { |job| tick - job.started_at })
  end

  def run_time
    normal = Math.sqrt(-2 * Math.log(1 - @random.rand)) * Math.cos(2 * Math::PI * @random.rand)
    Math.exp(MU + SIGMA * normal)
  end
end

def timed(what)
  jobs = 0
  best = 3.times.map do
    Dir.mktmpdir do |folder|
      begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      metrics = yield File.join(folder, "ticks.sqlite")
      simulator = Simulator.new(metrics)
      simulator.run
      metrics.close
      took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
      raise unless metrics.size == 8 * WEEK

      jobs = simulator.jobs
      took
    end
  end.min
  puts "#{what}, times real time (#{jobs} jobs)\t#{(WEEK / best).round}"
end

timed("Ruby ticks, slots, metrics in memory") { Memory.new }
timed("Ruby ticks, slots, metrics as rows in SQLite") { |path| Rows.new(path) }
