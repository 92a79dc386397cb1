<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\PermissionDenied;
use Offbeat\Exception\Unauthenticated;
use Offbeat\Tls;

/** Tokens are sent on every way to the sidecar, to no other host, and never shown. */
final class TokenTest extends OffbeatTestCase
{
    private const OLD = 'an-old-token-0123456789';
    private const NEW = 'a-new-token~0123456789=';

    private static Certificates $certificates;
    private static Sidecar $sidecar;

    public static function setUpBeforeClass(): void
    {
        self::$certificates = new Certificates();
        self::$sidecar = new Sidecar(flags: ['--token-file', self::$certificates->write('tokens', self::OLD)]);
    }

    protected function setUp(): void
    {
        ini_set('zend.exception_ignore_args', '0'); // as in development
    }

    protected function tearDown(): void
    {
        ini_restore('zend.exception_ignore_args');
    }

    /** @dataProvider transports */
    public function testACallWithoutATokenOfTheSidecarIsRefused(string $kind): void
    {
        $client = static fn (string|\Closure|null $token): Client => new Client(self::$sidecar->address, transport: $kind, token: $token);
        self::askAll($client(self::OLD));
        self::askAll($client(static fn (): string => self::OLD . "\n"));
        foreach ([null, self::NEW, static fn (): string => self::NEW] as $token) {
            foreach (self::ways($client($token)) as $way => $question) {
                $refused = self::thrown(Unauthenticated::class, $question, $way);
                self::assertSame('ERROR_REASON_UNAUTHENTICATED', $refused->reason);
                self::assertStringContainsString('Bearer', $refused->getMessage());
            }
        }
    }

    /** @dataProvider transports */
    public function testAClosureGivesTheTokenOfTheMoment(string $kind): void
    {
        $file = self::$certificates->write("tokens-$kind", self::OLD);
        $sidecar = new Sidecar(flags: [...self::$certificates->flags(), '--token-file', $file]);
        $now = self::OLD;
        $tls = self::$certificates->tls();
        $rotating = new Client($sidecar->address, transport: $kind, tls: $tls, token: static function () use (&$now): string {
            return $now;
        });
        $fixed = new Client($sidecar->address, transport: $kind, token: self::OLD, tls: $tls);
        self::askAll($rotating);
        self::askAll($fixed);
        file_put_contents($file, self::NEW);
        $sidecar->process->signal(SIGHUP);
        $sidecar->process->waitFor('/read again what/');
        self::thrown(Unauthenticated::class, static fn () => $rotating->describeSchedule(self::eightHours()));
        $now = self::NEW;
        self::askAll($rotating);
        self::thrown(Unauthenticated::class, static fn () => $fixed->describeSchedule(self::eightHours()));
    }

    /** @dataProvider transports */
    public function testTokensGoOverUnixSockets(string $kind): void
    {
        $address = 'unix:' . self::$certificates->path("$kind.sock");
        $sidecar = new Sidecar($address, ['--token-file', self::$certificates->path('tokens')]);
        self::askAll(new Client($address, transport: $kind, token: self::OLD));
        self::thrown(Unauthenticated::class, static fn () => (new Client($address, transport: $kind))->describeSchedule(self::eightHours()));
        self::assertSame(0, $sidecar->process->end());
    }

    /** @dataProvider transports */
    public function testUsersOfASocket(string $kind): void
    {
        foreach ([posix_geteuid() => true, posix_geteuid() + 1 => false] as $user => $may) {
            $address = 'unix:' . self::$certificates->path("$kind-$user.sock");
            $sidecar = new Sidecar($address, ['--socket-uids', (string) $user]);
            $client = new Client($address, timeout: 1.5, transport: $kind);
            if ($may) {
                self::askAll($client);
            } else {
                foreach (self::ways($client) as $way => $question) {
                    $refused = self::thrown(PermissionDenied::class, $question, $way);
                    self::assertSame('ERROR_REASON_USER_NOT_ALLOWED', $refused->reason);
                    self::assertStringContainsString('must be one of --socket-uids', $refused->getMessage());
                }
            }
            $sidecar->process->end();
        }
    }

    public function testATokenDoesNotGoToOtherMachinesInPlainText(): void
    {
        foreach (['10.0.0.1:2328', 'sidecar:2328', '[2001:db8::1]:2328', '127.0.0.1.example:2328'] as $address) {
            $refused = self::thrown(InvalidArgument::class, static fn () => new Client($address, token: self::OLD), $address);
            self::assertSame('token', $refused->field);
            self::assertStringContainsString('without TLS', $refused->getMessage());
            new Client($address, token: self::OLD, tls: new Tls());
        }
        foreach (['127.0.0.1:2328', '[::1]:2328', 'localhost:2328', 'unix:/run/offbeat.sock'] as $address) {
            self::assertSame($address, (new Client($address, token: self::OLD))->address);
        }
    }

    public function testWhatIsNoTokenIsRefusedWithoutShowingIt(): void
    {
        foreach (['', ' ', "secret\r\nx: y", 'secret with spaces', 'secrét'] as $bad) {
            self::assertHidden('secr', self::thrown(InvalidArgument::class, static fn () => new Client(token: $bad)));
            $client = new Client(self::$sidecar->address, token: static fn (): string => $bad);
            foreach (self::ways($client) as $way => $question) {
                $refused = self::thrown(InvalidArgument::class, $question, $way);
                self::assertSame('token', $refused->field);
                self::assertHidden('secr', $refused);
            }
        }
        $client = new Client(self::$sidecar->address, token: static fn (): ?string => null);
        self::thrown(InvalidArgument::class, static fn () => $client->describeSchedule(self::eightHours()));
    }

    /** @dataProvider transports */
    public function testATokenIsNotShown(string $kind): void
    {
        $token = self::NEW;
        foreach ([$token, static fn (): string => $token] as $given) {
            $client = new Client(self::$sidecar->address, transport: $kind, token: $given);
            self::assertHidden(self::NEW, $client);
            foreach (self::ways($client) as $question) {
                self::assertHidden(self::NEW, self::thrown(Unauthenticated::class, $question));
            }
            self::assertHidden(self::NEW, $client);
            $sidecar = new Sidecar();
            $client = new Client($sidecar->address, timeout: 0.2, transport: $kind, token: $given);
            $sidecar->process->end(SIGKILL);
            foreach (self::ways($client) as $question) {
                self::assertHidden(self::NEW, self::thrown(OffbeatException::class, $question));
            }
        }
        self::thrown(\Exception::class, static fn () => serialize($client));
    }

    private static function assertHidden(string $secret, object $shown): void
    {
        if ($shown instanceof \Throwable) {
            // Only the arguments of the client's own functions: the tests know the secret.
            $isOurs = static fn (array $frame): bool => preg_match('/^Offbeat\\\\(?!Tests)/', $frame['class'] ?? '') === 1;
            $arguments = array_column(array_filter($shown->getTrace(), $isOurs), 'args');
            self::assertNotEmpty($arguments);
            $text = (string) $shown;
            array_walk_recursive($arguments, static function (mixed $argument) use (&$text): void {
                $text .= is_string($argument) ? $argument : '';
            });
        } else {
            ob_start();
            var_dump($shown);
            $text = ob_get_clean() . print_r($shown, true) . var_export($shown, true);
        }
        self::assertStringNotContainsString($secret, $text);
    }
}
