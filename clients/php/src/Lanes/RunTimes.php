<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Internal\Check;
use Offbeat\Times;
use Offbeat\V1beta1;

/**
 * How long jobs run, each on a worker of its own: samples, samples by the type of job, a histogram, or percentiles.
 * Spans are DateIntervals, or numbers of seconds.
 */
final class RunTimes
{
    private function __construct(
        private readonly V1beta1\RunTimeSamples|V1beta1\RunTimeSamplesByType|V1beta1\RunTimeHistogram|V1beta1\RunTimePercentiles $message,
    ) {
    }

    /**
     * The run times of some jobs, in any order; rounded to microseconds.
     *
     * @param iterable<DateInterval|int|float> $times
     *
     * @throws InvalidArgument
     */
    public static function samples(iterable $times): self
    {
        return new self((new V1beta1\RunTimeSamples())->setRunTimeMicros(self::micros('samples', $times)));
    }

    /**
     * The same by the type of job. Lanes by type are then compared too.
     *
     *     RunTimes::samplesByType(['mail' => [0.2, 0.3], 'report' => [61, 75.5]])
     *
     * @param array<int|string, iterable<DateInterval|int|float>> $types
     *
     * @throws InvalidArgument
     */
    public static function samplesByType(array $types): self
    {
        ksort($types, SORT_STRING);
        $messages = [];
        foreach ($types as $name => $times) { // PHP converts a name of digits to an integer
            $field = 'samples_by_type.types[' . count($messages) . ']';
            $messages[] = (new V1beta1\JobTypeSamples())
                ->setName(Check::utf8("$field.name", (string) $name))
                ->setRunTimeMicros(self::micros($field, $times));
        }

        return new self((new V1beta1\RunTimeSamplesByType())->setTypes($messages));
    }

    /**
     * @param iterable<DateInterval|int|float> $times
     *
     * @return list<int>
     */
    private static function micros(string $parent, iterable $times): array
    {
        $micros = [];
        foreach ($times as $time) {
            $micros[] = Times::toMicros("$parent.run_time_micros[" . count($micros) . ']', $time);
        }

        return $micros;
    }

    /**
     * Counts of jobs by run time: pairs of an upper bound and a count, by rising bounds.
     *
     *     RunTimes::histogram([[1, 700], [60, 290], [3600, 10]])
     *
     * @param iterable<array{DateInterval|int|float, int}> $buckets each counts the jobs that ran longer than the bound
     *     before, and at most as long as its own
     *
     * @throws InvalidArgument
     */
    public static function histogram(iterable $buckets): self
    {
        $messages = [];
        foreach ($buckets as [$upperBound, $count]) {
            $field = 'histogram.buckets[' . count($messages) . '].upper_bound';
            $messages[] = (new V1beta1\RunTimeBucket())
                ->setUpperBound(Times::toDuration($field, $upperBound))
                ->setJobCount($count);
        }

        return new self((new V1beta1\RunTimeHistogram())->setBuckets($messages));
    }

    /**
     * A lognormal distribution, by its 90th percentile, and its median or its mean.
     *
     * @throws InvalidArgument
     */
    public static function percentiles(
        DateInterval|int|float|null $p50 = null,
        DateInterval|int|float|null $p90 = null,
        DateInterval|int|float|null $mean = null,
    ): self {
        $message = new V1beta1\RunTimePercentiles();
        if ($p50 !== null) {
            $message->setP50(Times::toDuration('percentiles.p50', $p50));
        }
        if ($p90 !== null) {
            $message->setP90(Times::toDuration('percentiles.p90', $p90));
        }
        if ($mean !== null) {
            $message->setMean(Times::toDuration('percentiles.mean', $mean));
        }

        return new self($message);
    }

    /** @internal */
    public function addTo(V1beta1\PlanLanesRequest $request): void
    {
        match (true) {
            $this->message instanceof V1beta1\RunTimeSamples => $request->setSamples($this->message),
            $this->message instanceof V1beta1\RunTimeSamplesByType => $request->setSamplesByType($this->message),
            $this->message instanceof V1beta1\RunTimeHistogram => $request->setHistogram($this->message),
            $this->message instanceof V1beta1\RunTimePercentiles => $request->setPercentiles($this->message),
        };
    }
}
