# frozen_string_literal: true

# Runs jobs in an express and a slow lane, without knowing in advance how long each job takes.
#
#   ruby worker.rb
#
# Repeats the timeline of tests/vectors/express_lane_timeline.json, a hundred times faster.

require "json"
require "offbeat"

LANES = Offbeat::LaneSet.new(lanes: [
  Offbeat::Lane.new(name: "express", worker_count: 1, attempt_timeout: 0.6),
  Offbeat::Lane.new(name: "slow", worker_count: 1, attempt_timeout: 9)
])
RUN_TIMES = { "fast1" => 0.1, "slow1" => 6, "slow2" => 6, "fast2" => 0.1 }.freeze # seconds

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# The job works in steps, and checks its deadline between them.
def work(name, deadline)
  finish = now + RUN_TIMES.fetch(name)
  while now < finish
    deadline.check! # raises AttemptTimedOut when the time is up
    sleep 0.01
  end
end

# Runs a job on a thread of its own, which reports the outcome at its end.
def start(job, route, ended)
  Thread.new do
    deadline = Offbeat::AttemptDeadline.new(route)
    work(job.id, deadline)
    ended << [job, route, :done]
  rescue Offbeat::AttemptTimedOut
    ended << [job, route, :timed_out]
  end
end

Thread.abort_on_exception = true # other failures end this program; yours would retry
client = Offbeat::Client.new
pending = RUN_TIMES.keys.map { |name| Offbeat::PendingJob.new(id: name) }
running = LANES.lanes.to_h { |lane| [lane.name, []] }
ended = Queue.new
timeline = []
began = now

loop do
  free = LANES.lanes.to_h { |lane| [lane.name, lane.worker_count - running[lane.name].size] }
  dispatched = client.dispatch_jobs(LANES, pending, free_workers: free)
  dispatched.failures.each { |failed| warn "#{failed.job_id} #{failed.failure.message}" }
  dispatched.dispatches.each do |dispatch|
    job = pending[dispatch.job_index]
    running[dispatch.route.lane_name] << job.id
    start(job, dispatch.route, ended)
  end
  taken = (dispatched.dispatches + dispatched.failures).map(&:job_index)
  pending = pending.reject.with_index { |_, index| taken.include?(index) }

  timeline << { "at" => now - began, **running.transform_values(&:first) }
  puts format("%5.2f s  express: %-5s  slow: %s", *timeline.last.values.map { |value| value || "-" })
  break if running.values.all?(&:empty?)

  job, route, outcome = ended.pop # a worker is free
  running[route.lane_name].delete(job.id)
  pending << job.timed_out_in(route.lane_name) if outcome == :timed_out
end

golden = JSON.parse(File.read(File.join(__dir__, "../../../tests/vectors/express_lane_timeline.json")))["timeline"]
same = golden.size == timeline.size && golden.zip(timeline).all? do |expected, seen|
  (expected["at"] / 100.0 - seen["at"]).abs < 1 && expected.except("at") == seen.except("at")
end
abort "the timeline is not that of the source" unless same
