/**
 * Holds the generated parser to the grammar as ohm itself reads it.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createDeriver } from '../generator/derive.mjs';
import { GRAMMAR, generate } from '../generator/generate.mjs';
import { createOhmParser, type OhmResult } from '../generator/ohm-parser.mjs';
import * as build from './build.js';
import { LanguageError } from './error.js';
import * as literals from './literals.js';
import { parse } from './parse.js';
import { INVALID, VALID } from './testing/corpus.js';
import { difference } from './testing/equal.js';
import { createRandom, mutated } from './testing/random.js';

const grammarText = readFileSync(GRAMMAR, 'utf8');
const ohmParse = createOhmParser(grammarText, { ...build, ...literals });

/** The difference between the two parsers, or null. */
function disagreement(text: string): string | null {
  const [ohm, ours] = [outcomeOf(() => ohmParse(text)), outcomeOf(() => oursOf(text))];
  if (typeof ohm === 'string' || typeof ours === 'string') {
    return ohm === ours ? null : `one parser stopped: ${JSON.stringify(ohm)}, ${JSON.stringify(ours)}`;
  }
  if (ohm.accepted !== ours.accepted) {
    return ohm.accepted ? 'only ohm accepts it' : `only ohm refuses it, at ${ohm.position}: ${ohm.message}`;
  }
  if (!ohm.accepted || !ours.accepted) {
    const positions = [ohm, ours].map((each) => (each.accepted ? -1 : each.position));
    return positions[0] === positions[1]
      ? null
      : `ohm fails at ${positions[0]}, the parser at ${positions[1]}`;
  }
  return difference(ours.statements, ohm.statements);
}

function oursOf(text: string): OhmResult {
  try {
    return { accepted: true, statements: parse(text).statements };
  } catch (error) {
    if (!(error instanceof LanguageError) || error.message.includes('the limit')) throw error;
    return { accepted: false, position: error.offset, message: error.message };
  }
}

/** The result, or the reason of an error that stops a parser (a name that is too long). */
function outcomeOf(run: () => OhmResult): OhmResult | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof LanguageError) return error.reason;
    throw error;
  }
}

function expectAgreement(texts: readonly string[], note = ''): void {
  const found = texts.flatMap((text) => {
    const reason = disagreement(text);
    return reason === null ? [] : [`${note}${JSON.stringify(text)}: ${reason}`];
  });
  expect(found).toEqual([]);
}

describe('the generated files', () => {
  test('are current', () => {
    const stale = generate(grammarText).filter(({ path, text }) => readFileSync(path, 'utf8') !== text);
    expect(stale.map(({ path }) => path)).toEqual([]);
  });
});

describe('the generated parser and ohm agree', () => {
  test('both agree on texts that fit the grammar', () => {
    const refused = VALID.filter((text) => !ohmParse(text).accepted);
    expect(refused).toEqual([]);
    expectAgreement(VALID);
  });

  test('both agree on texts that do not fit the grammar, down to the place of the error', () => {
    const accepted = INVALID.filter((text) => ohmParse(text).accepted);
    expect(accepted).toEqual([]);
    expectAgreement(INVALID);
  });

  test('both agree on every beginning of a text', () => {
    const beginnings = VALID.filter((text) => text.length < 70).flatMap((text) =>
      Array.from({ length: text.length }, (_, length) => text.slice(0, length)).filter((each) =>
        each.isWellFormed(),
      ),
    );
    expectAgreement(beginnings);
  });

  test('both agree on random texts derived from the grammar', () => {
    const seed = Number(process.env.ALTHING_TEST_SEED);
    const random = createRandom(seed);
    const derive = createDeriver(grammarText);
    const texts = Array.from({ length: 300 }, (_, i) => derive(random, 30 + (i % 200))).filter(
      (text) => text.length < 600,
    );
    expect(texts.filter((text) => ohmParse(text).accepted).length).toBeGreaterThan(texts.length / 2);
    expectAgreement(texts, `seed ${seed}: `);
  });

  test('both agree on random changes of all these texts', () => {
    const seed = Number(process.env.ALTHING_TEST_SEED);
    const random = createRandom(seed);
    const derive = createDeriver(grammarText);
    const sources = [...VALID, ...INVALID, ...Array.from({ length: 200 }, () => derive(random, 80))];
    const texts = Array.from({ length: 700 }, () => {
      const source = sources[Math.floor(random() * sources.length)] ?? '';
      return mutated(random, source.slice(0, 400), sources);
    });
    expectAgreement(texts, `seed ${seed}: `);
  });
});
