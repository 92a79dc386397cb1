<?php

declare(strict_types=1);

// Uses a connection from before a fork on both sides of it; run by FailuresTest. Each
// process asks about an ID of its own, so that it notices an answer to another process. The
// children do not retry, since retries would hide that they share the parent's connection;
// the parent must retry, since libcurl closes the connection when a child exits.

require __DIR__ . '/../../autoload.php';

$transport = new Offbeat\Internal\Transport\CurlTransport(Offbeat\Internal\Transport\Endpoint::of($argv[1], isset($argv[2]) ? new Offbeat\Tls($argv[2]) : null));
$schedule = new Offbeat\Schedule(period: 28_800);
$retrying = new Offbeat\Internal\Transport\RetryingTransport($transport);
$ask = static function (int $id, Offbeat\Internal\Transport\Transport $transport) use ($schedule): string {
    $request = (new Offbeat\V1\AssignSlotRequest())
        ->setSchedule($schedule->toMessage())
        ->setId((new Offbeat\V1\Id())->setInteger($id));
    $response = new Offbeat\V1\AssignSlotResponse();
    $response->mergeFromString($transport->call('offbeat.v1.SlotService/AssignSlot', $request->serializeToString(), 5.0));

    return $response->getExplanation()->getCanonicalId();
};
$ask(0, $retrying) === '0' || exit(1);
$children = [];
for ($child = 1; $child <= 4; ++$child) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        for ($i = 0; $i < 100; ++$i) {
            $ask($child, $transport) === "$child" || exit(2);
        }
        exit(0);
    }
    $children[] = $pid;
}
for ($i = 0; $i < 400; ++$i) { // while the children call and exit
    $ask(0, $retrying) === '0' || exit(3);
}
foreach ($children as $pid) {
    pcntl_waitpid($pid, $status);
    pcntl_wifexited($status) && pcntl_wexitstatus($status) === 0 || exit(4);
}
$ask(0, $retrying) === '0' || exit(5);
echo "both sides\n";
