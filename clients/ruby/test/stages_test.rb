# frozen_string_literal: true

require_relative "helper"

# Stages: how many workers each gets, and where a free worker goes.
class StagesTest < OffbeatTest
  def stage(name, backlog_count = 0, **others)
    Offbeat::Stage.new(name: name, backlog_count: backlog_count, **others)
  end

  # Workloads are in microseconds, as a backlog of jobs of 1 µs.
  def pipeline(workloads, done = [])
    workloads.each_with_index.map do |workload, index|
      stage(index.to_s, workload, mean_run_time: 1/1_000_000r, done: done.include?(index))
    end
  end

  def test_allocations_are_those_of_an_exhaustive_search
    cases = vectors("stage_allocation.json")["cases"]
    assert_operator cases.size, :>, 400
    cases.each do |golden|
      stages = pipeline(golden["workloads"], golden["done"])
      { minimum_score: "minimum_score", d_hondt: "highest_averages" }.each do |rule, expected|
        allocation = client.allocate_workers(stages, worker_count: golden["workers"], rule: rule)
        # If all stages are done, both are nil.
        assert_equal [golden.fetch(expected)], [allocation&.stages&.map(&:worker_count)], golden.to_s
      end
    end
  end

  def test_the_house_of_2020
    house = vectors("house_2020.json")
    stages = pipeline(house["populations"].map { |population| population**2 })
    seats = client.allocate_workers(stages, worker_count: 385).stages.map { |state| state.worker_count + 1 }
    assert_equal house["house_seats"], seats
  end

  def test_an_allocation_says_why_and_who_moves
    stages = [stage("parse", 40, mean_run_time: 0.5, current_worker_count: 5),
              stage("render", 10, run_times: [1, 3r, 5.0], min_worker_count: 2),
              stage("mail", 5), stage("old", 7, done: true, current_worker_count: 1)]
    allocation = client.allocate_workers(stages.each, worker_count: 8)
    assert_equal({ "parse" => 3, "render" => 4, "mail" => 1, "old" => 0 }, allocation.worker_counts)
    assert_equal [3, 1/2r], [allocation.stages[1], allocation.stages[0]].map(&:mean_run_time)
    assert_equal [false, false, true], allocation.stages.first(3).map(&:run_time_estimated)
    assert_equal [20_000_000, 1], [allocation.stages[0].workload_micros, allocation.stages[0].weight]
    assert_in_delta 20_000_000 / 4.0, allocation.stages[0].score
    assert_in_delta 20_000_000 / 20.0, allocation.stages[0].next_quotient
    assert_equal [2, 1, 2], ["parse", "old", nil].map { |stage| leaving(allocation, stage) }
    assert_equal [0, false], [allocation.unassigned_worker_count, allocation.improvement_too_small]
  end

  def leaving(allocation, stage)
    allocation.moves.select { |move| move.from_stage_name == stage }.sum(&:worker_count)
  end

  def test_what_is_asked_for_reaches_the_sidecar
    two = [stage("a", 9, current_worker_count: 4, mean_run_time: 1), stage("b", 10, mean_run_time: 1)]
    ask = ->(**options) { client.allocate_workers(two, worker_count: 4, **options) }
    assert_equal [2, 2], ask.call.stages.map(&:worker_count)
    assert_equal [3, 1], ask.call(max_move_count: 1).stages.map(&:worker_count)
    kept = ask.call(min_improvement_percent: 90)
    assert_equal [[4, 0], true], [kept.stages.map(&:worker_count), kept.improvement_too_small]
    assert_equal [1, 2], ask.call(weighting: :latency).stages.map(&:weight)
    capped = [two[0], stage("b", 10, max_worker_count: 1, mean_run_time: 1)]
    assert_equal({ "a" => 3, "b" => 1 }, client.allocate_workers(capped, worker_count: 4).worker_counts)
    busy = [stage("a", 0, current_worker_count: 4, busy_worker_count: 3), two[1]]
    assert_equal({ "a" => 3, "b" => 1 }, client.allocate_workers(busy, worker_count: 4).worker_counts)
  end

  def test_starved_stages_have_a_price
    stages = [stage("a", 100, mean_run_time: 1), stage("b", 1, mean_run_time: 1)]
    starving = client.allocate_workers(stages, worker_count: 2)
    assert_equal [2, 0], starving.stages.map(&:worker_count)
    starved = starving.starved_stages
    assert_equal([["b", 1]], starved.map { |stage| stage.to_a.first(2) })
    # The second worker of a saves 100/(2·3) s, the first one of b saves 1/2 s.
    [starved[0].cost, starving.starvation_prevention_cost].each { |cost| assert_in_delta 16_166_666.67, cost, 0.01 }
    fair = client.allocate_workers(stages, worker_count: 2, prevent_starvation: true)
    assert_equal [1, 1], fair.stages.map(&:worker_count)
    assert_equal [[], 0.0], [fair.starved_stages, fair.starvation_prevention_cost]
    kept = [stage("a", 100, min_worker_count: 2, mean_run_time: 1), stages[1]]
    assert_equal [nil], client.allocate_workers(kept, worker_count: 2).starved_stages.map(&:cost)
  end

  def test_arrivals_say_when_a_backlog_is_done
    stages = [stage("a", 90, mean_run_time: 1, arrival_count: 120, arrival_period: 60),
              stage("b", 7, mean_run_time: 0.25), stage("c", 0, mean_run_time: 1, arrival_count: 1)]
    allocation = client.allocate_workers(stages, worker_count: 6, prevent_starvation: true)
    assert_equal [5, 1, 0], allocation.stages.map(&:worker_count)
    assert_equal [3, 1, 2], allocation.stages.map(&:min_stable_worker_count)
    assert_equal 6, allocation.min_stable_worker_count
    assert_equal [false, false, true], allocation.stages.map(&:grows?)
    # 90 jobs of 1 s with three spare workers; 7 jobs of 0.25 s with half a spare worker.
    assert_equal [30, 7/2r, nil], allocation.stages.map(&:drain_time)
  end

  def test_nil_when_all_is_done
    done = [stage("a", done: true, current_worker_count: 1)]
    assert_nil client.allocate_workers(done, worker_count: 3)
    assert_nil client.choose_stage(done, current_stage_name: "a")
  end

  def test_where_a_worker_goes
    stages = [stage("a", 3, current_worker_count: 1), stage("b", 9)]
    moved = client.choose_stage(stages, current_stage_name: "a")
    assert_equal Offbeat::StageChoice.new(stage_name: "b", changes_stage: true, reason: :worth_most, quotient: 4_500_000.0,
                                        current_quotient: 1_500_000.0), moved
    stays = client.choose_stage(stages, current_stage_name: "a", min_gain_percent: 10_000)
    assert_equal ["a", false, :gain_too_small], stays.to_a.first(3)
    needed = client.choose_stage([stages[1], stage("c", min_worker_count: 1)])
    assert_equal ["c", true, :below_minimum], needed.to_a.first(3)
    last = [stage("a", 99, current_worker_count: 1), stage("b", 1, current_worker_count: 1)]
    assert_equal(%w[a b], [false, true].map do |prevent|
      client.choose_stage(last, current_stage_name: "b", prevent_starvation: prevent).stage_name
    end)
    full = client.choose_stage([stage("a", 5, max_worker_count: 0)])
    assert_equal [nil, false, :all_full], full.to_a.first(3)
    assert_equal [9_000_000.0, 18_000_000.0],
                 %i[even latency].map { |weighting| client.choose_stage(stages, rule: :d_hondt, weighting: weighting).quotient }
  end

  def test_values_never_change
    times = [1, 2]
    measured = stage("a", run_times: times)
    assert_predicate measured, :frozen?
    assert_predicate measured.run_times, :frozen?
    times << 3
    assert_equal [1, 2], measured.run_times
    refute_respond_to measured, :name=
    assert_raises(FrozenError) { measured[:name] = "b" }
    allocation = client.allocate_workers([measured], worker_count: 1)
    assert_raises(FrozenError) { allocation.stages.clear }
    assert_equal allocation, client.allocate_workers([measured], worker_count: 1)
    refute_equal allocation, client.allocate_workers([measured], worker_count: 2)
  end

  def test_what_cannot_be_is_refused
    {
      "stages" => -> { client.allocate_workers(stage("a"), worker_count: 1) },
      "stages[0]" => -> { client.choose_stage([{ name: "a" }]) },
      "stages[1].name" => -> { client.allocate_workers([stage("a"), stage(5)], worker_count: 1) },
      "stages[0].backlog_count" => -> { client.allocate_workers([stage("a", 2**63)], worker_count: 1) },
      "stages[0].done" => -> { client.allocate_workers([stage("a", done: "no")], worker_count: 1) },
      "stages[0].mean_run_time" => -> { client.allocate_workers([stage("a", mean_run_time: "1s")], worker_count: 1) },
      "stages[0].run_times[1]" => -> { client.allocate_workers([stage("a", run_times: [1, nil])], worker_count: 1) },
      "stages[0].run_times" => -> { client.allocate_workers([stage("a", run_times: 5)], worker_count: 1) },
      "stages[0].arrival_count" => -> { client.allocate_workers([stage("a", arrival_count: -1)], worker_count: 1) },
      "stages[0].arrival_period" => -> { client.choose_stage([stage("a", arrival_period: 1)]) },
      "prevent_starvation" => -> { client.choose_stage([stage("a")], prevent_starvation: "yes") },
      "worker_count" => -> { client.allocate_workers([stage("a")], worker_count: -1) },
      "rule" => -> { client.allocate_workers([stage("a")], worker_count: 1, rule: "d_hondt") },
      "weighting" => -> { client.choose_stage([stage("a")], weighting: :odd) },
      "max_move_count" => -> { client.allocate_workers([stage("a")], worker_count: 1, max_move_count: 1.5) },
      "min_gain_percent" => -> { client.choose_stage([stage("a")], min_gain_percent: -1) },
      "current_stage_name" => -> { client.choose_stage([stage("a")], current_stage_name: "b") }
    }.each do |field, ask|
      error = assert_raises(Offbeat::InvalidArgument, field, &ask)
      assert_equal field, error.field
      refute_empty error.allowed
    end
  end

  # Some proxies answer like this. A client must not take it for "all done" and stop all workers.
  def test_an_empty_answer_is_none
    server = TCPServer.new("127.0.0.1", 0)
    answering = Thread.new { 2.times { answer_nothing(server.accept) } }
    empty = Offbeat::Client.new("127.0.0.1:#{server.addr[1]}", timeout: 5)
    assert_instance_of Offbeat::Error, assert_raises(Offbeat::Error) { empty.choose_stage([stage("a")]) }
    assert_instance_of Offbeat::Error, assert_raises(Offbeat::Error) { empty.allocate_workers([stage("a")], worker_count: 1) }
  ensure
    answering&.kill
    server&.close
  end

  def answer_nothing(socket)
    head = +""
    head << socket.gets until head.end_with?("\r\n\r\n")
    socket.read(Integer(head[/content-length: (\d+)/i, 1]))
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    socket.close
  end
end
