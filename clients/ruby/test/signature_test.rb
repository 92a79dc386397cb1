# frozen_string_literal: true

require_relative "helper"
require "open3"
require "rbs"

# sig/offbeat.rbs against the code: the same classes, constants, methods and parameters.
class SignatureTest < OffbeatTest
  FOLDER = File.join(ROOT, "clients/ruby/sig")
  # What the client is made of: no user names it.
  INTERNAL = %i[V1 Transport Conversation Times IdEncoder error_from refused named set_field].freeze

  # The signature with Ruby's own; in a test, since one that cannot be read must not end the others.
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

  # Our classes and the module itself, as Ruby has them.
  def classes
    public_constants.map { |name| Offbeat.const_get(name) }.grep(Module) << Offbeat
  end

  def public_constants
    Offbeat.constants - INTERNAL
  end

  # The methods that a definition writes down for the class itself, by name, with their overloads.
  def written(definition, type_name)
    definition.methods.select { |_, method| method.implemented_in == type_name && method.public? }
              .transform_values { |method| method.method_types.map { |overload| parameters(overload.type) } }
  end

  # As Method#parameters lists them.
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
    refute_empty RBS::Parser.parse_signature(File.read(File.join(FOLDER, "offbeat.rbs"), encoding: "UTF-8"))
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
      # Ruby does not say what a Struct takes.
      kind = klass.respond_to?(:keyword_init?) && klass.keyword_init? ? :key : :opt
      actual = struct?(klass) ? klass.members.map { |name| [kind, name] } : klass.instance_method(:initialize).parameters
      assert_parameters actual, overloads, "#{klass}#initialize"
    end
  end

  def test_module_and_class_methods_are_the_same
    classes.reject { |klass| struct?(klass) }.each do |klass|
      written = written(builder.build_singleton(name_of(klass)), name_of(klass))
      written.delete(:new) # made of initialize
      assert_equal (klass.singleton_methods(false) - INTERNAL).sort, written.keys.sort, klass
      written.each { |name, overloads| assert_parameters klass.method(name).parameters, overloads, "#{klass}.#{name}" }
    end
  end

  def test_symbols_are_the_same
    {
      placement: Offbeat::Schedule::PLACEMENTS, profile: Offbeat::Schedule::PROFILES, spacing: Offbeat::Client::SPACINGS,
      id_type: Offbeat::IdEncoder::TYPES, sql_dialect: Offbeat::SqlColumn::DIALECTS, sql_type: Offbeat::SqlColumn::TYPES,
      sql_parameter_style: Offbeat::SqlColumn::PARAMETER_STYLES
    }.each do |name, names|
      assert_equal names.keys, builder.expand_alias(name_of("Offbeat::#{name}")).types.map(&:literal), name
    end
  end

  # The types themselves: the README's examples once more, each argument and each answer checked.
  def test_examples_have_the_types_that_are_written
    checks = { "RBS_TEST_TARGET" => "Offbeat::*", "RBS_TEST_OPT" => "-I #{FOLDER}", "RBS_TEST_RAISE" => "true",
               "RBS_TEST_LOGLEVEL" => "info" }
    output, status = Open3.capture2e(checks, RbConfig.ruby, "-rrbs/test/setup", "-I#{ROOT}/clients/ruby/lib",
                                     "-I#{__dir__}", File.join(__dir__, "readme_test.rb"))
    assert_predicate status, :success?, output
    assert_includes output, "Setting up hooks for ::Offbeat::Client"
  end
end
