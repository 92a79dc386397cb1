<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\DecidedBy;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Exception\OffbeatException;
use Offbeat\Mode;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\Tests\Random\Draw;
use Offbeat\Tests\Random\Questions;
use Offbeat\Tests\Random\Schedules;
use Offbeat\TwisterProfile;

/**
 * Random requests, answered by the client alone and by a sidecar: every field of the answers and refusals must
 * be equal. Each day has another set of requests; OFFBEAT_SALT repeats one.
 */
final class LocalComparisonTest extends OffbeatTestCase
{
    private const SCHEDULES = 2_000;

    private static Client $local;
    private static Client $remote;
    private static int $answers = 0;
    private static int $refusals = 0;

    public static function setUpBeforeClass(): void
    {
        self::$local = new Client(mode: Mode::Local);
        self::$remote = new Client(Sidecar::shared()->address, mode: Mode::Remote);
    }

    public function testLocalAndRemoteAnswersAreEqual(): void
    {
        $salt = getenv('OFFBEAT_SALT') ?: gmdate('Y-m-d');
        fwrite(STDERR, "comparison of local and remote answers: OFFBEAT_SALT=$salt\n");
        mt_srand(crc32($salt));
        $methods = [];
        for ($number = 0; $number < self::SCHEDULES; ++$number) {
            Draw::$mayErr = Draw::oneIn(3);
            foreach (Questions::about(Schedules::draw()) as $method => $ask) {
                $methods[$method] = ($methods[$method] ?? 0) + self::compare($ask, "OFFBEAT_SALT=$salt: schedule $number, $method");
            }
        }
        self::assertGreaterThan(5 * self::SCHEDULES, self::$answers);
        self::assertGreaterThan(self::SCHEDULES, self::$refusals);
        self::assertGreaterThan(self::SCHEDULES / 30, min($methods), json_encode($methods));
    }

    /** The state of PHP's own generator belongs to the application. */
    public function testTheGlobalGeneratorIsNotTouched(): void
    {
        $twister = new Schedule(period: 86_400, placement: Placement::Twister, profile: TwisterProfile::Php);
        mt_srand(7);
        $expected = [mt_rand(), mt_rand()];
        mt_srand(7);
        $given = [mt_rand()];
        self::$local->assignSlots($twister, range(1, 100));
        $given[] = mt_rand();
        self::assertSame($expected, $given);
    }

    private static function compare(\Closure $ask, string $name): int
    {
        $state = mt_rand();
        mt_srand($state); // so that both draw the same values
        $local = self::outcome($ask, self::$local, DecidedBy::Local);
        mt_srand($state);
        $remote = self::outcome($ask, self::$remote, DecidedBy::Sidecar);
        if ($local !== $remote) {
            $lines = static fn (array $outcome): string => str_replace(';', ";\n", var_export($outcome, true));
            self::assertSame($lines($remote), $lines($local), $name);
        }

        return isset($local['refused']) ? 0 : 1;
    }

    /** @return array<string, mixed> */
    private static function outcome(\Closure $ask, Client $client, DecidedBy $by): array
    {
        try {
            $answer = $ask($client);
        } catch (BadIds $refused) {
            throw $refused;
        } catch (NeedsSidecar $needs) {
            self::fail("needs a sidecar: {$needs->getMessage()}");
        } catch (OffbeatException $refused) {
            ++self::$refusals;
            $details = $refused->details;
            if ($details !== []) {
                ksort($details[0]['metadata']); // a map is unordered
            }

            return ['refused' => [
                $refused::class, $refused->getMessage(), $refused->reason, $refused->field, $refused->value, $refused->allowed,
                $refused->retryDelay, $details,
            ]];
        }
        ++self::$answers;
        $serialized = serialize($answer);
        self::assertSame(str_contains($serialized, 'Offbeat\DecidedBy'), str_contains($serialized, "DecidedBy:$by->name"));

        return ['answer' => preg_replace('/E:\d+:"Offbeat\\\\DecidedBy:\w+"/', '', $serialized)];
    }
}
