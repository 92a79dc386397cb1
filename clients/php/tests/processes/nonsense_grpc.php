<?php

declare(strict_types=1);

// A server that answers every gRPC call as its argument says; run by TransportTest.
// Prints its port, then "call" for every call.

const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;

function frame(int $type, int $flags, int $stream, string $payload): string
{
    return substr(pack('N', strlen($payload)), 1) . chr($type) . chr($flags) . pack('N', $stream) . $payload;
}

/** A block of literal header fields without Huffman's code (RFC 7541, section 6.2.2). */
function headers(array $fields): string
{
    $block = '';
    foreach ($fields as $name => $value) {
        foreach ([$name, (string) $value] as $text) {
            $length = strlen($text);
            $block .= $text === $name ? "\0" : '';
            if ($length < 127) {
                $block .= chr($length);
            } else {
                for ($block .= chr(127), $length -= 127; $length > 127; $length >>= 7) {
                    $block .= chr($length & 127 | 128);
                }
                $block .= chr($length);
            }
            $block .= $text;
        }
    }

    return $block;
}

/** A length-delimited field of a protobuf message. */
function field(int $number, string $bytes): string
{
    $length = strlen($bytes);

    return chr($number << 3 | 2) . ($length < 128 ? chr($length) : chr($length & 127 | 128) . chr($length >> 7)) . $bytes;
}

function anyOf(string $type, string $bytes): string
{
    return field(3, field(1, "type.googleapis.com/$type") . field(2, $bytes));
}

function overloaded(): array
{
    $reason = field(1, 'ERROR_REASON_OVERLOADED') . field(2, 'offbeat.v1') . field(3, field(1, 'allowed') . field(2, 'at most ½'));
    $retry = field(1, "\x08\x01\x10" . "\x80\xe1\xeb\x17"); // 1 s and 50,000,000 ns
    $status = anyOf('google.rpc.ErrorInfo', $reason) . anyOf('google.rpc.RetryInfo', $retry) . anyOf('example.Unknown', '');

    return [
        'grpc-status' => 8,
        'grpc-message' => 'full: 100%25 of %C2%BD',
        'grpc-status-details-bin' => rtrim(base64_encode($status), '='),
    ];
}

$answer = static function (string $mode, int $stream): string {
    $head = static fn (array $fields = [], int $flags = 0): string => frame(
        HEADERS,
        END_HEADERS | $flags,
        $stream,
        headers(array_merge([':status' => '200', 'content-type' => 'application/grpc'], $fields)),
    );
    $data = static fn (string $bytes, int $flags = 0): string => frame(DATA, $flags, $stream, $bytes);
    $trailers = static fn (array $fields = ['grpc-status' => 0]): string => frame(HEADERS, END_HEADERS | END_STREAM, $stream, headers($fields));
    $message = "\0" . pack('N', 3) . 'abc';

    return match ($mode) {
        'good' => $head() . $data($message) . $trailers(),
        'empty' => $head() . $data("\0\0\0\0\0") . $trailers(),
        'in pieces' => $head() . $data(substr($message, 0, 2)) . $data(substr($message, 2)) . $trailers(),
        'half a message' => $head() . $data(substr($message, 0, 6)) . $trailers(),
        'half a head' => $head() . $data("\0\0") . $trailers(),
        'no message' => $head() . $trailers(),
        'two messages' => $head() . $data($message . $message) . $trailers(),
        'compressed' => $head() . $data("\1" . substr($message, 1)) . $trailers(),
        'too long' => $head() . $data(str_repeat('x', 15_000)) . $trailers(),
        'no status' => $head() . $data($message, END_STREAM),
        'broken off' => $head() . $data($message),
        'web page' => $head(['content-type' => 'text/html']) . $data($message, END_STREAM),
        'not found' => $head([':status' => '404', 'content-type' => 'text/html'], END_STREAM),
        'overloaded' => $head(overloaded(), END_STREAM),
        'overloaded in trailers' => $head() . $trailers(overloaded()),
        'bad details' => $head(['grpc-status' => 5, 'grpc-message' => 'gone', 'grpc-status-details-bin' => base64_encode("\x1a\xff\xff\xff")], END_STREAM),
        'shutting down' => $head(['grpc-status' => 14, 'grpc-message' => 'shutting down'], END_STREAM),
        'who are you' => $head(['grpc-status' => 16, 'grpc-message' => 'who are you?'], END_STREAM),
        'internal' => $head(['grpc-status' => 13, 'grpc-message' => 'a bug'], END_STREAM),
        'status in words' => $head(['grpc-status' => 'fine'], END_STREAM),
        'http1' => "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
        'noise' => str_repeat("\xde\xad\xbe\xef", 500),
    };
};

$mode = $argv[1];
$server = stream_socket_server('tcp://127.0.0.1:0');
$name = stream_socket_get_name($server, false);
echo 'port ', substr($name, strrpos($name, ':') + 1), "\n";
while ($connection = stream_socket_accept($server, -1)) {
    if (in_array($mode, ['http1', 'noise'], true)) {
        fread($connection, 1_024);
        echo "call\n";
        fwrite($connection, $answer($mode, 0));
        fclose($connection);
        continue;
    }
    stream_get_contents($connection, 24); // the client's preface
    fwrite($connection, frame(SETTINGS, 0, 0, ''));
    while (strlen($head = (string) stream_get_contents($connection, 9)) === 9) {
        $length = unpack('N', "\0" . substr($head, 0, 3))[1];
        $length === 0 || stream_get_contents($connection, $length);
        [$type, $flags, $stream] = [ord($head[3]), ord($head[4]), unpack('N', $head, 5)[1]];
        if ($type === SETTINGS && ($flags & ACK) === 0) {
            fwrite($connection, frame(SETTINGS, ACK, 0, ''));
        }
        if ($type === DATA && ($flags & END_STREAM) !== 0) {
            echo "call\n";
            fwrite($connection, $answer($mode, $stream));
            if ($mode === 'broken off') {
                break;
            }
        }
    }
    fclose($connection);
}
