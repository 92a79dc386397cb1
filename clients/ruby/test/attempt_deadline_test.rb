# frozen_string_literal: true

require_relative "helper"
require "minitest/mock"

# Attempt deadlines: a job can find out when its attempt's time is up.
class AttemptDeadlineTest < OffbeatTest
  def route(attempt_timeout)
    Offbeat::LaneRoute.new(lane_name: "express", attempt: 1, attempt_timeout: attempt_timeout, next_lane_name: "slow",
                           reason: :untried, resumes: false)
  end

  # Runs the block with a monotonic clock that shows the given times.
  def at(*times, &block)
    Process.stub(:clock_gettime, ->(clock) { clock == Process::CLOCK_MONOTONIC ? times.shift : flunk }, &block)
  end

  def test_it_counts_from_when_it_is_made_up_to_the_timeout
    at(100.0, 100.0, 100.5, 100.5, 100.59, 100.6, 100.6, 100.6, 200.0) do
      deadline = Offbeat::AttemptDeadline.new(route(3/5r))
      assert_in_delta 0.6, deadline.remaining
      assert_in_delta 0.1, deadline.remaining
      refute_predicate deadline, :expired?
      assert_nil deadline.check!
      assert_predicate deadline, :expired?
      assert_raises(Offbeat::AttemptTimedOut) { deadline.check! }
      assert_equal [0.0, 0.0], [deadline.remaining, deadline.remaining]
    end
  end

  def test_without_a_timeout_it_never_ends
    deadline = Offbeat::AttemptDeadline.new(route(nil))
    assert_nil deadline.remaining
    refute_predicate deadline, :expired?
    assert_nil deadline.check!
  end

  def test_the_error_says_which_attempt_it_was
    asked = client.route_job(Offbeat::LaneSet.new(lanes: [
      Offbeat::Lane.new(name: "express", worker_count: 1, attempt_timeout: 0.05), Offbeat::Lane.new(name: "slow", worker_count: 1)
    ]))
    deadline = Offbeat::AttemptDeadline.new(asked)
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    error = assert_raises(Offbeat::Error) { loop { deadline.check! || sleep(0.001) } }
    assert_includes 0.04..2, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
    assert_instance_of Offbeat::AttemptTimedOut, error
    assert_same asked, error.route
    assert_equal 'attempt 1 reached the timeout of 0.05 s of lane "express"', error.message
  end

  def test_what_waits_takes_what_remains
    deadline = Offbeat::AttemptDeadline.new(route(0.05))
    reader, writer = IO.pipe
    assert_nil IO.select([reader], nil, nil, deadline.remaining)
    [reader, writer].each(&:close)
    assert_raises(Offbeat::AttemptTimedOut) { deadline.check! }
  end
end
