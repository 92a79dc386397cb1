# frozen_string_literal: true

require_relative "helper"
require_relative "authority"
require "active_support"
require "active_support/core_ext/object/json"
require "pp"
require "yaml"

# Tokens and private keys must not appear in anything that is shown, logged or written.
class SecretsTest < OffbeatTest
  TOKEN = "the-first-token-0123456789"
  AUTHORITY = Authority.new
  CERTIFICATE, KEY = AUTHORITY.sign("DNS:localhost,IP:127.0.0.1")
  KEY_PART = KEY.lines[1][4, 20]
  SHOWN = %i[inspect pretty_inspect to_s instance_values].freeze
  SHOWN_AS_JSON = %i[to_json as_json].freeze # on an Enumerable, these would draw its jobs
  WRITTEN = [YAML, Marshal].freeze

  def setup
    @folder = Dir.mktmpdir
    paths = { "certificate" => CERTIFICATE, "key" => KEY, "ca" => AUTHORITY.pem, "tokens" => "#{TOKEN}\n" }
            .to_h { |name, content| [name, File.join(@folder, name).tap { |path| File.write(path, content) }] }
    @sidecar = Sidecar.new("127.0.0.1:#{Sidecar.free_port}", "--tls-certificate", paths["certificate"], "--tls-key", paths["key"],
                           "--tls-client-ca", paths["ca"], "--token-file", paths["tokens"])
    @tls = Offbeat::Tls.new(ca: AUTHORITY.pem, certificate: CERTIFICATE, key: KEY)
  end

  def teardown
    @sidecar.stop
    FileUtils.remove_entry(@folder)
  end

  def refute_shows(object)
    ways = object.is_a?(Enumerable) ? SHOWN : SHOWN + SHOWN_AS_JSON
    texts = ways.map { |way| object.public_send(way).inspect }
    texts.concat(WRITTEN.map { |writer| written(writer, object) })
    texts.each do |text|
      refute_includes text, TOKEN, object.class
      refute_includes text, KEY_PART, object.class
    end
  end

  def written(writer, object)
    writer.dump(object)
  rescue TypeError => e
    e.message
  end

  # Everything reachable from a client with connections and an open stream.
  def all_of(client)
    client.describe_schedule(EIGHT_HOURS)
    spread = client.named_spread("mail-#{rand(1 << 60)}", feeder_count: 1)
    spread.producer.submit("g", %w[a b])
    stream = spread.stream("s")
    stream.first(1)
    dealt = client.spread([%w[a b]], feeder_count: 1)
    lateness = Offbeat::Lateness.new("nightly", client: client)
    lateness.record(Time.now)
    [client, lateness, spread, spread.producer, spread.consumer("c"), stream, dealt.tap(&:first), client.list_spreads,
     assert_raises(Offbeat::InvalidArgument) { client.describe_schedule(Offbeat::Schedule.new(period: 0)) }]
  end

  def test_nothing_that_reaches_a_client_shows_its_secrets
    [TOKEN, -> { TOKEN }, Class.new(Struct.new(:call)).new(TOKEN)].each do |token|
      all_of(Offbeat::Client.new(@sidecar.address, tls: @tls, token: token)).each { |object| refute_shows(object) }
    end
  end

  def test_settings_show_no_secrets
    configuration = Offbeat::Configuration.new("127.0.0.1:1", 5)
    configuration.token = TOKEN
    configuration.tls = @tls
    assert_equal [TOKEN, @tls], [configuration.token, configuration.tls]
    [configuration, @tls].each { |object| refute_shows(object) }
  end

  def test_a_client_cannot_be_dumped
    client = Offbeat::Client.new
    [client, Offbeat::Client.new(mode: :local), Offbeat::Lateness.new("nightly", client: client), client.named_spread("mail", feeder_count: 1), @tls].each do |object|
      WRITTEN.each do |writer|
        error = assert_raises(TypeError, "#{writer}, #{object.class}") { writer.dump(object) }
        assert_match(/Offbeat::[\w:]+ .* cannot be dumped/, error.message)
      end
    end
  end

  def test_json_of_a_client_says_where_it_asks
    client = Offbeat::Client.new("127.0.0.1:1", token: TOKEN)
    assert_equal({ "timeout" => 10.0, "decisions" => "#<Offbeat::Decisions remote>", "transport" => "#<Offbeat::Transport 127.0.0.1:1>" }, client.as_json)
  end
end
