<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\ServerLimit;

/** The information that a sidecar gives about itself. */
final class ServerInfoTest extends OffbeatTestCase
{
    /** @dataProvider transports */
    public function testASidecarSaysWhatItIs(string $kind): void
    {
        $info = self::client($kind)->serverInfo();
        $version = (string) shell_exec(escapeshellarg(Sidecar::command('127.0.0.1:0')[0]) . ' --version');
        self::assertStringContainsString($info->version, $version);
        self::assertMatchesRegularExpression('/^20\d\d[a-z]$/D', $info->timeZoneDatabase);
        $limits = array_column($info->limits, null, 'id');
        $slots = $limits['slot_count'];
        self::assertSame(['slots in a cycle', 1, 1_048_576, 'slots'], [$slots->name, $slots->minValue, $slots->maxValue, $slots->unit]);
        self::assertNotSame('', $slots->note);
        $printed = (string) shell_exec(escapeshellarg(Sidecar::command('127.0.0.1:0')[0]) . ' limits');
        $row = static fn (ServerLimit $one): string => '| ' . implode(' | ', (array) $one) . ' |';
        foreach ($info->limits as $one) {
            self::assertStringContainsString($row($one), $printed);
        }
    }
}
