# frozen_string_literal: true

require_relative "v1/spread_pb"
require_relative "value"

module Offbeat
  # A turn of a spread. `group_index` and `job` are nil if the turn passes without a job.
  SpreadTurn = Struct.new(:sequence, :group_index, :job, keyword_init: true)

  # The certificate of a spread. Distances and spans are in turns. `min_gap_turns` and `best_min_gap_turns` are nil if
  # no group had two jobs.
  SpreadCertificate = Struct.new(:job_count, :group_count, :min_gap_turns, :best_min_gap_turns, :close_pair_count,
                                 :close_pair_lower_bound, :widest_span_turns, keyword_init: true) do
    def self.of(message)
      gaps = %w[min_gap_turns best_min_gap_turns].to_h { |gap| [gap.to_sym, message.public_send("has_#{gap}?") ? message[gap] : nil] }
      new(
        job_count: message.job_count, group_count: message.group_count, **gaps,
        close_pair_count: message.close_pair_count, close_pair_lower_bound: message.close_pair_lower_bound,
        widest_span_turns: message.widest_span_turns
      )
    end
  end

  # The order in which groups take turns; `max_open_group_count` is nil with :round_robin.
  SpreadOrder = Value.define(:policy, :feeder_count, :max_open_group_count) do
    def self.of(message)
      new(policy: Spread::POLICIES.key(message.policy), feeder_count: message.feeder_count,
          max_open_group_count: message.has_max_open_group_count? ? message.max_open_group_count : nil)
    end

    # The order as its message; the path names it in refusals.
    def to_message(path)
      message = V1::SpreadOrder.new
      message.policy = Offbeat.named("#{path}.policy", policy, Spread::POLICIES) if policy
      Fields.set_all(message, self, path, %w[feeder_count max_open_group_count])
      message
    end
  end

  # Where a spread starts: the first request of its stream, the number of the first turn that was not taken before, and
  # whether groups must have a size.
  #
  # A token is these three as bytes: the number of the format, `sized` and `sequence`, and the request.
  class SpreadStart
    FORM = 1
    HEAD = "CCQ>" # form, sized, sequence
    HEAD_BYTES = 10
    private_constant :FORM, :HEAD, :HEAD_BYTES

    attr_reader :request, :sequence

    # The start that a token describes; nil for any other value.
    def self.parse(token)
      return unless token.is_a?(String) && token.bytesize > HEAD_BYTES

      form, sized, sequence = token.unpack(HEAD)
      request = V1::SpreadRequest.decode(token.byteslice(HEAD_BYTES..))
      new(request, sized: sized == 1, sequence: sequence) if form == FORM && request.message
    rescue Google::Protobuf::ParseError
      nil
    end

    def initialize(request, sized:, sequence: 0)
      @request, @sized, @sequence = request, sized, sequence
    end

    def sized?
      @sized
    end

    # The start after the first `taken` turns of a message.
    def after(turns, taken)
      resume = V1::SpreadResume.new(resume_token: turns.resume_token,
                                    taken_group_indexes: turns.group_indexes.to_a.first(taken))
      SpreadStart.new(V1::SpreadRequest.new(resume: resume), sized: @sized, sequence: turns.first_turn_index + taken)
    end

    def to_token
      [FORM, @sized ? 1 : 0, sequence].pack(HEAD) << V1::SpreadRequest.encode(request)
    end
  end
  private_constant :SpreadStart

  # The turns of a spread, in order. They can be taken only once. Groups and jobs are pulled meanwhile, in the thread
  # that takes the turns.
  class Spread
    include Enumerable

    POLICIES = { round_robin: :SPREAD_POLICY_ROUND_ROBIN, cooldown: :SPREAD_POLICY_COOLDOWN }.freeze
    SHORTAGES = { emit: :SHORTAGE_POLICY_EMIT, wait: :SHORTAGE_POLICY_WAIT }.freeze

    # @param start a {SpreadStart}
    # @param converse opens the connection
    def initialize(groups, start, converse)
      @groups, @start, @converse = groups, start, converse
      @open, @next_index, @certificate = {}, 0, nil
      @turns, @taken = nil, 0 # the last message of turns, and how many of them were taken
    end

    # The position after the turns that were taken, as bytes for {Client#resume_spread}.
    def resume_token
      (@turns ? @start.after(@turns, @taken) : @start).to_token
    end

    # The certificate. Raises an IndexError until all turns have been taken.
    def certificate
      @certificate or raise IndexError, "the spread has not ended"
    end

    def each
      return enum_for(:each) unless block_given?

      raise Error, "the turns of a spread can be taken once: go on with resume_spread" if @pulled

      @pulled = @groups.each_entry
      conversation = @converse.call
      begin
        conversation.write(V1::SpreadRequest.encode(@start.request))
        while (bytes = conversation.read)
          take(V1::SpreadResponse.decode(bytes), conversation) { |turn| yield turn }
        end
        self
      ensure
        conversation.close
      end
    end

    private

    def take(response, conversation, &block)
      case response.message
      when :demand then conversation.write(V1::SpreadRequest.encode(V1::SpreadRequest.new(input: answer(response.demand))))
      when :turns then deal(response.turns, &block)
      when :certificate then @certificate = SpreadCertificate.of(response.certificate)
      end
    end

    # Pulls the groups and jobs that the sidecar demands, and says how many there were.
    def answer(demand)
      input = V1::SpreadInput.new
      demand.group_count.times do
        begin
          group = @pulled.next
        rescue StopIteration
          break input.no_more_groups = true
        end
        input.groups << open_group(group, demand.jobs_per_group)
      end
      demand.groups.each do |asked|
        group = @open[asked.group_index]
        # The last jobs of the group may have been sent before the demand arrived.
        input.groups << pull(asked.group_index, asked.job_count) unless group.nil? || group.ended
      end
      input
    end

    def open_group(group, count)
      index, @next_index = @next_index, @next_index + 1
      size = size_of(index, group) if @start.sized?
      @open[index] = OpenGroup.new(index, group, size)
      pull(index, count).tap { |message| message.size = size if size }
    end

    def pull(index, count)
      group = @open[index]
      pulled = group.pull(count)
      @open.delete(index) if group.ended && group.ready.empty?
      V1::GroupInput.new(group_index: index, job_count: pulled, last: group.ended)
    end

    def deal(turns)
      indexes, first = turns.group_indexes.to_a, turns.first_turn_index
      @turns = turns if first + indexes.size > @start.sequence
      indexes.each.with_index do |index, place|
        turn = turn(first + place, index)
        next if turn.sequence < @start.sequence

        @taken = place + 1
        yield turn
      end
    end

    def turn(sequence, index)
      return SpreadTurn.new(sequence: sequence) if index.negative?

      group = @open.fetch(index)
      job = group.ready.shift
      @open.delete(index) if group.ended && group.ready.empty?
      SpreadTurn.new(sequence: sequence, group_index: index, job: job)
    end

    def size_of(index, group)
      size = group.size if group.respond_to?(:size)
      return size if size.is_a?(Integer)

      raise Offbeat.refused("groups[#{index}]", group.class, "must have a size (an Array, a Range) with :cooldown")
    end

    # An open group: its jobs that were pulled, and those to come.
    class OpenGroup
      attr_reader :ready, :ended

      def initialize(index, jobs, size)
        @index, @jobs, @left = index, jobs.each_entry, size
        @ready, @ended = [], size&.zero?
      end

      # Pulls up to `count` jobs. Returns how many there were.
      def pull(count)
        count.times do |pulled|
          return pulled if ended

          @ready << @jobs.next
          @ended = (@left -= 1).zero? if @left
        rescue StopIteration
          raise Offbeat.refused("groups[#{@index}]", "a shorter group", "must have as many jobs as its size says") if @left

          @ended = true
          return pulled
        end
        count
      end
    end
    private_constant :OpenGroup
  end
end
