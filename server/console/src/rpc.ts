// Calls of the service by Connect's unary JSON, on the origin of the page.

/** What a call was refused with. */
export class CallFailure extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** The path of the field that is refused, such as `schedule.spec.slot_count`. */
    readonly field?: string,
  ) {
    super(message);
  }
}

interface Detail {
  debug?: { fieldViolations?: { field: string }[] };
}

const TOKEN = "offbeat-token";

export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

function credentials(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { authorization: `Bearer ${token}` } : {};
}

function headers(): Record<string, string> {
  return { "content-type": "application/json", "offbeat-console": "1", ...credentials() };
}

/** Calls `Service/Method` of the package offbeat.v1, or `v1beta1.Service/Method`. */
export async function call<A>(method: string, message: object, signal?: AbortSignal): Promise<A> {
  const path = method.startsWith("v1beta1.") ? `/offbeat.${method}` : `/offbeat.v1.${method}`;
  const answer = await fetch(path, {
    method: "POST",
    headers: headers(),
    body: JSON.stringify(message),
    signal: signal ?? null,
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text) as A;
  throw failureOf(answer.status, text);
}

function failureOf(status: number, text: string): CallFailure {
  try {
    const error = JSON.parse(text) as { code: string; message: string; details?: Detail[] };
    const violations = error.details?.flatMap((detail) => detail.debug?.fieldViolations ?? []);
    return new CallFailure(error.code, error.message, violations?.[0]?.field);
  } catch {
    return new CallFailure(String(status), text.trim() || `HTTP status ${status}`);
  }
}

/** A text or JSON that is no call. */
export async function read(path: string, signal?: AbortSignal): Promise<string> {
  const answer = await fetch(path, { headers: credentials(), signal: signal ?? null });
  if (!answer.ok) throw new CallFailure(String(answer.status), await answer.text());
  return answer.text();
}

/** Posts a text, and reads an answer of lines of JSON as they come. */
export async function* lines<L>(path: string, text: string, signal: AbortSignal): AsyncGenerator<L> {
  const answer = await fetch(path, { method: "POST", headers: headers(), body: text, signal });
  if (!answer.ok || !answer.body) throw failureOf(answer.status, await answer.text());
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) yield JSON.parse(part) as L;
  }
}
