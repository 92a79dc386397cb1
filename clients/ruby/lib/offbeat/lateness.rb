# frozen_string_literal: true

module Offbeat
  # Records how late the runs of a schedule start, in the metrics of this process: as the event "run_lateness.offbeat"
  # of ActiveSupport::Notifications, and in the histogram offbeat_run_lateness_seconds of the gem prometheus-client, if
  # these are loaded. With a client, it records in the sidecar's metrics too.
  #
  #   LATENESS = Offbeat::Lateness.new("bank-sync", kind: "poll", client: Offbeat::Client.new)
  #   LATENESS.record(scheduled_time) # when the job begins
  #
  # Recording never makes a job fail. The first error becomes a warning; with `on_error`, every error is passed to it
  # instead. May be shared by threads, and used on both sides of a fork.
  class Lateness
    EVENT = "run_lateness.offbeat"
    METRIC = :offbeat_run_lateness_seconds
    BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400].freeze # the same as the sidecar's
    BATCH_RUNS = 1_000 # runs that are sent to the sidecar together
    MAX_AGE = 10 # seconds after which fewer are sent
    TIMEOUT = 1 # second: the longest time that a job waits for the sidecar
    LONGEST = 366 * 86_400 # seconds: the largest lateness that the sidecar accepts
    private_constant :BATCH_RUNS, :MAX_AGE, :TIMEOUT, :LONGEST

    attr_reader :schedule_name, :kind

    # @param schedule the name of the schedule, a {ScheduleReference}, or the text of one. The name without the version
    #   is a label of the metric
    # @param kind the kind of job: another label
    # @param client a {Client}, to record in the sidecar's metrics too. {#record} sends a batch now and then, and
    #   {#flush} the last one
    # @param registry the registry of prometheus-client. Default: Prometheus::Client.registry
    # @param on_error called with each error of the metrics, instead of a warning
    def initialize(schedule, kind: "default", client: nil, registry: nil, on_error: nil)
      reference = schedule.is_a?(String) ? ScheduleReference.parse(schedule) : schedule
      @schedule_name = reference.is_a?(ScheduleReference) ? reference.name : schedule
      @kind, @client, @registry = kind, client, registry
      @on_error = on_error || method(:warn_once)
      @lock = Mutex.new
      @pending, @since, @pid = [], nil, Process.pid
    end

    # Records a run that starts now. Returns how late it is in seconds, 0 or more; nil if that cannot be computed.
    #
    # @param run a {Run}, a {Row} (its next run counts), or the time at which the run should have started
    def record(run, started_time: Time.now)
      unharmed do
        scheduled = Times.to_time("run", scheduled_time(run))
        started = Times.to_time("started_time", started_time)
        late = [(started - scheduled).to_f, 0.0].max
        unharmed { notify(late, scheduled, started) }
        unharmed { observe(late) }
        unharmed { tell_sidecar(late) } if @client
        late
      end
    end

    # Sends the sidecar the runs that have not been sent. Call this at the end of a process.
    def flush
      unharmed { send_to_sidecar { true } } if @client
      nil
    end

    private

    def scheduled_time(run)
      case run
      when Run then run.scheduled_time
      when Row then run.next_run.scheduled_time
      else run
      end
    end

    def notify(late, scheduled, started)
      return unless defined?(::ActiveSupport::Notifications)

      ::ActiveSupport::Notifications.instrument(EVENT, schedule: schedule_name, kind: kind, lateness: late,
                                                       scheduled_time: scheduled, started_time: started)
    end

    def observe(late)
      registry = @registry || (::Prometheus::Client.registry if defined?(::Prometheus::Client))
      histogram(registry).observe(late, labels: { schedule: schedule_name, kind: kind }) if registry
    end

    # The histogram. The first recorder registers it, and recorders of other schedules and kinds share it.
    def histogram(registry)
      registry.get(METRIC) ||
        registry.histogram(METRIC, docstring: "From the scheduled to the real start of runs",
                                   labels: %i[schedule kind], buckets: BUCKETS)
    rescue StandardError
      registry.get(METRIC) || raise # another thread registered it first
    end

    def tell_sidecar(late)
      @lock.synchronize do
        @pending, @pid = [], Process.pid unless @pid == Process.pid # the parent sends its own runs
        @since = now if @pending.empty?
        @pending << [late, LONGEST].min
      end
      send_to_sidecar { @pending.size >= BATCH_RUNS || now - @since >= MAX_AGE }
    end

    # Sends the pending runs if the block says so. A failed batch is not sent again, because the sidecar may have
    # counted it.
    def send_to_sidecar
      sent = @lock.synchronize do
        next if @pid != Process.pid || @pending.empty? || !yield

        @pending.tap { @pending = [] }
      end
      @client.record_lateness(schedule_name, sent, kind: kind, timeout: TIMEOUT) if sent
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def unharmed
      yield
    rescue StandardError => e
      begin
        @on_error.call(e)
      rescue StandardError
        nil # an error of on_error must not make a job fail either
      end
      nil
    end

    def warn_once(error)
      warn("offbeat: the lateness of runs is not recorded: #{error.message[/.*/]}") unless @warned
      @warned = true
    end
  end
end
