// @ts-check
import { fileURLToPath } from 'node:url';
import * as ohm from 'ohm-js';
import { actions } from './actions.mjs';
import { emitParser } from './emit.mjs';
import { readGrammar } from './read.mjs';

/** The grammar, and the parser that is made from it. */
export const GRAMMAR = fileURLToPath(new URL('../src/grammar.ohm', import.meta.url));
export const PARSER = fileURLToPath(new URL('../src/parser.generated.ts', import.meta.url));

/** The source text of the parser. @param {string} grammarText */
export function generate(grammarText) {
  const rules = readGrammar(ohm.grammar(grammarText), ['Query', 'space']);
  return emitParser(rules, actions, 'Query');
}
