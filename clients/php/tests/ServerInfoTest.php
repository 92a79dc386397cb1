<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\ServerLimit;

/** What a sidecar says of itself. */
final class ServerInfoTest extends OffbeatTestCase
{
    /** @dataProvider transports */
    public function testASidecarSaysWhatItIs(string $kind): void
    {
        $info = self::client($kind)->serverInfo();
        $version = (string) shell_exec(escapeshellarg(Sidecar::command('127.0.0.1:0')[0]) . ' --version');
        self::assertStringContainsString($info->version, $version);
        self::assertMatchesRegularExpression('/^20\d\d[a-z]$/D', $info->timeZoneDatabase);
        $limits = array_column($info->limits, null, 'name');
        $slots = $limits['slots in a cycle'];
        self::assertSame([1, 1_048_576, 'slots'], [$slots->minimum, $slots->maximum, $slots->unit]);
        self::assertNotSame('', $slots->note);
        $printed = (string) shell_exec(escapeshellarg(Sidecar::command('127.0.0.1:0')[0]) . ' limits');
        $row = static fn (ServerLimit $one): string => "| $one->name | $one->minimum | $one->maximum | $one->unit | $one->note |";
        foreach ($info->limits as $one) {
            self::assertStringContainsString($row($one), $printed);
        }
    }
}
