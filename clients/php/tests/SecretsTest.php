<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Internal\Transport\Secret;
use Offbeat\LatenessRecorder;

/** Tokens must not appear in anything that is shown, logged or written. */
final class SecretsTest extends OffbeatTestCase
{
    private const TOKEN = 'the-first-token-0123456789';

    private static Certificates $certificates;
    private static Sidecar $sidecar;

    public static function setUpBeforeClass(): void
    {
        self::$certificates = new Certificates();
        self::$sidecar = new Sidecar(flags: ['--token-file', self::$certificates->write('tokens', self::TOKEN)]);
    }

    /** @dataProvider transports */
    public function testNothingThatReachesAClientShowsItsToken(string $kind): void
    {
        $token = self::TOKEN;
        foreach ([$token, static fn (): string => $token] as $given) {
            $client = new Client(self::$sidecar->address, transport: $kind, token: $given);
            foreach (self::things($client) as $thing) {
                foreach (self::shown($thing) as $way => $text) {
                    self::assertStringNotContainsString(self::TOKEN, $text, $way . ' of ' . $thing::class);
                }
            }
        }
    }

    /** @dataProvider transports */
    public function testAClientCannotBeSerialized(string $kind): void
    {
        foreach ([null, self::TOKEN] as $token) {
            $unused = new Client(self::$sidecar->address, transport: $kind, token: $token);
            $used = new Client(self::$sidecar->address, transport: $kind, token: self::TOKEN);
            $used->describeSchedule(self::eightHours());
            foreach ([$unused, $used] as $client) {
                foreach ([$client, new LatenessRecorder('nightly', client: $client), $client->namedSpread('mail', 1)] as $thing) {
                    $refused = self::thrown(\LogicException::class, static fn () => serialize($thing));
                    self::assertStringContainsString('an Offbeat client cannot be serialized', $refused->getMessage());
                }
            }
        }
    }

    public function testASecretIsNotCloned(): void
    {
        $secret = new Secret(self::TOKEN);
        self::assertSame(self::TOKEN, $secret->reveal());
        self::assertStringContainsString('[redacted]', print_r($secret, true));
        self::thrown(\Error::class, static fn () => clone $secret);
    }

    /** @return list<object> everything reachable from a client with an open stream */
    private static function things(Client $client): array
    {
        self::askAll($client);
        $named = $client->namedSpread('mail-' . bin2hex(random_bytes(6)), feederCount: 1);
        $producer = $named->producer(patience: 1);
        $producer->submit('a', ['0', '1']);
        $stream = $named->stream('one', patience: 1);
        foreach ($stream as $job) {
            break;
        }
        $spread = $client->spread([['a', 'b']], 1);
        foreach ($spread as $turn) {
            break;
        }
        $lateness = new LatenessRecorder('nightly', client: $client);

        return [$client, $named, $producer, $stream, $job, $spread, $lateness];
    }

    /** @return array<string, string> */
    private static function shown(object $thing): array
    {
        $printed = static function (callable $print) use ($thing): string {
            ob_start();
            $print($thing);

            return ob_get_clean();
        };
        try {
            $serialized = serialize($thing);
        } catch (\Exception $refused) {
            $serialized = $refused->getMessage();
        }

        $shown = ['serialize' => $serialized, 'cast' => self::cast($thing)];
        if (!$thing instanceof Client && !$thing instanceof LatenessRecorder) {
            return $shown; // dumping a protobuf message prints all descriptors: 50 MB
        }

        return $shown + [
            'var_dump' => $printed('var_dump'),
            'debug_zval_dump' => $printed('debug_zval_dump'),
            'print_r' => print_r($thing, true),
            'var_export' => var_export($thing, true),
            'json_encode' => (string) json_encode($thing, JSON_PARTIAL_OUTPUT_ON_ERROR),
        ];
    }

    /** Everything that is reachable by casts to arrays. */
    private static function cast(object $thing): string
    {
        $text = '';
        $seen = new \SplObjectStorage();
        $walk = static function (mixed $value) use (&$walk, &$text, $seen): void {
            if (is_object($value) && !$seen->contains($value)) {
                $seen->attach($value);
                $value = $value instanceof \Closure ? (new \ReflectionFunction($value))->getClosureUsedVariables() : (array) $value;
            }
            match (true) {
                is_array($value) => array_walk($value, $walk),
                is_string($value) => $text .= "$value\n",
                default => null,
            };
        };
        $walk($thing);

        return $text;
    }
}
