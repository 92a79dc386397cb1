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
     * Why a schedule needs a sidecar, in words; null if the client can decide it alone. A declaration can
     * be checked with it at start.
     *
     * @throws InvalidArgument if the schedule is wrong
     * @throws NotFound if the file of schedules has none of this name
     */
    public function localRefusal(Schedule|ScheduleReference|string $schedule): ?string
    {
        return $this->decider->refusal(ScheduleEncoder::schedule($schedule));
    }

    /**
     * The shard of a tenant, from 0: the slot that Placement::Hash gives an ID in a cycle of so many slots. It needs
     * no sidecar in any mode.
     *
     * @param int $shardCount 1 to 1,048,576. With a multiple of it, no ID leaves its shard's part
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
