<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Exception\CircuitOpen;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\Unavailable;

/** Requests through PHP-FPM, eight at a time, while the sidecar is frozen, dead or back. */
final class WebProcessesTest extends OffbeatTestCase
{
    private const REQUESTS = 300;
    private const AT_ONCE = 8;

    private static ?Process $fpm = null;
    private static string $folder;

    public static function setUpBeforeClass(): void
    {
        $binary = self::binary();
        if ($binary === null) {
            self::markTestSkipped('there is no php-fpm');
        }
        self::$folder = sys_get_temp_dir() . '/offbeat-fpm-' . bin2hex(random_bytes(4));
        mkdir(self::$folder);
        $socket = self::$folder . '/fpm.sock';
        $user = posix_getpwuid(posix_geteuid())['name'];
        file_put_contents(self::$folder . '/fpm.conf', <<<CONF
            [global]
            error_log = /dev/stderr
            [web]
            user = $user
            listen = $socket
            pm = static
            pm.max_children = 4
            CONF);
        self::$fpm = new Process([$binary, '--nodaemonize', '--allow-to-run-as-root', '--fpm-config', self::$folder . '/fpm.conf']);
        self::$fpm->waitFor('/ready to handle connections/');
    }

    public static function tearDownAfterClass(): void
    {
        if (self::$fpm !== null) {
            self::$fpm->end();
            array_map(unlink(...), glob(self::$folder . '/*'));
            rmdir(self::$folder);
        }
    }

    public function testRequestsAreNeverHeldUp(): void
    {
        $sidecar = new Sidecar();
        self::answeredBySidecar($sidecar->address);
        $sidecar->process->freeze();

        $remote = self::outcomes($sidecar->address, 'remote');
        self::assertEqualsCanonicalizing([DeadlineExceeded::class, CircuitOpen::class], array_keys($remote));
        self::assertHeldUpBriefly($remote);
        self::assertGreaterThan(self::REQUESTS - 4 * self::AT_ONCE, count($remote[CircuitOpen::class]));

        $auto = self::outcomes($sidecar->address, 'auto');
        self::assertSame(['local'], array_keys($auto));
        self::assertCount(self::REQUESTS, $auto['local']);
        self::assertHeldUpBriefly($auto);

        $sidecar->process->thaw();
        self::answeredBySidecar($sidecar->address);
    }

    public function testADeadSidecarAndItsSuccessor(): void
    {
        $sidecar = new Sidecar();
        self::answeredBySidecar($sidecar->address);
        $sidecar->process->end(SIGKILL);
        $remote = self::outcomes($sidecar->address, 'remote');
        self::assertEqualsCanonicalizing([Unavailable::class, CircuitOpen::class], array_keys($remote));
        self::assertHeldUpBriefly($remote);
        self::assertSame(['local'], array_keys(self::outcomes($sidecar->address, 'auto')));
        $sidecar = new Sidecar($sidecar->address);
        self::answeredBySidecar($sidecar->address);
    }

    /**
     * The median, because the machine is shared, and each request loads all classes; and none that waited
     * for a sidecar without a limit.
     *
     * @param array<string, non-empty-list<float>> $outcomes
     */
    private static function assertHeldUpBriefly(array $outcomes): void
    {
        $durations = array_merge(...array_values($outcomes));
        sort($durations);
        self::assertLessThan(0.2, $durations[intdiv(count($durations), 2)]);
        self::assertLessThan(2, end($durations));
    }

    /**
     * Waits until the sidecar has answered 40 requests: for the longest time that the breaker can stay open,
     * and because a busy machine can hold up one of them for longer than 0.3 s.
     */
    private static function answeredBySidecar(string $address): void
    {
        $end = microtime(true) + 30;
        do {
            $outcomes = array_keys(self::outcomes($address, 'remote', 40));
        } while ($outcomes !== ['sidecar'] && microtime(true) < $end);
        self::assertSame(['sidecar'], $outcomes);
    }

    /** @return array<string, non-empty-list<float>> durations of requests in seconds, by outcome */
    private static function outcomes(string $address, string $mode, int $count = self::REQUESTS): array
    {
        $outcomes = [];
        for ($first = 0; $first < $count; $first += self::AT_ONCE) {
            $sockets = [];
            for ($id = $first; $id < min($first + self::AT_ONCE, $count); ++$id) {
                $sockets[] = self::request(http_build_query(['address' => $address, 'mode' => $mode, 'id' => "customer-$id"]));
            }
            foreach ($sockets as $socket) {
                $answer = stream_get_contents($socket);
                fclose($socket); // its worker waits for the close
                self::assertSame(1, preg_match('/\r\n\r\n(\[.*?\])/', $answer, $found), $answer);
                [$outcome, $seconds] = json_decode($found[1], true);
                $outcomes[$outcome][] = $seconds;
            }
        }

        return $outcomes;
    }

    /**
     * Sends a request by FastCGI.
     *
     * @return resource
     */
    private static function request(string $query)
    {
        $socket = stream_socket_client('unix://' . self::$folder . '/fpm.sock');
        stream_set_timeout($socket, 20);
        $parameters = '';
        foreach (['SCRIPT_FILENAME' => __DIR__ . '/processes/web.php', 'REQUEST_METHOD' => 'GET', 'QUERY_STRING' => $query] as $name => $value) {
            $parameters .= chr(strlen($name)) . pack('N', strlen($value) | 1 << 31) . $name . $value;
        }
        $record = static fn (int $type, string $content): string => pack('CCnnCC', 1, $type, 1, strlen($content), 0, 0) . $content;
        fwrite($socket, $record(1, pack('nCx5', 1, 0)) . $record(4, $parameters) . $record(4, '') . $record(5, ''));

        return $socket;
    }

    private static function binary(): ?string
    {
        $version = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        foreach (["/usr/sbin/php-fpm$version", '/usr/sbin/php-fpm', '/usr/local/sbin/php-fpm'] as $binary) {
            if (is_executable($binary)) {
                return $binary;
            }
        }

        return null;
    }
}
