import { lookupError } from '../error.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { type Entry, func } from '../run/builtin.js';
import * as p from '../run/params.js';
import { MpData } from '../value/scalars.js';
import { helpText, writeEntry } from './describe.js';

/** Bytes of one entry in `functions_info()`, about. */
const ENTRY_BYTES = 400;

export const HELP: readonly Entry[] = [
  func('help', {
    doc: 'What a built-in function or method does and takes, as text.',
    params: [p.str('name')],
    run: (rt, name) => {
      const entries = rt.functions.entries.filter((entry) => entry.name === name);
      if (entries.length === 0) throw lookupError(`there is no built-in function or method '${name}'`);
      return entries.map(helpText).join('\n\n');
    },
  }),
  func('functions_info', {
    doc: 'What every built-in function and method does and takes, as data: for tools.',
    run: (rt) => {
      const { entries } = rt.functions;
      rt.charge(ENTRY_BYTES * entries.length);
      const out = new MsgpackWriter();
      out.beginArray(entries.length);
      for (const entry of entries) writeEntry(out, entry);
      return new MpData(out.out.take());
    },
  }),
];
