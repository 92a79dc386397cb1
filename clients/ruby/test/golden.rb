# frozen_string_literal: true

require "json"

# The golden decisions of tests/vectors/decisions, as messages.
module Golden
  # The API version and service of each method, from the protos.
  SERVICES = Dir[File.join(ROOT, "proto/offbeat/*/*.proto")].flat_map do |file|
    version = File.basename(File.dirname(file))
    File.read(file, encoding: "UTF-8").scan(/^service (\w+) \{(.*?)^\}/m).flat_map do |service, body|
      body.scan(/^  rpc (\w+)/).map { |(method)| [method, "#{version}.#{service}"] }
    end
  end.to_h.freeze

  # The message type of a method, by the end of its name: "Request" or "Response".
  def message_type(method, kind)
    version = SERVICES.fetch(method).start_with?("v1.") ? Offbeat::V1 : Offbeat::V1beta1
    version.const_get("#{method}#{kind}")
  end

  # The cases of all files that have a given field: "response", or "reason" for refusals.
  def decisions(field)
    files = Dir[File.join(VECTORS, "decisions", "*.json")].map { |file| "decisions/#{File.basename(file)}" }
    assert_operator files.size, :>=, 4
    files.sort.flat_map { |file| vectors(file) }.select { |golden| golden.key?(field) }
  end

  # The request, with texts and lists filled in that are too long to write out.
  def filled(golden)
    { "fill_text" => ->(fill) { "x" * fill["length"] },
      "fill_list" => ->(fill) { [fill["element"]] * fill["length"] } }.each do |name, make|
      next unless (fill = golden[name])

      *parents, field = fill["path"]
      parents.reduce(golden["request"]) { |place, parent| place.fetch(parent) }[field] = make.call(fill)
    end
    golden["request"]
  end

  # Compares an answer with a case, ignoring estimates that the case leaves out.
  def assert_golden_answer(golden, response)
    expected = response.class.decode_json(JSON.generate(golden["response"]))
    %w[bucket_share slot_load second_load].each do |estimate|
      response.public_send("clear_#{estimate}") if response.class.descriptor.lookup(estimate)
    end
    response.pairs.each(&:clear_message) if golden["method"] == "CompareSchedules"
    assert_equal expected, response, golden["request"].to_s
  end

  def assert_golden_refusal(refusal, error)
    expected = refusal["reason"] == "UNKNOWN_SCHEDULE" ? Offbeat::NotFound : Offbeat::InvalidArgument
    assert_instance_of expected, error, refusal["name"]
    assert_equal ["ERROR_REASON_#{refusal["reason"]}", refusal["field"]], [error.reason, error.field], refusal["name"]
    assert_equal refusal.fetch("value", error.value), error.value, refusal["name"]
    refusal.fetch("allowed", []).each { |words| assert_includes error.allowed, words, refusal["name"] }
  end
end
