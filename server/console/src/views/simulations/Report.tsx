import { useEffect, useRef } from "preact/hooks";

/** The simulator's page about these results, as high as it needs to be. */
export function Report({ json }: { json: string }) {
  const observer = useRef<ResizeObserver>();
  useEffect(() => () => observer.current?.disconnect(), []);
  const follow = (frame: HTMLIFrameElement) => {
    const page = frame.contentDocument!.body;
    const fit = () => (frame.height = String(Math.ceil(page.getBoundingClientRect().bottom)));
    observer.current?.disconnect();
    observer.current = new ResizeObserver(fit);
    observer.current.observe(page);
  };
  return (
    <>
      <iframe
        key={json}
        class="report"
        title="Report"
        src="report.html"
        data-results={json}
        onLoad={(event) => follow(event.currentTarget)}
      />
      <p class="note">
        <code>offbeat simulate scenario.toml --report report.html</code> writes this page as one file.
      </p>
    </>
  );
}
