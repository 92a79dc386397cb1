# frozen_string_literal: true

require_relative "helper"
require "open3"

# The information that the sidecar gives about itself.
class ServerInfoTest < OffbeatTest
  def test_the_sidecar_tells_its_version_time_zones_and_limits
    info = client.server_info
    assert_equal Open3.capture2(BINARY, "--version")[0].split.last, info.version
    daily = Offbeat::Schedule.new(calendar: Offbeat::CalendarCycle.new(unit: :day, time_zone: "Europe/Berlin"))
    assert_equal client.describe_schedule(daily).time_zone_database, info.time_zone_database
    printed = Open3.capture2(BINARY, "limits")[0]
    assert_operator info.limits.size, :>, 50
    info.limits.each do |limit|
      assert_operator limit.min_value, :<=, limit.max_value, limit.id
      assert_includes printed, "| #{limit.id} | #{limit.name} |"
    end
    assert_equal info.limits.map(&:id).uniq, info.limits.map(&:id)
    ids = info.limits.find { |limit| limit.id == "batch_ids" }
    assert_equal ["IDs in a batch", 1, Offbeat::IdEncoder::BATCH_IDS, "IDs"], ids.to_a[1, 4]
    assert_includes info.limits.map(&:unit), nil
    assert_predicate info, :frozen?
  end

  def test_its_timeout_is_checked
    assert_equal "timeout", assert_raises(Offbeat::InvalidArgument) { client.server_info(timeout: 0) }.field
  end
end
