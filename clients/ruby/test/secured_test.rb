# frozen_string_literal: true

require_relative "helper"
require_relative "authority"
require "open3"
require "pathname"
require "pp"

# TLS and tokens: for every call and every stream.
class SecuredTest < OffbeatTest
  TOKEN = "the-first-token-0123456789"
  OTHER = "the-other-token-0123456789"
  NAMES = "DNS:localhost,DNS:offbeat.test,IP:127.0.0.1"
  AUTHORITY = Authority.new
  STRANGER = Authority.new
  ACME = Offbeat::Client.new(Sidecar::SHARED.address).assign_slot(EIGHT_HOURS, "acme").slot_index

  def setup
    @folder = Dir.mktmpdir
    @closing = []
  end

  def teardown
    @closing.each(&:call)
    FileUtils.remove_entry(@folder)
  end

  def file(name, content)
    File.join(@folder, name).tap { |path| File.write(path, content) }
  end

  def sidecar(*flags, address: "127.0.0.1:#{Sidecar.free_port}")
    Sidecar.new(address, *flags).tap { |made| @closing << -> { made.stop } }
  end

  def tls_flags(names: NAMES, authority: AUTHORITY)
    certificate, key = authority.write(@folder, names)
    ["--tls-certificate", certificate, "--tls-key", key]
  end

  def token_flags
    ["--token-file", file("tokens", "#{TOKEN}\n#{OTHER}\n")]
  end

  # Accepts connections in a thread, and passes each to the block.
  def fake
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new { loop { yield server.accept } }
    thread.report_on_exception = false
    @closing << -> { thread.kill && server.close }
    "127.0.0.1:#{server.addr[1]}"
  end

  def tls(**options)
    Offbeat::Tls.new(ca: AUTHORITY.pem, **options)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # A call by each way to the sidecar: unary, a stream, and both ways of a named spread.
  def ways(client)
    mail = client.named_spread("mail-#{rand(1 << 60)}", feeder_count: 1, lease_duration: 5)
    {
      unary: -> { client.assign_slot(EIGHT_HOURS, "acme").slot_index },
      spread: -> { client.spread([%w[a b]], feeder_count: 1).map(&:job) },
      producer: -> { mail.producer(patience: 5).submit("g", %w[a b]).job_count },
      consumer: -> { mail.consumer("c", patience: 5) { |jobs| jobs.first(1).each(&:ack).size } },
      stream: -> { mail.stream("s", patience: 5) { |jobs| jobs.first(1).each(&:ack).size } },
      list: -> { client.list_spreads.any? },
      discard: -> { mail.discard.counts.settled_job_count }
    }
  end

  def assert_all_work(client)
    assert_equal [ACME, %w[a b], 2, 1, 1, true, 2], ways(client).values.map(&:call)
  end

  # Every way must fail soon, with this error and this text.
  def assert_all_fail(client, error, text)
    ways(client).each do |name, ask|
      started = now
      raised = assert_raises(error, name.to_s, &ask)
      assert_instance_of error, raised, name
      assert_match text, raised.message, name
      assert_operator now - started, :<, 3, name # retries would take 4 s
    end
  end

  def test_calls_and_streams_go_over_tls
    address = sidecar(*tls_flags).address
    ca = Pathname(file("ca.pem", AUTHORITY.pem))
    [Offbeat::Tls.new(ca: ca), Offbeat::Tls.new(ca: ca.to_s), tls, tls(server_name: "offbeat.test")].each do |tls|
      assert_all_work(Offbeat::Client.new(address, tls: tls))
    end
    assert_all_work(Offbeat::Client.new(address.sub("127.0.0.1", "localhost"), tls: tls))
  end

  def test_much_goes_over_tls_in_both_directions
    client = Offbeat::Client.new(sidecar(*tls_flags).address, tls: tls)
    ids = Array.new(70_000) { |index| "customer-#{index}" }
    assert_equal self.client.assign_slots(EIGHT_HOURS, ids, from_time: NOON).slot_indexes,
                 client.assign_slots(EIGHT_HOURS, ids, from_time: NOON).slot_indexes
    groups = Array.new(2_000) { |group| Array.new(20) { |index| [group, index] } }
    assert_equal groups.flatten(1), client.spread(groups, feeder_count: 50, group_window: 100).map(&:job).sort

    spread = client.named_spread("large", feeder_count: 2)
    jobs = Array.new(30) { |index| index.to_s * 60_000 }
    spread.producer.submit("g", jobs)
    assert_equal(jobs, spread.stream("one") { |leased| leased.first(30).each(&:ack).map(&:payload) })
    threads = Array.new(8) { Thread.new { Array.new(20) { client.assign_slot(EIGHT_HOURS, 5).slot_index } } }
    assert_equal [client.assign_slot(EIGHT_HOURS, 5).slot_index] * 160, threads.flat_map(&:value)
  end

  def test_a_sidecar_that_another_authority_signed_is_not_trusted
    address = sidecar(*tls_flags(authority: STRANGER)).address
    assert_all_fail(Offbeat::Client.new(address, tls: tls), Offbeat::Untrusted, /certificate verify failed/)
    assert_all_fail(Offbeat::Client.new(address, tls: true), Offbeat::Untrusted, /certificate verify failed/)
  end

  def test_a_sidecar_of_another_name_is_not_trusted
    address = sidecar(*tls_flags(names: "DNS:other.test,IP:127.0.0.2")).address
    local = address.sub("127.0.0.1", "localhost")
    assert_all_fail(Offbeat::Client.new(address, tls: tls), Offbeat::Untrusted, /"127.0.0.1" does not match/)
    assert_all_fail(Offbeat::Client.new(local, tls: tls), Offbeat::Untrusted, /"localhost" does not match/)
    wrong = tls(server_name: "offbeat.test")
    assert_all_fail(Offbeat::Client.new(address, tls: wrong), Offbeat::Untrusted, /"offbeat.test" does not match/)
    assert_all_work(Offbeat::Client.new(address, tls: tls(server_name: "other.test")))
  end

  def test_an_impostor_learns_no_token_and_which_protocol_is_spoken
    context = OpenSSL::SSL::SSLContext.new
    certificate, key = AUTHORITY.sign("DNS:other.test")
    context.add_certificate(OpenSSL::X509::Certificate.new(certificate), OpenSSL::PKey.read(key))
    offered, names, heard = [], [], []
    context.alpn_select_cb = ->(protocols) { offered.concat(protocols) && protocols.first }
    context.servername_cb = ->((_socket, name)) { names << name && nil }
    address = fake do |socket|
      secured = OpenSSL::SSL::SSLSocket.new(socket, context).accept
      heard << secured.read
    rescue OpenSSL::SSL::SSLError, SystemCallError
      heard << ""
    end
    ["127.0.0.1", "localhost"].each do |host|
      impostor = Offbeat::Client.new(address.sub("127.0.0.1", host), tls: tls, token: TOKEN)
      assert_raises(Offbeat::Untrusted) { impostor.describe_schedule(EIGHT_HOURS) }
      assert_raises(Offbeat::Untrusted) { impostor.spread([[1]], feeder_count: 1).to_a }
    end
    sleep(0.01) until heard.size == 4
    assert_equal [["http/1.1"] * 4, ["localhost"] * 2, ""], [offered, names, heard.join]
  end

  def test_mutual_tls
    address = sidecar(*tls_flags, "--tls-client-ca", file("clients.pem", STRANGER.pem)).address
    certificate, key = STRANGER.sign("DNS:client.test")
    assert_all_work(Offbeat::Client.new(address, tls: tls(certificate: certificate, key: key)))
    assert_all_fail(Offbeat::Client.new(address, tls: tls), Offbeat::Untrusted, /certificate required/)
    unknown, its_key = AUTHORITY.sign("DNS:client.test")
    assert_all_fail(Offbeat::Client.new(address, tls: tls(certificate: unknown, key: its_key)),
                    Offbeat::Untrusted, /alert/)
  end

  def test_certificates_may_be_exchanged
    address = sidecar(*tls_flags, "--tls-client-ca", file("clients.pem", STRANGER.pem)).address
    certificate, key = AUTHORITY.write(Dir.mktmpdir(nil, @folder), "DNS:client.test") # not trusted yet
    client = Offbeat::Client.new(address, tls: tls(certificate: certificate, key: key))
    ask = lambda do
      client.close
      client.describe_schedule(EIGHT_HOURS).slot_count
    end
    assert_raises(Offbeat::Untrusted, &ask)
    right, its_key = STRANGER.sign("DNS:client.test")
    File.write(certificate, right)
    assert_raises(Offbeat::Untrusted, "half of a change", &ask)
    File.write(key, its_key)
    assert_equal 128, ask.call
    File.write(key, "no key")
    assert_equal 128, ask.call
    File.delete(certificate)
    assert_equal 128, ask.call
  end

  def test_the_authorities_of_the_system
    address = sidecar(*tls_flags).address
    code = 'require "offbeat"; puts Offbeat::Client.new(ARGV[0], tls: true)' \
           ".describe_schedule(Offbeat::Schedule.new(period: 60)).slot_count.class"
    output, = Open3.capture2e({ "SSL_CERT_FILE" => file("ca.pem", AUTHORITY.pem) }, RbConfig.ruby, "-w",
                              "-I#{ROOT}/clients/ruby/lib", "-e", code, address)
    assert_equal "Integer\n", output
  end

  def test_what_cannot_be_tls_is_refused_without_showing_a_key
    certificate, key = AUTHORITY.sign("DNS:client.test")
    other_key = AUTHORITY.sign("DNS:client.test")[1]
    locked = OpenSSL::PKey.read(key).to_pem(OpenSSL::Cipher.new("aes-128-cbc"), "secret")
    {
      "tls.certificate" => [{ key: key }, { certificate: "-----BEGIN CERTIFICATE-----\n", key: key }, { certificate: key, key: key },
                            { certificate: File.join(@folder, "absent"), key: key }],
      "tls.key" => [{ certificate: certificate }, { certificate: certificate, key: other_key }, { certificate: certificate, key: locked },
                    { certificate: certificate, key: certificate }, { certificate: certificate, key: OpenSSL::PKey.read(key).public_to_pem },
                    { certificate: certificate, key: OpenSSL::PKey.read(key) }, { certificate: certificate, key: key.lines[1] }],
      "tls.ca" => [{ ca: @folder }, { ca: file("empty", "") }, { ca: 5 }, { ca: "a\0b" }],
      "tls.server_name" => [{ server_name: "" }, { server_name: 5 }]
    }.each do |field, cases|
      cases.each do |options|
        error = assert_raises(Offbeat::InvalidArgument, options.inspect) { Offbeat::Tls.new(**options) }
        assert_equal field, error.field, options
        refute_includes error.message + error.value, key.lines[1][4, 20]
      end
    end
    whole = Offbeat::Tls.new(ca: AUTHORITY.pem, certificate: certificate, key: key)
    refute_includes "#{whole.inspect} #{Offbeat::Client.new(tls: whole).pretty_inspect}", key.lines[1][4, 20]
    [["unix:/tmp/x", true], ["127.0.0.1:1", { key: key }]].each do |address, tls|
      error = assert_raises(Offbeat::InvalidArgument) { Offbeat::Client.new(address, tls: tls) }
      assert_equal "tls", error.field
      refute_includes error.message, key.lines[1][4, 20]
    end
  end

  def test_tokens_are_sent_with_every_call_and_stream
    [sidecar(*token_flags), sidecar(*token_flags, address: "unix:#{@folder}/s.sock")].each do |sidecar|
      assert_all_work(Offbeat::Client.new(sidecar.address, token: TOKEN))
      assert_all_work(Offbeat::Client.new(sidecar.address, token: -> { "  #{OTHER}\n" }))
      [nil, "a-wrong-token-0123456789"].each do |token|
        5.times { assert_all_fail(Offbeat::Client.new(sidecar.address, token: token), Offbeat::Unauthenticated, /\Aauthorization is refused/) }
      end
    end
  end

  def test_a_user_whom_the_socket_does_not_serve_is_denied
    uids = [Process.euid, Process.euid + 1]
    served, denied = uids.map { |uid| sidecar("--socket-uids", uid.to_s, address: "unix:#{@folder}/#{uid}.sock") }
    assert_all_work(Offbeat::Client.new(served.address))
    client = Offbeat::Client.new(denied.address)
    assert_all_fail(client, Offbeat::PermissionDenied, /must be one of --socket-uids/)
    error = assert_raises(Offbeat::PermissionDenied) { client.describe_schedule(EIGHT_HOURS) }
    assert_equal "ERROR_REASON_USER_NOT_ALLOWED", error.reason
  end

  def test_tokens_go_over_tls
    address = sidecar(*tls_flags, *token_flags).address
    assert_all_work(Offbeat::Client.new(address, tls: tls, token: TOKEN))
    assert_all_fail(Offbeat::Client.new(address, tls: tls), Offbeat::Unauthenticated, /\Aauthorization is refused/)
  end

  def test_tokens_rotate
    token, asked = TOKEN, 0
    client = Offbeat::Client.new(sidecar(*token_flags).address, token: -> { (asked += 1) && token })
    assert_equal 0, asked
    assert_all_work(client)
    before = asked
    client.describe_schedule(EIGHT_HOURS)
    assert_equal before + 1, asked
    token = "a-stale-token-0123456789"
    error = assert_raises(Offbeat::Unauthenticated) { client.describe_schedule(EIGHT_HOURS) }
    assert_equal "ERROR_REASON_UNAUTHENTICATED", error.reason
    token = OTHER
    assert_all_work(client)
  end

  def test_what_gives_no_token_is_heard
    client = Offbeat::Client.new(Sidecar::SHARED.address, token: -> { File.read("/absent/token") })
    ways(client).slice(:unary, :spread, :producer).each_value { |ask| assert_raises(Errno::ENOENT, &ask) }
    [nil, 5, "", "two words", "two\nlines", "ümlaut"].each do |token|
      client = Offbeat::Client.new(Sidecar::SHARED.address, token: -> { token })
      assert_equal "token", assert_raises(Offbeat::InvalidArgument) { client.describe_schedule(EIGHT_HOURS) }.field
    end
  end

  def test_tokens_are_not_shown
    ["two #{TOKEN}", "#{TOKEN}\n#{OTHER}", "#{TOKEN}ü", TOKEN.to_sym, [TOKEN]].each do |token|
      error = assert_raises(Offbeat::InvalidArgument) { Offbeat::Client.new(Sidecar::SHARED.address, token: token) }
      refute_includes error.full_message + error.value + error.details.inspect, TOKEN
    end
    client = Offbeat::Client.new("127.0.0.1:#{Sidecar.free_port}", token: TOKEN, timeout: 0.1)
    error = assert_raises(Offbeat::Unavailable) { client.describe_schedule(EIGHT_HOURS) }
    refute_includes error.full_message, TOKEN
  end

  def test_a_token_does_not_go_where_others_can_read_it
    ["offbeat.internal:2328", "10.0.0.1:2328", "0.0.0.0:2328", "[::2]:2328", "localhost.example:2328", "127.example:2328"].each do |address|
      [TOKEN, -> { flunk "asked" }].each do |token|
        error = assert_raises(Offbeat::InvalidArgument, address) { Offbeat::Client.new(address, token: token) }
        assert_equal "token", error.field
        assert_match(/plain TCP to #{Regexp.escape(address)} is refused: must go over TLS/, error.message)
      end
      assert_equal address, Offbeat::Client.new(address, token: TOKEN, tls: true).address
    end
    ["localhost:2328", "127.0.0.1:2328", "127.3.2.1:2328", "[::1]:2328", "unix:/run/offbeat.sock"].each do |address|
      assert_equal address, Offbeat::Client.new(address, token: TOKEN).address
    end
  end

  def test_configuration
    address = sidecar(*tls_flags, *token_flags).address
    configuration = Offbeat.configuration
    before = %i[address token tls].to_h { |name| [name, configuration.public_send(name)] }
    Offbeat.configure { |config| config.address, config.token, config.tls = address, TOKEN, tls }
    assert_all_work(Offbeat::Client.new)
    assert_equal 128, Offbeat::Client.new(Sidecar::SHARED.address, tls: false).describe_schedule(EIGHT_HOURS).slot_count
    assert_raises(Offbeat::Unauthenticated) { Offbeat::Client.new(token: "a-wrong-token").describe_schedule(EIGHT_HOURS) }
  ensure
    before&.each { |name, value| configuration.public_send(:"#{name}=", value) }
  end

  # Servers that accept the connection and then send little or nothing.
  def test_deadlines_hold_while_tls_begins
    silent = fake { |socket| (@sockets ||= []) << socket }
    trickling = fake do |socket|
      Thread.new do
        socket.write("\x16\x03\x03\x40\x00".b)
        loop { socket.write("\x02") && sleep(0.05) }
      rescue SystemCallError
        nil # the client has disconnected
      end
    end
    [silent, trickling].each do |address|
      client = Offbeat::Client.new(address, tls: tls, timeout: 0.4)
      asks = [-> { client.describe_schedule(EIGHT_HOURS) }, -> { client.describe_schedule(EIGHT_HOURS, timeout: 0.3) },
              -> { client.spread([[1]], feeder_count: 1).to_a }, -> { client.spread([[1]], feeder_count: 1, timeout: 0.3).to_a },
              -> { client.named_spread("m", feeder_count: 1).stream("s", patience: 0.1).first }]
      asks.each do |ask|
        started = now
        assert_raises(Offbeat::DeadlineExceeded, &ask)
        assert_includes 0.25..4, now - started
      end
    end
  end

  # An incomplete TLS record arrives while no call is in flight.
  def test_deadlines_hold_after_half_a_record
    context = OpenSSL::SSL::SSLContext.new
    certificate, key = AUTHORITY.sign(NAMES)
    context.add_certificate(OpenSSL::X509::Certificate.new(certificate), OpenSSL::PKey.read(key))
    address = fake do |socket|
      secured = OpenSSL::SSL::SSLSocket.new(socket, context).accept
      secured.readpartial(10_000)
      secured.write("HTTP/1.1 404 Not Found\r\ncontent-length: 20\r\n\r\n{\"code\":\"not_found\"}")
      socket.write("\x17\x03\x03\x40\x00".b)
    end
    client = Offbeat::Client.new(address, tls: tls, timeout: 0.4)
    assert_raises(Offbeat::NotFound) { client.describe_schedule(EIGHT_HOURS) }
    sleep(0.1)
    assert_raises(Offbeat::DeadlineExceeded) { Timeout.timeout(5) { client.describe_schedule(EIGHT_HOURS) } }
  end

  def test_a_sidecar_that_hangs_up_while_tls_begins_is_only_away
    calls = 0
    address = fake { |socket| (calls += 1) && socket.close }
    client = Offbeat::Client.new(address, tls: tls, timeout: 1)
    error = assert_raises(Offbeat::Unavailable) { client.describe_schedule(EIGHT_HOURS) }
    assert_instance_of Offbeat::Unavailable, error
    assert_operator calls, :>, 2
  end

  def test_two_that_speak_different_protocols_say_so
    secured = sidecar(*tls_flags).address
    plain = Offbeat::Client.new(secured, timeout: 0.5)
    assert_match(/does it want TLS/, assert_raises(Offbeat::Unavailable) { plain.describe_schedule(EIGHT_HOURS) }.message)
    assert_all_fail(Offbeat::Client.new(Sidecar::SHARED.address, tls: tls), Offbeat::Untrusted, /wrong version/)
  end

  def test_both_sides_of_a_fork_speak_tls
    client = Offbeat::Client.new(sidecar(*tls_flags).address, tls: tls)
    expected = client.assign_slot(EIGHT_HOURS, 42).slot_index
    children = Array.new(4) { fork { exit!(Array.new(20) { client.assign_slot(EIGHT_HOURS, 42).slot_index }.uniq == [expected]) } }
    children << fork { client.close || exit!(true) }
    assert(children.all? { |pid| Process.wait2(pid)[1].success? })
    assert_equal expected, client.assign_slot(EIGHT_HOURS, 42).slot_index

    # A child that leaves its parent's stream must not end it for the parent.
    main = Process.pid
    jobs = client.spread([[*1..600]], feeder_count: 1, job_window: 10).each_with_index.map do |turn, index|
      break if index == 5 && (child = fork).nil?

      Process.wait(child) if child
      turn.job
    end
    exit!(true) unless Process.pid == main
    assert_equal [*1..600], jobs
  end
end
