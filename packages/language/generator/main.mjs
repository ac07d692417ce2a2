// @ts-check
/** Writes the files that are made from src/grammar.ohm, where they are not current. Runs before the TypeScript compiler. */
import { readFileSync, writeFileSync } from 'node:fs';
import { GRAMMAR, generate } from './generate.mjs';

for (const { path, text } of generate(readFileSync(GRAMMAR, 'utf8'))) {
  if (text !== textOf(path)) writeFileSync(path, text);
}

/** @param {string} path */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
