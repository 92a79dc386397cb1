# frozen_string_literal: true

require_relative "helper"

# Lane plans: every form of input, and every field of the answer.
class LanePlanTest < OffbeatTest
  SAMPLES = ([0.5] * 50 + [1] * 45 + [299.5r] * 5).freeze
  QUESTION = { arrival_rate: 0.15, worker_count: 4 }.freeze

  def test_a_plan_may_be_asked_with
    plan = client.plan_lanes(SAMPLES, **QUESTION)
    assert_equal [:lanes, 4], [plan.verdict, plan.lane_set.lanes.sum(&:worker_count)]
    assert_equal [plan.lane_set.lanes.first.name, :untried], client.route_job(plan.lane_set).to_h.values_at(:lane_name, :reason)
    free = plan.lane_set.lanes.to_h { |lane| [lane.name, lane.worker_count] }
    jobs = Array.new(9) { |index| Offbeat::PendingJob.new(id: index.to_s) }
    assert_equal 4, client.dispatch_jobs(plan.lane_set, jobs, free_workers: free).dispatches.size
    states = free.keys.map { |name| Offbeat::LaneState.new(lane_name: name, backlog_count: 1) }
    assert_equal 6, client.split_workers(plan.lane_set, states, worker_count: 6).lane_set.lanes.sum(&:worker_count)
  end

  def test_its_figures
    plan = client.plan_lanes(SAMPLES, **QUESTION)
    assert_equal [15.675r, 0.5r], [plan.mean_run_time, plan.slowdown_floor]
    assert_in_delta 0.15 * 15.675 / 4, plan.utilization
    assert_operator plan.with_lanes.mean_slowdown, :<, plan.without_lanes.mean_slowdown
    assert_operator plan.without_lanes.mean_sojourn, :>, plan.without_lanes.mean_wait
    assert_equal [true, 0.0], [plan.with_lanes.stable, plan.without_lanes.wasted_ratio]
    assert_operator plan.with_lanes.wasted_ratio, :>, 0
    assert_equal [0.12, 0.18], (plan.sensitivities.map { |other| other.arrival_rate.round(9) })
    assert_instance_of Offbeat::LanePerformance, plan.sensitivities[1].with_lanes
    refute_empty plan.cutoffs
    plan.cutoffs.each { |cutoff| assert_operator cutoff.cutoff, :>, 0 }
    assert_operator plan.stream_count, :>, 1
    assert_operator plan.stream_job_count, :>, 1_000
    assert_predicate plan.sensitivities, :frozen?
  end

  def test_it_says_how_sure_it_is_and_who_waits
    plan = client.plan_lanes([0.5] * 90 + [20] * 10, arrival_rate: 1.2, worker_count: 4)
    assert_equal :lanes, plan.verdict
    [plan.slowdown_ratio, plan.sojourn_ratio].each do |ratio|
      assert_equal ratio.to_a.minmax, [ratio.low, ratio.high]
      assert_includes 0..1, ratio.high
    end
    express, slow = plan.run_time_classes
    assert_equal [plan.lane_set.lanes[0].attempt_timeout, nil], plan.run_time_classes.map(&:max_run_time)
    assert_includes 0.5..0.6, express.max_run_time
    assert_equal [[0.9, 90], [0.1, 10]], (plan.run_time_classes.map { |jobs| [jobs.job_ratio.round(9), jobs.sample_count] })
    assert_operator express.mean_wait_with_lanes, :<, express.mean_wait_without_lanes
    assert_operator express.mean_sojourn_with_lanes, :<, express.mean_sojourn_without_lanes
    assert_operator slow.mean_sojourn_with_lanes, :>, slow.mean_sojourn_without_lanes
    [plan.with_lanes, plan.without_lanes].each do |performance|
      slowdown, sojourn = performance.mean_slowdown_range, performance.mean_sojourn_range
      assert_includes slowdown.low..slowdown.high, performance.mean_slowdown
      assert_includes sojourn.low..sojourn.high, performance.mean_sojourn
    end
    assert_equal 1, plan.messages.grep(/take longer/).size
    assert_predicate plan.messages, :frozen?
  end

  def test_cutoffs_that_do_not_keep_up_have_no_figures
    cutoffs = client.plan_lanes([0.5] * 90 + [20] * 10, arrival_rate: 1.2, worker_count: 4).cutoffs
    assert_equal [false, true], cutoffs.map(&:stable).uniq.sort_by(&:to_s)
    assert_predicate cutoffs[0], :stable_with_more_arrivals
    cutoffs.each do |cutoff|
      assert_includes 1..3, cutoff.express_worker_count
      next assert_equal [nil, nil, false, nil], cutoff.to_a.values_at(2, 3, 5, 6) unless cutoff.stable

      assert_operator cutoff.mean_slowdown, :>=, 1
      assert_operator cutoff.mean_sojourn, :>, 0.5
    end
  end

  def test_the_same_question_has_the_same_answer
    answers = [SAMPLES, SAMPLES.reverse.each].map { |samples| client.plan_lanes(samples, seed: 5, **QUESTION) }
    assert_equal answers[0], answers[1]
    refute_equal answers[0], client.plan_lanes(SAMPLES, seed: 6, **QUESTION)
  end

  def test_what_is_asked_for_reaches_the_sidecar
    plan = client.plan_lanes(SAMPLES, tolerated_wait: 0.75, slowdown_floor: 10, on_timeout: :suspend, max_lane_count: 2, **QUESTION)
    assert_equal [:suspend, 2, 10], [plan.lane_set.on_timeout, plan.lane_set.lanes.size, plan.slowdown_floor]
    assert_operator plan.lane_set.lanes[0].attempt_timeout, :<=, 0.75
    assert_equal 0.0, plan.with_lanes.wasted_ratio
  end

  def test_histograms_and_percentiles
    counted = client.plan_lanes(Offbeat::RunTimeHistogram.new(buckets: { 1 => 95, 300r => 5 }), **QUESTION)
    assert_equal [:lanes, [nil]], [counted.verdict, counted.run_time_classes.map(&:sample_count).uniq]
    alike = client.plan_lanes(Offbeat::RunTimePercentiles.new(p50: 20, p90: 21), **QUESTION)
    assert_equal :no_lanes, alike.verdict
    meant = client.plan_lanes(Offbeat::RunTimePercentiles.new(mean: 2.5, p90: 4), **QUESTION)
    assert_in_delta 2.5, meant.mean_run_time, 0.01
  end

  def test_types_of_jobs
    types = { report: [60] * 20, "mail" => ([0.2] * 980).each }
    plan = client.plan_lanes(types, arrival_rate: 2, worker_count: 4)
    found = plan.lanes_by_type
    assert_equal [:lanes_by_type, ["report"], true], [plan.verdict, found.slow_type_names, found.stable_with_more_arrivals]
    assert_equal 4, found.express_worker_count + found.slow_worker_count
    assert_operator found.performance.mean_slowdown, :<, plan.without_lanes.mean_slowdown / 2
    assert_equal 0.0, found.performance.wasted_ratio
    assert_includes found.slowdown_ratio.low..found.slowdown_ratio.high, found.slowdown_ratio.estimate
    assert_operator found.sojourn_ratio.estimate, :>, 0
    assert_operator found.slowdown_ratio_to_timeouts.high, :>, 0
    assert_includes found.sojourn_ratio_to_timeouts.low..found.sojourn_ratio_to_timeouts.high, found.sojourn_ratio_to_timeouts.estimate
    plan.sensitivities.each { |other| assert_operator other.by_type.mean_slowdown, :>=, 1 }
    report, mail = plan.job_types
    assert_equal ["report", 20, 0.02, 1.0], report.to_a.values_at(0, 1, 2, 8)
    assert_in_delta 1_200 / 1_396.0, report.work_ratio
    assert_equal [60] * 4, [report.mean_run_time, report.p50_run_time, report.p99_run_time, report.max_run_time]
    assert_equal 0.0, mail.timeout_ratio
    assert_operator mail.mean_sojourn_by_type, :<, mail.mean_sojourn_without_lanes
    assert_operator mail.mean_sojourn_with_lanes, :<, mail.mean_sojourn_without_lanes
    plan.cutoffs.each { |cutoff| assert_equal cutoff.stable, !cutoff.mean_slowdown_range.nil? }
    untyped = client.plan_lanes(([0.2] * 980) + ([60] * 20), arrival_rate: 2, worker_count: 4)
    assert_equal [nil, [], nil], [untyped.lanes_by_type, untyped.job_types, untyped.sensitivities[0].by_type]
    assert_equal plan.cutoffs, untyped.cutoffs
  end

  def test_where_no_lanes_keep_up_there_are_none
    plan = client.plan_lanes([1] * 95 + [300] * 5, arrival_rate: 0.25, worker_count: 4)
    assert_equal [:no_lanes, nil, nil], [plan.verdict, plan.lane_set, plan.with_lanes]
    refute plan.sensitivities[1].without_lanes.stable
    assert_equal [nil, nil, []], [plan.slowdown_ratio, plan.sojourn_ratio, plan.run_time_classes]
    even = client.plan_lanes([1] * 8, arrival_rate: 1.2, worker_count: 4)
    assert_equal [:no_lanes, 1], [even.verdict, even.messages.size]
  end

  def test_what_cannot_be_is_refused
    histogram = ->(buckets) { Offbeat::RunTimeHistogram.new(buckets: buckets) }
    percentiles = ->(**figures) { Offbeat::RunTimePercentiles.new(**figures) }
    {
      "samples.run_time_micros[1]" => [[1, "2s"]], "samples.run_time_micros[0]" => [[2**60]], "samples.run_time_micros[2]" => [[1, 1, 0]],
      "samples.run_time_micros" => [5], "histogram.buckets[1].job_count" => [histogram.call({ 1 => 5, 2 => 1.5 })],
      "histogram.buckets[0].upper_bound" => [histogram.call({ "1" => 5 })],
      "percentiles.p90" => [percentiles.call(p50: 5, p90: 4)], "percentiles.mean" => [percentiles.call(p90: 4, mean: "m")],
      "samples_by_type.types" => [{}], "samples_by_type.types[0].run_time_micros" => [{ "a" => [] }],
      "samples_by_type.types[1].run_time_micros[1]" => [{ "b" => [1, 0], "a" => [1] }], "samples_by_type.types[0].name" => [{ 5 => [1] }],
      "arrival_rate" => [[1], { arrival_rate: 0 }], "worker_count" => [[1], { worker_count: 1.5 }],
      "tolerated_wait" => [[1], { tolerated_wait: "1s" }], "slowdown_floor" => [[1], { slowdown_floor: 0 }],
      "on_timeout" => [[1], { on_timeout: :explode }], "max_lane_count" => [[1], { max_lane_count: 4 }],
      "seed" => [[1], { seed: 2**63 }]
    }.each do |field, (run_times, options)|
      error = assert_raises(Offbeat::InvalidArgument, field) { client.plan_lanes(run_times, **QUESTION, **options.to_h) }
      assert_equal field, error.field
      refute_empty error.allowed
    end
  end
end
