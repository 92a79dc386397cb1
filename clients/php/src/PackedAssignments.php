<?php

declare(strict_types=1);

namespace Offbeat;

/**
 * Assignments of packed IDs: columns with a row for each ID, in the order of the IDs. A column is kept as bytes, and
 * its method unpacks it to an array.
 *
 * A refused ID has -1 in all columns, and an entry in the errors. Columns that were not requested are empty.
 */
final class PackedAssignments implements \Countable
{
    private const SLOT_BYTES = 4;
    private const WIDE_BYTES = 8;

    /**
     * @param string $slotIndexBytes 4 bytes each; little-endian, as in all columns
     * @param string $slotOffsetTickBytes 8 bytes each, as in the following columns
     * @param list<IdError> $errors the refused IDs, by rising index
     * @param int $tickNanos length of a tick, the unit of the offsets
     * @param string $runKeyPrefix the beginning of run keys: the key of a row's next run is `runKeyPrefix/cycle
     *     index/0/ID`, with the canonical text of the ID; Run::idOf() derives the run ID from it
     *
     * @internal
     */
    public function __construct(
        public readonly string $fingerprint,
        public readonly string $slotIndexBytes,
        public readonly string $slotOffsetTickBytes,
        public readonly string $cycleOffsetTickBytes,
        public readonly string $cycleIndexBytes,
        public readonly string $nextRunUnixMilliBytes,
        public readonly string $lastRunUnixMilliBytes,
        public readonly array $errors,
        public readonly int $tickNanos,
        public readonly string $runKeyPrefix,
        public readonly DecidedBy $decidedBy = DecidedBy::Sidecar,
    ) {
    }

    /**
     * Joins the answers to the batches of one call.
     *
     * @param non-empty-list<self> $parts
     *
     * @internal
     */
    public static function joined(array $parts): self
    {
        $first = $parts[0];
        $all = static fn (string $column): string => implode('', array_column($parts, $column));

        return count($parts) === 1 ? $first : new self(
            $first->fingerprint,
            $all('slotIndexBytes'),
            $all('slotOffsetTickBytes'),
            $all('cycleOffsetTickBytes'),
            $all('cycleIndexBytes'),
            $all('nextRunUnixMilliBytes'),
            $all('lastRunUnixMilliBytes'),
            array_merge(...array_column($parts, 'errors')),
            $first->tickNanos,
            $first->runKeyPrefix,
            DecidedBy::ofAll(array_column($parts, 'decidedBy')),
        );
    }

    public function count(): int
    {
        return max(
            intdiv(strlen($this->slotIndexBytes), self::SLOT_BYTES),
            intdiv(strlen($this->slotOffsetTickBytes), self::WIDE_BYTES),
            intdiv(strlen($this->cycleOffsetTickBytes), self::WIDE_BYTES),
            intdiv(strlen($this->cycleIndexBytes), self::WIDE_BYTES),
            intdiv(strlen($this->nextRunUnixMilliBytes), self::WIDE_BYTES),
            intdiv(strlen($this->lastRunUnixMilliBytes), self::WIDE_BYTES),
        );
    }

    /** @return list<int> */
    public function slotIndexes(): array
    {
        $slots = array_values(unpack('V*', $this->slotIndexBytes));
        foreach ($slots === [] ? [] : $this->errors as $error) {
            $slots[$error->idIndex] = -1; // unpack() reads it without its sign
        }

        return $slots;
    }

    /** @return list<int> ticks from the start of the slot to the run */
    public function slotOffsetTicks(): array
    {
        return array_values(unpack('P*', $this->slotOffsetTickBytes));
    }

    /** @return list<int> ticks from the start of the cycle to the run */
    public function cycleOffsetTicks(): array
    {
        return array_values(unpack('P*', $this->cycleOffsetTickBytes));
    }

    /** @return list<int> cycles of the next runs */
    public function cycleIndexes(): array
    {
        return array_values(unpack('P*', $this->cycleIndexBytes));
    }

    /** @return list<int> next runs, in milliseconds since the Unix epoch */
    public function nextRunUnixMillis(): array
    {
        return array_values(unpack('P*', $this->nextRunUnixMilliBytes));
    }

    /**
     * @return list<int> last runs, in milliseconds since the Unix epoch; -1 if exclusions skip the previous 1,000
     *     cycles
     */
    public function lastRunUnixMillis(): array
    {
        return array_values(unpack('P*', $this->lastRunUnixMilliBytes));
    }
}
