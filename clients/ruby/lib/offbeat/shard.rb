# frozen_string_literal: true

require_relative "local/decider"

module Offbeat
  # The shard of a tenant, from 0: what :hash gives as the slot of so many slots. It asks nobody. A shard count that is
  # a multiple of another splits its shards, and mixes none.
  #
  #   Offbeat.shard("acme", 16) # => 5
  #
  # @param shard_count 1 to 1,048,576
  # @param salt another one places the same IDs independently: at most 256 bytes of UTF-8
  # @param id_type what a String stands for: :uuid, :text or :integer
  def self.shard(id, shard_count, salt: "", id_type: nil)
    message = IdEncoder.new(id_type).one(id)
    Local.shard(message, shard_count, salt)
  end
end
