# frozen_string_literal: true

require_relative "named_spread_case"
require "open3"

# Spreads when the sidecar, an answer or a stream is lost.
class NamedSpreadLivesTest < NamedSpreadCase
  def test_a_killed_sidecar_loses_nothing_and_leases_nothing_twice
    Dir.mktmpdir do |folder|
      sidecar("unix:#{folder}/socket")
      begun = Queue.new
      consumers = Array.new(4) do |number|
        Thread.new do
          mail = spread_at(@sidecar.address)
          way = number.even? ? mail.consumer("c#{number}", batch_size: 8) : mail.stream("c#{number}", window: 8)
          draw_all(way, begun)
          way.close
        end
      end
      mail = spread_at(@sidecar.address)
      producer = mail.producer
      wanted = Array.new(60) { |group| Array.new(10) { |index| "#{group}/#{index}" } }
      wanted.each_with_index do |jobs, group|
        restart if [20, 40].include?(group)
        producer.submit("group-#{group}", jobs)
      end
      assert_equal 60, producer.wait(timeout: 30).size
      mail.close
      consumers.each(&:join)
      done = Array.new(begun.size) { begun.pop }
      assert_equal wanted.flatten.sort, done.map(&:first).uniq.sort
      done.group_by(&:first).each_value do |times|
        times.sort_by { |time| time[1] }.each_cons(2) { |(_, _, over), (_, began, _)| assert_operator began, :>=, over }
      end
    end
  end

  def test_groups_of_an_earlier_epoch_are_submitted_again_with_their_receipt
    sidecar
    mail = spread_at(@sidecar.address)
    producer = mail.producer
    producer.submit("a", %w[a1 a2 a3])
    mail.settle([[mail.pull("me", 1).jobs[0], :ack]])
    assert_raises(Offbeat::DeadlineExceeded) { producer.wait(timeout: 0.2) } # and learns which jobs are settled
    restart
    producer.submit("b", %w[b1])
    held = mail.describe.counts
    assert_equal [2, 1, 3], [held.group_count, held.quarantined_group_count, held.ready_job_count]
    assert_equal [["b1", false]], mail.pull("me", 9).jobs.map { |job| [job.payload, job.redelivered?] }
    jobs = mail.pull("me", 9, wait: 5).jobs
    jobs += mail.pull("me", 9).jobs
    again = jobs.select { |job| job.group_id == "a" }
    assert_equal [["a2", true], ["a3", true]], again.map { |job| [job.payload, job.redelivered?] }
  end

  # After a restart a consumer finds the spread unknown; then a producer opens and closes it.
  def test_who_is_late_to_open_a_spread_leaves_it_closed
    %i[consumer stream].each do |way|
      mail = spread("#{name} #{way}")
      late = client.named_spread(mail.name, feeder_count: 2)
      calls = late.instance_variable_get(:@calls)
      calls.define_singleton_method(:open) do |**options|
        mail.close
        super(**options)
      end
      assert_empty Timeout.timeout(5) { late.public_send(way, "late").to_a }
      assert_equal :closed, mail.describe.state
    end
  end

  def test_waiting_submits_lost_groups_again
    sidecar
    mail = spread_at(@sidecar.address)
    producer = mail.producer
    producer.submit("a", %w[a1])
    restart
    consumer = Thread.new { spread_at(@sidecar.address).consumer("me") { |jobs| jobs.first.tap(&:ack) } }
    assert_equal %w[a], producer.wait(timeout: 10).keys
    assert_predicate consumer.value, :redelivered?
  end

  def test_an_attempt_whose_answer_was_lost_may_have_been_received
    proxy = LossyProxy.new(sidecar)
    mail = spread_at(proxy.address)
    producer = mail.producer
    leased = nil
    proxy.lose("SubmitGroups") do
      leased = spread_at(@sidecar.address).pull("other", 1).jobs
      restart
      spread_at(@sidecar.address).open # so that no call fails with an unknown spread
    end
    assert_equal :received, producer.submit("a", %w[a1]).state
    assert_equal %w[a1], texts(leased)
    assert_equal 1, mail.describe.counts.quarantined_group_count
    assert_empty mail.pull("me", 1).jobs
    job = mail.pull("me", 1, wait: 5).jobs.first
    assert_predicate leased[0], :expired?
    assert_predicate job, :redelivered?
    proxy.lose("SubmitGroups") # within one epoch nothing is quarantined
    assert_equal :received, producer.submit("b", %w[b1]).state
    assert_equal 0, mail.describe.counts.quarantined_group_count
    proxy.stop
  end

  def test_a_first_attempt_that_finds_no_spread_is_still_the_first
    sidecar
    mail = spread_at(@sidecar.address)
    mail.open
    producer = mail.producer
    spread_at(@sidecar.address).discard
    assert_equal :received, producer.submit("a", %w[a1]).state
    assert_equal 0, mail.describe.counts.quarantined_group_count
  end

  def test_a_group_in_parts_begins_again_when_they_were_lost
    proxy = LossyProxy.new(sidecar)
    mail = spread_at(proxy.address)
    proxy.lose("SubmitGroups", after: 1) { restart }
    large = Array.new(9) { |number| number.to_s * (250 << 10) }
    assert_equal [:received, 9], mail.producer.submit("large", large).to_a[1, 2]
    assert_equal [1, 0, 0], mail.describe.counts.to_h.values_at(:group_count, :partial_group_count, :quarantined_group_count)
    proxy.stop
  end

  def test_settlements_of_an_earlier_epoch_are_stale
    sidecar
    each_way do |draw, way|
      mail = spread_at(@sidecar.address, lease_duration: 3) # the sidecar restarts within this time
      producer = mail.producer
      producer.submit("#{way}-a", %w[a1 a2])
      consumer = draw[mail, way]
      first = consumer.first
      first.ack
      by_hand = spread_at(@sidecar.address, lease_duration: 3)
      restart
      assert_equal [:stale], by_hand.settle([[first, :ack]]).map(&:outcome)
      assert_empty Offbeat::Client.new(@sidecar.address).list_spreads.to_a
      assert_equal [[first, :stale]], consumer.flush
      second = consumer.first # still leased, by its own clock
      assert_equal [first.epoch, 1], [second.epoch, consumer.stale_count]
      second.ack
      assert_equal 0, producer.submit("#{way}-b", %w[b1]).settled_job_count
      assert_equal %w[a1 a2 b1], texts(acked(consumer, 3)).sort
      consumer.close
      assert_equal 2, consumer.stale_count
      producer.wait(timeout: 10)
    end
  end

  def test_patience_ends
    sidecar
    mail = spread_at(@sidecar.address)
    producer = mail.producer(patience: 0.4)
    producer.submit("a", %w[a1])
    pulling = mail.consumer("pull", patience: 0.4).tap(&:first)
    streaming = mail.stream("stream", patience: 0.4)
    @sidecar.stop("KILL")
    calls = [-> { producer.submit("b", %w[b1]) }, -> { producer.wait }, -> { pulling.to_a }, -> { streaming.first }]
    calls.each do |call|
      asked = now
      assert_raises(Offbeat::Unavailable, &call)
      assert_includes 0.3..3, now - asked
    end
    asked = now
    [pulling, streaming].each(&:close) # their retry time is used up
    assert_operator now - asked, :<, 0.7
    assert_equal %w[a b], producer.unsettled # it may have been received
    hasty = mail.producer(patience: 0)
    assert_raises(Offbeat::Unavailable) { hasty.submit("c", %w[c1]) }
    assert_equal %w[c], hasty.unsettled
    sidecar(@sidecar.address)
    consumer = Thread.new { spread_at(@sidecar.address).consumer("me") { |jobs| jobs.first(2).each(&:ack) } }
    assert_equal %w[a b], producer.wait(timeout: 10).keys.sort
    consumer.join
  end

  def test_a_stream_that_breaks_off_is_begun_again
    sidecar
    mail = spread_at(@sidecar.address)
    consumer = mail.stream("me", patience: 10)
    jobs = Thread.new { acked(consumer, 2).tap { consumer.close } }
    producer = mail.producer
    sleep(0.3)
    restart
    producer.submit("a", %w[a1])
    sleep(0.3)
    restart
    producer.submit("b", %w[b1])
    assert_equal 2, jobs.value.size
  end

  def test_settlements_whose_results_were_lost_with_the_stream_are_sent_again
    sidecar
    mail = spread_at(@sidecar.address, lease_duration: 2)
    producer = mail.producer
    producer.submit("a", %w[a1 a2 a3])
    consumer = mail.stream("me")
    jobs = consumer.each
    first = jobs.next
    @sidecar.freeze_threads # the kernel accepts the settlement, but no answer comes
    first.ack
    sleep(1.2)
    jobs.next
    restart
    producer.submit("b", %w[b1])
    sleep(1.0) # until all leases have ended, so that the next job is of the new epoch
    jobs.next.ack
    assert_equal 1, consumer.stale_count
    assert_equal [:acked], consumer.flush.map(&:last)
    consumer.close
  end

  def test_the_example
    mail = client.named_spread(name, feeder_count: 8, lease_duration: 5)
    run = lambda do |program, *arguments|
      Thread.new do
        Open3.capture2e({ "OFFBEAT_ADDRESS" => Sidecar::SHARED.address }, RbConfig.ruby, "-w", "-I#{ROOT}/clients/ruby/lib",
                        File.join(ROOT, "examples/named_spread/ruby/#{program}.rb"), name, *arguments)
      end
    end
    consumers = [run["consumer", "one"], run["consumer", "two"]]
    producers = [run["producer", "p", "3", "4"], run["producer", "q", "2", "5"]]
    assert_equal ["p: 3 groups settled\n", "q: 2 groups settled\n"], producers.map { |program| program.value[0] }
    mail.close
    lines = consumers.flat_map { |program| program.value[0].lines(chomp: true) }
    groups = %w[p-0 p-1 p-2].product([*0..3]) + %w[q-0 q-1].product([*0..4])
    assert_equal groups.map { |group, index| "#{group} #{index}" }.sort, lines.map { |line| line.split(" ", 2)[1] }.sort
  end

  def test_a_slow_job_costs_those_that_wait_behind_it_no_attempt
    %i[consumer stream].each do |kind|
      options = { feeder_count: 1, lease_duration: 1, max_attempt_count: 2 }
      spread = client.named_spread("slow-#{kind}-#{Process.pid}", **options)
      spread.producer.submit("g", %w[slow 1 2 3])
      consumer = kind == :consumer ? spread.consumer("one", batch_size: 4, wait: 1) : spread.stream("one", window: 4)
      seen = []
      consumer.each do |job|
        seen << job.payload
        sleep 1.2 if job.payload == "slow"
        job.ack
        break if seen.size == 5
      end
      consumer.close
      assert_equal %w[slow slow], seen.first(2)
      assert_equal ["slow"], spread.dead_letters.map(&:payload)
      assert_equal [4, 2], [spread.describe.counts.settled_job_count, consumer.stale_count]
    end
  end
end
