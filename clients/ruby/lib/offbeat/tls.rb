# frozen_string_literal: true

require "openssl"
require_relative "secret"

module Offbeat
  # TLS to the sidecar: the authorities that the client trusts, and the client's certificate. nil stands for the
  # default.
  #
  #   Offbeat::Client.new("offbeat.internal:2328", tls: Offbeat::Tls.new(ca: "/etc/offbeat/ca.pem"))
  #
  # Certificates and keys are PEM, or paths of PEM files. Files are read again for each connection, so that they can be
  # replaced; while new ones are invalid or do not match, the previous ones are used. May be shared by clients and
  # threads.
  class Tls
    include Undumpable

    # The name that the certificate must have; nil for the host of the address.
    attr_reader :server_name

    # @param ca the authorities: one of them must have signed the sidecar's certificate. Default: the system's
    # @param certificate the client's certificate and the intermediate ones, for a sidecar that asks for one
    # @param key the private key of the certificate, not encrypted
    # @param server_name the name that the sidecar's certificate must have. Default: the host of the address
    def initialize(ca: nil, certificate: nil, key: nil, server_name: nil)
      unless server_name.nil? || (server_name.is_a?(String) && !server_name.empty?)
        raise Offbeat.refused("tls.server_name", server_name, "must be a host name or an IP address")
      end

      raise refused(:key, "none", "must come with a certificate") if certificate && !key
      raise refused(:certificate, "none", "must come with a key") if key && !certificate

      @sources = Secret.new({ ca: ca, certificate: certificate, key: key })
      @server_name = server_name
      @lock, @read, @context = Mutex.new, nil, nil
      context # reads the files for the first time
    end

    # The context for new connections of OpenSSL, from the newest valid files.
    def context
      @lock.synchronize do
        read = @sources.reveal.to_h { |name, source| [name, source && pem(name, source)] }
        @context, @read = make(read), Secret.new(read) unless read == @read&.reveal
        @context
      rescue InvalidArgument
        @context or raise
      end
    end

    # Shows no key.
    def inspect
      "#<#{self.class} server_name=#{server_name.inspect}>"
    end

    private

    def pem(name, source)
      source = source.to_path if source.respond_to?(:to_path)
      unless source.is_a?(String)
        raise refused(name, "a #{source.class}", "must be PEM, or the path of a file with it")
      end

      source.include?("-----BEGIN ") ? source : File.binread(source)
    rescue SystemCallError, ArgumentError => e # ArgumentError: a path with a zero byte
      why = name == :key ? e.class : e.message # the message would show the text, which may be a key
      raise refused(name, "a file", "must be PEM, or the path of a file that can be read (#{why})")
    end

    def make(read)
      OpenSSL::SSL::SSLContext.new.tap do |context|
        # {Endpoint} compares the name after it has connected: OpenSSL itself does not check IP addresses.
        context.set_params(cert_store: store(read[:ca]), verify_mode: OpenSSL::SSL::VERIFY_PEER,
                           verify_hostname: false, min_version: OpenSSL::SSL::TLS1_2_VERSION)
        # A connection may end without a TLS message: the length of an HTTP answer still shows whether it is complete.
        context.options |= OpenSSL::SSL::OP_IGNORE_UNEXPECTED_EOF if defined?(OpenSSL::SSL::OP_IGNORE_UNEXPECTED_EOF)
        context.alpn_protocols = ["http/1.1"]
        identify(context, read) if read[:certificate]
        context.freeze
      end
    end

    def store(authorities)
      OpenSSL::X509::Store.new.tap do |store|
        authorities ? certificates(:ca, authorities).each { |one| store.add_cert(one) } : store.set_default_paths
      end
    end

    def identify(context, read)
      own, *between = certificates(:certificate, read[:certificate])
      key = OpenSSL::PKey.read(read[:key], "") # otherwise OpenSSL would ask the terminal for a password
      context.add_certificate(own, key, between)
    rescue OpenSSL::PKey::PKeyError, ArgumentError
      raise refused(:key, "the key", "must be the private key of the certificate (PEM), not encrypted")
    rescue OpenSSL::SSL::SSLError => e
      raise refused(:certificate, "the certificate", "must be one that OpenSSL takes (#{e.message})")
    end

    def certificates(name, pem)
      OpenSSL::X509::Certificate.load(pem)
    rescue OpenSSL::X509::CertificateError
      raise refused(name, "the text", "must be certificates (PEM)")
    end

    # An error without the given value, which may be a key.
    def refused(name, found, allowed)
      InvalidArgument.new("tls.#{name}: #{found} is refused: #{allowed}",
                          reason: "ERROR_REASON_MALFORMED", field: "tls.#{name}", value: found, allowed: allowed)
    end
  end
end
