// @ts-check
import { fileURLToPath } from 'node:url';
import * as ohm from 'ohm-js';
import { actions } from './actions.mjs';
import { parserModule } from './module.mjs';
import { readGrammar } from './read.mjs';

/** @param {string} name */
const inSource = (name) => fileURLToPath(new URL(`../src/${name}`, import.meta.url));

/** The grammar. */
export const GRAMMAR = inSource('grammar.ohm');

/**
 * The files that are made from the grammar: path and text of each.
 *
 * @param {string} grammarText
 * @returns {{ path: string, text: string }[]}
 */
export function generate(grammarText) {
  const rules = readGrammar(ohm.grammar(grammarText), ['Query', 'space']);
  return [{ path: inSource('parser.generated.ts'), text: parserModule(rules, actions, 'Query') }];
}
