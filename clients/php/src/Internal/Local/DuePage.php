<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Google\Protobuf\Timestamp;
use Offbeat\V1;

/**
 * A page of due runs. A token identifies the request of the first page, and says where the next page begins. It has the
 * form of the sidecar's tokens: a digest of the request, the seconds and nanoseconds of its instant, and the first row.
 *
 * @internal
 */
final class DuePage
{
    private const FORM = "\1";
    private const CHECK_BYTES = 4;
    private const DIGEST_BYTES = 8;
    private const CONTENT_BYTES = self::DIGEST_BYTES + 8 + 4 + 8;

    private function __construct(
        private readonly string $digest,
        private readonly ?Moment $now,
        public readonly int $firstRow,
    ) {
    }

    /** @param V1\ListDueRunsRequest $request all of it except the IDs and their watermarks */
    public static function of(V1\ListDueRunsRequest $request, int $idCount, int $watermarkCount): self
    {
        $token = $request->getPageToken();
        $digest = self::digest($request, $idCount, $watermarkCount);
        if ($token === '') {
            return new self($digest, null, 0);
        }
        $bytes = self::decoded($token);
        $content = substr($bytes, 1 + self::CHECK_BYTES);
        if (self::sealed($content) !== $bytes || strlen($content) !== self::CONTENT_BYTES) {
            throw self::malformed(strlen($bytes));
        }
        if (!str_starts_with($content, $digest)) {
            $allowed = 'must come with the request that it was answered to';
            throw Refusal::of(Refusal::CONTRADICTORY, 'page_token', 'a token', $allowed);
        }
        ['seconds' => $seconds, 'nanos' => $nanos, 'row' => $row] = unpack('Jseconds/Nnanos/Jrow', $content, self::DIGEST_BYTES);

        return new self($digest, new Moment($seconds, $nanos), $row);
    }

    /** The instant of the request: that of the first page, if there was one. */
    public function now(?Timestamp $given, Moment $clock): Moment
    {
        $given = $given === null ? null : Moment::ofMessage('now_time', $given);
        if ($this->now !== null && $given !== null && $this->now->compare($given) !== 0) {
            $allowed = "must be {$this->now->text()}, as for the first page, or left out";
            throw Refusal::of(Refusal::CONTRADICTORY, 'now_time', $given->text(), $allowed);
        }

        return $this->now ?? $given ?? $clock;
    }

    /** The token of the page that begins with a row. */
    public function next(Moment $now, int $row): string
    {
        $content = $this->digest . pack('JNJ', $now->seconds, $now->nanos, $row);

        return rtrim(strtr(base64_encode(self::sealed($content)), '+/', '-_'), '=');
    }

    private static function sealed(string $content): string
    {
        return self::FORM . substr(hash('sha256', self::FORM . $content, true), 0, self::CHECK_BYTES) . $content;
    }

    private static function decoded(string $token): string
    {
        $bytes = preg_match('/^[A-Za-z0-9_-]+$/D', $token) === 1 ? base64_decode(strtr($token, '-_', '+/'), true) : false;

        return $bytes === false ? throw self::malformed(strlen($token)) : $bytes;
    }

    private static function malformed(int $length): \Throwable
    {
        $allowed = 'must be next_page_token of an answer, unchanged';

        return Refusal::of(Refusal::MALFORMED, 'page_token', "$length bytes", $allowed);
    }

    /**
     * A digest that distinguishes requests. It covers all fields that must stay the same, but only the lengths of the
     * columns.
     */
    private static function digest(V1\ListDueRunsRequest $request, int $idCount, int $watermarkCount): string
    {
        $same = clone $request;
        $same->setPageSize(0)->setPageToken('')->clearNowTime();

        return substr(hash('sha256', $same->serializeToString() . pack('J3', $idCount, 0, $watermarkCount), true), 0, self::DIGEST_BYTES);
    }
}
