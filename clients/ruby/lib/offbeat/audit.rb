# frozen_string_literal: true

module Offbeat
  # How evenly a sample of IDs fills the slots. `slot_loads` is the load of each slot: its IDs or, with weights, the
  # weight of their pieces.
  #
  # `expected_load` is the {ExpectedLoad} of as many IDs that are placed at random. `p_value` is the probability that
  # chance makes a distribution as uneven: below 0.001, something is wrong with the IDs. It is nil with fewer than five
  # IDs a slot. `warnings` say what is wrong, worst first.
  Audit = Value.define(:fingerprint, :id_count, :slot_loads, :fullest_slot_index, :fullest_load, :fullest_to_mean_ratio,
                       :expected_load, :empty_slot_count, :chi_square, :p_value,
                       :warnings, :errors) do
    def self.of(message)
      new(fingerprint: message.identity.fingerprint, id_count: message.id_count, slot_loads: message.slot_loads.to_a,
          fullest_slot_index: message.fullest_slot_index, fullest_load: message.fullest_load,
          fullest_to_mean_ratio: message.fullest_to_mean_ratio, expected_load: ExpectedLoad.of(message.expected_load),
          empty_slot_count: message.empty_slot_count,
          chi_square: message.chi_square, p_value: message.has_p_value? ? message.p_value : nil,
          warnings: message.warnings.map { |warning| AuditWarning.of(warning) },
          errors: message.errors.map { |error| IdError.of(error, 0) })
    end
  end

  # A problem with a sample of IDs. `finding` is :time_based_uuids, :sparse_integers, :uneven, :duplicates, :heavy_id or
  # :never_run. `message` is a sentence with figures, and what to do.
  AuditWarning = Value.define(:finding, :message) do
    def self.of(message)
      new(finding: Fields.symbol(message.finding, "AUDIT_FINDING_"), message: message.message)
    end
  end
end
