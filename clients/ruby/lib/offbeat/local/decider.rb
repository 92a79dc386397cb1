# frozen_string_literal: true

require_relative "assign_slot"
require_relative "assign_slots"
require_relative "catalog"
require_relative "due_runs"
require_relative "route_job"
require_relative "slots"

module Offbeat
  # Decides in this process the requests that need no sidecar: messages in, messages out, identical to the sidecar's to
  # the bit. {Client#local_refusal} says which schedules it does not decide, and why.
  module Local
    # Answers those requests of a client that need no sidecar. May be shared by threads.
    class Decider
      METHODS = { "AssignSlot" => AssignSlot, "AssignSlots" => AssignSlots, "DescribeSchedule" => DescribeSchedule,
                  "ListSlots" => ListSlots, "GetWindowPredicate" => GetWindowPredicate,
                  "ListDueRuns" => ListDueRuns }.freeze
      PREDICATES = %w[ListSlots GetWindowPredicate].freeze
      REMEMBERED = 256 # how many checked schedules are kept
      private_constant :METHODS, :PREDICATES, :REMEMBERED

      # @param schedules the path of a file of schedules, or nil
      # @param clock an object whose `call` returns the current time
      def initialize(schedules: nil, clock: -> { Time.now })
        @catalog = schedules && Catalog.new(schedules)
        @clock = clock
        @lock, @checked = Mutex.new, {}
      end

      # The answer to a request. If it needs a sidecar, throws :needs_sidecar with the reason, or with the refusal of a
      # schedule that the file does not have.
      def answer(method, request)
        return RouteJob.answer(request) if method == "RouteJob"

        entry = entry_for(method, request)
        METHODS.fetch(method).answer(request, -> { entry.schedule || check(request.schedule) }, now)
      rescue Refusal => e
        raise e.to_error
      end

      # Whether a request about IDs needs no sidecar.
      def takes?(method, request)
        catch(:needs_sidecar) do
          entry_for(method, request)
          return true
        end
        false
      rescue Refusal
        true # a refusal needs no sidecar
      end

      # Why a schedule needs a sidecar; nil if it needs none. Refuses an invalid schedule.
      def refusal(message)
        entry = entry(message)
        return entry.needs_sidecar if entry.needs_sidecar

        check(message) unless entry.schedule
        nil
      rescue Refusal => e
        raise e.to_error
      end

      private

      # The entry of the schedule of a request that needs no sidecar. For other requests, throws :needs_sidecar with the
      # reason.
      def entry_for(method, request)
        deciding = METHODS[method] or throw(:needs_sidecar, "#{method} needs a sidecar")
        entry = entry(request.schedule)
        needs = deciding.needs_sidecar(request) || entry.needs_sidecar and throw(:needs_sidecar, needs)
        check_predicates(request, entry) if PREDICATES.include?(method) && request.sql_target
        entry
      end

      # The entry of the schedule of a request, before the schedule is checked.
      def entry(message)
        case message&.schedule
        when :reference then Refusal.under("schedule.reference") { named(message.reference) }
        when :spec
          bytes = V1::ScheduleSpec.encode(message.spec)
          @lock.synchronize { @checked[bytes] } || Catalog::Entry.new(nil, nil, Schedule.needs_sidecar(message.spec))
        else Catalog::Entry.new
        end
      end

      def named(reference)
        name = SCHEDULE_NAME.check_part("name", reference.name)
        version = reference.version
        if version.zero?
          allowed = "must be #{SCHEDULE_VERSION}; the newest is not the default"
          raise Refusal.new(:FIELD_MISSING, "version", version, allowed)
        end
        SCHEDULE_VERSION.check("version", version)
        @catalog or throw(:needs_sidecar, "a schedule by name needs a sidecar, or a file of schedules (schedules:)")
        @catalog.find(name, version) or throw(:needs_sidecar, @catalog.unknown(name, version))
      end

      # The schedule of a spec that needs no sidecar, which is then remembered.
      def check(message)
        Refusal.required("schedule", message, "it must be set")
        spec = Refusal.required("schedule", message.spec, "spec or reference must be set")
        schedule = Refusal.under("schedule.spec") { Schedule.new(spec) }
        @lock.synchronize do
          @checked.shift if @checked.size >= REMEMBERED
          @checked[V1::ScheduleSpec.encode(spec)] = Catalog::Entry.new(nil, schedule, nil).freeze
        end
        schedule
      end

      # Clients write predicates only for the placement HASH.
      def check_predicates(request, entry)
        placement = entry.schedule ? entry.schedule.placement.name : request.schedule&.spec&.placement.to_s
        needs = %w[TWISTER FRACTION].find { |name| placement.end_with?(name) } or return
        throw(:needs_sidecar, "predicates of #{needs} need a sidecar: clients write those of HASH")
      end

      def now
        Instants.moment("now", Times.to_timestamp("now", @clock.call))
      end
    end

    # The shard of an ID, given as a message.
    def self.shard(message, shard_count, salt)
      raise Refusal.new(:MALFORMED, "shard_count", shard_count.inspect, "must be an Integer") unless shard_count.is_a?(Integer)

      SLOT_COUNT.check("shard_count", shard_count)
      raise Refusal.new(:MALFORMED, "salt", salt.inspect, "must be a String") unless salt.is_a?(String)

      SALT.check("salt", salt.bytesize, "a salt of #{salt.bytesize} bytes")
      id = Refusal.under("id") { Id.of(message.id, message[message.id.to_s]) }
      Placement.new("HASH", salt: salt).on(shard_count, shard_count).place(id, 0).slot
    rescue Refusal => e
      raise e.to_error
    end
  end
  private_constant :Local
end
