<?php

declare(strict_types=1);

namespace Offbeat\Internal\Breaker;

/**
 * The state in a file, in a subfolder of the temporary folder that only this user can write to.
 *
 * @internal
 */
final class FileStore implements Store
{
    private const LOCK_ATTEMPTS = 5;
    private const LOCK_PAUSE_MICROS = 500;
    // Bits of the mode of a file.
    private const TYPE = 0o170000;
    private const FOLDER = 0o040000;
    private const OTHERS = 0o022; // write permissions of the group and of others

    private function __construct(private readonly string $path)
    {
    }

    /** Null without ext-posix, or unless the folder belongs to this user alone: another user may have made it. */
    public static function of(string $name): ?self
    {
        if (!function_exists('posix_geteuid')) {
            return null;
        }
        $folder = sys_get_temp_dir() . '/offbeat-' . posix_geteuid();
        if (!is_dir($folder)) {
            @mkdir($folder, 0o700);
        }

        return self::isOurs($folder) ? new self("$folder/$name") : null;
    }

    public function read(): State
    {
        // A state is written at once, and all have the same length: a reader finds either the old or the new one.
        $bytes = @file_get_contents($this->path, length: State::BYTES);

        return State::ofBytes($bytes === false ? '' : $bytes);
    }

    public function change(\Closure $change): bool
    {
        $file = @fopen($this->path, 'c+');
        if ($file === false) {
            return false;
        }
        try {
            if (!self::locked($file)) {
                return false;
            }
            $next = $change(State::ofBytes((string) fread($file, State::BYTES)));

            return $next !== null && rewind($file) && fwrite($file, $next->bytes()) === State::BYTES;
        } finally {
            fclose($file);
        }
    }

    /**
     * Waits only briefly: a process may be stopped while it has the lock.
     *
     * @param resource $file
     */
    private static function locked($file): bool
    {
        for ($attempt = 1; !flock($file, LOCK_EX | LOCK_NB); ++$attempt) {
            if ($attempt === self::LOCK_ATTEMPTS) {
                return false;
            }
            usleep(self::LOCK_PAUSE_MICROS);
        }

        return true;
    }

    private static function isOurs(string $folder): bool
    {
        clearstatcache(true, $folder);
        $stat = @lstat($folder); // does not follow a link

        return $stat !== false
            && $stat['uid'] === posix_geteuid()
            && ($stat['mode'] & self::TYPE) === self::FOLDER
            && ($stat['mode'] & self::OTHERS) === 0;
    }
}
