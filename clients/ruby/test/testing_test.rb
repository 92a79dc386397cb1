# frozen_string_literal: true

require_relative "helper"
require "offbeat/testing"
require "open3"

# The helpers for tests of applications.
class TestingTest < OffbeatTest
  include Offbeat::Testing::Minitest

  def test_a_fake_decides_by_its_clock
    fake = Offbeat::Testing::FakeClient.new(now: NOON)
    run = fake.assign_slot(EIGHT_HOURS, "acme").next_run
    assert_equal run, fake.assign_slot(EIGHT_HOURS, "acme", from_time: NOON).next_run
    fake.clock.now = run.start_time
    assert_equal run, fake.assign_slot(EIGHT_HOURS, "acme").next_run
    fake.clock.travel(1)
    assert_equal run.cycle_index + 1, fake.assign_slot(EIGHT_HOURS, "acme").next_run.cycle_index
    fake.clock.travel(-86_400) { |now| assert_equal now, fake.clock.now }
    assert_equal run.start_time + 1, fake.clock.now
    due = fake.list_due_runs(EIGHT_HOURS, ["acme"], watermark: NOON)
    assert_equal [[run], fake.clock.now], [due.to_a, due.next_watermark_time]
    assert_raises(Offbeat::NeedsSidecar) { fake.server_info }
    assert_raises(Offbeat::InvalidArgument) { fake.clock.now = "now" }
  end

  def test_clients_of_the_application_decide_by_the_clock_of_the_test
    offbeat_clock.now = NOON
    own = Offbeat::Client.new
    assert_equal [:local, offbeat.assign_slot(EIGHT_HOURS, "acme").next_run], [own.mode, own.assign_slot(EIGHT_HOURS, "acme").next_run]
    offbeat_clock.travel(28_800)
    assert_equal own.assign_slot(EIGHT_HOURS, "acme").next_run, offbeat.assign_slot(EIGHT_HOURS, "acme", from_time: NOON + 28_800).next_run
  end

  def test_settings_are_as_before_when_a_test_ends
    inner = Class.new(Minitest::Test) do
      include Offbeat::Testing::Minitest
      define_method(:test_fails) { Offbeat.configuration.mode == :local ? raise("as it must") : flunk("not begun") }
    end
    Minitest::Runnable.runnables.delete(inner)
    Offbeat.configuration.mode = :auto
    assert_match(/as it must/, inner.new("test_fails").run.failure.message)
    assert_equal :auto, Offbeat.configuration.mode
  end

  def test_rspec
    spec = <<~RUBY
      require "offbeat/testing/rspec"
      RSpec.describe "an application" do
        2.times do
          it "runs by the clock of the test" do
            offbeat_clock.now = Time.utc(2026, 1, 1)
            run = Offbeat::Client.new.assign_slot(Offbeat::Schedule.new(period: 3600), "acme").next_run
            expect(run).to eq(offbeat.assign_slot(Offbeat::Schedule.new(period: 3600), "acme", from_time: Time.utc(2026)).next_run)
          end
        end
        after(:all) { expect(Offbeat.configuration.mode).to eq(:remote) }
      end
    RUBY
    Dir.mktmpdir do |folder|
      File.write(file = File.join(folder, "application_spec.rb"), spec)
      output, status = Open3.capture2e("rspec", "-I#{ROOT}/clients/ruby/lib", file, chdir: folder)
      assert_predicate status, :success?, output
      assert_includes output, "2 examples, 0 failures"
    end
  end

  def test_nothing_else_requires_it
    output, = Open3.capture2e(RbConfig.ruby, "-I#{ROOT}/clients/ruby/lib", "-e", 'require "offbeat"; p defined?(Offbeat::Testing)')
    assert_equal "nil\n", output
  end
end
