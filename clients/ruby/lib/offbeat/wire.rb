# frozen_string_literal: true

module Offbeat
  # Reads and writes fields of messages as bytes. On the wire, a packed column of fixed-width numbers is the
  # little-endian array itself: String#unpack reads it many times faster than the protobuf gem does.
  module Wire
    SKIPPED = { 1 => 8, 5 => 4 }.freeze # wire types of fixed width, and the bytes of their values
    private_constant :SKIPPED

    # Takes fields (messages or packed columns) out of a message. Returns their bytes by field number, with the parts of
    # a field joined, and the message without them.
    def self.taken(message, numbers)
      found, rest, at = numbers.to_h { |number| [number, nil] }, +"".b, 0
      while at < message.bytesize
        start = at
        tag, at = varint(message, at)
        length, at = (tag & 7) == 2 ? varint(message, at) : skipped(message, tag, at)
        number, at = tag >> 3, at + length
        raise IOError, "a message that breaks off" if at > message.bytesize

        if (tag & 7) == 2 && found.key?(number)
          part = message.byteslice(at - length, length)
          found[number] = found[number] ? found[number] + part : part
        else
          rest << message.byteslice(start, at - start)
        end
      end
      [found.transform_values { |bytes| bytes || "" }, rest]
    end

    # The header of a field with `length` bytes.
    def self.head(number, length)
      head = [number << 3 | 2] # for field numbers up to 15
      while length > 0x7f
        head << (length & 0x7f | 0x80)
        length >>= 7
      end
      (head << length).pack("C*")
    end

    def self.skipped(message, tag, at)
      return [0, varint(message, at).last] if (tag & 7).zero?

      [SKIPPED.fetch(tag & 7) { raise IOError, "neither a field nor the end of a message" }, at]
    end
    private_class_method :skipped

    def self.varint(message, at)
      value = shift = 0
      loop do
        byte = message.getbyte(at) or raise IOError, "a message that breaks off"
        value |= (byte & 0x7f) << shift
        at += 1
        return [value, at] if byte < 0x80

        shift += 7
      end
    end
    private_class_method :varint
  end
  private_constant :Wire
end
