<?php

declare(strict_types=1);

// The parts of promphp/prometheus_client_php 2 that the client and the tests use. If the library
// can be loaded, the tests use it instead.

namespace Prometheus\Storage;

if (!class_exists(InMemory::class)) {
    class InMemory
    {
        /** @var array<string, array{string, list<string>, list<float>, array<string, array{list<string>, list<float>}>}> */
        public array $histograms = [];
    }
}

namespace Prometheus;

if (!interface_exists(RegistryInterface::class)) {
    interface RegistryInterface
    {
        public function getOrRegisterHistogram(string $namespace, string $name, string $help, array $labels = [], ?array $buckets = null): Histogram;

        /** @return MetricFamilySamples[] */
        public function getMetricFamilySamples(): array;
    }

    class CollectorRegistry implements RegistryInterface
    {
        public function __construct(private readonly Storage\InMemory $storage, bool $registerDefaultMetrics = true)
        {
        }

        public function getOrRegisterHistogram(string $namespace, string $name, string $help, array $labels = [], ?array $buckets = null): Histogram
        {
            $this->storage->histograms["{$namespace}_$name"] ??= [$help, $labels, $buckets, []];

            return new Histogram($this->storage, "{$namespace}_$name");
        }

        public function getMetricFamilySamples(): array
        {
            return array_map(
                static fn (string $name, array $histogram): MetricFamilySamples => new MetricFamilySamples($name, $histogram),
                array_keys($this->storage->histograms),
                $this->storage->histograms,
            );
        }
    }

    class Histogram
    {
        public function __construct(private readonly Storage\InMemory $storage, private readonly string $name)
        {
        }

        public function observe(float $value, array $labels = []): void
        {
            [, $names] = $this->storage->histograms[$this->name];
            if (count($names) !== count($labels)) {
                throw new \InvalidArgumentException('Labels are not defined correctly');
            }
            $this->storage->histograms[$this->name][3][implode("\0", $labels)][0] = $labels;
            $this->storage->histograms[$this->name][3][implode("\0", $labels)][1][] = $value;
        }
    }

    class MetricFamilySamples
    {
        public function __construct(private readonly string $name, private readonly array $histogram)
        {
        }

        public function getName(): string
        {
            return $this->name;
        }

        /** @return string[] */
        public function getLabelNames(): array
        {
            return $this->histogram[1];
        }

        /** @return Sample[] */
        public function getSamples(): array
        {
            $samples = [];
            [, , $buckets, $series] = $this->histogram;
            foreach ($series as [$labels, $values]) {
                foreach ([...$buckets, INF] as $bound) {
                    $count = count(array_filter($values, static fn (float $value): bool => $value <= $bound));
                    $samples[] = new Sample("{$this->name}_bucket", [...$labels, $bound === INF ? '+Inf' : $bound], $count);
                }
                $samples[] = new Sample("{$this->name}_count", $labels, count($values));
                $samples[] = new Sample("{$this->name}_sum", $labels, array_sum($values));
            }

            return $samples;
        }
    }

    class Sample
    {
        public function __construct(private readonly string $name, private readonly array $labelValues, private readonly int|float $value)
        {
        }

        public function getName(): string
        {
            return $this->name;
        }

        public function getLabelValues(): array
        {
            return $this->labelValues;
        }

        public function getValue(): string
        {
            return (string) $this->value;
        }
    }
}
