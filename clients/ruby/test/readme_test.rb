# frozen_string_literal: true

require_relative "helper"

# The README's examples: each line with a `# =>` evaluates to the value behind it.
class ReadmeTest < OffbeatTest
  def test_examples_give_what_they_say
    # Plans of lanes are simulated, which takes seconds of a busy machine.
    Offbeat.configure do |config|
      config.address = Sidecar::SHARED.address
      config.timeout = 60
    end
    readme = File.read(File.join(ROOT, "clients/ruby/README.md"), encoding: "UTF-8")
    blocks = readme.scan(/^```ruby\n(.*?)^```/m).flatten.grep_v(/Gemfile/)
    checked = 0
    scope = binding
    blocks.each do |block|
      code = block.gsub(/^( *)(.+?) # => (.+)$/) do
        checked += 1
        "#{Regexp.last_match(1)}assert_equal #{Regexp.last_match(3).inspect}, " \
          "((example = (#{Regexp.last_match(2)})).is_a?(Time) ? example.to_s : example.inspect)"
      end
      scope.eval(code, "README.md")
    end
    assert_equal 100, checked
  end
end
