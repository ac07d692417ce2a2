// @ts-check
/** Writes src/parser.generated.ts from src/grammar.ohm, if it is not current. Runs before the TypeScript compiler. */
import { readFileSync, writeFileSync } from 'node:fs';
import { GRAMMAR, generate, PARSER } from './generate.mjs';

const made = generate(readFileSync(GRAMMAR, 'utf8'));
if (made !== current()) writeFileSync(PARSER, made);

function current() {
  try {
    return readFileSync(PARSER, 'utf8');
  } catch {
    return '';
  }
}
