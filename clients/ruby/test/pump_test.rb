# frozen_string_literal: true

require_relative "named_spread_case"

# The pump moves jobs of a spread into another queue, a few at a time.
class PumpTest < NamedSpreadCase
  TEXT = "7.12345678901.3" # the same token in the tests of all clients

  def pumped(**options)
    spread(lease_duration: 1, max_consumer_lease_count: 4, **options)
  end

  # Runs a pump during the block.
  def running(pump)
    thread = Thread.new { pump.run }
    yield
    pump.stop
    assert thread.join(3), "it does not stop"
  ensure
    thread.kill
  end

  # Settles as another process does, which has only the token's text.
  def settle(spread, text, action)
    spread.settle([[Offbeat::LeaseToken.parse(text), action]]).first.outcome
  end

  def tokens(jobs)
    jobs.map { |job| job.token.to_s }
  end

  # Submits `count` jobs of one group, numbered from 0.
  def submit(spread, count)
    spread.producer.submit("g", Array.new(count, &:to_s))
  end

  def test_small_groups_pass_a_large_one_and_few_jobs_are_handed_over
    mail = pumped
    producer = mail.producer
    producer.submit("large", Array.new(400, &:to_s))
    5.times { |tenant| producer.submit("small-#{tenant}", Array.new(4, &:to_s)) }
    queue, most, done = [], 0, []
    running(mail.pump("pump") { |job| queue << [job.group_id, job.token.to_s] }) do
      while done.size < 420
        until_true { queue.any? }
        most = [most, queue.size].max
        group, token = queue.shift
        assert_equal :acked, settle(mail, token, :ack)
        done << group
      end
    end
    assert_operator most, :<=, 4
    last_small = done.rindex { |group| group != "large" }
    assert_operator done.first(last_small).count("large"), :<, 200
    assert_equal %w[large small-0 small-1 small-2 small-3 small-4], producer.wait(timeout: 10).keys.sort
  end

  def test_no_more_jobs_are_handed_over_than_are_settled
    mail, queue = pumped, []
    submit(mail, 6)
    pump = mail.pump("pump") { |job| queue << job }
    2.times { assert pump.step }
    assert_equal %w[0 1 2 3], texts(queue)
    assert_equal :acked, settle(mail, tokens(queue).first, :ack)
    assert pump.step
    assert_equal %w[0 1 2 3 4], texts(queue)
  end

  def test_one_pull_takes_16_jobs
    mail, queue = spread, []
    submit(mail, 40)
    pump = mail.pump("pump") { |job| queue << job }
    assert_equal([16, 32, 40], Array.new(3) { pump.step && queue.size })
  end

  def test_a_job_at_work_is_kept_longer_than_a_lease
    mail, queue = pumped, []
    submit(mail, 1)
    running(mail.pump("pump") { |job| queue << job }) do
      until_true { queue.any? }
      sleep(3.5)
      assert_equal [1], queue.map(&:attempt)
      assert_equal :acked, settle(mail, tokens(queue).first, :ack)
    end
  end

  def test_a_job_that_is_settled_is_forgotten
    mail, queue, extended = pumped, [], []
    submit(mail, 3)
    pump = mail.pump("pump") { |job| queue << job }
    assert pump.step
    assert_equal %i[acked acked], mail.settle(queue.first(2).map { |job| [job.token, :ack] }).map(&:outcome)
    mail.define_singleton_method(:settle) do |settlements|
      extended << settlements.size
      super(settlements)
    end
    3.times { assert pump.step }
    assert_equal [3, 1], extended.first(2)
  end

  def test_leases_of_two_epochs_are_extended
    mail, queue = pumped, []
    submit(mail, 1)
    pump = mail.pump("pump") { |job| queue << job }
    assert pump.step
    mail.discard
    submit(mail, 1)
    running(pump) do
      until_true { queue.size == 2 }
      sleep(2.5)
      assert_equal [1, 1], queue.map(&:attempt)
      assert_equal 2, queue.map(&:epoch).uniq.size
      assert_equal(%i[stale acked], tokens(queue).map { |token| settle(mail, token, :ack) })
    end
  end

  def test_a_job_that_is_lost_comes_again
    mail, queue = pumped, []
    submit(mail, 1)
    running(mail.pump("pump", hold_for: 1.5) { |job| queue << job }) do
      until_true { queue.size == 2 }
      assert_equal [[0, 1], [0, 2]], (queue.map { |job| [job.sequence, job.attempt] })
      assert_equal(%i[stale extended], tokens(queue).map { |token| settle(mail, token, :extend_lease) })
      assert_equal :acked, settle(mail, tokens(queue).last, :ack)
    end
  end

  def test_jobs_that_the_queue_refuses_go_back_and_cost_no_attempt
    mail, queue, refusals = spread(max_attempt_count: 1), [], 0
    submit(mail, 4)
    pump = mail.pump("pump") do |job|
      raise IOError, "the broker is away" if (refusals += 1) <= 3

      queue << job
    end
    _, warnings = capture_io { running(pump) { until_true(20) { queue.size == 4 } } }
    assert_equal %w[0 1 2 3], texts(queue).sort
    assert_equal [], mail.dead_letters.to_a
    assert_equal %w[0.5 1.0 2.0], warnings.scan(/continues in (\S+) s: the broker is away \(IOError\)$/).flatten
  end

  def test_a_refusal_is_raised_and_releases_the_job_and_those_behind_it
    mail, queue = pumped(lease_duration: 30), []
    submit(mail, 4)
    pump = mail.pump("pump") do |job|
      raise Interrupt if job.payload == "1"

      queue << job
    end
    assert_raises(Interrupt) { pump.step }
    counts = mail.describe.counts
    assert_equal [1, 3], [counts.leased_job_count, counts.returned_job_count]
    assert_equal :no_ready_job, mail.pull("other", 4).empty_reason
    returned = mail.pull("other", 4, wait: 2).jobs
    assert_equal %w[1 2 3], texts(returned)
    assert_equal [%w[0], :acked], [texts(queue), settle(mail, tokens(queue).first, :ack)]
  end

  def test_the_error_of_the_block_is_raised_if_the_sidecar_is_away
    mail = spread_at(sidecar.address, lease_duration: 30)
    submit(mail, 2)
    pump = mail.pump("pump") do
      @sidecar.stop("KILL")
      raise IOError, "the broker is away"
    end
    @closing.clear
    assert_raises(IOError) { pump.step }
  end

  def test_jobs_whose_lease_has_ended_are_skipped
    mail, queue = pumped, []
    submit(mail, 3)
    pump = mail.pump("pump") do |job|
      queue << job
      sleep(1.2) if queue.size == 1
    end
    assert pump.step
    assert_equal %w[0], texts(queue)
  end

  def test_a_pump_ends_with_its_spread
    mail, queue = spread, []
    submit(mail, 1)
    pump = mail.pump("pump") { |job| queue << job }
    assert pump.step
    mail.close
    assert pump.step, "its last job is not settled"
    assert_equal :acked, settle(mail, tokens(queue).first, :ack)
    refute pump.step
    assert_nil pump.run
  end

  def test_a_signal_stops_it
    pump = pumped.pump("pump") { flunk }
    before = Signal.trap("USR1") { pump.stop }
    begun = now
    signals = Thread.new do
      sleep(0.3)
      Process.kill("USR1", Process.pid)
    end
    pump.run
    assert_operator now - begun, :<, 3
  ensure
    signals.join
    Signal.trap("USR1", before)
  end

  def test_a_pump_stops_while_it_pauses
    mail, refusals = spread, 0
    submit(mail, 1)
    pump = mail.pump("pump") { raise IOError, "refusal #{refusals += 1}" }
    capture_io do
      running(pump) { until_true(20) { refusals == 4 } } # a pause of 4 s begins
      begun = now
      pump.stop
      pump.run
      assert_operator now - begun, :<, 0.1, "a stop before it runs counts"
    end
  end

  def test_a_token_is_the_text_that_all_clients_read
    token = Offbeat::LeaseToken.new(epoch: 7, sequence: 12_345_678_901, attempt: 3)
    assert_equal [TEXT, token], [token.to_s, Offbeat::LeaseToken.parse(TEXT)]
    assert_equal token, Offbeat::LeaseToken.parse(TEXT.b.freeze)
    largest = "9223372036854775807.9223372036854775807.2147483647"
    assert_equal largest, Offbeat::LeaseToken.parse(largest).to_s
  end

  def test_texts_that_are_no_tokens
    ["", "1.2", "1.2.x", "1.2.3.4", "-1.2.3", "1.2.3\n", "\u0661.2.3", "\xff.2.3", "9223372036854775808.2.3", "1.9223372036854775808.3",
     "1.2.2147483648", nil, 1.2].each do |text|
      error = assert_raises(Offbeat::InvalidArgument, text.inspect) { Offbeat::LeaseToken.parse(text) }
      assert_equal "token", error.field
    end
  end

  def test_arguments_are_checked
    mail = client.named_spread(name, feeder_count: 2)
    [0, -1, nil, "60", 1i].each do |span|
      error = assert_raises(Offbeat::InvalidArgument, span.inspect) { mail.pump("pump", hold_for: span) { flunk } }
      assert_equal "hold_for", error.field
    end
    assert_raises(ArgumentError) { mail.pump("pump") }
  end

  def test_a_job_knows_its_token_and_the_length_of_its_lease
    mail = spread(lease_duration: 2.5)
    submit(mail, 1)
    job = mail.pull("me", 1).jobs.first
    assert_equal [5 / 2r, job.epoch, 0, 1], [job.lease_duration, *job.token.to_a]
    result = mail.settle([[job.token, :extend_lease]]).first
    assert_equal :extended, result.outcome
    assert_operator result.lease_end_time, :>, job.lease_end_time
    assert_equal(%i[acked], mail.settle([[job.token, :ack]]).map(&:outcome))
  end
end
