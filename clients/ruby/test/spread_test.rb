# frozen_string_literal: true

require_relative "helper"

# Spreads have the order of the reference programs, and pull groups lazily.
class SpreadTest < OffbeatTest
  def jobs(sizes)
    sizes.each_with_index.lazy.map { |size, group| Array.new(size) { |index| [group, index] } }
  end

  def test_orders_are_those_of_the_vectors
    vectors("spread_feeders.json")["cases"].each_slice(9).map(&:first).each do |golden|
      spread = client.spread(jobs(golden["groups"]), feeder_count: golden["feeders"], timeout: 10)
      turns = spread.to_a
      assert_equal golden["order"], turns.map(&:job)
      assert_equal golden["order"].map(&:first), turns.map(&:group_index)
      assert_equal (0...turns.size).to_a, turns.map(&:sequence)
      assert_equal turns.size, spread.certificate.job_count
    end
  end

  def test_windows_change_no_order
    random = Random.new(4)
    sizes = Array.new(40) { [0, 1, 5, 40, 700].sample(random: random) }
    orders = [[1, 0], [2, 1], [256, 0], [65_536, 65_536], [3, 100]].map do |job_window, group_window|
      client.spread(jobs(sizes), feeder_count: 7, job_window: job_window, group_window: group_window).map(&:job)
    end
    assert_equal sizes.sum, orders[0].size
    assert_equal 1, orders.uniq.size
  end

  def test_nothing_is_pulled_before_it_is_needed
    pulled = []
    groups = %w[a b c].lazy.map do |name|
      pulled << name
      Enumerator.new { |jobs| 3.times { |number| jobs << "#{name}#{number}".tap { |job| pulled << job } } }
    end
    spread = client.spread(groups, feeder_count: 1, job_window: 1, timeout: 10)
    assert_empty pulled
    turns = spread.each
    assert_equal "a0", turns.next.job
    refute_includes pulled, "b"
    assert_equal "a1", turns.next.job
    assert_equal %w[a a0], pulled.first(2)
    assert_raises(IndexError) { spread.certificate }
    assert_equal %w[a2 b0 b1 b2 c0 c1 c2], Array.new(7) { turns.next.job }
    assert_raises(StopIteration) { turns.next }
    assert_equal 9, spread.certificate.job_count
  end

  def test_groups_may_be_endless
    endless = Enumerator.new { |groups| (0..).each { |name| groups << [name].cycle } }
    taken = client.spread(endless, feeder_count: 3, timeout: 10).first(2_000)
    assert_equal [0, 1, 2] * 666 + [0, 1], taken.map(&:job)
  end

  def test_cooldown_and_its_certificate
    options = { feeder_count: 3, policy: :cooldown, on_shortage: :wait, max_open_group_count: 3 }
    spread = client.spread([["a"], %w[b c]], **options)
    assert_equal [[1, "b"], [0, "a"], [nil, nil], [1, "c"]], spread.map { |turn| [turn.group_index, turn.job] }
    assert_equal [3, 2], [spread.certificate.min_gap_turns, spread.certificate.group_count]
    sizes = [17, 0, 4, 9, 9, 1]
    many = client.spread(jobs(sizes), feeder_count: 5, policy: :cooldown, job_window: 3)
    assert_equal jobs(sizes).to_a.flatten(1).sort, many.map(&:job).sort
    error = assert_raises(Offbeat::InvalidArgument) do
      client.spread([Enumerator.new { |jobs| jobs << 1 }], feeder_count: 2, policy: :cooldown).to_a
    end
    assert_equal "groups[0]", error.field
  end

  def test_a_very_long_timeout_is_long
    [1e30, Float::INFINITY].each do |timeout|
      assert_equal [1], client.spread([[1]], feeder_count: 1, timeout: timeout).map(&:job)
    end
  end

  def test_refusals
    error = assert_raises(Offbeat::InvalidArgument) { client.spread([], feeder_count: 0).to_a }
    assert_equal ["spec.order.feeder_count", "ERROR_REASON_OUT_OF_RANGE"], [error.field, error.reason]
    error = assert_raises(Offbeat::InvalidArgument) { client.spread([], feeder_count: 3, max_open_group_count: 9).to_a }
    assert_equal "spec.order.max_open_group_count", error.field
  end

  def test_over_unix_sockets_and_without_a_sidecar
    Dir.mktmpdir do |folder|
      sidecar = Sidecar.new("unix:#{folder}/socket")
      here = Offbeat::Client.new(sidecar.address)
      assert_equal %w[a c b], here.spread([%w[a b], %w[c]], feeder_count: 2).map(&:job)
      assert sidecar.stop.success?
      assert_raises(Offbeat::Unavailable) { here.spread([%w[a b]], feeder_count: 2).to_a }
    end
  end

  def test_a_killed_sidecar_and_a_deadline
    sidecar = Sidecar.new
    turns = Offbeat::Client.new(sidecar.address).spread([[1].cycle], feeder_count: 1).each
    assert_equal 1, turns.next.job
    sidecar.stop("KILL")
    assert_raises(Offbeat::Unavailable) { 10_000.times { turns.next } }
    slow = Enumerator.new { |groups| groups << [1].tap { sleep(0.4) } }
    assert_raises(Offbeat::DeadlineExceeded) { client.spread(slow, feeder_count: 1, timeout: 0.2).to_a }
  end

  def test_a_fresh_client_goes_on_from_a_token
    rng = Random.new(6)
    sizes = Array.new(220) { [0, 1, 3, 30, 200].sample(random: rng) }
    groups = ->(of = sizes) { of.each_with_index.map { |size, group| Array.new(size) { |index| [group, index] } } }
    %i[round_robin cooldown].each do |policy|
      spread = client.spread(groups.call, feeder_count: 7, policy: policy)
      tokens, turns = [spread.resume_token], []
      spread.each { |turn| turns << turn and tokens << spread.resume_token }
      assert_operator turns.size, :>, 8_192
      [0, 4_096, 5_003, turns.size - 1].each do |place|
        rest = client.resume_spread(groups.call, tokens[place], timeout: 20)
        assert_equal tokens[place], rest.resume_token
        assert_equal turns[place..], rest.to_a, "from #{place}"
        assert_equal spread.certificate, rest.certificate
      end
      others = sizes.dup.tap { |other| other[other.index(1)] = 0 }
      rest = client.resume_spread(groups.call(others), tokens[turns.size - 1])
      assert_equal "ERROR_REASON_ORDER_DIFFERS", assert_raises(Offbeat::FailedPrecondition) { rest.first }.reason
    end
  end

  def test_what_is_no_token_is_refused
    spread = client.spread([%w[a b], %w[c d]], feeder_count: 2)
    fresh = spread.resume_token
    spread.first(3)
    token = spread.resume_token
    ["no token at all", "", nil, 5, token[1..], "\x01#{"\0" * 9}".b, "\x01#{"\0" * 9}no request".b].each do |wrong|
      error = assert_raises(Offbeat::InvalidArgument, wrong.inspect) { client.resume_spread([%w[a b], %w[c d]], wrong).to_a }
      assert_equal "resume_token", error.field, wrong.inspect
    end
    changed = token.dup.tap { |bytes| bytes.setbyte(20, bytes.getbyte(20) ^ 1) }
    error = assert_raises(Offbeat::InvalidArgument) { client.resume_spread([%w[a b], %w[c d]], changed).to_a }
    assert_equal "resume.resume_token", error.field
    assert_equal [%w[a c b d], %w[d]], [fresh, token].map { |kept| client.resume_spread([%w[a b], %w[c d]], kept).map(&:job) }
  end

  def test_turns_can_be_taken_once
    spread = client.spread([%w[a b], %w[c]], feeder_count: 2)
    assert_equal "a", spread.first.job
    assert_match(/once/, assert_raises(Offbeat::Error) { spread.to_a }.message)
  end
end
