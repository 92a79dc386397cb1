# frozen_string_literal: true

require_relative "schedule"

module Offbeat
  module Local
    # Schedules by name, from a file that `offbeat schedules export` has written: the JSON of a ListSchedulesResponse.
    # It is read again when it changes. A version never changes its meaning: a file that gives another meaning to a
    # version is refused, and the schedules of the previous file stay. May be shared by threads.
    class Catalog
      LOOK_INTERVAL = 1.0 # seconds between two polls of the file
      MAX_BYTES = 16 << 20
      SHOWN = 8 # names in a refusal
      private_constant :LOOK_INTERVAL, :MAX_BYTES, :SHOWN

      # A schedule of the file, or why it needs a sidecar.
      Entry = Struct.new(:fingerprint, :schedule, :needs_sidecar)

      def initialize(path)
        unless path.is_a?(String) || path.respond_to?(:to_path)
          raise Offbeat.refused("schedules", path, "must be the path of a file of schedules")
        end
        @path = path.respond_to?(:to_path) ? path.to_path : path
        @lock, @entries, @meanings, @seen = Mutex.new, {}, {}, nil
        look
        @looked = now
      end

      # The {Entry} of a checked name and version; nil if the file has none.
      def find(name, version)
        refresh
        @entries["#{name}/#{version}"]
      end

      # The refusal of a name and version that the file does not have.
      def unknown(name, version)
        of_name = @entries.keys.select { |key| key.start_with?("#{name}/") }
        known = of_name.empty? ? @entries.keys : of_name
        more = known.size > SHOWN ? " and #{known.size - SHOWN} more" : ""
        Refusal.new(:UNKNOWN_SCHEDULE, "schedule.reference", "#{name}/#{version}",
                    "must be one that is loaded: #{known.first(SHOWN).join(", ")}#{more}")
      end

      private

      def refresh
        return if now - @looked < LOOK_INTERVAL || !@lock.try_lock

        begin
          @looked = now
          look
        rescue Error => e
          warn("offbeat: #{e.message}; the schedules before stay")
        ensure
          @lock.unlock
        end
      end

      # Reads the file if it has changed. A file that is refused is not read again until it changes.
      def look
        stat = File.stat(@path)
        seen = [stat.mtime, stat.size, stat.ino]
        return if seen == @seen

        @seen = seen
        entries = read(stat.size)
        check_meanings(entries)
        @entries = entries.freeze
      rescue SystemCallError => e
        raise refused(@path, "must be a file of schedules that can be read (#{e.message})")
      end

      def read(size)
        raise refused("#{size} bytes", "must be #{MAX_BYTES} bytes or less") if size > MAX_BYTES

        text = File.read(@path, MAX_BYTES + 1, encoding: "UTF-8")
        listed = V1::ListSchedulesResponse.decode_json(text, ignore_unknown_fields: true)
        entries = listed.schedules.map { |one| entry(one) }
        unless NAMED_SCHEDULES.allows?(entries.size) && listed.next_page_token.empty?
          raise refused("#{entries.size} schedules", "must be #{NAMED_SCHEDULES}, all of them in one file")
        end
        twice = entries.map(&:first).tally.find { |_, count| count > 1 }
        raise refused(twice.first, "must be there once: another schedule has this name and version") if twice

        entries.sort_by { |key, _| [key[%r{\A[^/]*}], key[%r{[^/]*\z}].to_i] }.to_h
      rescue Google::Protobuf::ParseError, TypeError, ArgumentError => e
        raise refused(@path, "must be what `offbeat schedules export` writes (#{e.message[0, 200]})")
      end

      def entry(listed)
        reference, identity, spec = %w[reference identity spec].map do |name|
          Refusal.required(name, listed[name], "it must be set")
        end
        key = "#{SCHEDULE_NAME.check_part("name", reference.name)}/#{SCHEDULE_VERSION.check("version", reference.version)}"
        needs = Schedule.needs_sidecar(spec)
        schedule = Refusal.under("#{key}: spec") { Schedule.new(spec, key) } unless needs
        if schedule && schedule.fingerprint != identity.fingerprint
          raise Refusal.new(:CONTRADICTORY, "#{key}: fingerprint", identity.fingerprint,
                            "must be #{schedule.fingerprint}, that of its spec as this client reads it")
        end
        [key, Entry.new(identity.fingerprint, schedule, needs).freeze]
      rescue Refusal => e
        raise refused("#{e.field}: #{e.value}", e.allowed)
      end

      def check_meanings(entries)
        found = entries.transform_values(&:fingerprint)
        changed = found.find { |key, fingerprint| @meanings.fetch(key, fingerprint) != fingerprint }
        if changed
          raise refused("#{changed.first}: fingerprint: #{changed.last}",
                        "must be #{@meanings[changed.first]}, what this version has meant so far: give what has changed " \
                        "another version")
        end
        all = @meanings.merge(found)
        unless REMEMBERED_SCHEDULES.allows?(all.size)
          raise refused("#{all.size} names and versions since the start", "must be #{REMEMBERED_SCHEDULES}")
        end
        @meanings = all
      end

      def refused(value, allowed)
        shown = Refusal.shorten(value.to_s)
        InvalidArgument.new("schedules: #{shown} is refused: #{allowed}",
                            reason: "ERROR_REASON_MALFORMED", field: "schedules", value: shown, allowed: allowed)
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
