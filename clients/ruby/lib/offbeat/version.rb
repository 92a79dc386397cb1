# frozen_string_literal: true

module Offbeat
  VERSION = "0.1.0"
end
