# frozen_string_literal: true

require_relative "../testing"

# Each example has `offbeat` and `offbeat_clock`: see Offbeat::Testing::Helpers.
RSpec.configure do |config|
  config.include(Offbeat::Testing::Helpers)
  config.before { begin_offbeat }
  config.after { end_offbeat }
end
