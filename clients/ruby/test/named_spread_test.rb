# frozen_string_literal: true

require_relative "named_spread_case"

# Named spreads while the sidecar and the connection last.
class NamedSpreadTest < NamedSpreadCase
  def test_opening_and_describing
    mail = spread(policy: :cooldown, max_open_group_count: 7, lease_duration: 2.5, max_byte_count: 1 << 33)
    refute_includes client.list_spreads.map(&:spread_name), name
    opened = mail.open
    assert_equal [name, :open, 0], [opened.spread_name, opened.state, opened.counts.group_count]
    assert_equal [[:cooldown, 2, 7], 5 / 2r, [5, 1_024, 65_536, 1_000_000, 1 << 33]],
                 [opened.spec.order.to_a, opened.spec.lease_duration, opened.spec.limits.to_a]
    assert_equal opened, mail.describe
    assert_equal opened, mail.open
    assert_includes client.list_spreads.map(&:spread_name), name
    error = assert_raises(Offbeat::FailedPrecondition) { client.named_spread(name, feeder_count: 3).open }
    assert_equal "ERROR_REASON_SPREAD_DIFFERS", error.reason
    assert_equal :open, mail.discard.state
    refute_includes client.list_spreads.map(&:spread_name), name
  end

  def test_spreads_are_listed_page_by_page
    here = Offbeat::Client.new(sidecar.address)
    names = Array.new(205) { |number| format("spread-%03d", number) }
    names.each { |name| here.named_spread(name, feeder_count: 1).open }
    assert_equal names, here.list_spreads.map(&:spread_name)
    assert_equal "spread-000", here.list_spreads.first.spread_name
  end

  def test_jobs_come_spread_and_groups_are_settled
    each_way do |draw, way|
      mail = spread("#{name}-#{way}")
      producer = mail.producer
      received = producer.submit("a", %w[a1 a2 a3])
      assert_equal ["a", :received, 3, 0, []], received.to_a.values_at(0, 1, 2, 3, 5)
      producer.submit("b", ["b1", "b\xFF".b])
      assert_equal %w[a b], producer.unsettled
      assert_equal :draining, mail.close.state
      consumer = draw[mail]
      jobs = consumer.map { |job| job.tap(&:ack) }
      assert_equal ["a1", "b1", "a2", "b\xFF".b, "a3"], texts(jobs)
      assert_equal [["a", 1, 2, 1, false]], jobs.select { |job| job.payload == "a2" }.map { |job|
        [job.group_id, job.job_index, job.sequence, job.attempt, job.redelivered?]
      }
      settled = producer.wait
      assert_equal({ "a" => 3, "b" => 2 }, settled.transform_values(&:settled_job_count))
      assert_equal [[], {}, 0], [producer.unsettled, producer.wait, consumer.stale_count]
      assert_equal [:closed, 5], [mail.describe.state, mail.describe.counts.settled_job_count]
      assert_equal 2, mail.describe.certificate.min_gap_turns || 0
    end
  end

  def test_jobs_are_settled
    each_way do |draw, way|
      mail = spread("#{name}-#{way}", max_attempt_count: 2, lease_duration: 30)
      mail.producer.submit("a", %w[ack nack release dead_letter])
      draw[mail].tap { |consumer|
        consumer.first(4).each { |job| job.public_send(job.payload) }
        assert_equal %i[acked returned returned dead_lettered], consumer.flush.map(&:last)
        assert_equal [], consumer.flush
        again = consumer.first(2).to_h { |job| [job.payload, job] }
        assert_equal [2, 2], again.values.map(&:attempt)
        again["release"].nack(delay: 0.5) # the first attempt did not count
        again["nack"].nack
        asked = now
        assert_equal [%w[nack dead_lettered], %w[release returned]],
                     consumer.flush.map { |job, outcome| [job.payload, outcome.to_s] }.sort
        assert_equal ["release"], texts(consumer.first(1))
        assert_operator now - asked, :>=, 0.5
      }.close
      letters = mail.dead_letters.to_a
      assert_equal [%w[dead_letter consumer], %w[nack attempts_exhausted]],
                   letters.map { |letter| [letter.payload, letter.cause.to_s] }
      assert_equal [["a", 3, 1], ["a", 1, 2]], letters.map { |letter| letter.to_a.values_at(2, 3, 5) }
      assert_equal [[mail.describe.epoch, 0], [mail.describe.epoch, 1]], letters.map { |letter| letter.to_a.first(2) }
      assert_equal 1, mail.delete_dead_letters(letters.first(1))
      assert_equal [letters[1]], mail.dead_letters.to_a
      assert_equal 0, mail.delete_dead_letters(letters.first(1))
      assert_equal 0, mail.delete_dead_letters([])
    end
  end

  def test_leases_are_extended
    each_way do |draw, way|
      mail = spread("#{name}-#{way}", lease_duration: 2)
      mail.producer.submit("a", %w[a1])
      consumer = draw[mail]
      job = consumer.first
      3.times do
        sleep(0.9)
        before = job.lease_end_time
        assert_equal true, job.extend_lease
        assert_includes 1.2..2, job.lease_ends_in
        assert_in_delta 0.9, job.lease_end_time - before, 0.3
        assert_in_delta job.lease_ends_in, job.lease_end_time - Time.now, 0.2
      end
      refute_predicate job, :expired?
      job.ack
      assert_equal [[job, :acked]], consumer.flush
      assert_equal false, job.extend_lease
      consumer.close
    end
  end

  def test_a_settlement_that_comes_too_late_is_counted
    each_way do |draw, way|
      mail = spread("#{name}-#{way}", lease_duration: 1)
      mail.producer.submit("a", %w[a1])
      consumer = draw[mail]
      job = consumer.first
      sleep(1.1)
      assert_predicate job, :expired?
      assert_equal [0.0, false], [job.lease_ends_in, job.extend_lease]
      job.ack
      assert_equal [[job, :stale]], consumer.flush
      assert_equal 1, consumer.stale_count
      consumer.close
    end
  end

  def test_jobs_whose_lease_has_ended_are_not_handed_out
    each_way do |draw, way|
      mail = spread("#{name}-#{way}", lease_duration: 1)
      mail.producer.submit("a", %w[a1 a2])
      consumer = draw[mail]
      assert_equal "a1", consumer.first.tap(&:ack).payload
      consumer.flush
      sleep(1.2)
      job = consumer.first
      assert_equal ["a2", 2, true], [job.payload, job.attempt, job.redelivered?]
      refute_predicate job, :expired?
      consumer.close
    end
  end

  def test_settlements_do_not_get_old
    each_way do |draw, way|
      { 30 => 1.05, 1.8 => 0.95 }.each do |lease, age|
        mail = spread("#{name}-#{way}-#{lease}", lease_duration: lease)
        mail.producer.submit("a", %w[a1 a2 a3])
        jobs = draw[mail].tap { |consumer| @closing.unshift(-> { consumer.close }) }.each
        jobs.next.ack
        jobs.next
        assert_equal 0, mail.describe.counts.settled_job_count
        sleep(age)
        jobs.next
        until_true { mail.describe.counts.settled_job_count == 1 }
      end
    end
  end

  def test_a_long_wait_takes_nothing_from_a_lease
    mail = spread(lease_duration: 1)
    mail.open
    jobs = Thread.new do
      mail.consumer("me") { |consumer| consumer.first.tap(&:ack).then { |job| [job, job.lease_ends_in] } }
    end
    sleep(1.6)
    mail.producer.submit("a", %w[a1])
    assert jobs.join(5)
    job, left = jobs.value
    assert_equal 1, job.attempt
    assert_operator left, :>, 0
  end

  def test_jobs_that_were_not_yielded_are_released
    each_way(4) do |draw, way|
      mail = spread("#{name}-#{way}", lease_duration: 30, max_attempt_count: 1)
      mail.producer.submit("a", Array.new(9, &:to_s))
      draw[mail].tap { |consumer| assert_equal %w[0 1], texts(consumer.first(2)) }.close
      held = mail.describe.counts
      assert_equal [2, 0, 0], [held.leased_job_count, held.settled_job_count, held.dead_letter_count]
      mail.consumer("other") { |jobs| assert_equal %w[2 3 4 5 6 7 8], texts(jobs.first(7)).sort }
    end
  end

  def test_a_block_closes_its_consumer
    mail = spread(lease_duration: 30)
    mail.producer.submit("a", %w[a1 a2])
    kept = nil
    assert_raises(RuntimeError) do
      mail.stream("me") do |consumer|
        kept = consumer
        consumer.each { |job| job.payload == "a1" ? job.ack : raise("no") }
      end
    end
    assert_equal [1, 1], mail.describe.counts.to_h.values_at(:settled_job_count, :leased_job_count)
    assert_nil kept.close
    assert_raises(Offbeat::Error) { kept.first }
  end

  def test_a_stream_sends_no_more_than_its_window
    mail = spread(lease_duration: 30)
    mail.producer.submit("a", Array.new(60, &:to_s))
    mail.stream("me", window: 8) do |consumer|
      jobs = consumer.each
      jobs.next
      until_true { mail.describe.counts.leased_job_count == 8 }
      20.times do
        jobs.next
        assert_operator mail.describe.counts.leased_job_count, :<=, 8 + 21
      end
      until_true { mail.describe.counts.leased_job_count >= 21 + 4 }
    end
    mail.stream("one", window: 1) { |consumer| assert_equal 39, consumer.first(39).uniq(&:payload).size }
  end

  def test_leases_on_a_stream_count_from_their_start
    mail = spread(lease_duration: 1)
    mail.producer.submit("a", %w[a1])
    consumer = mail.stream("me", window: 1)
    jobs = consumer.each
    jobs.next.ack
    consumer.flush
    mail.producer.submit("b", %w[b1])
    until_true { mail.describe.counts.leased_job_count == 1 }
    sleep(0.4) # the job has arrived, but is not read yet
    assert_includes 0.1..0.65, jobs.next.lease_ends_in
    consumer.close
  end

  def test_a_closed_spread_is_opened_again_by_producers_alone
    mail = spread
    mail.producer.submit("a", %w[a1])
    mail.consumer("me") { |jobs| acked(jobs, 1) }
    assert_equal :closed, mail.close.state
    each_way do |draw|
      late = client.named_spread(name, feeder_count: 2)
      assert_empty draw[late].to_a
      assert_equal :closed, late.describe.state
    end
    late = client.named_spread(name, feeder_count: 2)
    assert_equal :received, late.producer.submit("b", %w[b1]).state
  end

  def test_pulling_and_settling_by_hand
    mail = spread(lease_duration: 30)
    mail.open
    assert_equal [[], :no_ready_job], mail.pull("me", 10).to_a
    asked = now
    assert_empty mail.pull("me", 10, wait: 0.3).jobs
    assert_operator now - asked, :>=, 0.3
    mail.producer.submit("a", %w[a1 a2 a3 a4])
    pulled = mail.pull("me", 10, wait: 20)
    jobs = pulled.jobs
    assert_equal [4, nil, false], [jobs.size, pulled.empty_reason, pulled.ended?]
    sleep(0.2)
    results = mail.settle(jobs.zip(%i[ack nack extend_lease dead_letter], [nil, 60]))
    assert_equal %i[acked returned extended dead_lettered], results.map(&:outcome)
    assert_equal [nil, nil, jobs[2].lease_end_time, nil], results.map(&:lease_end_time)
    assert_operator jobs[2].lease_end_time, :>, jobs[0].lease_end_time + 0.1
    assert_equal %i[acked stale], mail.settle([[jobs[0], :ack], [jobs[0], :nack]]).map(&:outcome)
    assert_equal [], mail.settle([])
    assert_raises(Offbeat::Error) { jobs[0].ack }
    error = assert_raises(Offbeat::InvalidArgument) { mail.settle([[jobs[0], :done]]) }
    assert_equal "action", error.field
    mail.discard
    mail.open
    mail.close
    ended = mail.pull("me", 10)
    assert_equal [[], :spread_closed, true], [*ended.to_a, ended.ended?]
  end

  def test_an_empty_pull_says_why
    mail = spread(max_consumer_lease_count: 1)
    mail.producer.submit("a", %w[a1 a2])
    assert_nil mail.pull("me", 5).empty_reason
    assert_equal [[], :consumer_at_limit], mail.pull("me", 5).to_a
    assert_equal %w[a2], texts(mail.pull("other", 5).jobs)
    assert_equal [[], :no_ready_job], mail.pull("third", 5).to_a
  end

  def test_a_released_job_waits_for_its_delay
    each_way(1) do |draw, way|
      mail = spread("#{name}-#{way}", max_attempt_count: 1)
      mail.producer.submit("a", %w[a1 a2])
      consumer = draw[mail]
      consumer.first.release(delay: 0.7)
      asked = now
      assert_equal %w[a2 a1], texts(acked(consumer, 2))
      assert_operator now - asked, :>=, 0.65
      consumer.close
      assert_empty mail.dead_letters.to_a # the attempt did not count
    end
    by_hand = spread("#{name}-by-hand")
    by_hand.producer.submit("a", %w[a1])
    job = by_hand.pull("me", 1).jobs.first
    assert_equal [:returned], by_hand.settle([[job, :release, 60]]).map(&:outcome)
    assert_equal :no_ready_job, by_hand.pull("me", 1).empty_reason
  end

  def test_limits_are_updated
    mail = spread(max_job_count: 2)
    mail.producer.submit("a", %w[a1 a2])
    assert_raises(Offbeat::ResourceExhausted) { mail.producer(patience: 0).submit("b", %w[b1]) }
    updated = mail.update(max_job_count: 3, max_attempt_count: 7)
    assert_equal [7, 1_024, 65_536, 3, 64 << 20], updated.spec.limits.to_a
    assert_equal updated.spec, mail.describe.spec
    assert_equal :received, mail.producer(patience: 0).submit("b", %w[b1]).state
    assert_equal updated.spec, mail.open.spec # opening it with the old spec still works
    {
      "limits.max_attempt_count" => [{ max_attempt_count: 0 }, { max_attempt_count: "5" }],
      "limits.max_byte_count" => [{ max_byte_count: -1 }]
    }.each do |field, wrong|
      wrong.each { |limits| assert_equal field, assert_raises(Offbeat::InvalidArgument) { mail.update(**limits) }.field }
    end
  end

  def test_large_groups_go_in_parts
    mail = spread
    producer = mail.producer
    large = Array.new(9) { |number| number.to_s * (250 << 10) }
    assert_equal [:received, 9], producer.submit("large", large).to_a[1, 2]
    assert_equal [:received, 70_000], producer.submit("many", [""] * 70_000).to_a[1, 2]
    assert_equal :received, producer.submit("large", large).state
    mail.consumer("me") do |consumer|
      assert_equal large, texts(consumer.lazy.reject { |job| job.payload.empty? }.first(9))
    end
  end

  def test_a_full_spread_is_waited_for
    mail = spread(max_job_count: 2, lease_duration: 30)
    mail.producer.submit("a", %w[a1 a2])
    asked = now
    error = assert_raises(Offbeat::ResourceExhausted) { mail.producer(patience: 0.3).submit("b", %w[b1]) }
    assert_equal "ERROR_REASON_LIMIT_REACHED", error.reason
    assert_includes 0.3..3, now - asked
    consumer = Thread.new { sleep(0.5) && mail.consumer("me") { |jobs| jobs.first(2).each(&:ack) } }
    assert_equal :received, mail.producer.submit("b", %w[b1]).state
    consumer.join
  end

  def test_the_ids_of_many_groups_fit_into_a_message
    mail = spread
    producer = mail.producer
    1_500.times { |number| producer.submit(format("%0256d", number), %w[job]) }
    consumer = Thread.new { mail.consumer("me", batch_size: 500) { |jobs| acked(jobs, 1_500) } }
    assert_equal 1_500, producer.wait(timeout: 30).size
    consumer.join
  end

  def test_a_wait_that_is_over_forgets_nothing
    mail = spread(lease_duration: 30)
    producer = mail.producer
    producer.submit("a", %w[a1])
    producer.submit("b", %w[b1])
    asked = now
    mail.consumer("me") do |consumer|
      consumer.first.ack
      consumer.flush
      assert_raises(Offbeat::DeadlineExceeded) { producer.wait(timeout: 0.3) }
      assert_includes 0.3..3, now - asked
      assert_raises(Offbeat::DeadlineExceeded) { producer.wait(timeout: 0) }
      assert_equal %w[b], producer.unsettled
      consumer.first.ack
    end
    assert_equal %w[a b], producer.wait(timeout: 5).keys.sort
  end

  def test_refusals
    mail = spread
    producer = mail.producer
    producer.submit("a", %w[a1])
    error = assert_raises(Offbeat::FailedPrecondition) { producer.submit("a", %w[a2]) }
    assert_equal "ERROR_REASON_GROUP_DIFFERS", error.reason
    error = assert_raises(Offbeat::FailedPrecondition) { mail.producer.submit("a", %w[a2]) }
    assert_equal "ERROR_REASON_GROUP_DIFFERS", error.reason
    {
      "groups[0].commit.job_count" => -> { producer.submit("b", []) },
      "payloads[1]" => -> { producer.submit("b", ["b", 2]) },
      "groups[0].jobs[0].payload" => -> { producer.submit("b", ["b" * (1 << 19)]) }, "payloads" => -> { producer.submit("b", "b") },
      "group_id" => -> { producer.submit(nil, %w[b]) }, "groups[0].group_id" => -> { producer.submit("", %w[b]) },
      "max_pulled_job_count" => -> { mail.consumer("me", batch_size: 0).first },
      "max_wait_duration" => -> { mail.consumer("me", wait: -1) },
      "window" => -> { mail.stream("me", window: 0) },
      "patience" => -> { mail.producer(patience: nil) }, "consumer_id" => -> { mail.stream("", window: 8).first },
      "letters[0]" => -> { mail.delete_dead_letters([0]) }, "spread_name" => -> { client.named_spread(7, feeder_count: 2) },
      "delay" => -> { mail.consumer("me") { |jobs| jobs.first.release(delay: 86_401) } },
      "spec.lease_duration" => -> { client.named_spread("x", feeder_count: 2, lease_duration: 0.5).open },
      "spec.limits.max_attempt_count" => -> { client.named_spread("x", feeder_count: 2, max_attempt_count: 0).open },
      "spec.order.feeder_count" => -> { client.named_spread("x", feeder_count: "2") }
    }.each do |field, question|
      assert_equal field, assert_raises(Offbeat::InvalidArgument, field, &question).field
    end
    assert_equal %w[a], producer.unsettled
    mail.close
    error = assert_raises(Offbeat::FailedPrecondition) { producer.submit("c", %w[c1]) }
    assert_equal ["ERROR_REASON_SPREAD_CLOSING", %w[a]], [error.reason, producer.unsettled]
  end
end
