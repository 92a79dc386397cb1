// Hooks for what a view asks.

import { useEffect, useState } from "preact/hooks";
import { call, CallFailure } from "./rpc";

export interface Answer<A> {
  /** The last answer; while another question waits, that of the one before. */
  value?: A;
  failure?: CallFailure;
}

/** Waits for somebody who types. */
const TYPING_MILLIS = 150;

function failureOf(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  return new CallFailure("unavailable", "the server does not answer");
}

/** Asks again whenever `key` changes; nothing while it is undefined. */
export function useAsked<A>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<A>,
): Answer<A> {
  const [answer, setAnswer] = useState<Answer<A>>({});
  useEffect(() => {
    if (key === undefined) {
      setAnswer({});
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask(stop.signal).then(
        (value) => stop.signal.aborted || setAnswer({ value }),
        (error) => stop.signal.aborted || setAnswer({ failure: failureOf(error) }),
      );
    }, TYPING_MILLIS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  return answer;
}

/** Calls a method whenever its message changes; nothing while there is no message. */
export function useCall<A>(method: string, message: object | undefined): Answer<A> {
  const key = message && `${method} ${JSON.stringify(message)}`;
  return useAsked<A>(key, (signal) => call<A>(method, message!, signal));
}

/** Asks every `millis`, but not while the page is hidden. */
export function usePolled<A>(
  key: string,
  millis: number,
  ask: (signal: AbortSignal) => Promise<A>,
): Answer<A> {
  const [answer, setAnswer] = useState<Answer<A>>({});
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = () => {
      clearTimeout(timer);
      if (!document.hidden && !stop.signal.aborted) timer = setTimeout(poll, millis);
    };
    const poll = () => {
      ask(stop.signal)
        .then(
          (value) => stop.signal.aborted || setAnswer({ value }),
          (error) =>
            stop.signal.aborted ||
            setAnswer((before) => ({ ...before, failure: failureOf(error) })),
        )
        .finally(next);
    };
    const seen = () => document.hidden || poll();
    document.addEventListener("visibilitychange", seen);
    poll();
    return () => {
      clearTimeout(timer);
      stop.abort();
      document.removeEventListener("visibilitychange", seen);
    };
  }, [key]);
  return answer;
}

/** The time, every second while the page is seen. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNow(new Date()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
