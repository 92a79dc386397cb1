# frozen_string_literal: true

require_relative "named_spread_case"

# Dead letters of named spreads: how they are listed, deleted and redriven.
class DeadLettersTest < NamedSpreadCase
  def test_dead_letters_come_page_by_page_and_outlive_their_spread
    mail = spread
    producer = mail.producer
    producer.submit("a", Array.new(230, &:to_s))
    mail.consumer("me", batch_size: 230) { |jobs| jobs.first(230).each(&:dead_letter) }
    assert_equal 230, producer.wait["a"].dead_letter_count
    assert_equal :closed, mail.close(wait: 1).state
    other = client.named_spread(name, feeder_count: 2)
    assert_equal (0...230).to_a, other.dead_letters.map(&:number)
    assert_equal 0, other.dead_letters.first.number
    assert_equal 230, other.delete_dead_letters(other.dead_letters.lazy)
  end

  # A spread named after the test, with dead letters that have these payloads.
  def spread_with_dead_letters(payloads)
    spread.tap do |mail|
      mail.producer.submit("a", payloads)
      mail.consumer("me", batch_size: 1_000) do |jobs|
        jobs.lazy.map { |job| job.tap(&:dead_letter) }.first(payloads.size)
      end
    end
  end

  def test_dead_letters_of_another_epoch_are_left_alone
    mail = spread_with_dead_letters(%w[a1 a2])
    stale = mail.dead_letters.to_a
    mail.discard
    fresh = spread_with_dead_letters(%w[b1 b2]).dead_letters.to_a
    assert_equal stale.map(&:number), fresh.map(&:number)
    assert_equal [0, 0], [mail.delete_dead_letters(stale), mail.redrive_dead_letters(stale)]
    assert_equal fresh, mail.dead_letters.to_a
    assert_equal 1, mail.redrive_dead_letters([stale[1], fresh[0]])
    assert_equal 1, mail.delete_dead_letters(stale + fresh)
  end

  def test_dead_letters_are_many_calls
    mail = spread_with_dead_letters(["x"] * 4_097)
    letters = mail.dead_letters.to_a
    assert_equal 4_097, letters.size
    assert_equal [4_097, 0], [mail.delete_dead_letters(letters), mail.dead_letters.count]
  end

  def test_pages_of_dead_letters_end_with_their_epoch
    mail = spread_with_dead_letters(["x"] * 101)
    letters = mail.dead_letters
    100.times { letters.next }
    mail.discard
    assert_equal "page_token", assert_raises(Offbeat::InvalidArgument) { letters.next }.field
  end

  def test_dead_letters_are_redriven
    mail = spread
    producer = mail.producer
    producer.submit("a", %w[a1 a2])
    mail.consumer("me") { |jobs| jobs.first(2).each(&:dead_letter) }
    letters = mail.dead_letters.to_a
    assert_equal 1, mail.redrive_dead_letters([letters[1], letters[1]])
    assert_equal %w[a1], texts(mail.dead_letters)
    mail.consumer("me") do |jobs|
      again = jobs.first.tap(&:ack)
      assert_equal ["a2", 1], [again.payload, again.attempt]
    end
    assert_equal 2, producer.wait["a"].dead_letter_count # their group stays settled
    assert_equal 0, mail.redrive_dead_letters([])
    { "letters[1]" => [letters[0], 0], "letters" => letters[0] }.each do |field, wrong|
      %i[redrive_dead_letters delete_dead_letters].each do |method|
        assert_equal field, assert_raises(Offbeat::InvalidArgument) { mail.public_send(method, wrong) }.field
      end
    end
    assert_equal %w[a1], texts(mail.dead_letters) # nothing is sent if one of them is refused
    mail.close
    assert_raises(Offbeat::FailedPrecondition) { mail.redrive_dead_letters(letters.first(1)) }
  end
end
