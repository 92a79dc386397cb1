<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NotFound;
use Offbeat\IdType;
use Offbeat\Internal\Local\Id;
use Offbeat\Internal\Local\Placing;
use Offbeat\Internal\Local\Refusal;
use Offbeat\Internal\Local\ScheduleReader;
use Offbeat\Internal\Local\Whole;
use Offbeat\Schedule;
use Offbeat\ScheduleReference;

/**
 * Calls that the client answers without a sidecar, in any mode.
 *
 * @internal
 */
trait LocalCalls
{
    /**
     * Why a schedule needs a sidecar, as a sentence; null if the client can decide it alone. Use this to check a
     * schedule at startup.
     *
     * @throws InvalidArgument if the schedule is invalid
     * @throws NotFound in Mode::Local, if the file of schedules does not have this name and version
     */
    public function localRefusal(Schedule|ScheduleReference|string $schedule): ?string
    {
        return $this->decider->refusal(ScheduleEncoder::schedule($schedule));
    }

    /**
     * The shard of a tenant, from 0: the slot that Placement::Hash gives its ID in a cycle of $shardCount slots. It is
     * computed in this process, in any mode.
     *
     * @param int $shardCount 1 to 1,048,576. A multiple of the old count splits the old shards, and mixes none
     * @param ?IdType $idType as in assignSlot()
     *
     * @throws InvalidArgument
     */
    public static function shard(
        int|string|\Stringable|\GMP $id,
        int $shardCount,
        string $salt = '',
        ?IdType $idType = null,
    ): int {
        if ($shardCount < 1 || $shardCount > ScheduleReader::MAX_SLOTS) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'shard_count', $shardCount, 'must be 1 to 1048576 shards');
        }
        ScheduleReader::checkSalt(Check::utf8('salt', $salt), 'salt');
        $canonical = Id::ofMessage((new IdEncoder($idType))->one($id))->canonical;

        return Whole::share(Placing::limbs(md5($salt . $canonical, true)), $shardCount);
    }
}
