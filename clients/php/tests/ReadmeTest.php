<?php

declare(strict_types=1);

namespace Offbeat\Tests;

/** The README's examples: each line with a `// =>` gives what stands behind it. */
final class ReadmeTest extends OffbeatTestCase
{
    public function testExamplesGiveWhatTheySay(): void
    {
        preg_match_all('/^```php\n(.*?)^```/ms', file_get_contents(__DIR__ . '/../README.md'), $blocks);
        $code = preg_replace_callback(
            '#^( *)(.+); // => (.+)$#m',
            static fn (array $line): string => "$line[1]\$check($line[3], $line[2]);",
            implode("\n", $blocks[1]),
            count: $examples,
        );
        self::assertSame(39, $examples);
        $file = tempnam(sys_get_temp_dir(), 'offbeat-');
        file_put_contents($file, "<?php\n\ndeclare(strict_types=1);\n\n$code");
        putenv('OFFBEAT_ADDRESS=' . Sidecar::shared()->address);
        try {
            $checked = 0;
            $check = static function (mixed $expected, mixed $given) use (&$checked): void {
                self::assertSame($expected, $given);
                ++$checked;
            };
            (static function (string $file, \Closure $check): void {
                require $file;
            })($file, $check);
            self::assertSame($examples, $checked);
        } finally {
            putenv('OFFBEAT_ADDRESS');
            unlink($file);
        }
    }
}
