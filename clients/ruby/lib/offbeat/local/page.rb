# frozen_string_literal: true

require "digest/sha2"
require_relative "instants"

module Offbeat
  module Local
    # Pages of due runs. A token identifies the request of the first page, and says where the next page begins. It has
    # the format of the sidecar's tokens: either side continues with a token of the other.
    class Page
      FORM = 1
      CHECK_BYTES = 4
      DIGEST_BYTES = 8
      LAYOUT = "a8q>l>Q>" # the digest, seconds, nanoseconds, the row
      BYTES = 28
      private_constant :FORM, :CHECK_BYTES, :DIGEST_BYTES, :LAYOUT, :BYTES

      attr_reader :first_row

      def initialize(request, id_count)
        @digest = digest(request, id_count)
        @now, @first_row = nil, 0
        open(request.page_token) unless request.page_token.empty?
      end

      # The instant of the request, in nanoseconds: that of the first page, if there was one.
      def now(given, clock)
        return given || clock if @now.nil?
        return @now if given.nil? || given == @now

        raise Refusal.new(:CONTRADICTORY, "now_time", Instants.text(given),
                          "must be #{Instants.text(@now)}, as for the first page, or left out")
      end

      # The token of the page that begins with a row.
      def token(now, row)
        content = [@digest, *now.divmod(Instants::SECOND), row].pack(LAYOUT)
        [[FORM, check(content), content].pack("Ca#{CHECK_BYTES}a*")].pack("m0").tr("+/", "-_").delete("=")
      end

      private

      def open(token)
        malformed = lambda do |length|
          Refusal.new(:MALFORMED, "page_token", "#{length} bytes", "must be next_page_token of an answer, unchanged")
        end
        raise malformed.call(token.bytesize) unless token.match?(/\A[A-Za-z0-9_-]*\z/)

        bytes = decoded(token) or raise malformed.call(token.bytesize)
        form, check, content = bytes.unpack("Ca#{CHECK_BYTES}a*")
        raise malformed.call(bytes.bytesize) unless form == FORM && check == check(content) && content.bytesize == BYTES

        digest, seconds, nanos, @first_row = content.unpack(LAYOUT)
        unless digest == @digest
          raise Refusal.new(:CONTRADICTORY, "page_token", "a token", "must come with the request that it was answered to")
        end
        @now = (seconds * Instants::SECOND) + nanos
      end

      # The bytes of a token; nil if it is not base64 without padding.
      def decoded(token)
        (token.tr("-_", "+/") + ("=" * (-token.size % 4))).unpack1("m0")
      rescue ArgumentError
        nil
      end

      def check(content)
        Digest::SHA256.digest([FORM].pack("C") + content)[0, CHECK_BYTES]
      end

      # A digest that distinguishes requests. It covers only the lengths of the columns.
      def digest(request, id_count)
        same = V1::ListDueRunsRequest.new(schedule: request.schedule, kind: request.kind,
                                          watermark_time: request.watermark_time, catch_up_policy: request.catch_up_policy,
                                          max_clock_skew: request.max_clock_skew, look_ahead: request.look_ahead)
        lengths = [id_count, request.weights.size, request.watermark_unix_millis.size]
        Digest::SHA256.digest(V1::ListDueRunsRequest.encode(same) + lengths.pack("Q>*"))[0, DIGEST_BYTES]
      end
    end
  end
end
