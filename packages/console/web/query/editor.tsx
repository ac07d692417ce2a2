/** The editor as a part of a page; its code is loaded when the first one is shown. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { EditorOptions, Editor as Handle } from './codemirror.js';

export interface EditorProps extends Omit<EditorOptions, 'parent'> {
  /** Another key is another text: the editor begins anew. */
  readonly id: string;
  /** Called with the editor when it is there, and with null when it goes. */
  readonly handle?: (editor: Handle | null) => void;
  readonly small?: boolean;
}

export function CodeEditor(props: EditorProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let editor: Handle | null = null;
    let isWanted = true;
    void import('./codemirror.js').then(({ makeEditor }) => {
      if (!isWanted || box.current === null) return;
      const now = (): EditorProps => latest.current;
      editor = makeEditor({
        parent: box.current,
        text: now().text,
        ...(props.isReadOnly === undefined ? {} : { isReadOnly: props.isReadOnly }),
        scope: () => now().scope(),
        changed: (text) => now().changed(text),
        run: (selected) => now().run(selected),
      });
      now().handle?.(editor);
    });
    return () => {
      isWanted = false;
      latest.current.handle?.(null);
      editor?.destroy();
    };
  }, [props.id]);
  return <div ref={box} class={props.small === true ? 'editor small' : 'editor'} />;
}
