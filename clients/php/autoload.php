<?php

declare(strict_types=1);

// For those without Composer. Google\Protobuf comes from ext-protobuf, or is looked for
// on the include path, which is where Debian's php-google-protobuf is.
spl_autoload_register(static function (string $class): void {
    $path = str_replace('\\', '/', $class) . '.php';
    $file = match (true) {
        preg_match('#^(Offbeat/V1(beta1)?|GPBMetadata/Offbeat)/#', $path) === 1 => __DIR__ . "/generated/$path",
        str_starts_with($path, 'Offbeat/') => __DIR__ . '/src/' . substr($path, 8),
        str_starts_with($path, 'Google/Protobuf/'), str_starts_with($path, 'GPBMetadata/Google/') => stream_resolve_include_path($path),
        default => false,
    };
    if ($file !== false && is_file($file)) {
        require $file;
    }
});
