<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\Check;

/** A kind of job, which a schedule keeps apart from its other kinds. */
final class Kind
{
    public readonly DateInterval|int|float|null $runTime;

    /**
     * @param string $name 1 to 64 characters of A-Z a-z 0-9 . _ - ; part of the run keys
     * @param DateInterval|int|float|null $runTime how long a run takes at most; given for every kind of a
     *     schedule, or for none. Default: not known
     */
    public function __construct(public readonly string $name, DateInterval|int|float|null $runTime = null)
    {
        $this->runTime = Times::copy($runTime);
    }

    /** @internal */
    public function toMessage(string $field): V1\Kind
    {
        $message = (new V1\Kind())->setName(Check::utf8("$field.name", $this->name));
        if ($this->runTime !== null) {
            $message->setRunTime(Times::toDuration("$field.run_time", $this->runTime));
        }

        return $message;
    }
}
