/** Small parts of all pages. */
import { ForbiddenErr } from '@althing/client';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { errorText, outcomeText } from '../state/texts.js';

/** The mark of the house: an assembly, and who leads it. */
export function Assembly({ size = 18 }: { readonly size?: number }): JSX.Element {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
      <circle cx="8" cy="2.6" r="2.1" />
      <circle cx="13.3" cy="6.4" r="1.5" />
      <circle cx="11.3" cy="12.6" r="1.5" />
      <circle cx="4.7" cy="12.6" r="1.5" />
      <circle cx="2.7" cy="6.4" r="1.5" />
    </svg>
  );
}

/** A section with a line above it. */
export function Part({
  title,
  actions,
  children,
}: {
  readonly title: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="part">
      <header>
        <h2>{title}</h2>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** The head of a page. */
export function Head({
  title,
  children,
}: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="head">
      <h1>{title}</h1>
      {children === undefined ? null : <div class="row">{children}</div>}
    </div>
  );
}

/** Code to read and to copy, in a box that scrolls, also by the keyboard. */
export function Code({
  box,
  children,
}: {
  readonly box?: RefObject<HTMLPreElement | null>;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <pre ref={box ?? null} class="copied" tabIndex={0}>
      {children}
    </pre>
  );
}

/** A box that scrolls its wide table, also by the keyboard. */
export function Scroll({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

/** @param isDeed whether it failed what somebody wanted to do, and not only to see */
export function Failure({
  error,
  isDeed = false,
}: {
  readonly error: unknown;
  readonly isDeed?: boolean;
}): JSX.Element | null {
  if (error === null || error === undefined) return null;
  // What a user may not see is no failure of the page.
  if (error instanceof ForbiddenErr && !isDeed)
    return <p class="empty">You may not see this: {error.message}.</p>;
  return (
    <div class="notice bad" role="alert">
      <strong>{errorText(error)}</strong> <span>{outcomeText(error)}</span>
    </div>
  );
}

/** A button in a row of a table or list; who does not see the row hears what it is about. */
export function RowButton({
  text,
  about,
  act,
}: {
  readonly text: string;
  readonly about: string;
  readonly act: () => void;
}): JSX.Element {
  return (
    <button type="button" class="link" onClick={act}>
      {text}
      <span class="hidden-text"> {about}</span>
    </button>
  );
}

export type MarkKind = 'good' | 'warn' | 'bad' | 'quiet';

export function Mark({
  kind,
  children,
}: {
  readonly kind: MarkKind;
  readonly children: ComponentChildren;
}): JSX.Element {
  return <span class={`mark ${kind}`}>{children}</span>;
}

export function Field({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child.
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** A text to copy. Without a secure context there is no clipboard: then it is selected, and the reader presses the keys. */
export function Copied({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const box = useRef<HTMLPreElement>(null);
  const [said, say] = useState('');
  const copy = async (): Promise<void> => {
    if (isSecureContext) {
      await navigator.clipboard.writeText(text);
      say('Copied.');
    } else if (box.current !== null) {
      getSelection()?.selectAllChildren(box.current);
      say('Selected: press Ctrl-C.');
    }
  };
  return (
    <div class="stack">
      <div class="row far">
        <span class="quiet">{label}</span>
        <span class="row">
          <span role="status">{said}</span>
          <button type="button" onClick={() => void copy()}>
            Copy
          </button>
        </span>
      </div>
      <Code box={box}>{text}</Code>
    </div>
  );
}

/** A window over the page; Escape closes it, and the focus is then where it was. */
export function Dialog({
  title,
  class: name = '',
  close,
  children,
}: {
  readonly title: string;
  readonly class?: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => {
      isGone.current = true;
      // The browser gives the focus back, unless what had it is gone.
      dialog?.close();
      if (document.activeElement === document.body) document.getElementById('main')?.focus();
    };
  }, []);
  // By then another window may be open.
  const closed = (): void => {
    if (!isGone.current) close();
  };
  return (
    <dialog ref={box} class={name} aria-label={title} onClose={closed}>
      {name === '' ? <h2>{title}</h2> : null}
      {children}
    </dialog>
  );
}

/** One of several things, as buttons beside each other. */
export function Choice<T extends string>({
  label,
  value,
  options,
  choose,
}: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [T, string])[];
  readonly choose: (value: T) => void;
}): JSX.Element {
  return (
    <fieldset class="choice" aria-label={label}>
      {options.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => choose(key)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

/** What a page asks for, again whenever `what` changes. */
export function useAnswer<T>(
  what: string,
  load: () => Promise<T>,
): {
  readonly value: T | null;
  /** The value, or until it is there the one before: what is looked at and has the focus stays. */
  readonly last: T | null;
  readonly error: unknown;
  readonly again: () => void;
} {
  const [state, set] = useState<{ what: string; value: T | null; error: unknown }>({
    what,
    value: null,
    error: null,
  });
  const [round, next] = useState(0);
  useEffect(() => {
    let isWanted = true;
    load().then(
      (value) => isWanted && set({ what, value, error: null }),
      (error: unknown) => isWanted && set(({ value }) => ({ what, value, error })),
    );
    return () => {
      isWanted = false;
    };
  }, [what, round]);
  const isCurrent = state.what === what;
  return {
    value: isCurrent ? state.value : null,
    last: state.value,
    error: isCurrent ? state.error : null,
    again: () => next((n) => n + 1),
  };
}

/** Does something again and again while the page is to be seen. */
export function useEvery(ms: number, work: () => void): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
}
