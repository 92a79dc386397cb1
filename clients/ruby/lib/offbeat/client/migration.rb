# frozen_string_literal: true

module Offbeat
  # Asks how to move IDs from one schedule to another.
  class Client
    # Plans how IDs change from one schedule to another so that none is lost, and none runs twice within `min_gap`: a
    # {MigrationPlan}.
    #
    # @param cutover_time when the new schedule takes over. Default: the next start of a cycle of the old one
    # @param min_gap no ID runs twice within this many seconds. Default: 0, which leaves out no runs
    # @param ids any number of IDs of one type, to get their last old and first new runs. Refused IDs are raised or
    #   returned as by {#assign_slots}
    # @param kind the kind that moves, if a schedule declares kinds
    # @param sql_target a {SqlTarget}, to get the plan as conditions of SQL too
    def plan_migration(old_schedule, new_schedule, cutover_time: nil, min_gap: nil, ids: nil, kind: nil, id_type: nil,
                       sql_target: nil, return_errors: false, timeout: nil)
      opening = V1::PlanMigrationRequest.new(old_schedule: Fields.schedule(old_schedule, "old_schedule"),
                                             new_schedule: Fields.schedule(new_schedule, "new_schedule"))
      opening.cutover_time = Times.to_timestamp("cutover_time", cutover_time) if cutover_time
      opening.min_gap = Times.to_duration("min_gap", min_gap) unless min_gap.nil?
      opening.sql_target = sql_target.to_message if sql_target
      Offbeat.set_field(opening, "kind", kind)
      encoder = IdEncoder.new(id_type)
      plan, parts = migrated(opening, ids, encoder, timeout)
      accepted(MigrationPlan.of(plan, ids && MigratedIds.new(encoder, parts), sql_target), return_errors)
    end

    private

    # The plan, and pairs: the IDs of a batch, and the message that answers them.
    def migrated(opening, ids, encoder, timeout)
      plan, parts = nil, []
      (ids.nil? ? [] : IdEncoder.batches(ids)).each do |batch|
        request = Google::Protobuf.deep_copy(opening)
        request.ids = encoder.column(batch)
        answer = call("PlanMigration", request, V1::PlanMigrationResponse, timeout)
        parts << [batch, answer.ids]
        next if plan

        plan = answer
        opening.cutover_time = plan.cutover_time # one cutover for all batches
        opening.sql_target = nil
      end
      [plan || call("PlanMigration", opening, V1::PlanMigrationResponse, timeout), parts]
    end
  end
end
