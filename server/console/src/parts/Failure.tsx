import type { CallFailure } from "../rpc";

/** Why there is no answer. */
export function Failure({ failure }: { failure: CallFailure | undefined }) {
  if (!failure) return null;
  const text =
    failure.code === "unauthenticated" ? "The service asks for a token." : failure.message;
  return (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}
