import { useState } from "preact/hooks";
import { useAsked } from "../answers";
import { call, keepToken } from "../rpc";

/** Asks for a token where the service does. It is kept until the tab closes. */
export function TokenField({ onKept }: { onKept: () => void }) {
  const [tries, setTries] = useState(0);
  const asked = useAsked(`token ${tries}`, (signal) =>
    call<object>("ServerInfoService/GetServerInfo", {}, signal),
  );
  if (asked.failure?.code !== "unauthenticated") return null;
  const keep = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    keepToken(String(form.get("token")));
    setTries(tries + 1);
    onKept();
  };
  return (
    <form class="token" onSubmit={keep}>
      <label>
        Token
        <input name="token" type="password" autocomplete="off" required />
      </label>
      <button>Use</button>
    </form>
  );
}
