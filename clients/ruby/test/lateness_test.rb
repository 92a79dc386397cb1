# frozen_string_literal: true

require_relative "helper"
require "active_support"
require "active_support/notifications"
require "net/http"
begin
  require "prometheus/client"
rescue LoadError
  require_relative "prometheus_stand_in"
end

# How late runs start, in the metrics of the process and in those of the sidecar.
class LatenessTest < OffbeatTest
  HISTOGRAM = "offbeat_run_lateness_seconds"

  def setup
    @errors = []
  end

  def lateness(schedule = "bank-sync", **options)
    Offbeat::Lateness.new(schedule, registry: Prometheus::Client::Registry.new, on_error: @errors.method(:<<), **options)
  end

  # The instrumentation events while the block runs.
  def events(&block)
    seen = []
    ActiveSupport::Notifications.subscribed(->(name, _, _, _, payload) { seen << [name, payload] }, "run_lateness.offbeat", &block)
    seen
  end

  def test_runs_are_late_from_when_they_were_scheduled
    late = lateness
    now = NOON + 2.5
    assert_equal [2.5, 0.0, 0.0], [NOON, now, now + 60].map { |time| late.record(time, started_time: now) }
    due = client.list_due_runs(EIGHT_HOURS, ["acme"], watermark: NOON - 28_800, now_time: NOON).first
    assert_operator due.start_time, :>, due.scheduled_time # it was missed
    run = client.assign_slot(EIGHT_HOURS, "acme", from_time: NOON).next_run
    row = client.assign_slots(EIGHT_HOURS, ["acme"], from_time: NOON).first
    { due => due.scheduled_time, run => run.start_time, row => run.start_time }.each do |what, time|
      assert_equal 90.0, late.record(what, started_time: time + 90)
    end
    assert_in_delta 5, late.record(Time.now - 5), 1
    assert_empty @errors
  end

  def test_active_support_is_notified
    late = lateness(Offbeat::ScheduleReference.new(name: "bank-sync", version: 3), kind: "poll")
    seen = events { late.record(NOON, started_time: NOON + 61) }
    payload = { schedule: "bank-sync", kind: "poll", lateness: 61.0, scheduled_time: NOON, started_time: NOON + 61 }
    assert_equal [["run_lateness.offbeat", payload]], seen
  end

  def test_schedules_go_by_their_names
    named = ["bank-sync", "bank-sync/3", Offbeat::ScheduleReference.new(name: "bank-sync", version: 3)]
    assert_equal ["bank-sync"], named.map { |schedule| lateness(schedule).schedule_name }.uniq
  end

  def test_prometheus_counts_by_schedule_and_kind
    registry = Prometheus::Client::Registry.new
    poll, mail = %w[poll mail].map { |kind| lateness(kind: kind, registry: registry) }
    [0, 0.1, 61, 100_000].each { |seconds| poll.record(NOON, started_time: NOON + seconds) }
    mail.record(NOON, started_time: NOON + 1)
    counts = registry.get(:offbeat_run_lateness_seconds).get(labels: { schedule: "bank-sync", kind: "poll" })
    assert_equal [2, 2, 3, 3, 4], ["0.1", "60", "300", "86400", "+Inf"].map { |bound| counts.fetch(bound) }
    assert_in_delta 100_061.1, counts.fetch("sum")
    assert_equal 1, registry.get(:offbeat_run_lateness_seconds).get(labels: { schedule: "bank-sync", kind: "mail" }).fetch("+Inf")
    Offbeat::Lateness.new("other", on_error: @errors.method(:<<)).record(NOON, started_time: NOON + 1)
    ours = Prometheus::Client.registry.get(:offbeat_run_lateness_seconds)
    assert_equal 1, ours.get(labels: { schedule: "other", kind: "default" }).fetch("+Inf")
    assert_empty @errors
  end

  def with_metrics
    port = Sidecar.free_port
    server = Sidecar.new(admin: "127.0.0.1:#{port}")
    yield Offbeat::Client.new(server.address), -> { Net::HTTP.get(URI("http://127.0.0.1:#{port}/metrics")) }
  ensure
    server&.stop
  end

  # The number of runs that the sidecar has counted, and the sum of their lateness in seconds.
  def counted(metrics, kind)
    %w[count sum].map do |what|
      Float(metrics.call[/^#{HISTOGRAM}_#{what}\{schedule="bank-sync",kind="#{kind}"\} (.*)$/, 1] || 0)
    end
  end

  def test_the_sidecar_is_told_in_batches
    with_metrics do |server, metrics|
      late = lateness(kind: "poll", client: server)
      999.times { late.record(NOON, started_time: NOON + 0.25) }
      assert_equal [0.0, 0.0], counted(metrics, "poll")
      late.record(NOON, started_time: NOON - 60)
      assert_equal [1_000.0, 249.75], counted(metrics, "poll")
      late.record(NOON, started_time: NOON + 7)
      assert_nil late.flush
      late.flush
      assert_equal [1_001.0, 256.75], counted(metrics, "poll")
      late.record(NOON, started_time: NOON + (400 * 86_400)) # more than the sidecar accepts
      late.flush
      assert_equal 1_002.0, counted(metrics, "poll").first
      assert_empty @errors
    end
  end

  def test_the_sidecar_is_told_what_is_ten_seconds_old
    with_metrics do |server, metrics|
      late = lateness(kind: "old", client: server)
      clock = 100.0
      late.define_singleton_method(:now) { clock }
      [100, 109.9, 110, 119.9, 129.8, 129.95].zip([0, 0, 3, 3, 3, 6]) do |time, count|
        clock = time
        late.record(NOON)
        assert_equal count, counted(metrics, "old").first, time.to_s
      end
    end
  end

  # Each process of a fork reports its own runs.
  def test_forks
    with_metrics do |server, metrics|
      late = lateness(kind: "fork", client: server)
      3.times { late.record(NOON, started_time: NOON + 1) }
      child = fork do
        late.flush
        late.record(NOON, started_time: NOON + 1)
        late.flush
        exit!(@errors.empty? ? 0 : 1)
      end
      assert_predicate Process.wait2(child)[1], :success?
      assert_equal 1.0, counted(metrics, "fork").first
      late.flush
      assert_equal 4.0, counted(metrics, "fork").first
    end
  end

  def test_threads_lose_nothing
    with_metrics do |server, metrics|
      late = lateness(kind: "threads", client: server)
      Array.new(8) { Thread.new { 1_100.times { late.record(NOON, started_time: NOON + 1) } } }.each(&:join)
      late.flush
      assert_equal 8_800.0, counted(metrics, "threads").first
    end
  end

  def test_metrics_fail_no_job
    away = Offbeat::Client.new("127.0.0.1:#{Sidecar.free_port}")
    late = lateness(client: away)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    events do
      assert_equal [5.0] * 1_001, Array.new(1_001) { late.record(NOON, started_time: NOON + 5) }
    end
    late.flush
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, 5
    assert_equal [Offbeat::Unavailable] * 2, @errors.map(&:class)

    @errors.clear
    broken = Object.new
    def broken.get(_) = raise(IOError, "no room for metrics")
    failing = lateness(registry: broken)
    ActiveSupport::Notifications.subscribed(->(*) { raise "a subscriber" }, "run_lateness.offbeat") do
      assert_equal 5.0, failing.record(NOON, started_time: NOON + 5)
    end
    assert_equal 2, @errors.size
    assert_nil lateness.record(nil)
    assert_equal "run", @errors.last.field
    assert_equal 5.0, lateness(registry: broken, on_error: ->(_) { raise "nor that" }).record(NOON, started_time: NOON + 5)
  end

  def test_what_goes_wrong_is_said_once
    late = Offbeat::Lateness.new("bank-sync", registry: Object.new)
    said = capture_io { 3.times { late.record(NOON, started_time: NOON + 5) } }.last
    assert_equal 1, said.lines.size
    assert_match(/offbeat: .*not recorded/, said)
  end

  def test_neither_library_is_needed
    program = 'p Offbeat::Lateness.new("bank-sync").record(Time.at(0), started_time: Time.at(3))'
    assert_equal "3.0\n", IO.popen([RbConfig.ruby, "-w", "-I#{ROOT}/clients/ruby/lib", "-roffbeat", "-e", program], err: %i[child out], &:read)
  end

  def test_plain_calls
    assert client.record_lateness("mail", [0.5, 3r, -1], kind: "poll")
    { "schedule_name" => ["a/b", [1]], "lateness_millis" => ["a", []], "lateness_millis[1]" => ["a", [1, "2"]],
      "kind" => ["a", [1], { kind: "b c" }] }.each do |field, (name, latenesses, options)|
      error = assert_raises(Offbeat::InvalidArgument) { client.record_lateness(name, latenesses, **options.to_h) }
      assert_equal field, error.field
    end
  end
end
