# frozen_string_literal: true

require_relative "lib/offbeat/version"

Gem::Specification.new do |spec|
  spec.name = "offbeat"
  spec.version = Offbeat::VERSION
  spec.summary = "Client of Offbeat, the scheduling sidecar: when jobs run"
  spec.authors = ["The Offbeat authors"]
  spec.license = "Apache-2.0"
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir["lib/**/*.rb", "sig/**/*.rbs", "README.md"]
  spec.require_paths = ["lib"]
  # Debian 12 has 3.21.
  spec.add_dependency "google-protobuf", ">= 3.21"
end
