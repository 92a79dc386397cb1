import { render } from "preact";
import { useState } from "preact/hooks";
import { addressOf, useRoute } from "./router";
import { TokenField } from "./parts/TokenField";
import { VIEWS } from "./views";
import "./style/base.css";
import "./style/shell.css";
import "./style/forms.css";
import "./style/tables.css";
import "./style/charts.css";

function Console() {
  const route = useRoute();
  // Everything is asked for again once there is a token.
  const [generation, setGeneration] = useState(0);
  const view = VIEWS.find((one) => one.path === route.view) ?? VIEWS[0]!;
  document.title = `${view.name} · Offbeat`;
  return (
    <>
      <header>
        <a class="brand" href="#/">
          <img src="icon.svg" alt="" width="24" height="24" />
          Offbeat
        </a>
        <nav aria-label="Views">
          {VIEWS.map((one) => (
            <a href={addressOf(one.path)} aria-current={one === view ? "page" : undefined}>
              {one.name}
            </a>
          ))}
        </nav>
        <TokenField onKept={() => setGeneration(generation + 1)} />
      </header>
      <main key={`${view.path} ${generation}`}>
        <view.View params={route.params} />
      </main>
    </>
  );
}

render(<Console />, document.getElementById("console")!);
