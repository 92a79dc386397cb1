# frozen_string_literal: true

require_relative "ids"
require_relative "instants"

module Offbeat
  module Local
    # `RouteJob`: the lane in which the next attempt of a job runs.
    class RouteJob
      def self.answer(request)
        new(Refusal.required("lane_set", request.lane_set, "must be set")).answer(request)
      end

      def initialize(lane_set)
        Refusal.under("lane_set") do
          @lanes = lane_set.lanes.to_a
          check_names
          @timeouts = @lanes.each_with_index.map do |lane, place|
            Refusal.under("lanes[#{place}]") { Instants.span("attempt_timeout", lane.attempt_timeout) }
          end
          Refusal.known("policy", lane_set.policy, "0 to 2, a value of LanePolicy", default: :default)
          @suspends = Refusal.known("on_timeout", lane_set.on_timeout, "0 to 2, a value of TimeoutAction",
                                    default: :default) == :TIMEOUT_ACTION_SUSPEND
          check_lanes
          @max_probability = lane_set.has_max_express_slow_probability? ? lane_set.max_express_slow_probability : 1.0
          check_probability("max_express_slow_probability", @max_probability)
        end
      end

      def answer(request)
        timed_out = request.timed_out_lane_names.each_with_index.map do |name, at|
          place("timed_out_lane_names[#{at}]", name)
        end
        prediction = read(request.prediction)
        worker = request.worker_lane_name.empty? ? nil : place("worker_lane_name", request.worker_lane_name)
        if worker && @lanes[worker].worker_count.zero?
          raise Refusal.new(:OUT_OF_RANGE, "worker_lane_name", "another", "must be a lane of the set that has workers")
        end
        lane, reason = entry(timed_out, predicted(*prediction))
        return V1::RouteJobResponse.new(permanent_failure: failure(timed_out.max)) unless lane

        lane, reason = worker, :ROUTE_REASON_IDLE_WORKER if worker && worker > lane
        V1::RouteJobResponse.new(route: route(lane, timed_out.size, reason))
      end

      private

      def check_names
        @lanes.each_with_index do |lane, place|
          name = lane.name
          Refusal.under("lanes[#{place}]") { MEMBER_NAME.check("name", name.bytesize, Refusal.quoted(name)) }
          other = @lanes.index { |one| one.name == name }
          next if other == place

          raise Refusal.new(:CONTRADICTORY, "lanes[#{place}].name", Refusal.quoted(name),
                            "must not be the name of [#{other}] too")
        end
      end

      def check_lanes
        LANE_COUNT.check("lanes", @lanes.size)
        @lanes.each_with_index do |lane, place|
          Refusal.under("lanes[#{place}]") do
            LANE_WORKERS.check("worker_count", lane.worker_count)
            if lane.worker_count.zero? && [0, last].include?(place)
              raise Refusal.new(:OUT_OF_RANGE, "worker_count", 0,
                                "must be 1 or more: the express and the slow lane must not be without workers")
            end
            check_timeout(place)
          end
        end
      end

      def check_timeout(place)
        timeout, before = @timeouts[place], place.zero? ? nil : @timeouts[place - 1]
        if timeout.nil?
          return if place == last

          raise Refusal.missing("attempt_timeout", "must be set: the slow lane alone may be without")
        end
        LANE_TIMEOUT_MILLIS.check("attempt_timeout", timeout.div(Instants::MILLI), Instants.seconds_text(timeout))
        return if before.nil? || timeout > before

        raise Refusal.new(:CONTRADICTORY, "attempt_timeout", Instants.seconds_text(timeout),
                          "must be longer than #{Instants.seconds_text(before)}, the timeout of the lane before")
      end

      def check_probability(field, probability)
        return if probability >= 0 && probability <= 1 # false for NaN too

        raise Refusal.new(:OUT_OF_RANGE, field, decimal(probability), "must be 0 to 1")
      end

      # The text of a double as Rust displays it: without an exponent, and without a point if it is whole.
      def decimal(number)
        return Id.shown(number) unless number.finite?

        sign, digits, exponent = number.to_s.match(/\A(-?)([\d.]+)(?:e([+-]\d+))?\z/).captures
        whole, fraction = digits.split(".")
        power = exponent.to_i - fraction.delete_suffix("0").size
        "#{sign}#{shifted((whole + fraction.delete_suffix("0")).to_i.to_s, power)}"
      end

      # Digits times a power of ten.
      def shifted(digits, power)
        return digits + ("0" * power) unless power.negative?

        digits.rjust(1 - power, "0").insert(power - 1, ".")
      end

      def last
        @lanes.size - 1
      end

      def place(field, name)
        @lanes.index { |lane| lane.name == name } or
          raise Refusal.new(:OUT_OF_RANGE, field, Refusal.quoted(name),
                            "must be a lane of the set: #{@lanes.map(&:name).join(", ")}")
      end

      # The kind of a prediction, and its value; nil for both if there is none.
      def read(prediction)
        return [nil, nil] unless prediction

        allowed = "slow_probability or run_time must be set"
        field = Refusal.required("prediction.prediction", prediction.prediction, allowed)
        return [field, prediction.slow_probability] if field == :slow_probability

        [field, Instants.span("prediction.run_time", prediction.run_time)]
      end

      # The index of the lane in which an untried job starts.
      def predicted(kind, value)
        case kind
        when nil then 0
        when :slow_probability
          check_probability("prediction.slow_probability", value)
          with_workers(value > @max_probability ? 1 : 0)
        else
          if value.negative?
            raise Refusal.new(:OUT_OF_RANGE, "prediction.run_time", Instants.seconds_text(value), "must be 0 s or more")
          end
          with_workers(@timeouts.index { |timeout| timeout.nil? || value <= timeout } || last)
        end
      end

      # The index of the first lane with workers, from `lane` on; nil if there is none.
      def with_workers(lane)
        (lane..last).find { |place| @lanes[place].worker_count.positive? }
      end

      # The fastest lane that may run a job, and why. The lane is nil if no lane with workers is slower than those whose
      # timeout the job has exceeded.
      def entry(timed_out, predicted)
        slowest = timed_out.max
        return [with_workers(slowest + 1), :ROUTE_REASON_DEMOTED] if slowest

        [predicted, predicted.positive? ? :ROUTE_REASON_PREDICTED_SLOW : :ROUTE_REASON_UNTRIED]
      end

      def route(lane, timeouts, reason)
        following = @timeouts[lane] && with_workers(lane + 1)
        V1::LaneRoute.new(lane_name: @lanes[lane].name, attempt: timeouts + 1, reason: reason,
                          attempt_timeout: Instants.duration_of_nanos(@timeouts[lane]),
                          next_lane_name: following ? @lanes[following].name : "",
                          resumes: timeouts.positive? && @suspends)
      end

      def failure(lane)
        name, timeout = @lanes[lane].name, @timeouts[lane]
        after = timeout ? " of #{Instants.seconds_text(timeout)}" : ""
        V1::PermanentFailure.new(last_lane_name: name, exceeded_timeout: Instants.duration_of_nanos(timeout),
                                 message: "reached the timeout#{after} of lane #{Refusal.quoted(name)}, the last")
      end
    end
  end
end
