import { lookupError } from '../error.js';
import { packInfo } from '../pack/info.js';
import { type Entry, func } from '../run/builtin.js';
import * as p from '../run/params.js';
import { entryInfo, helpText } from './describe.js';
import { procedureHelp } from './procedures.js';

export const HELP: readonly Entry[] = [
  func('help', {
    doc: 'What a built-in function or method, or a procedure of the scope, does and takes, as text.',
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => {
      const texts = rt.functions.entries.filter((entry) => entry.name === name).map(helpText);
      const procedure = rt.scope.procedure(name);
      if (procedure !== undefined) texts.push(procedureHelp(rt, procedure));
      if (texts.length === 0)
        throw lookupError(`there is no built-in function or method and no procedure '${name}'`);
      return texts.join('\n\n');
    },
  }),
  func('functions_info', {
    doc: 'What every built-in function and method does and takes, as data: for tools.',
    run: (rt) => {
      const { entries } = rt.functions;
      return packInfo(rt, entries.map(entryInfo));
    },
  }),
];
