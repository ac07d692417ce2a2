import { lookupError } from '../error.js';
import { type Entry, func } from '../run/builtin.js';
import * as p from '../run/params.js';
import { helpText } from './describe.js';

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
];
