# frozen_string_literal: true

require_relative "helper"
require "open3"

# Lanes: where jobs run.
class LanesTest < OffbeatTest
  EXPRESS = Offbeat::Lane.new(name: "express", worker_count: 1, attempt_timeout: 0.6)
  SLOW = Offbeat::Lane.new(name: "slow", worker_count: 1, attempt_timeout: 9)
  LANES = Offbeat::LaneSet.new(lanes: [EXPRESS, SLOW])
  BOTH = { "express" => 1, "slow" => 1 }.freeze

  def lanes(*lanes, **options)
    Offbeat::LaneSet.new(lanes: lanes.empty? ? [EXPRESS, SLOW] : lanes, **options)
  end

  def job(id, **options)
    Offbeat::PendingJob.new(id: id, **options)
  end

  def slow(probability)
    Offbeat::LanePrediction.new(slow_probability: probability)
  end

  def test_a_job_goes_from_lane_to_lane_and_fails
    first = client.route_job(LANES)
    assert_equal Offbeat::LaneRoute.new(lane_name: "express", attempt: 1, attempt_timeout: 3/5r, next_lane_name: "slow",
                                        reason: :untried, resumes: false), first
    second = client.route_job(LANES, timed_out_lane_names: ["express"])
    assert_equal ["slow", 2, 9, nil, :demoted, false], second.to_a
    failure = client.route_job(LANES, timed_out_lane_names: %w[slow express].each)
    assert_equal Offbeat::PermanentFailure.new(last_lane_name: "slow", exceeded_timeout: 9,
                                               message: 'reached the timeout of 9s of lane "slow", the last'), failure
    assert_equal ["slow", :idle_worker], client.route_job(LANES, worker_lane_name: "slow").to_h.values_at(:lane_name, :reason)
  end

  def test_predictions_and_lanes_without_timeout
    endless = lanes(EXPRESS, Offbeat::Lane.new(name: "slow", worker_count: 1), max_express_slow_probability: 0.5)
    routes = [slow(0.5), slow(0.51), Offbeat::LanePrediction.new(run_time: 0.6), Offbeat::LanePrediction.new(run_time: 1)]
             .map { |prediction| client.route_job(endless, prediction: prediction) }
    assert_equal %w[express slow express slow], routes.map(&:lane_name)
    assert_equal [:predicted_slow, nil, nil], [routes[1].reason, routes[1].attempt_timeout, routes[1].next_lane_name]
    assert_equal "express", client.route_job(LANES, prediction: slow(1)).lane_name
  end

  def test_suspended_jobs_resume
    assert_predicate client.route_job(lanes(on_timeout: :suspend), timed_out_lane_names: ["express"]), :resumes
  end

  def test_dispatch
    jobs = [job("long", prediction: slow(0.9)), job("short"), job("next", prediction: slow(0.1)),
            job("demoted").timed_out_in("express"), job("dead").timed_out_in("express").timed_out_in("slow")]
    dispatched = client.dispatch_jobs(LANES, jobs.each, free_workers: BOTH)
    assert_equal [[3, "demoted", "slow", :demoted], [1, "short", "express", :untried]],
                 (dispatched.dispatches.map { |one| [one.job_index, one.job_id, one.route.lane_name, one.route.reason] })
    assert_equal [[4, "dead", "slow", 9]],
                 (dispatched.failures.map { |failed| [failed.job_index, failed.job_id, failed.failure.last_lane_name, failed.failure.exceeded_timeout] })
    idle = client.dispatch_jobs(LANES, jobs.first(1), free_workers: BOTH).dispatches
    assert_equal ["slow", :idle_worker], [idle[0].route.lane_name, idle[0].route.reason]
    assert_equal [[], []], client.dispatch_jobs(LANES, [], free_workers: {}).to_a
  end

  def test_the_policy_says_whom_a_slow_lane_takes
    jobs = [job("fresh"), job("demoted").timed_out_in("express")]
    taken = %i[express_first slow_first].map do |policy|
      client.dispatch_jobs(lanes(policy: policy), jobs, free_workers: { "slow" => 1 }).dispatches[0].job_id
    end
    assert_equal %w[demoted fresh], taken
  end

  def test_a_split_may_be_asked_with
    given = lanes(EXPRESS, SLOW, policy: :slow_first, on_timeout: :suspend, max_express_slow_probability: 0.5)
    states = [state("slow", backlog_count: 2, mean_run_time: 4.8), state("express", backlog_count: 8)]
    split = client.split_workers(given, states.each, worker_count: 6)
    assert_equal [["express", 4_800_000], ["slow", 9_600_000]], split.workloads.map(&:to_a)
    assert_equal [6, 0], [split.lane_set.lanes.sum(&:worker_count), split.lane_set.lanes.count { |lane| lane.worker_count.zero? }]
    assert_operator split.lane_set.lanes[1].worker_count, :>, split.lane_set.lanes[0].worker_count
    assert_equal given.to_a.drop(1), split.lane_set.to_a.drop(1)
    assert_equal "express", client.route_job(split.lane_set).lane_name
    counts = split.lane_set.lanes.to_h { |lane| [lane.name, lane.worker_count] }
    assert_equal 6, client.dispatch_jobs(split.lane_set, Array.new(9) { job("") }, free_workers: counts).dispatches.size
  end

  def test_a_split_keeps_those_who_are_busy
    crowded = lanes(Offbeat::Lane.new(name: "express", worker_count: 4, attempt_timeout: 1), SLOW)
    waits = state("slow", backlog_count: 1, longest_wait: 3)
    splits = [[], [state("express", busy_worker_count: 3)]].map { |busy| client.split_workers(crowded, [*busy, waits]) }
    assert_equal [[1, 4], [3, 2]], (splits.map { |split| counts_of(split) })
    assert_equal [0, 3_000_000], splits[0].workloads.map(&:workload_micros)
  end

  def test_hysteresis_keeps_workers_where_they_are
    crowded = lanes(Offbeat::Lane.new(name: "express", worker_count: 7, attempt_timeout: 1), SLOW)
    states = [state("express", backlog_count: 5, mean_run_time: 1), state("slow", backlog_count: 5, mean_run_time: 4)]
    ask = ->(**options) { counts_of(client.split_workers(crowded, states, **options)) }
    assert_equal [[2, 6], [6, 2], [7, 1]], [ask.call, ask.call(max_move_count: 1), ask.call(max_move_count: 0)]
    assert_equal [[2, 6], [7, 1]], [ask.call(min_improvement_percent: 20), ask.call(min_improvement_percent: 90)]
    assert_equal 9, ask.call(worker_count: 9, max_move_count: 0).sum # forced
  end

  def state(lane_name, **options)
    Offbeat::LaneState.new(lane_name: lane_name, **options)
  end

  def counts_of(split)
    split.lane_set.lanes.map(&:worker_count)
  end

  def test_jobs_keep_what_they_had
    predicted = job("a", prediction: slow(0.2))
    demoted = predicted.timed_out_in("express")
    assert_equal [[], ["express"], predicted.prediction], [predicted.timed_out_lane_names, demoted.timed_out_lane_names, demoted.prediction]
    assert_equal %w[express slow], demoted.timed_out_in("slow").timed_out_lane_names
    assert_raises(FrozenError) { demoted.timed_out_lane_names << "slow" }
    assert_equal demoted, job("a", timed_out_lane_names: ["express"], prediction: slow(0.2))
  end

  def test_what_cannot_be_is_refused
    both = Offbeat::LanePrediction.new(slow_probability: 0.0, run_time: 1)
    {
      "lane_set.lanes" => -> { client.route_job(Offbeat::LaneSet.new(lanes: nil)) },
      "lane_set.lanes[1].name" => -> { client.route_job(lanes(EXPRESS, EXPRESS)) },
      "lane_set.lanes[0].worker_count" => -> { client.route_job(lanes(Offbeat::Lane.new(name: "a", worker_count: 1.5), SLOW)) },
      "lane_set.lanes[0].attempt_timeout" => -> { client.route_job(lanes(Offbeat::Lane.new(name: "a", worker_count: 1, attempt_timeout: "1s"), SLOW)) },
      "lane_set.policy" => -> { client.route_job(lanes(policy: :fast_first)) },
      "lane_set.on_timeout" => -> { client.route_job(lanes(on_timeout: "abort")) },
      "lane_set.max_express_slow_probability" => -> { client.route_job(lanes(max_express_slow_probability: 2)) },
      "timed_out_lane_names[1]" => -> { client.route_job(LANES, timed_out_lane_names: ["express", 5]) },
      "worker_lane_name" => -> { client.route_job(LANES, worker_lane_name: "none") },
      "timed_out_lane_names" => -> { client.route_job(LANES, timed_out_lane_names: "express") },
      "prediction" => -> { client.route_job(LANES, prediction: both) },
      "prediction.prediction" => -> { client.route_job(LANES, prediction: Offbeat::LanePrediction.new) },
      "prediction.run_time" => -> { client.route_job(LANES, prediction: Offbeat::LanePrediction.new(run_time: :long)) },
      "jobs[1].prediction" => -> { client.dispatch_jobs(LANES, [job("a"), job("b", prediction: both)], free_workers: BOTH) },
      "jobs[0].id" => -> { client.dispatch_jobs(LANES, [job(5)], free_workers: BOTH) },
      "jobs[0].timed_out_lane_names[0]" => -> { client.dispatch_jobs(LANES, [job("a", timed_out_lane_names: ["odd"])], free_workers: BOTH) },
      "jobs" => -> { client.dispatch_jobs(LANES, job("a"), free_workers: BOTH) },
      "free_workers" => -> { client.dispatch_jobs(LANES, [], free_workers: [1, 1]) },
      "free_workers[1].worker_count" => -> { client.dispatch_jobs(LANES, [], free_workers: { "express" => 1, "slow" => "1" }) },
      "free_workers[0].worker_count" => -> { client.dispatch_jobs(LANES, [], free_workers: { "express" => 2 }) },
      "free_workers[0].lane_name" => -> { client.dispatch_jobs(LANES, [], free_workers: { "none" => 1 }) },
      "states[0].backlog_count" => -> { client.split_workers(LANES, [state("slow", backlog_count: -1)]) },
      "states[1].lane_name" => -> { client.split_workers(LANES, [state("slow"), state("slow")]) },
      "states" => -> { client.split_workers(LANES, state("slow")) },
      "max_move_count" => -> { client.split_workers(LANES, [], max_move_count: -1) },
      "min_improvement_percent" => -> { client.split_workers(LANES, [], min_improvement_percent: 101) },
      "worker_count" => -> { client.split_workers(LANES, [], worker_count: 1) }
    }.each do |field, ask|
      error = assert_raises(Offbeat::InvalidArgument, field, &ask)
      assert_equal field, error.field
      refute_empty error.allowed
    end
  end

  # Threads, jobs that really sleep, and the timeline of the source, which the example checks.
  def test_the_example_repeats_the_timeline
    command = [RbConfig.ruby, "-w", "-I#{ROOT}/clients/ruby/lib", "#{ROOT}/examples/lanes/ruby/worker.rb"]
    output, status = Open3.capture2e({ "OFFBEAT_ADDRESS" => Sidecar::SHARED.address }, *command)
    assert_predicate status, :success?, output
    assert_equal 6, output.lines.size, output
    assert_match(/\A *12\.\d\d s  express: -      slow: -\Z/, output.lines.last)
  end
end
