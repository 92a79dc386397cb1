<?php

declare(strict_types=1);

// A server that answers every call of the Connect protocol as its argument says; run by
// TransportTest. Prints its port, then "connection" and "call" for each of them.

function answer(int $status, string $type, string $body, ?int $length = null): string
{
    $length ??= strlen($body);

    return "HTTP/1.1 $status Some words\r\ncontent-type: $type\r\ncontent-length: $length\r\n\r\n$body";
}

function error(int $status, string $code, string $message, mixed $details = []): string
{
    return answer($status, 'application/json', json_encode(['code' => $code, 'message' => $message, 'details' => $details]));
}

/** A length-delimited field of a protobuf message. */
function field(int $number, string $bytes): string
{
    return chr($number << 3 | 2) . chr(strlen($bytes)) . $bytes;
}

function detail(string $type, string $bytes): array
{
    return ['type' => $type, 'value' => rtrim(base64_encode($bytes), '=')];
}

function overloaded(): array
{
    $reason = field(1, 'ERROR_REASON_OVERLOADED') . field(2, 'offbeat.v1') . field(3, field(1, 'allowed') . field(2, 'at most ½'));
    $retry = field(1, "\x08\x01\x10" . "\x80\xe1\xeb\x17"); // 1 s and 50,000,000 ns

    return [detail('google.rpc.ErrorInfo', $reason), detail('google.rpc.RetryInfo', $retry), detail('example.Unknown', '')];
}

$proto = 'application/proto';
$pieces = match ($argv[1]) {
    'good' => [answer(200, $proto, 'abc')],
    'empty' => [answer(200, $proto, '')],
    'in pieces' => str_split(answer(200, $proto, 'abc'), 20),
    'chunked' => ["HTTP/1.1 200 OK\r\ncontent-type: $proto\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"],
    'too long' => [answer(200, $proto, str_repeat('x', 15_000))],
    'broken off' => [answer(200, $proto, 'ab', 3)],
    'half a head' => [substr(answer(200, $proto, 'abc'), 0, 30)],
    'half a head, with its type' => [strtok(answer(200, $proto, 'abc'), "\r") . "\r\ncontent-type: $proto\r\n"],
    'no length' => ["HTTP/1.1 200 OK\r\ncontent-type: $proto\r\n\r\nab"],
    'nothing' => [],
    'web page' => [answer(200, 'text/html', 'abc')],
    'json' => [answer(200, 'application/json', '{}')],
    'not found' => [answer(404, 'text/html', 'gone')],
    'forbidden by a proxy' => [answer(403, 'application/json', '"no"')],
    'no code' => [answer(500, 'application/json', '{"message": "a bug"}')],
    'half an error' => [answer(500, 'application/json', '{"code": "not_fou')],
    'code of another kind' => [answer(500, 'application/json', '{"code": 7, "message": {}, "details": "none"}')],
    'overloaded' => [error(429, 'resource_exhausted', 'full: 100% of ½', overloaded())],
    'bad details' => [error(404, 'not_found', 'gone', [detail('google.rpc.ErrorInfo', "\x1a\xff\xff\xff")])],
    'details of another kind' => [error(404, 'not_found', 'gone', ['none', ['type' => 1, 'value' => []]])],
    'shutting down' => [error(503, 'unavailable', 'shutting down')],
    'who are you' => [error(401, 'unauthenticated', 'who are you?')],
    'internal' => [error(500, 'internal', 'a bug')],
    'not found at once' => [error(404, 'not_found', 'gone')],
    'who are you at once' => [error(401, 'unauthenticated', 'who are you?')],
    'too large at once' => [error(413, 'resource_exhausted', 'too large')],
    'http2' => ["\0\0\0\4\0\0\0\0\0"],
    'noise' => [str_repeat("\xde\xad\xbe\xef", 500)],
};

$server = stream_socket_server('tcp://127.0.0.1:0');
$name = stream_socket_get_name($server, false);
echo 'port ', substr($name, strrpos($name, ':') + 1), "\n";
while ($connection = stream_socket_accept($server, -1)) {
    echo "connection\n";
    while (($head = (string) stream_get_line($connection, 1 << 16, "\r\n\r\n")) !== '') {
        preg_match('/content-length: (\d+)/i', $head, $found);
        $length = (int) ($found[1] ?? 0);
        // Or it answers before it has read the message and closes: unread bytes cause a reset.
        $atOnce = str_ends_with($argv[1], 'at once');
        $length === 0 || $atOnce || stream_get_contents($connection, $length);
        echo "call\n";
        foreach ($pieces as $piece) {
            fwrite($connection, $piece);
            count($pieces) === 1 || usleep(10_000);
        }
        if ($atOnce || in_array($argv[1], ['broken off', 'half a head', 'half a head, with its type', 'no length', 'nothing', 'http2', 'noise'], true)) {
            break;
        }
    }
    fclose($connection);
}
