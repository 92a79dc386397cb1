# frozen_string_literal: true

require_relative "helper"
require "offbeat/testing"
require "open3"
require "rbs"
require "rbs/test"
require "set"

# The signatures in sig/ against the code: the same classes, constants, methods and parameters.
class SignatureTest < OffbeatTest
  FOLDER = File.join(ROOT, "clients/ruby/sig")
  # Internal constants, which users never name.
  INTERNAL = %i[V1 V1beta1 Transport Endpoint Conversation Times Fields IdEncoder error_from refused named set_field Batches Beside].freeze

  # The signatures with Ruby's own, loaded in a test so that a syntax error fails only these tests.
  def self.builder
    @builder ||= begin
      loader = RBS::EnvironmentLoader.new
      loader.add(path: Pathname(FOLDER))
      RBS::DefinitionBuilder.new(env: RBS::Environment.from_loader(loader).resolve_type_names)
    end
  end

  def builder
    SignatureTest.builder
  end

  def name_of(path)
    *folders, name = path.to_s.split("::").map(&:to_sym)
    RBS::TypeName.new(name: name, namespace: RBS::Namespace.new(path: folders, absolute: true))
  end

  # Our classes and the module itself, by reflection.
  def classes
    public_constants.map { |name| Offbeat.const_get(name) }.grep(Module) << Offbeat
  end

  def public_constants
    Offbeat.constants - INTERNAL
  end

  # The methods that a definition declares for the class itself, by name, with their overloads.
  def written(definition, type_name)
    definition.methods.select { |_, method| method.implemented_in == type_name && method.public? }
              .transform_values { |method| method.method_types.map { |overload| parameters(overload.type) } }
  end

  # Parameters in the form of Method#parameters.
  def parameters(function)
    function.required_positionals.map { |param| [:req, param.name] } +
      function.optional_positionals.map { |param| [:opt, param.name] } +
      function.required_keywords.keys.map { |name| [:keyreq, name] } +
      function.optional_keywords.keys.map { |name| [:key, name] } +
      [function.rest_positionals, *function.trailing_positionals, function.rest_keywords].compact.map { |param| [:other, param.name] }
  end

  def struct?(klass)
    klass.is_a?(Class) && klass < Struct
  end

  # A writer's parameter has no name worth comparing.
  def assert_parameters(actual, overloads, where)
    overloads.each do |overload|
      next assert_equal 1, overload.size, where if where.end_with?("=")

      assert_equal actual, overload, where
    end
  end

  def test_the_signature_can_be_read
    Dir[File.join(FOLDER, "*.rbs")].each do |file|
      refute_empty RBS::Parser.parse_signature(File.read(file, encoding: "UTF-8")), file
    end
    classes.each do |klass| # raises where a type is unknown
      builder.build_instance(name_of(klass))
      builder.build_singleton(name_of(klass))
    end
  end

  def test_classes_and_constants_are_the_same
    ours = ->(name) { name.to_s.start_with?("::Offbeat") }
    actual = classes.flat_map { |klass| [klass, *(klass.constants(false) - INTERNAL).map { |name| "#{klass}::#{name}" }] }
    written = builder.env.class_decls.keys.select(&ours) + builder.env.constant_decls.keys.select(&ours)
    assert_equal actual.map { |name| "::#{name}" }.uniq.sort, written.map(&:to_s).sort
  end

  def test_superclasses_are_the_same
    classes.grep(Class).each do |klass|
      ancestor = builder.ancestor_builder.one_instance_ancestors(name_of(klass)).super_class
      assert_equal "::#{klass.superclass}", ancestor.name.to_s, klass
    end
  end

  def test_instance_methods_are_the_same
    classes.grep(Class).each do |klass|
      written = written(builder.build_instance(name_of(klass)), name_of(klass))
      assert_equal klass.public_instance_methods(false).sort, written.keys.sort, klass
      written.each do |name, overloads|
        assert_parameters klass.instance_method(name).parameters, overloads, "#{klass}##{name}"
      end
    end
  end

  def test_constructors_take_the_same
    classes.grep(Class).each do |klass|
      method = builder.build_instance(name_of(klass)).methods.fetch(:initialize)
      is_written = method.implemented_in == name_of(klass)
      assert_equal struct?(klass) || klass.private_instance_methods(false).include?(:initialize), is_written, klass
      next unless is_written

      overloads = method.method_types.map { |overload| parameters(overload.type) }
      assert_parameters taken(klass), overloads, "#{klass}#initialize"
    end
  end

  # The parameters of a constructor, which Ruby does not report for a plain Struct.
  def taken(klass)
    own = klass.instance_method(:initialize)
    return own.parameters unless struct?(klass) && own.owner != klass

    kind = klass.respond_to?(:keyword_init?) && klass.keyword_init? ? :key : :opt
    klass.members.map { |name| [kind, name] }
  end

  def test_module_and_class_methods_are_the_same
    classes.reject { |klass| struct?(klass) }.each do |klass|
      written = written(builder.build_singleton(name_of(klass)), name_of(klass))
      written.delete(:new) # derived from initialize
      assert_equal (klass.singleton_methods(false) - INTERNAL).sort, written.keys.sort, klass
      written.each { |name, overloads| assert_parameters klass.method(name).parameters, overloads, "#{klass}.#{name}" }
    end
  end

  def test_symbols_are_the_same
    {
      placement: Offbeat::Schedule::PLACEMENTS, profile: Offbeat::Schedule::PROFILES, spacing: Offbeat::Schedule::SPACINGS,
      id_type: Offbeat::IdEncoder::TYPES, sql_dialect: Offbeat::SqlTarget::DIALECTS, sql_column_type: Offbeat::SqlTarget::COLUMN_TYPES,
      sql_parameter_style: Offbeat::SqlTarget::PARAMETER_STYLES, allocation_rule: Offbeat::Client::ALLOCATION_RULES,
      stage_weighting: Offbeat::Client::STAGE_WEIGHTINGS, lane_policy: Offbeat::LaneSet::POLICIES,
      timeout_action: Offbeat::LaneSet::TIMEOUT_ACTIONS, calendar_unit: Offbeat::CalendarCycle::UNITS,
      exclusion_policy: Offbeat::Exclusion::POLICIES, first_run_policy: Offbeat::NewId::POLICIES,
      missed_run_policy: Offbeat::CatchUpPolicy::MISSED_RUN_POLICIES,
      spread_policy: Offbeat::Spread::POLICIES, shortage_policy: Offbeat::Spread::SHORTAGES
    }.each do |name, names|
      assert_equal names.keys, builder.expand_alias(name_of("Offbeat::#{name}")).types.map(&:literal), name
    end
  end

  # The symbols in answers are the values of each enum, in order.
  def test_symbols_of_answers_are_those_of_the_contract
    {
      spread_state: Offbeat::V1::SpreadState, group_state: Offbeat::V1::GroupState, empty_reason: Offbeat::V1::EmptyReason,
      dead_letter_cause: Offbeat::V1::DeadLetterCause, settle_action: Offbeat::V1::SettleAction, settle_outcome: Offbeat::V1::SettleOutcome,
      stage_choice_reason: Offbeat::V1::StageChoiceReason, route_reason: Offbeat::V1::RouteReason, separation: Offbeat::V1::Separation,
      audit_finding: Offbeat::V1::AuditFinding, migration_path: Offbeat::V1::MigrationPath, lane_verdict: Offbeat::V1beta1::LaneVerdict
    }.each do |name, enum|
      prefix = "#{name.to_s.upcase}_"
      values = enum.descriptor.to_h.sort_by(&:last).map { |value, _| value.to_s.delete_prefix(prefix).downcase.to_sym }
      assert_equal values - [:unspecified], builder.expand_alias(name_of("Offbeat::#{name}")).types.map(&:literal), name
    end
  end

  # Runs the README's examples again, and checks the type of each argument and each answer.
  def test_examples_have_the_types_that_are_written
    checks = { "RBS_TEST_TARGET" => "Offbeat::*", "RBS_TEST_OPT" => "-I #{FOLDER}", "RBS_TEST_RAISE" => "true",
               "RBS_TEST_LOGLEVEL" => "info" }
    output, status = Open3.capture2e(checks, RbConfig.ruby, "-rrbs/test/setup", "-I#{ROOT}/clients/ruby/lib",
                                     "-I#{__dir__}", File.join(__dir__, "readme_test.rb"))
    assert_predicate status, :success?, output
    assert_includes output, "Setting up hooks for ::Offbeat::Client"
  end

  # Members of values, which those hooks do not see.
  def test_members_have_the_types_that_are_written
    stages = [Offbeat::Stage.new(name: "a", backlog_count: 3, run_times: [1, 2.5]), Offbeat::Stage.new(name: "b")]
    check_members(client.allocate_workers(stages.each, worker_count: 2))
    check_members(client.choose_stage(stages))
    short = Offbeat::Lane.new(name: "short", worker_count: 1, attempt_timeout: 0.5)
    check_members(client.route_job(Offbeat::LaneSet.new(lanes: [short, Offbeat::Lane.new(name: "long", worker_count: 1)])))
    run_times = Offbeat::RunTimeHistogram.new(buckets: { 1 => 95, 300.5 => 5 })
    plan = client.plan_lanes(run_times, arrival_rate: 0.15, worker_count: 4)
    check_members(plan)
    jobs = [Offbeat::PendingJob.new(id: "a"), Offbeat::PendingJob.new(id: "b", timed_out_lane_names: plan.lane_set.lanes.map(&:name))]
    check_members(client.dispatch_jobs(plan.lane_set, jobs, free_workers: plan.lane_set.lanes.to_h { |lane| [lane.name, lane.worker_count] }))
    check_members(client.split_workers(plan.lane_set, plan.lane_set.lanes.map { |lane| Offbeat::LaneState.new(lane_name: lane.name) }))
    [*stages, *jobs, run_times].each { |question| check_members(question) }
    assert_operator @checked.size, :>=, 23, @checked.to_s
  end

  def test_members_of_slots_have_the_types_that_are_written
    berlin = Offbeat::CalendarCycle.new(unit: :day, time_zone: "Europe/Berlin")
    exclusion = Offbeat::Exclusion.new(calendar: berlin, window: 79_200...82_800, policy: :skip)
    daily = Offbeat::Schedule.new(calendar: berlin, active_windows: [...3_600, 7_200...43_200], exclusions: [exclusion],
                                  weight_quantum: 5)
    every_4_hours = Offbeat::Schedule.new(period: 14_400, slot_count: 8)
    new_id = Offbeat::NewId.new(create_time: NOON, policy: :now_smeared, smear_span: 60)
    column = Offbeat::SqlTarget.new(dialect: :sqlite, table: "t", column: "h", column_type: :hash_digits)
    kinds = Offbeat::Schedule.new(calendar: berlin, kinds: [Offbeat::Kind.new(name: "a", run_time: 60), Offbeat::Kind.new(name: "b", run_time: 0.5)])
    jobs = %w[a b].map { |kind| Offbeat::ComparedJob.new(schedule: kinds, kind: kind) }
    [kinds, client.describe_schedule(kinds), *jobs, client.compare_schedules(jobs), daily, every_4_hours, new_id, Offbeat::ScheduleReference.new(name: "a", version: 1),
     client.describe_schedule(daily, population: 1_000), client.reciprocal_slots(every_4_hours, kind_count: 2),
     client.assign_slot(daily, "a", weight: 12, from_time: NOON, new_id: new_id),
     client.assign_slots(daily, ["a"], weights: [12], from_time: NOON).first,
     client.list_due_runs(EIGHT_HOURS, ["a"], watermark: NOON - 28_800, now_time: NOON).first,
     client.plan_migration(EIGHT_HOURS, every_4_hours, sql_target: column),
     client.plan_migration(EIGHT_HOURS, every_4_hours, ids: ["a"]).ids.first,
     client.audit_ids(EIGHT_HOURS, ["a", "a", "x" * 1_025], return_errors: true)].each { |value| check_members(value) }
    assert_operator @checked.size, :>=, 25, @checked.to_s
  end

  def test_members_of_named_spreads_have_the_types_that_are_written
    mail = client.named_spread("signature-test", feeder_count: 2, policy: :cooldown)
    mail.producer.submit("a", %w[a1 a2])
    pulled = mail.pull("me", 1)
    [mail.open, mail.update(max_attempt_count: 3), pulled, mail.pull("me", 1), mail.pull("me", 1), client.server_info,
     *mail.settle([[pulled.jobs.first, :extend_lease], [pulled.jobs.first, :dead_letter]]), *mail.dead_letters,
     mail.producer.submit("b", %w[b1])].each { |value| check_members(value) }
    assert_operator @checked.size, :>=, 11, @checked.to_s
  ensure
    mail.discard
  end

  def check_members(value)
    (@checked ||= Set.new) << value.class
    types = RBS::Test::TypeCheck.new(self_class: value.class, builder: builder, sample_size: 100, unchecked_classes: [])
    methods = builder.build_instance(name_of(value.class)).methods
    value.each_pair do |name, member|
      type = methods.fetch(name).method_types.first.type.return_type
      assert types.value(member, type), "#{value.class}##{name} is #{member.inspect}, and not #{type}"
      Array(member.is_a?(Struct) ? [member] : member).grep(Struct).each { |inner| check_members(inner) }
    end
  end
end
