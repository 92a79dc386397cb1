<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Exception\NotFound;
use Offbeat\Internal\Clock;
use Offbeat\Internal\Json;
use Offbeat\V1;

/**
 * Schedules by name, from a file with the JSON of an offbeat.v1.ListSchedulesResponse. The file is read again when it
 * changes. If it then cannot be read, or gives a version another meaning, the error is logged, and the schedules stay
 * as they were.
 *
 * @internal
 */
final class ScheduleFile
{
    private const MAX_BYTES = 16 << 20;
    private const MAX_SCHEDULES = 1_000;
    private const SHOWN = 8;
    private const CHECK_SECONDS = 1.0;

    /** @var ?array<string, array<string, mixed>> by name and version */
    private ?array $listed = null;
    /** @var array<string, CheckedSchedule> those that were requested */
    private array $checked = [];
    /** @var array<string, string> the fingerprints of all schedules that the file has ever had */
    private array $meanings = [];
    private float $checkedAt = -INF;
    /** Modification time, size and inode of the file. */
    private string $stamp = '';

    public function __construct(private readonly string $path)
    {
    }

    /**
     * @throws NotFound|InvalidArgument|NeedsSidecar
     */
    public function get(string $name, int $version): CheckedSchedule
    {
        $this->refresh();
        $key = "$name/$version";
        if (isset($this->checked[$key])) {
            return $this->checked[$key];
        }
        $listed = $this->listed[$key] ?? throw Refusal::unknownSchedule('schedule.reference', $key, $this->whatThereIs($name));
        $schedule = ScheduleReader::spec($this->spec($key, $listed['spec']))->named($key);
        if ($schedule->fingerprint !== $this->meanings[$key]) {
            $allowed = "must be {$schedule->fingerprint}, that of its spec: the file was changed by hand, or is of another release";
            throw $this->refused("$key: fingerprint", $this->meanings[$key], $allowed);
        }

        return $this->checked[$key] = $schedule;
    }

    /** @param array<string, mixed> $json */
    private function spec(string $key, array $json): V1\ScheduleSpec
    {
        try {
            return Json::message(new V1\ScheduleSpec(), $json);
        } catch (\Exception $malformed) { // each runtime of protobuf throws a class of its own
            throw $this->refused("$key: spec", $malformed->getMessage(), 'must be the JSON of a ScheduleSpec that this client knows');
        }
    }

    /** Whether the file has this schedule. */
    public function has(string $name, int $version): bool
    {
        $this->refresh();

        return isset($this->listed["$name/$version"]);
    }

    /** Reads the file if it has changed, which is checked at most once a second. */
    private function refresh(): void
    {
        if (Clock::now() - $this->checkedAt < self::CHECK_SECONDS) {
            return;
        }
        $this->checkedAt = Clock::now();
        clearstatcache(true, $this->path);
        $stat = @stat($this->path);
        $stamp = $stat === false ? 'none' : "$stat[mtime] $stat[size] $stat[ino]";
        if ($stamp === $this->stamp) {
            return;
        }
        try {
            $listed = $this->read();
        } catch (InvalidArgument $refused) {
            if ($this->listed === null) {
                $this->checkedAt = -INF;
                throw $refused;
            }
            $this->stamp = $stamp;
            error_log("offbeat: the schedules stay as they were: {$refused->getMessage()}");

            return;
        }
        $this->stamp = $stamp;
        $this->listed = $listed;
        $this->checked = [];
        $this->meanings = array_map(self::fingerprint(...), $listed) + $this->meanings;
    }

    /** @return array<string, array<string, mixed>> */
    private function read(): array
    {
        $text = @file_get_contents($this->path, length: self::MAX_BYTES + 1);
        if ($text === false || strlen($text) > self::MAX_BYTES) {
            throw $this->refused('schedules', $this->path, 'must be a file that can be read, of up to 16 MiB');
        }
        $tree = json_decode($text, true);
        $schedules = is_array($tree) ? $tree['schedules'] ?? null : null;
        if (!is_array($schedules) || count($schedules) > self::MAX_SCHEDULES) {
            $allowed = "must be the JSON of 'offbeat schedules export', or of ListSchedules, with up to 1000 schedules";
            throw $this->refused('schedules', $this->path, $allowed);
        }
        $listed = [];
        foreach ($schedules as $place => $schedule) {
            $reference = is_array($schedule) ? $schedule['reference'] ?? [] : [];
            $name = $reference['name'] ?? null;
            $version = $reference['version'] ?? null;
            if (!is_string($name) || !is_int($version) || self::fingerprint($schedule) === '' || !is_array($schedule['spec'] ?? null)) {
                $allowed = 'must have reference, identity and spec';
                throw $this->refused("schedules[$place]", get_debug_type($schedule), $allowed);
            }
            $listed["$name/$version"] = $schedule;
        }
        foreach (array_intersect_key($listed, $this->meanings) as $key => $schedule) {
            if (self::fingerprint($schedule) !== $this->meanings[$key]) {
                $allowed = "must be {$this->meanings[$key]}, what this version has meant so far: give what has changed another version";
                throw $this->refused("$key: fingerprint", self::fingerprint($schedule), $allowed);
            }
        }

        return $listed;
    }

    private function refused(string $field, string $value, string $allowed): InvalidArgument
    {
        return Refusal::of(Refusal::CONTRADICTORY, $field, $value, $allowed);
    }

    /** @param array<string, mixed> $schedule */
    private static function fingerprint(array $schedule): string
    {
        $fingerprint = $schedule['identity']['fingerprint'] ?? '';

        return is_string($fingerprint) ? $fingerprint : '';
    }

    /** The versions of a name; if it has none, all names and versions. */
    private function whatThereIs(string $name): string
    {
        $all = array_keys($this->listed ?? []);
        usort($all, 'strnatcmp');
        $ofName = array_filter($all, static fn (string $key): bool => str_starts_with($key, "$name/"));
        $known = $ofName === [] ? $all : $ofName;
        $more = count($known) > self::SHOWN ? ' and ' . count($known) - self::SHOWN . ' more' : '';

        return $known === [] ? 'no schedules are loaded' : 'must be one that is loaded: ' . implode(', ', array_slice($known, 0, self::SHOWN)) . $more;
    }
}
