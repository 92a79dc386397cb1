<?php

declare(strict_types=1);

namespace Offbeat\Tests;

/** The README's examples: each line with a `// =>` evaluates to the value behind it. */
final class ReadmeTest extends OffbeatTestCase
{
    private const IMPORT = '/^use ([\w\\\\]+);\n+/m';

    public function testExamplesGiveWhatTheySay(): void
    {
        preg_match('/^```toml\n(.*?)^```/ms', self::readme(), $schedules);
        $blocks = implode("\n", self::blocks());
        preg_match_all(self::IMPORT, $blocks, $imports); // each example repeats them, a file has them once
        $code = preg_replace_callback(
            '#^( *)(.+); // => (.+)$#m',
            static fn (array $line): string => "$line[1]\$check($line[3], $line[2]);",
            preg_replace(self::IMPORT, '', $blocks),
            count: $examples,
        );
        self::assertSame(96, $examples);
        $file = tempnam(sys_get_temp_dir(), 'offbeat-');
        $imports = implode("\n", array_map(trim(...), array_unique(array_map(trim(...), $imports[0]))));
        file_put_contents($file, "<?php\n\ndeclare(strict_types=1);\n\n$imports\n\n$code");
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

    /** A copied example has the imports that it needs, and no others. */
    public function testEachExampleImportsWhatItNames(): void
    {
        foreach (self::blocks() as $block) {
            preg_match_all(self::IMPORT, $block, $imports);
            $imported = array_map(static fn (string $class): string => substr($class, (int) strrpos($class, '\\') + 1), $imports[1]);
            $code = preg_replace(self::IMPORT, '', $block);
            preg_match_all('/(?:\bnew |\binstanceof |\bcatch \()([A-Z]\w*)|(?<![\w\\\\])([A-Z]\w*)::/', $code, $found);
            $named = array_unique(array_filter([...$found[1], ...$found[2]], static fn (string $name): bool => $name !== '' && !class_exists("\\$name")));
            self::assertEqualsCanonicalizing($imported, $named, $block);
            self::assertSame($imports[1], array_values(array_filter($imports[1], static fn (string $class): bool => class_exists($class) || enum_exists($class))));
        }
    }

    public function testNobodyNamesAnInternalClass(): void
    {
        self::assertStringNotContainsString('use Offbeat\\Internal', self::readme());
        $folders = array_map(basename(...), glob(__DIR__ . '/../src/*', GLOB_ONLYDIR));
        self::assertSame(['Exception', 'Internal', 'Lanes', 'NamedSpread', 'Spread', 'Stages', 'Testing'], $folders);
        foreach ($folders as $folder) {
            self::assertStringContainsString("`Offbeat\\$folder`", self::readme());
        }
    }

    /** Composer uses these prefixes; the tests load classes by autoload.php. */
    public function testComposerFindsAllClasses(): void
    {
        $folder = __DIR__ . '/..';
        $prefixes = json_decode(file_get_contents("$folder/composer.json"), true)['autoload']['psr-4'];
        $files = new \RegexIterator(new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($folder)), '#^[^ ]+/(src|generated)/.*\.php$#');
        $checked = 0;
        foreach ($files as $file) {
            preg_match('/^namespace ([\w\\\\]+);/m', file_get_contents((string) $file), $namespace);
            $class = $namespace[1] . '\\' . basename((string) $file, '.php');
            // PSR-4 prefers the longest matching prefix.
            $fitting = array_filter(array_keys($prefixes), static fn (string $prefix): bool => str_starts_with($class, $prefix));
            usort($fitting, static fn (string $one, string $other): int => strlen($other) <=> strlen($one));
            $path = "$folder/{$prefixes[$fitting[0]]}" . str_replace('\\', '/', substr($class, strlen($fitting[0]))) . '.php';
            self::assertSame(realpath((string) $file), realpath($path), $class);
            ++$checked;
        }
        self::assertGreaterThan(300, $checked);
    }

    private static function readme(): string
    {
        return file_get_contents(__DIR__ . '/../README.md');
    }

    /** @return list<string> the examples in PHP */
    private static function blocks(): array
    {
        preg_match_all('/^```php\n(.*?)^```/ms', self::readme(), $blocks);

        return $blocks[1];
    }
}
