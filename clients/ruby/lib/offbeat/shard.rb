# frozen_string_literal: true

require_relative "local/decider"

module Offbeat
  # The shard of a tenant, from 0: the slot that the placement :hash gives its ID, with `shard_count` slots. It is
  # computed in this process, without a sidecar. If a new shard count is a multiple of the old one, it splits the old
  # shards, and mixes none.
  #
  #   Offbeat.shard("acme", 16) # => 5
  #
  # @param shard_count 1 to 1,048,576
  # @param salt a namespace of at most 256 bytes of UTF-8: another salt places the same IDs independently
  # @param id_type what a String stands for: :uuid, :text or :integer
  def self.shard(id, shard_count, salt: "", id_type: nil)
    message = IdEncoder.new(id_type).one(id)
    Local.shard(message, shard_count, salt)
  end
end
