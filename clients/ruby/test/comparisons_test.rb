# frozen_string_literal: true

require_relative "helper"

# Comparisons of existing schedules: whether their jobs are kept apart.
class ComparisonsTest < OffbeatTest
  KINDS = Offbeat::Schedule.new(period: 28_800, slot_count: 96, kinds: %w[import export])

  def job(kind = nil, schedule: KINDS, run_time: nil)
    Offbeat::ComparedJob.new(schedule: schedule, kind: kind, run_time: run_time)
  end

  def test_kinds_of_a_schedule_are_apart
    compared = client.compare_schedules([job("import", run_time: 600), job("export", run_time: 600.5)])
    assert_predicate compared, :apart?
    pair = compared.pairs.first
    assert_equal [0, 1, :apart, 14_400, 14_400], pair.to_a.values_at(0, 1, 2, 4, 5)
    refute_empty pair.message
  end

  def test_what_runs_at_the_same_time_meets
    compared = client.compare_schedules([job("import"), job("export"), Offbeat::Schedule.new(period: 28_800, slot_count: 96)])
    assert_equal [[0, 1, :apart], [0, 2, :meet], [1, 2, :apart]], compared.pairs.map { |pair| pair.to_a.first(3) }
    assert_equal [:meet, false], [compared.separation, compared.apart?]
    long = client.compare_schedules([job("import", run_time: 14_401), job("export", run_time: 1)])
    assert_equal :meet, long.separation
  end

  def test_what_is_not_known_is_said
    salted = Offbeat::Schedule.new(period: 28_800, slot_count: 96, salt: "v2")
    compared = client.compare_schedules([EIGHT_HOURS, salted])
    assert_equal [:unknown, nil, nil], compared.pairs.first.to_a.values_at(2, 4, 5)
    refute_predicate compared, :apart?
  end

  def test_run_times_are_those_of_the_schedule
    accounts = [job("import", schedule: "accounts/1"), job("export", schedule: "accounts/1")]
    assert_predicate client.compare_schedules(accounts.each), :apart?
    assert_predicate accounts.first, :frozen?
  end

  def test_what_cannot_be_is_refused
    plain = Offbeat::Schedule.new(period: 28_800)
    {
      "jobs" => [[], [plain], plain, [plain] * 33], "jobs[1].schedule" => [[plain, nil], [plain, "bank-sync"]],
      "jobs[1].schedule.spec.period" => [[plain, Offbeat::Schedule.new(period: "8h")]],
      "jobs[0].kind" => [[job, plain], [job("mail"), plain], [job(5), plain]],
      "jobs[0].run_time" => [[job("import", run_time: "1m"), plain], [job("import", run_time: -1), plain], [job("import", run_time: 28_801), plain]]
    }.each do |field, wrong|
      wrong.each do |jobs|
        error = assert_raises(Offbeat::InvalidArgument, "#{field} #{jobs}") { client.compare_schedules(jobs) }
        assert_equal field, error.field
      end
    end
    assert_raises(Offbeat::NotFound) { client.compare_schedules([plain, "bank-sync/9"]) }
  end
end
