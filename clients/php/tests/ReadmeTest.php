<?php

declare(strict_types=1);

namespace Offbeat\Tests;

/** The README's examples: each line with a `// =>` gives what stands behind it. */
final class ReadmeTest extends OffbeatTestCase
{
    public function testExamplesGiveWhatTheySay(): void
    {
        $readme = file_get_contents(__DIR__ . '/../README.md');
        preg_match_all('/^```php\n(.*?)^```/ms', $readme, $blocks);
        preg_match('/^```toml\n(.*?)^```/ms', $readme, $schedules);
        $code = preg_replace_callback(
            '#^( *)(.+); // => (.+)$#m',
            static fn (array $line): string => "$line[1]\$check($line[3], $line[2]);",
            implode("\n", $blocks[1]),
            count: $examples,
        );
        self::assertSame(68, $examples);
        $file = tempnam(sys_get_temp_dir(), 'offbeat-');
        file_put_contents($file, "<?php\n\ndeclare(strict_types=1);\n\n$code");
        file_put_contents("$file.toml", $schedules[1]);
        $sidecar = new Sidecar(flags: ['--schedules', "$file.toml"]);
        putenv("OFFBEAT_ADDRESS=$sidecar->address");
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
            unlink("$file.toml");
        }
    }
}
