import type { ComponentProps } from "preact";
import { useState } from "preact/hooks";

interface Draft {
  value: string;
  /** Takes what was typed when the reader leaves the field. With `false` it stays in the field. */
  onCommit: (text: string) => boolean | void;
}

type Typed = HTMLInputElement | HTMLTextAreaElement;

/** Keeps what is being typed while the page is drawn again around the field. */
function useDraft({ value, onCommit }: Draft) {
  const [draft, setDraft] = useState<string>();
  return {
    value: draft ?? value,
    onInput: (event: { currentTarget: Typed }) => setDraft(event.currentTarget.value),
    onChange: (event: { currentTarget: Typed }) => {
      if (onCommit(event.currentTarget.value) !== false) setDraft(undefined);
    },
  };
}

/** A field whose text counts when the reader leaves it. */
export function DraftInput({ value, onCommit, ...rest }: Draft & ComponentProps<"input">) {
  return <input {...rest} {...useDraft({ value, onCommit })} />;
}

/** The same with several lines. */
export function DraftArea({ value, onCommit, ...rest }: Draft & ComponentProps<"textarea">) {
  return <textarea {...rest} {...useDraft({ value, onCommit })} />;
}
