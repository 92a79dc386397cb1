# frozen_string_literal: true

require_relative "helper"
require "open3"

# Stands between a client and a sidecar, and can lose the answer to a call.
class LossyProxy
  attr_reader :address

  def initialize(sidecar)
    @port = sidecar.address[/\d+\z/].to_i
    @server = TCPServer.new("127.0.0.1", 0)
    @address = "127.0.0.1:#{@server.addr[1]}"
    @thread = Thread.new { loop { Thread.new(@server.accept) { |client| serve(client) } } }
  end

  # Loses the answer to the call of this method that comes after so many others, and then
  # does what the block says.
  def lose(method, after: 0, &block)
    @lost = [method, after, block]
  end

  def stop
    @thread.kill
    @server.close
  end

  private

  # One exchange after the other, as clients of HTTP/1.1 do.
  def serve(client)
    sidecar = TCPSocket.new("127.0.0.1", @port)
    loop do
      request = message(client)
      sidecar.write(request)
      answer = message(sidecar)
      return then_do if lost?(request)

      client.write(answer)
    end
  rescue SystemCallError, EOFError
    nil # one of the two has left
  ensure
    client.close
    sidecar&.close
  end

  def message(socket)
    head = socket.readline("\r\n\r\n")
    head + socket.read(head[/^content-length: (\d+)/i, 1].to_i)
  end

  def lost?(request)
    return false unless @lost && request.start_with?("POST /offbeat.v1.NamedSpreadService/#{@lost[0]} ")

    (@lost[1] -= 1).negative?
  end

  def then_do
    block, @lost = @lost[2], nil
    block&.call
  end
end

# Named spreads, against a sidecar that is killed now and then.
class NamedSpreadTest < OffbeatTest
  def setup
    @closing = []
  end

  def teardown
    @closing.each(&:call)
  end

  # A sidecar of this test; the block of {#restart} knows its successor.
  def sidecar(address = "127.0.0.1:#{Sidecar.free_port}")
    @sidecar = Sidecar.new(address)
    @closing << -> { @sidecar.stop("KILL") } if @closing.empty?
    @sidecar
  end

  def restart
    @sidecar.stop("KILL")
    sidecar(@sidecar.address)
  end

  def spread_at(address, **options)
    Offbeat::Client.new(address).named_spread("mail", feeder_count: 2, lease: 1, max_attempts: 1_000, **options)
  end

  # A spread of its own name at the shared sidecar.
  def spread(name = self.name, feeder_count: 2, **options)
    client.named_spread(name, feeder_count: feeder_count, **options).tap { |made| @closing << -> { made.discard } }
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def until_true(seconds = 10)
    deadline = now + seconds
    sleep(0.02) until (result = yield) || now > deadline
    assert result, "not within #{seconds} s"
  end

  def texts(jobs)
    jobs.map(&:job)
  end

  # So many jobs, each acked when it comes.
  def acked(consumer, count)
    consumer.lazy.map { |job| job.tap(&:ack) }.first(count)
  end

  # Both ways to draw jobs, with so many at a time.
  def each_way(count = 16)
    yield ->(spread, name = "me", **options) { spread.consumer(name, batch_size: count, **options) }, "pull"
    yield ->(spread, name = "me", **options) { spread.stream(name, window: count, **options) }, "stream"
  end

  def test_opening_and_describing
    mail = spread(policy: :cooldown, max_open_groups: 7, lease: 2.5, max_bytes: 1 << 33)
    refute_includes client.list_spreads.map(&:spread), name
    opened = mail.open
    assert_equal [name, :open, 0], [opened.spread, opened.state, opened.group_count]
    assert_equal [:cooldown, 2, 7, 5 / 2r, 5, 1_024, 65_536, 1_000_000, 1 << 33], opened.spec.to_a
    assert_equal opened, mail.describe
    assert_equal opened, mail.open
    assert_includes client.list_spreads.map(&:spread), name
    error = assert_raises(Offbeat::FailedPrecondition) { client.named_spread(name, feeder_count: 3).open }
    assert_equal "ERROR_REASON_SPREAD_DIFFERS", error.reason
    assert_equal :open, mail.discard.state
    refute_includes client.list_spreads.map(&:spread), name
  end

  def test_spreads_are_listed_page_by_page
    here = Offbeat::Client.new(sidecar.address)
    names = Array.new(205) { |number| format("spread-%03d", number) }
    names.each { |name| here.named_spread(name, feeder_count: 1).open }
    assert_equal names, here.list_spreads.map(&:spread)
    assert_equal "spread-000", here.list_spreads.first.spread
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
      assert_equal [["a", 1, 2, 1, false]], jobs.select { |job| job.job == "a2" }.map { |job|
        [job.group_id, job.index, job.sequence, job.attempt, job.redelivered?]
      }
      settled = producer.wait
      assert_equal({ "a" => 3, "b" => 2 }, settled.transform_values(&:settled_count))
      assert_equal [[], {}, 0], [producer.unsettled, producer.wait, consumer.stale_count]
      assert_equal [:closed, 5], mail.describe.to_h.values_at(:state, :settled_job_count)
      assert_equal 2, mail.describe.certificate.min_gap || 0
    end
  end

  def test_verdicts
    each_way do |draw, way|
      mail = spread("#{name}-#{way}", max_attempts: 2, lease: 30)
      mail.producer.submit("a", %w[ack nack release terminate])
      draw[mail].tap { |consumer|
        consumer.first(4).each { |job| job.public_send(job.job) }
        assert_equal %i[settled returned returned dead_lettered], consumer.flush.map(&:last)
        assert_equal [], consumer.flush
        again = consumer.first(2).to_h { |job| [job.job, job] }
        assert_equal [2, 2], again.values.map(&:attempt)
        again["release"].nack(delay: 0.5) # the first attempt did not count
        again["nack"].nack
        assert_equal [%w[nack dead_lettered], %w[release returned]],
                     consumer.flush.map { |job, settlement| [job.job, settlement.to_s] }.sort
        asked = now
        assert_equal ["release"], texts(consumer.first(1))
        assert_operator now - asked, :>, 0.4
      }.close
      letters = mail.dead_letters.to_a
      assert_equal [%w[terminate terminated], %w[nack attempts]],
                   letters.map { |letter| [letter.job, letter.cause.to_s] }
      assert_equal [["a", 3, 1], ["a", 1, 2]], letters.map { |letter| letter.to_a.values_at(1, 2, 4) }
      assert_equal 1, mail.delete_dead_letters([letters[0].number, 1_000])
      assert_equal [letters[1]], mail.dead_letters.to_a
      assert_equal 0, mail.delete_dead_letters([])
    end
  end

  def test_dead_letters_come_page_by_page_and_outlive_their_spread
    mail = spread
    producer = mail.producer
    producer.submit("a", Array.new(230, &:to_s))
    mail.consumer("me", batch_size: 230) { |jobs| jobs.first(230).each(&:terminate) }
    assert_equal 230, producer.wait["a"].dead_letter_count
    assert_equal :closed, mail.close(wait: 1).state
    other = client.named_spread(name, feeder_count: 2)
    assert_equal (0...230).to_a, other.dead_letters.map(&:number)
    assert_equal 0, other.dead_letters.first.number
    assert_equal 230, other.delete_dead_letters(other.dead_letters.lazy.map(&:number))
  end

  def test_leases_are_extended
    each_way do |draw, way|
      mail = spread("#{name}-#{way}", lease: 1)
      mail.producer.submit("a", %w[a1])
      consumer = draw[mail]
      job = consumer.first
      3.times do
        sleep(0.5)
        assert_equal true, job.extend_lease
        assert_in_delta 1, job.lease_ends_in, 0.1
      end
      refute_predicate job, :expired?
      job.ack
      assert_equal [[job, :settled]], consumer.flush
      assert_equal false, job.extend_lease
      consumer.close
    end
  end

  def test_a_verdict_that_comes_too_late_is_counted
    each_way do |draw, way|
      mail = spread("#{name}-#{way}", lease: 1)
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
      mail = spread("#{name}-#{way}", lease: 1)
      mail.producer.submit("a", %w[a1 a2])
      consumer = draw[mail]
      assert_equal "a1", consumer.first.tap(&:ack).job
      consumer.flush
      sleep(1.2)
      job = consumer.first
      assert_equal ["a2", 2, true], [job.job, job.attempt, job.redelivered?]
      refute_predicate job, :expired?
      consumer.close
    end
  end

  def test_verdicts_do_not_get_old
    each_way do |draw, way|
      { 30 => 1.05, 1 => 0.55 }.each do |lease, age|
        mail = spread("#{name}-#{way}-#{lease}", lease: lease)
        mail.producer.submit("a", %w[a1 a2 a3])
        jobs = draw[mail].tap { |consumer| @closing.unshift(-> { consumer.close }) }.each
        jobs.next.ack
        jobs.next
        assert_equal 0, mail.describe.settled_job_count
        sleep(age)
        jobs.next
        until_true(1) { mail.describe.settled_job_count == 1 }
      end
    end
  end

  def test_a_long_wait_takes_nothing_from_a_lease
    mail = spread(lease: 1)
    mail.open
    jobs = Thread.new do
      mail.consumer("me") { |consumer| consumer.first.tap(&:ack).then { |job| [job, job.lease_ends_in] } }
    end
    sleep(1.6)
    mail.producer.submit("a", %w[a1])
    assert jobs.join(5)
    job, left = jobs.value
    assert_equal 1, job.attempt
    assert_operator left, :>, 0.8
  end

  def test_what_was_never_handed_out_is_given_back
    each_way(4) do |draw, way|
      mail = spread("#{name}-#{way}", lease: 30, max_attempts: 1)
      mail.producer.submit("a", Array.new(9, &:to_s))
      draw[mail].tap { |consumer| assert_equal %w[0 1], texts(consumer.first(2)) }.close
      held = mail.describe
      assert_equal [2, 0, 0], [held.leased_job_count, held.settled_job_count, held.dead_letter_count]
      mail.consumer("other") { |jobs| assert_equal %w[2 3 4 5 6 7 8], texts(jobs.first(7)).sort }
    end
  end

  def test_a_block_closes_its_consumer
    mail = spread(lease: 30)
    mail.producer.submit("a", %w[a1 a2])
    kept = nil
    assert_raises(RuntimeError) do
      mail.stream("me") do |consumer|
        kept = consumer
        consumer.each { |job| job.job == "a1" ? job.ack : raise("no") }
      end
    end
    assert_equal [1, 1], mail.describe.to_h.values_at(:settled_job_count, :leased_job_count)
    assert_nil kept.close
    assert_raises(Offbeat::Error) { kept.first }
  end

  def test_a_stream_sends_no_more_than_its_window
    mail = spread(lease: 30)
    mail.producer.submit("a", Array.new(60, &:to_s))
    mail.stream("me", window: 8) do |consumer|
      jobs = consumer.each
      jobs.next
      until_true { mail.describe.leased_job_count == 8 }
      20.times do
        jobs.next
        assert_operator mail.describe.leased_job_count, :<=, 8 + 21
      end
      until_true { mail.describe.leased_job_count >= 21 + 4 }
    end
    mail.stream("one", window: 1) { |consumer| assert_equal 39, consumer.first(39).uniq(&:job).size }
  end

  def test_leases_on_a_stream_count_from_when_they_were_lent
    mail = spread(lease: 1)
    mail.producer.submit("a", %w[a1])
    consumer = mail.stream("me", window: 1)
    jobs = consumer.each
    jobs.next.ack
    consumer.flush
    mail.producer.submit("b", %w[b1])
    until_true { mail.describe.leased_job_count == 1 }
    sleep(0.4) # it has come, and is not read
    assert_in_delta 0.6, jobs.next.lease_ends_in, 0.2
    consumer.close
  end

  def test_a_closed_spread_is_opened_anew_by_producers_alone
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
    mail = spread(lease: 30)
    mail.open
    assert_equal [[], false], mail.pull("me", 10).to_a
    asked = now
    assert_empty mail.pull("me", 10, wait: 0.3).jobs
    assert_operator now - asked, :>=, 0.3
    mail.producer.submit("a", %w[a1 a2 a3 a4])
    jobs = mail.pull("me", 10, wait: 20).jobs
    assert_equal 4, jobs.size
    assert_equal %i[settled returned extended dead_lettered],
                 mail.settle(jobs.zip([:ack, :nack, :extend, :terminate], [nil, 60]))
    assert_equal %i[settled stale], mail.settle([[jobs[0], :ack], [jobs[0], :nack]])
    assert_equal [], mail.settle([])
    assert_raises(Offbeat::Error) { jobs[0].ack }
    error = assert_raises(Offbeat::InvalidArgument) { mail.settle([[jobs[0], :done]]) }
    assert_equal "verdict", error.field
    mail.discard
    mail.open
    mail.close
    assert_equal [[], true], mail.pull("me", 10).to_a
  end

  def test_large_groups_go_in_parts
    mail = spread
    producer = mail.producer
    large = Array.new(9) { |number| number.to_s * (250 << 10) }
    assert_equal [:received, 9], producer.submit("large", large).to_a[1, 2]
    assert_equal [:received, 70_000], producer.submit("many", [""] * 70_000).to_a[1, 2]
    assert_equal :received, producer.submit("large", large).state
    mail.consumer("me") do |consumer|
      assert_equal large, texts(consumer.lazy.reject { |job| job.job.empty? }.first(9))
    end
  end

  def test_a_full_spread_is_waited_for
    mail = spread(max_jobs: 2, lease: 30)
    mail.producer.submit("a", %w[a1 a2])
    asked = now
    error = assert_raises(Offbeat::ResourceExhausted) { mail.producer(patience: 0.3).submit("b", %w[b1]) }
    assert_equal "ERROR_REASON_LIMIT_REACHED", error.reason
    assert_in_delta 0.35, now - asked, 0.2
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
    mail = spread(lease: 30)
    producer = mail.producer
    producer.submit("a", %w[a1])
    producer.submit("b", %w[b1])
    asked = now
    mail.consumer("me") do |consumer|
      consumer.first.ack
      consumer.flush
      assert_raises(Offbeat::DeadlineExceeded) { producer.wait(timeout: 0.3) }
      assert_in_delta 0.4, now - asked, 0.2
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
      "jobs[1]" => -> { producer.submit("b", ["b", 2]) },
      "groups[0].jobs[0]" => -> { producer.submit("b", ["b" * (1 << 19)]) }, "jobs" => -> { producer.submit("b", "b") },
      "group_id" => -> { producer.submit(nil, %w[b]) }, "groups[0].group_id" => -> { producer.submit("", %w[b]) },
      "max_jobs" => -> { mail.consumer("me", batch_size: 0).first }, "wait" => -> { mail.consumer("me", wait: -1) },
      "window" => -> { mail.stream("me", window: 0) },
      "patience" => -> { mail.producer(patience: nil) }, "consumer" => -> { mail.stream("", window: 8).first },
      "numbers" => -> { mail.delete_dead_letters(["a"]) }, "spread" => -> { client.named_spread(7, feeder_count: 2) },
      "delay" => -> { mail.consumer("me") { |jobs| jobs.first.nack(delay: 86_401) } },
      "spec.lease" => -> { client.named_spread("x", feeder_count: 2, lease: 0.5).open },
      "spec.feeder_count" => -> { client.named_spread("x", feeder_count: "2") }
    }.each do |field, question|
      assert_equal field, assert_raises(Offbeat::InvalidArgument, field, &question).field
    end
    assert_equal %w[a], producer.unsettled
    mail.close
    error = assert_raises(Offbeat::FailedPrecondition) { producer.submit("c", %w[c1]) }
    assert_equal ["ERROR_REASON_SPREAD_CLOSING", %w[a]], [error.reason, producer.unsettled]
  end

  # Everything that was begun, with when, and when its lease was over.
  def draw_all(consumer, begun)
    consumer.each do |job|
      begun << [job.job, now, now + job.lease_ends_in]
      sleep(rand * 0.01)
      job.ack
    end
  end

  def test_a_killed_sidecar_loses_nothing_and_lends_nothing_twice
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

  def test_groups_of_an_earlier_life_are_submitted_again_with_their_receipt
    sidecar
    mail = spread_at(@sidecar.address)
    producer = mail.producer
    producer.submit("a", %w[a1 a2 a3])
    mail.settle([[mail.pull("me", 1).jobs[0], :ack]])
    assert_raises(Offbeat::DeadlineExceeded) { producer.wait(timeout: 0.2) } # and learns what is settled
    restart
    producer.submit("b", %w[b1])
    held = mail.describe
    assert_equal [2, 1, 3], [held.group_count, held.quarantined_group_count, held.ready_job_count]
    assert_equal [["b1", false]], mail.pull("me", 9).jobs.map { |job| [job.job, job.redelivered?] }
    jobs = mail.pull("me", 9, wait: 5).jobs
    jobs += mail.pull("me", 9).jobs
    again = jobs.select { |job| job.group_id == "a" }
    assert_equal [["a2", true], ["a3", true]], again.map { |job| [job.job, job.redelivered?] }
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
    lent = nil
    proxy.lose("SubmitGroups") do
      lent = spread_at(@sidecar.address).pull("other", 1).jobs
      restart
      spread_at(@sidecar.address).open # so that no call says that the spread is not known
    end
    assert_equal :received, producer.submit("a", %w[a1]).state
    assert_equal %w[a1], texts(lent)
    assert_equal 1, mail.describe.quarantined_group_count
    assert_empty mail.pull("me", 1).jobs
    job = mail.pull("me", 1, wait: 5).jobs.first
    assert_predicate lent[0], :expired?
    assert_predicate job, :redelivered?
    proxy.lose("SubmitGroups") # in one life of the spread nothing waits
    assert_equal :received, producer.submit("b", %w[b1]).state
    assert_equal 0, mail.describe.quarantined_group_count
    proxy.stop
  end

  def test_a_first_attempt_that_finds_no_spread_is_still_the_first
    sidecar
    mail = spread_at(@sidecar.address)
    mail.open
    producer = mail.producer
    spread_at(@sidecar.address).discard
    assert_equal :received, producer.submit("a", %w[a1]).state
    assert_equal 0, mail.describe.quarantined_group_count
  end

  def test_a_group_in_parts_begins_again_when_they_were_lost
    proxy = LossyProxy.new(sidecar)
    mail = spread_at(proxy.address)
    proxy.lose("SubmitGroups", after: 1) { restart }
    large = Array.new(9) { |number| number.to_s * (250 << 10) }
    assert_equal [:received, 9], mail.producer.submit("large", large).to_a[1, 2]
    assert_equal [1, 0, 0], mail.describe.to_h.values_at(:group_count, :partial_group_count, :quarantined_group_count)
    proxy.stop
  end

  def test_verdicts_of_an_earlier_life_are_stale
    sidecar
    each_way do |draw, way|
      mail = spread_at(@sidecar.address)
      producer = mail.producer
      producer.submit("#{way}-a", %w[a1 a2])
      consumer = draw[mail, way]
      first = consumer.first
      first.ack
      by_hand = spread_at(@sidecar.address)
      restart
      assert_equal [:stale], by_hand.settle([[first, :ack]])
      assert_empty Offbeat::Client.new(@sidecar.address).list_spreads.to_a
      assert_equal [[first, :stale]], consumer.flush
      second = consumer.first # still lent, by its own clock
      assert_equal [first.epoch, 1], [second.epoch, consumer.stale_count]
      second.ack
      assert_equal 0, producer.submit("#{way}-b", %w[b1]).settled_count
      assert_equal %w[a1 a2 b1], texts(acked(consumer, 3)).sort
      consumer.close
      assert_equal 2, consumer.stale_count
      producer.wait(timeout: 5)
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
      assert_in_delta 0.5, now - asked, 0.2
    end
    asked = now
    [pulling, streaming].each(&:close) # has no patience left
    assert_operator now - asked, :<, 0.2
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

  def test_verdicts_whose_answers_broke_off_with_the_stream_are_sent_again
    sidecar
    mail = spread_at(@sidecar.address)
    producer = mail.producer
    producer.submit("a", %w[a1 a2 a3])
    consumer = mail.stream("me")
    jobs = consumer.each
    jobs.next.ack
    Process.kill("STOP", @sidecar.pid) # takes the verdict, and does not answer
    sleep(0.6)
    jobs.next
    restart
    producer.submit("b", %w[b1])
    sleep(0.5) # until no lease lasts, and the next job is one of the new life
    jobs.next.ack
    assert_equal 1, consumer.stale_count
    assert_equal [:settled], consumer.flush.map(&:last)
    consumer.close
  end

  def test_the_example
    mail = client.named_spread(name, feeder_count: 8, lease: 5)
    run = lambda do |program, *arguments|
      Thread.new do
        Open3.capture2e(RbConfig.ruby, "-w", "-I#{ROOT}/clients/ruby/lib",
                        File.join(ROOT, "examples/named_spread/ruby/#{program}.rb"),
                        Sidecar::SHARED.address, name, *arguments)
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
      spread = client.named_spread("slow-#{kind}-#{Process.pid}", feeder_count: 1, lease: 1, max_attempts: 2)
      spread.producer.submit("g", %w[slow 1 2 3])
      consumer = kind == :consumer ? spread.consumer("one", batch_size: 4, wait: 1) : spread.stream("one", window: 4)
      seen = []
      consumer.each do |job|
        seen << job.job
        sleep 1.2 if job.job == "slow"
        job.ack
        break if seen.size == 5
      end
      consumer.close
      assert_equal %w[slow slow], seen.first(2)
      assert_equal ["slow"], spread.dead_letters.map(&:job)
      assert_equal [4, 2], [spread.describe.settled_job_count, consumer.stale_count]
    end
  end
end
