# frozen_string_literal: true

# The parts of the gem prometheus-client (1.0 and later) that count runs, for machines
# without the gem.
module Prometheus
  module Client
    def self.registry
      @registry ||= Registry.new
    end

    class Registry
      class AlreadyRegisteredError < StandardError; end

      def initialize
        @metrics = {}
      end

      def get(name)
        @metrics[name.to_sym]
      end

      def histogram(name, docstring:, labels: [], buckets: [])
        raise AlreadyRegisteredError, name.to_s if @metrics.key?(name)

        @metrics[name] = Histogram.new(docstring, labels, buckets)
      end
    end

    class Histogram
      attr_reader :docstring

      def initialize(docstring, labels, buckets)
        raise ArgumentError, "docstring must be given" if docstring.empty?
        raise ArgumentError, "Unsorted buckets, typo?" unless buckets.sort == buckets

        @docstring, @labels, @buckets = docstring, labels, buckets
        @values = Hash.new { |series, names| series[names] = [] }
      end

      def observe(value, labels: {})
        @values[checked(labels)] << value
      end

      # The number of values up to each bound, and the sum of all values.
      def get(labels: {})
        seen = @values[checked(labels)]
        counts = @buckets.to_h { |bound| [bound.to_s, seen.count { |value| value <= bound }.to_f] }
        counts.merge("+Inf" => seen.size.to_f, "sum" => seen.sum.to_f)
      end

      private

      def checked(labels)
        raise ArgumentError, "labels must be #{@labels}" unless labels.keys.sort == @labels.sort

        labels
      end
    end
  end
end
