import { lookupError } from '../error.js';
import { tagName } from '../value/value.js';
import { type Entry, func } from './define.js';
import * as p from './params.js';

export const HELP: readonly Entry[] = [
  func('help', {
    doc: 'What a built-in function or method does and takes, as text.',
    params: [p.str('name')],
    run: (rt, name) => {
      const entries = rt.functions.entries.filter((entry) => entry.name === name);
      if (entries.length === 0) throw lookupError(`there is no built-in function or method '${name}'`);
      return entries.map(describe).join('\n\n');
    },
  }),
];

/**
 * The call of an entry, its doc, and its parameters:
 *
 *   str.split(separator?, limit?)
 *   A list of the parts ...
 *     separator: a str, regex or int
 *     limit: anything
 */
function describe(entry: Entry): string {
  const receivers = entry.on === null ? '' : `${entry.on.map(tagName).join('/')}.`;
  const names = entry.params.map(({ name, optional }) => (optional ? `${name}?` : name));
  if (entry.rest !== null) names.push(`...${entry.rest.name}`);
  const params = entry.rest === null ? entry.params : [...entry.params, entry.rest];
  return [
    `${receivers}${entry.name}(${names.join(', ')})`,
    entry.doc,
    ...params.map(({ name, type }) => `  ${name}: ${type}`),
  ].join('\n');
}
