// The state of the page is its address: `#/view?name=value`.

import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string;
  params: URLSearchParams;
}

function current(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { view: path, params: new URLSearchParams(query) };
}

export function addressOf(view: string, params: Record<string, string> = {}): string {
  const kept = Object.entries(params).filter(([, value]) => value !== "");
  const query = new URLSearchParams(kept).toString();
  return query ? `#/${view}?${query}` : `#/${view}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const changed = () => setRoute(current());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

/** Changes parameters of the view, without a step for the Back button. */
export function setParams(changes: Record<string, string>): void {
  const { view, params } = current();
  const merged = { ...Object.fromEntries(params), ...changes };
  history.replaceState(null, "", addressOf(view, merged));
  dispatchEvent(new HashChangeEvent("hashchange"));
}
