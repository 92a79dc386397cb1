# frozen_string_literal: true

require "openssl"

# Signs certificates; each for an hour.
class Authority
  def initialize
    @key = OpenSSL::PKey::EC.generate("prime256v1")
    @certificate = certificate("CN=authority", @key, "basicConstraints" => "critical,CA:TRUE")
  end

  def pem
    @certificate.to_pem
  end

  # A certificate for names such as "DNS:offbeat.test,IP:127.0.0.1", and its key, as PEM.
  def sign(names)
    key = OpenSSL::PKey::EC.generate("prime256v1")
    extensions = { "basicConstraints" => "critical,CA:FALSE", "subjectAltName" => names }
    [certificate("CN=signed", key, extensions).to_pem, key.to_pem]
  end

  # Writes such a pair into the folder: the paths of both.
  def write(folder, names)
    %w[certificate.pem key.pem].zip(sign(names)).map do |name, pem|
      File.join(folder, name).tap { |path| File.write(path, pem) }
    end
  end

  private

  def certificate(subject, key, extensions)
    certificate = OpenSSL::X509::Certificate.new
    certificate.version, certificate.serial = 2, rand(1..2**60)
    certificate.subject = OpenSSL::X509::Name.parse(subject)
    certificate.issuer = @certificate ? @certificate.subject : certificate.subject
    certificate.not_before, certificate.not_after = Time.now - 60, Time.now + 3600
    certificate.public_key = key
    factory = OpenSSL::X509::ExtensionFactory.new(@certificate || certificate, certificate)
    extensions.each { |name, value| certificate.add_extension(factory.create_extension(name, value)) }
    certificate.sign(@key, "SHA256")
  end
end
