<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\V1;

/**
 * A schedule of elapsed periods, checked, with every default filled in.
 *
 * @internal
 */
final class CheckedSchedule
{
    public readonly int $slotTicks;
    public readonly int $slotMillis;
    public readonly int $periodMillis;
    public readonly string $canonicalText;
    public readonly string $fingerprint;
    /** The beginning of its run keys: its name and version, or the fingerprint. */
    public readonly string $runKeyRoot;

    /**
     * @param int $placement one of V1\Placement
     * @param ?int $bucketCount with PLACEMENT_TWISTER only
     * @param ?string $name name and version, if the schedule has them
     */
    public function __construct(
        public readonly int $periodTicks,
        public readonly int $tickMillis,
        public readonly int $anchorMillis,
        public readonly int $slotCount,
        public readonly int $placement,
        public readonly string $salt,
        public readonly ?int $bucketCount,
        public readonly ?Kinds $kinds,
        private readonly ?string $name = null,
    ) {
        $this->slotTicks = intdiv($periodTicks, $slotCount);
        $this->slotMillis = $this->slotTicks * $tickMillis;
        $this->periodMillis = $periodTicks * $tickMillis;
        $this->canonicalText = $this->text();
        $this->fingerprint = hash('sha256', $this->canonicalText);
        $this->runKeyRoot = $name ?? $this->fingerprint;
    }

    /** The same schedule, known by its name and version. */
    public function named(string $name): self
    {
        return new self(
            $this->periodTicks,
            $this->tickMillis,
            $this->anchorMillis,
            $this->slotCount,
            $this->placement,
            $this->salt,
            $this->bucketCount,
            $this->kinds,
            $name,
        );
    }

    public function period(): Span
    {
        return Span::ofMillis($this->periodMillis);
    }

    public function tick(): Span
    {
        return Span::ofMillis($this->tickMillis);
    }

    public function ticks(int $count): Span
    {
        return Span::ofMillis($count * $this->tickMillis);
    }

    /** The cycle that contains a millisecond since the Unix epoch. */
    public function cycleAt(int $millis): int
    {
        return Whole::floor($millis - $this->anchorMillis, $this->periodMillis);
    }

    public function identity(): V1\ScheduleIdentity
    {
        return (new V1\ScheduleIdentity())->setFingerprint($this->fingerprint)->setRunKeyRoot($this->runKeyRoot);
    }

    /**
     * The beginning of the run keys of a kind, and the slots from kind 0 to it.
     *
     * @return array{string, int}
     */
    public function ofKind(string $kind): array
    {
        $offset = 0;
        if ($this->kinds !== null) {
            $offset = $this->kinds->list[$this->kinds->index($kind)]->offset;
        }

        return ["$this->runKeyRoot/" . ($kind === '' ? 'default' : $kind), $offset];
    }

    /** The spec, with every default filled in. */
    public function spec(): V1\ScheduleSpec
    {
        $spec = (new V1\ScheduleSpec())
            ->setPeriod($this->period()->message())
            ->setResolution($this->tick()->message())
            ->setAnchorTime(Moment::messageOf($this->anchorMillis))
            ->setSlotCount($this->slotCount)
            ->setPlacement($this->placement)
            ->setSalt($this->salt);
        if ($this->bucketCount !== null) {
            $spec->setBucketCount($this->bucketCount)->setProfile(V1\TwisterProfile::TWISTER_PROFILE_PHP);
        }
        if ($this->kinds !== null) {
            $kind = static function (Kind $kind): V1\Kind {
                $message = (new V1\Kind())->setName($kind->name);

                return $kind->runTime === null ? $message : $message->setRunTime($kind->runTime->message());
            };
            $spec->setKinds(array_map($kind, $this->kinds->list))
                ->setKindSpacing($this->kinds->isStable ? V1\KindSpacing::KIND_SPACING_STABLE : V1\KindSpacing::KIND_SPACING_EVEN)
                ->setCatchUpSpan($this->kinds->catchUpSpan->message());
        }

        return $spec;
    }

    private function text(): string
    {
        $lines = [
            'offbeat.v1.Schedule',
            'period=' . $this->period()->text(),
            'resolution=' . $this->tick()->text(),
            'anchor_time=' . Moment::ofMillis($this->anchorMillis)->text(),
            "slot_count=$this->slotCount",
        ];
        if ($this->kinds !== null) {
            $lines[] = 'kind_spacing=' . ($this->kinds->isStable ? 'STABLE' : 'EVEN');
            foreach ($this->kinds->list as $kind) {
                $lines[] = rtrim("kind=$kind->name {$kind->runTime?->text()}");
            }
            $lines[] = 'catch_up_span=' . $this->kinds->catchUpSpan->text();
        }
        array_push($lines, ...match ($this->placement) {
            V1\Placement::PLACEMENT_HASH => ['placement=HASH', "salt=$this->salt"],
            V1\Placement::PLACEMENT_TWISTER => ['placement=TWISTER', "bucket_count=$this->bucketCount", 'profile=PHP'],
            default => ['placement=FRACTION'],
        });

        return implode("\n", $lines);
    }
}
