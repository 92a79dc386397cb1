<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Google\Protobuf\Internal\Message;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Exception\NotFound;
use Offbeat\Internal\Wire;
use Offbeat\Mode;
use Offbeat\V1;

/**
 * Decides the requests that need no sidecar. No other class knows which methods these are.
 *
 * @internal
 */
final class Decider
{
    private const MAX_SCHEDULES = 256;
    private const SLOTS = 'offbeat.v1.SlotService/';
    // The fields of batches that are read from their bytes.
    private const IDS = 2;
    private const WEIGHTS = ['AssignSlots' => 5, 'ListDueRuns' => 3];
    private const WATERMARKS = 6;

    /** @var array<string, CheckedSchedule> by the bytes of their messages */
    private array $schedules = [];

    /** @param \Closure(): \DateTimeInterface $clock */
    public function __construct(
        private readonly Mode $mode,
        private readonly ?ScheduleFile $file,
        private readonly \Closure $clock,
    ) {
    }

    /**
     * The answer to a request; null if a sidecar must give it.
     *
     * @param string $opening fields that are not in the request, as bytes: its schedule
     *
     * @throws InvalidArgument|NotFound the same refusal as the sidecar's
     * @throws NeedsSidecar in Mode::Local
     */
    public function answer(string $method, Message $request, string $opening = ''): ?Message
    {
        $schedule = fn (): CheckedSchedule => $this->schedule(match (true) {
            $opening !== '' => Wire::fields($opening)[1][0],
            $request->getSchedule() !== null => $request->getSchedule()->serializeToString(),
            default => null,
        });

        return $this->orSidecar(fn (): Message => match ($method) {
            self::SLOTS . 'AssignSlot' => SlotAnswers::assign($schedule(), $request, $this->now()),
            self::SLOTS . 'DescribeSchedule' => SlotAnswers::describe($schedule(), $request, $this->now()),
            self::SLOTS . 'ListSlots' => SlotAnswers::list($schedule, $request, $this->now()),
            self::SLOTS . 'GetWindowPredicate' => SlotAnswers::window($schedule(), $request, $this->now()),
            'offbeat.v1.LaneService/RouteJob' => Lanes::route($request),
            default => throw self::unknown($method),
        });
    }

    /** The same for a batch, as bytes. */
    public function batch(string $method, string $bytes): ?string
    {
        return $this->orSidecar(fn (): string => match ($method) {
            self::SLOTS . 'AssignSlots' => $this->assign($bytes),
            self::SLOTS . 'ListDueRuns' => $this->due($bytes),
            default => throw self::unknown($method),
        });
    }

    /** Whether a batch can be decided here, judged by its method and its schedule alone. */
    public function takes(string $method, string $bytes): bool
    {
        if (!isset(self::WEIGHTS[substr($method, strlen(self::SLOTS))])) {
            return false;
        }
        try {
            $this->schedule(Wire::taken($bytes, [1])[0][1]);
        } catch (NeedsSidecar) {
            return false;
        }

        return true;
    }

    /** Why a schedule cannot be decided here; null if it can. */
    public function refusal(string $opening): ?string
    {
        try {
            $this->schedule(Wire::fields($opening)[1][0]);
        } catch (NeedsSidecar $refused) {
            return $refused->getMessage();
        }

        return null;
    }

    /**
     * @template T
     *
     * @param \Closure(): T $decide
     *
     * @return ?T
     */
    private function orSidecar(\Closure $decide): mixed
    {
        try {
            return $decide();
        } catch (NeedsSidecar $refused) {
            return $this->mode === Mode::Local ? throw $refused : null;
        }
    }

    private function assign(string $bytes): string
    {
        [$columns, $request] = self::batchRequest('AssignSlots', $bytes, new V1\AssignSlotsRequest());

        return BatchAnswers::assign($this->schedule($request->getSchedule()?->serializeToString()), $request, $columns[self::IDS], $this->now());
    }

    private function due(string $bytes): string
    {
        [$columns, $request] = self::batchRequest('ListDueRuns', $bytes, new V1\ListDueRunsRequest());
        $schedule = fn (): CheckedSchedule => $this->schedule($request->getSchedule()?->serializeToString());

        return DueAnswers::list($schedule, $request, $columns[self::IDS], $columns[self::WATERMARKS], $this->now());
    }

    /**
     * The columns of a batch, and the rest of the request.
     *
     * @template T of Message
     *
     * @param T $request
     *
     * @return array{array<int, string>, T}
     */
    private static function batchRequest(string $method, string $bytes, Message $request): array
    {
        $numbers = [self::IDS, self::WEIGHTS[$method], ...($method === 'ListDueRuns' ? [self::WATERMARKS] : [])];
        [$columns, $rest] = Wire::taken($bytes, $numbers);
        if ($columns[self::WEIGHTS[$method]] !== '') {
            throw new NeedsSidecar('weights need a sidecar: clients decide IDs of one piece alone');
        }
        $request->mergeFromString($rest);

        return [$columns, $request];
    }

    /** @param ?string $bytes an offbeat.v1.Schedule; null if there is none */
    private function schedule(?string $bytes): CheckedSchedule
    {
        if ($bytes !== null && isset($this->schedules[$bytes])) {
            return $this->schedules[$bytes];
        }
        if ($bytes === null) {
            throw Refusal::of(Refusal::MISSING, 'schedule', 'nothing', 'it must be set');
        }
        $message = new V1\Schedule();
        $message->mergeFromString($bytes);
        if ($message->hasReference()) {
            return $this->named($message->getReference()); // not remembered, because the file may change
        }
        if (!$message->hasSpec()) {
            throw Refusal::of(Refusal::MISSING, 'schedule', 'nothing', 'spec or reference must be set');
        }
        if (count($this->schedules) >= self::MAX_SCHEDULES) {
            $this->schedules = [];
        }

        return $this->schedules[$bytes] = ScheduleReader::spec($message->getSpec());
    }

    private function named(V1\ScheduleReference $reference): CheckedSchedule
    {
        [$name, $version] = [$reference->getName(), $reference->getVersion()];
        if ($this->file === null || ($this->mode !== Mode::Local && !$this->file->has($name, $version))) {
            throw new NeedsSidecar('a schedule by name needs a sidecar, or a file of schedules that has it');
        }
        Names::checkPart('schedule.reference.name', $name);
        if ($version < 1 || $version > 1_000_000) {
            throw $version === 0
                ? Refusal::of(Refusal::MISSING, 'schedule.reference.version', 0, 'must be 1 to 1000000; the newest is not the default')
                : Refusal::of(Refusal::OUT_OF_RANGE, 'schedule.reference.version', $version, 'must be 1 to 1000000');
        }

        return $this->file->get($name, $version);
    }

    private function now(): Moment
    {
        return Moment::ofTime(($this->clock)());
    }

    private static function unknown(string $method): NeedsSidecar
    {
        return new NeedsSidecar(substr($method, (int) strrpos($method, '/') + 1) . ' needs a sidecar: clients do not decide it');
    }
}
