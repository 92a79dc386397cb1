<?php

declare(strict_types=1);

namespace Offbeat\Internal;

/**
 * For answers with instants, spans or IDs, which json_encode() alone would write as PHP's own objects.
 *
 * @internal
 */
trait JsonAnswer
{
    /** @return array<string, mixed> the public properties: instants as RFC 3339, spans as seconds */
    public function jsonSerialize(): array
    {
        return Json::of($this);
    }
}
