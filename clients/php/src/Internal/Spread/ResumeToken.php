<?php

declare(strict_types=1);

namespace Offbeat\Internal\Spread;

use Offbeat\Exception\InvalidArgument;
use Offbeat\V1;

/**
 * The position at which a spread continues, as its user keeps it: the first request to the sidecar, and what the client
 * itself must know, because the sidecar's own token is opaque.
 *
 * @internal
 */
final class ResumeToken
{
    private const FORM = 1;
    private const HEAD = 'Cform/Csized/Pbegin';
    private const HEAD_BYTES = 10;

    /**
     * @param bool $isSized whether groups must have a size
     * @param int $begin the first turn that was not taken
     * @param V1\SpreadRequest $first the first message, with the spec or with the position to continue from
     */
    public function __construct(
        public readonly bool $isSized,
        public readonly int $begin,
        public readonly V1\SpreadRequest $first,
    ) {
    }

    /** @throws InvalidArgument if the bytes are not a token */
    public static function parse(string $bytes): self
    {
        $first = new V1\SpreadRequest();
        try {
            $head = strlen($bytes) > self::HEAD_BYTES ? unpack(self::HEAD, $bytes) : ['form' => 0];
            $first->mergeFromString(substr($bytes, self::HEAD_BYTES));
        } catch (\Exception) {
            $head = ['form' => 0];
        }
        $isToken = $head['form'] === self::FORM && $head['sized'] <= 1 && $head['begin'] >= 0
            && ($first->hasSpec() || $first->hasResume());
        if (!$isToken) {
            throw InvalidArgument::refused('resume_token', $bytes, "must be a spread's resumeToken()");
        }

        return new self($head['sized'] === 1, $head['begin'], $first);
    }

    /** The position after the first $taken turns of a message. */
    public function behind(V1\SpreadTurns $turns, int $taken): self
    {
        $indexes = iterator_to_array($turns->getGroupIndexes(), false);
        $resume = (new V1\SpreadResume())
            ->setResumeToken($turns->getResumeToken())
            ->setTakenGroupIndexes(array_slice($indexes, 0, $taken));

        return new self(
            $this->isSized,
            (int) $turns->getFirstTurnIndex() + $taken,
            (new V1\SpreadRequest())->setResume($resume),
        );
    }

    public function bytes(): string
    {
        return pack('CCP', self::FORM, (int) $this->isSized, $this->begin) . $this->first->serializeToString();
    }
}
