<?php

declare(strict_types=1);

namespace Offbeat;

/** Whether jobs are kept apart on each ID. */
enum Separation: string
{
    /**
     * On every ID, a run of one job has ended before the next run of the other one starts, if each starts on time and
     * takes no longer than its run time.
     */
    case Apart = 'apart';

    /** There are IDs on which they meet. */
    case Meet = 'meet';

    /** It is not known: treat it as meeting. */
    case Unknown = 'unknown';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\Separation::SEPARATION_APART => self::Apart,
            V1\Separation::SEPARATION_MEET => self::Meet,
            V1\Separation::SEPARATION_UNKNOWN => self::Unknown,
        };
    }
}
