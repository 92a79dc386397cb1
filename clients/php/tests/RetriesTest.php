<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unavailable;
use Offbeat\Internal\NamedSpread\Retries;
use PHPUnit\Framework\TestCase;

/** Which errors clients of named spreads retry, and which they do not. */
final class RetriesTest extends TestCase
{
    public function testARefusalIsTriedAgainOnlyIfItNamesADelay(): void
    {
        $errors = [new ResourceExhausted('full', retryDelay: 0.001), new Unavailable('restarts')];
        $answer = (new Retries(60))->run(static function () use (&$errors): string {
            $error = array_shift($errors);
            if ($error !== null) {
                throw $error;
            }

            return 'done';
        });
        self::assertSame(['done', []], [$answer, $errors]);

        $tried = 0;
        try {
            (new Retries(60))->run(static function () use (&$tried): never {
                ++$tried;
                throw new ResourceExhausted('too large');
            });
        } catch (ResourceExhausted $error) {
            self::assertSame(['too large', 1], [$error->getMessage(), $tried]);
        }
        self::assertSame(1, $tried);
    }
}
