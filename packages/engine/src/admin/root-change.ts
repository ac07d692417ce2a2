import { ByteWriter } from '../bytes.js';
import type { Undo } from '../state/transaction.js';
import { RootEditor } from './root-editor.js';
import type { RootEvent } from './root-event.js';
import type { RootGroup } from './root-group.js';

/** Makes a change of the root scope that no query asked for. Like that of a query it has to be replicated. */
export function changeRoot(
  root: RootGroup,
  edit: (editor: RootEditor) => void,
): {
  readonly effects: Uint8Array;
  readonly undo: readonly Undo[];
  readonly events: readonly RootEvent[];
} {
  const effects = new ByteWriter();
  const undo: Undo[] = [];
  edit(
    new RootEditor(root, { effects, tally: null, chargeStep: () => {}, onUndo: (step) => undo.push(step) }),
  );
  root.changeCount += 1;
  undo.push(() => {
    root.changeCount -= 1;
  });
  return { effects: effects.take(), undo, events: root.events.splice(0) };
}
