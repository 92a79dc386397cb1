# frozen_string_literal: true

# The web application of web_server_test.rb. Each request assigns a slot, and returns who decided or
# the error, and the milliseconds. The client is made and used before the workers are forked.
require "offbeat"

port ENV.fetch("PORT"), "127.0.0.1"
threads 4, 4
workers 2
preload_app!
log_requests false

client = Offbeat::Client.new(timeout: :web)
schedule = Offbeat::Schedule.new(period: 8 * 3600)
client.assign_slot(schedule, "before the fork")

app do |env|
  started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  said = begin
    client.assign_slot(schedule, env["PATH_INFO"]).decided_by
  rescue Offbeat::NoAnswer => e
    e.class.name
  end
  millis = ((Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) * 1_000).ceil
  [200, { "content-type" => "text/plain" }, ["#{said} #{millis}"]]
end
