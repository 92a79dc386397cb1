<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\V1;
use Random\Engine\Mt19937;
use Random\Randomizer;

/**
 * The places of IDs, by the formulas of offbeat.v1.Placement. MD5 spreads the IDs; it protects nothing.
 *
 * @internal
 */
final class Placing
{
    /** @param int $rotation slots from kind 0 to the kind of the places */
    public function __construct(private readonly CheckedSchedule $schedule, private readonly int $rotation = 0)
    {
    }

    /** @param string $field of the ID, for a refusal */
    public function place(Id $id, string $field): Place
    {
        return match (true) {
            $this->schedule->placement === V1\Placement::PLACEMENT_HASH && $id->type !== Id::FRACTION => $this->hashed($id),
            $this->schedule->placement === V1\Placement::PLACEMENT_FRACTION && $id->type === Id::FRACTION
                => new Place($this->rotated(self::fractionOffset($id->fraction, $this->schedule->periodTicks))),
            $this->schedule->placement === V1\Placement::PLACEMENT_TWISTER && ($id->type === Id::UUID || $id->type === Id::INTEGER)
                => $this->drawn($id),
            default => throw Refusal::of(Refusal::UNSUITABLE, $field, $id->shown(), match ($this->schedule->placement) {
                V1\Placement::PLACEMENT_HASH => 'HASH takes UUIDs, integers and text; a stored fraction needs FRACTION',
                V1\Placement::PLACEMENT_TWISTER => 'TWISTER takes UUIDs and integers; text has no meaning as a seed: use HASH',
                default => 'FRACTION takes the fraction in [0, 1) that the caller stored',
            }),
        };
    }

    /** The offset of an ID for another kind, which stands $rotation slots after kind 0. */
    public function turned(int $offset, int $rotation): int
    {
        $slots = $rotation - $this->rotation;

        return Whole::rest($offset + $slots * $this->schedule->slotTicks, $this->schedule->periodTicks);
    }

    /**
     * The number that smears late runs of an ID: the second half of its hash. Other placements have no salt.
     *
     * @return array{int, int, int, int}
     */
    public function smear(Id $id): array
    {
        return self::limbs(substr(md5($this->schedule->salt . $id->canonical, true), 8));
    }

    /**
     * The first 64 bits, as limbs: see Whole.
     *
     * @return array{int, int, int, int}
     */
    public static function limbs(string $bytes): array
    {
        return array_values(unpack('n4', $bytes));
    }

    private function hashed(Id $id): Place
    {
        $digest = md5($this->schedule->salt . $id->canonical, true);
        $offset = Whole::share(self::limbs($digest), $this->schedule->periodTicks);

        return new Place($this->rotated($offset), bin2hex(substr($digest, 0, 8)));
    }

    /** Draws from a generator of its own: mt_srand() would reseed the global one. */
    private function drawn(Id $id): Place
    {
        $bucket = $id->rest($this->schedule->bucketCount);
        $slot = intdiv($bucket * $this->schedule->slotCount, $this->schedule->bucketCount);
        $draw = (new Randomizer(new Mt19937($id->rest(1 << 32))))->getInt(0, $this->schedule->slotTicks - 1);

        return new Place($this->rotated($slot * $this->schedule->slotTicks + $draw), bucket: $bucket);
    }

    private static function fractionOffset(float $fraction, int $ticks): int
    {
        return min((int) ($fraction * $ticks), $ticks - 1);
    }

    private function rotated(int $offset): int
    {
        return ($offset + $this->rotation * $this->schedule->slotTicks) % $this->schedule->periodTicks;
    }
}
