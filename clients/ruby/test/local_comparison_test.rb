# frozen_string_literal: true

require_relative "helper"
require_relative "golden"
require_relative "random_questions"

# Local decisions equal the sidecar's: random requests, every field of the answers, every refusal.
class LocalComparisonTest < OffbeatTest
  include Golden

  COUNTS = { "AssignSlot" => 3_000, "AssignSlots" => 1_000, "DescribeSchedule" => 2_000, "ListSlots" => 600,
             "GetWindowPredicate" => 1_000, "ListDueRuns" => 2_000, "RouteJob" => 1_000 }.freeze
  warn "random questions: OFFBEAT_SALT=#{RandomQuestions::SALT}"

  COUNTS.each do |method, count|
    define_method("test_#{method}_is_the_same_here_and_there") do
      questions = RandomQuestions.new(method)
      answers, refusals, sidecars = 0, Hash.new(0), 0
      count.times do
        request = questions.request(method)
        local = outcome(here, method, request)
        next sidecars += 1 if local.is_a?(Offbeat::NeedsSidecar)

        there = outcome(client, method, request)
        assert_same_outcome(there, local, request)
        local.is_a?(Exception) ? refusals[local.field] += 1 : answers += 1
        follow_pages(request, local, there) if method == "ListDueRuns" && !local.is_a?(Exception)
      end
      assert_operator answers, :>, count / 4, "#{answers} answers, #{refusals}, #{sidecars}"
      assert_operator refusals.size, :>, 3, refusals.to_s
      assert_operator sidecars, :<, count / 10
    end
  end

  # Batches as users request them.
  def test_columns_are_the_same_here_and_there
    hash = Offbeat::Schedule.new(period: 86_400, slot_count: 96, salt: RandomQuestions::SALT)
    { (0...4_000).map { |n| "user #{n}" } => hash, (-2_000..2_000).to_a => hash,
      Array.new(2_000) { |n| Random.new(n).rand } => Offbeat::Schedule.new(period: 3_600, placement: :fraction) }.each do |ids, schedule|
      local, remote = [here, client].map { |asked| asked.assign_slots(schedule, ids, from_time: NOON) }
      assert_equal %i[local sidecar], [local.decided_by, remote.decided_by]
      assert_equal remote.to_a, local.to_a
      assert_equal remote.fingerprint, local.fingerprint
      due = [here, client].map { |asked| asked.list_due_runs(schedule, ids, watermark: NOON - 90_000, now_time: NOON) }
      assert_equal due[1].to_a, due[0].to_a
      assert_equal %i[local sidecar], due.map(&:decided_by)
    end
    packed = [here, client].map { |asked| asked.assign_packed(hash, integers: (0..3_000).to_a.pack("q<*"), from_time: NOON) }
    assert_equal(*packed.map { |answer| [answer.size, answer.run_key_prefix, answer.bytes(:next_run_unix_millis), answer.slot_indexes] })
    assert_equal %i[local sidecar], packed.map(&:decided_by)
  end

  # Late runs of kinds with run times of their own, over thousands of turns of the catch-up clock.
  def test_late_kinds_are_the_same_here_and_there
    random = Random.new(Digest::SHA256.hexdigest("#{RandomQuestions::SALT} kinds").to_i(16))
    late = 0
    50.times do
      names = %w[a b c d].first(2 + random.rand(3))
      slots = [96, 240].sample(random: random)
      period = slots * (60 + random.rand(600))
      kinds = names.map { |name| Offbeat::Kind.new(name: name, run_time: (random.rand * period / (3 * (names.size**2))).round(3)) }
      schedule = Offbeat::Schedule.new(period: period, slot_count: slots, kinds: kinds, anchor_time: NOON - random.rand(100_000))
      now = NOON + random.rand(1_000_000).round(3)
      due = [here, client].map do |asked|
        asked.list_due_runs(schedule, 1..150, kind: names.sample(random: random.dup), watermark: now - (0.9 * period), now_time: now)
      end
      assert_equal due[1].to_a, due[0].to_a, "#{schedule} #{now}"
      assert_equal(*due.map { |one| [one.late_run_count, one.dropped_run_count, one.superseded_run_count, one.next_due_time] })
      late += due[0].late_run_count
    end
    assert_operator late, :>, 3_000
  end

  def here
    @here ||= Offbeat::Client.new(mode: :local)
  end

  def outcome(asked, method, request)
    asked.send(:ask, method, request, message_type(method, "Response"), nil, service: SERVICES.fetch(method)).message
  rescue Offbeat::Error => e
    e
  end

  def assert_same_outcome(there, here, request)
    return assert_equal(there, here, request.inspect) unless there.is_a?(Exception)

    said = ->(error) { error.is_a?(Exception) ? [error.class, error.reason, error.field, error.value, error.allowed, error.message] : error }
    assert_equal said.call(there), said.call(here), request.inspect
  end

  # Page tokens of either side work on the other.
  def follow_pages(request, here_page, there_page)
    3.times do
      break if here_page.next_page_token.empty?

      request.page_token = here_page.next_page_token
      here_page, there_page = [here, client].map { |asked| outcome(asked, "ListDueRuns", request) }
      assert_same_outcome(there_page, here_page, request)
    end
  end
end
