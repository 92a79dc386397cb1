# frozen_string_literal: true

require_relative "helper"

# Which errors clients of named spreads retry, and which they do not.
class PatienceTest < OffbeatTest
  def test_a_refusal_is_tried_again_only_if_it_names_a_delay
    patience = Offbeat.const_get(:Named)::Patience.new(60, 0.001)
    errors = [Offbeat::ResourceExhausted.new("full", retry_delay: 0.001), Offbeat::Unavailable.new("restarts")]
    answer = patience.attempt do
      error = errors.shift
      raise error if error

      :done
    end
    assert_equal [:done, []], [answer, errors]

    tried = 0
    error = assert_raises(Offbeat::ResourceExhausted) do
      patience.attempt do
        tried += 1
        raise Offbeat::ResourceExhausted, "too large"
      end
    end
    assert_equal ["too large", 1], [error.message, tried]
  end
end
