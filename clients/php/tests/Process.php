<?php

declare(strict_types=1);

namespace Offbeat\Tests;

/** A child process that writes to a file and never outlives the tests. */
final class Process
{
    /** @var resource */
    private $process;
    private readonly string $log;
    public readonly int $pid;

    /**
     * @param list<string> $command
     * @param array<string, string> $environment added to the environment of the tests
     */
    public function __construct(array $command, array $environment = [])
    {
        $this->log = tempnam(sys_get_temp_dir(), 'offbeat-');
        $output = ['file', $this->log, 'a'];
        $this->process = proc_open(
            $command,
            [['file', '/dev/null', 'r'], $output, $output],
            $pipes,
            null,
            $environment + getenv(),
        );
        $this->pid = proc_get_status($this->process)['pid'];
    }

    public function __destruct()
    {
        if (is_resource($this->process)) {
            $this->end(SIGKILL);
        }
        unlink($this->log);
    }

    public function output(): string
    {
        return file_get_contents($this->log);
    }

    /** Waits until a line of the output matches. */
    public function waitFor(string $pattern): string
    {
        for ($patience = 0; $patience < 1_000; ++$patience) {
            if (preg_match($pattern, $this->output(), $found) === 1) {
                return end($found);
            }
            usleep(10_000);
        }
        throw new \RuntimeException("no $pattern in: " . $this->output());
    }

    public function signal(int $signal): void
    {
        posix_kill($this->pid, $signal);
    }

    /** Stops it, and waits until each of its threads has stopped: one could still answer a call. */
    public function freeze(): void
    {
        $this->signal(SIGSTOP);
        for ($patience = 0; $patience < 1_000; ++$patience) {
            $states = preg_replace('/^.*\) (.).*$/s', '$1', array_map('file_get_contents', glob("/proc/$this->pid/task/*/stat")));
            if (array_unique($states) === ['T']) {
                return;
            }
            usleep(1_000);
        }
        throw new \RuntimeException('still runs: ' . implode(' ', $states));
    }

    public function thaw(): void
    {
        $this->signal(SIGCONT);
    }

    /** Sends a signal, waits for the end, and returns the exit status; -1 if the signal ended it. */
    public function end(int $signal = SIGTERM): int
    {
        $this->signal($signal);

        return proc_close($this->process);
    }

    /** Waits until it exits; kills it if that takes too long. */
    public function wait(float $seconds): ?int
    {
        $deadline = microtime(true) + $seconds;
        do {
            $status = proc_get_status($this->process);
            if (!$status['running']) {
                proc_close($this->process);

                return $status['exitcode'];
            }
            usleep(10_000);
        } while (microtime(true) < $deadline);
        $this->end(SIGKILL);

        return null;
    }
}
