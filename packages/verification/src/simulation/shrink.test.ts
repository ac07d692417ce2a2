import { beforeAll, describe, expect, test } from '@jest/globals';
import { commandOf, WHOLE } from './cut.js';
import { type Shrunk, shrink } from './shrink.js';
import { live } from './work.js';

/** Runs that are made at most, for finding one that fails and making it small. */
const RUNS_MAX = 100;
/** Runs that are short to begin with. */
const SHORT = { ...WHOLE, nodes: 3, clients: 2, faultsMs: 1000 };
/** The rest of one, about twice over. */
const DECISIONS_MAX = 10;

describe('making a run small that fails', () => {
  test('leaves a few faults and operations of a planted bug, and it fails for the same reason', async () => {
    const mutants = ['node:prepared_answer_before_commit'];
    let runs = 0;
    const counted: typeof live = (work) => {
      runs += 1;
      return live(work);
    };
    const isOver = (): boolean => runs >= RUNS_MAX;
    let found: (Shrunk & { readonly seed: number }) | null = null;
    // Some runs fail by what comes of itself, and nothing has to be left of them; others by all that there is.
    const isUseful = ({ decisions, decisionsBefore }: Shrunk): boolean =>
      decisions.length > 0 && decisionsBefore > 1;
    for (let seed = 1; !(found !== null && isUseful(found)) && !isOver(); seed++) {
      const shrunk = await shrink({
        seed,
        mutants,
        cut: SHORT,
        live: counted,
        workers: 1,
        isOver,
        report: () => {},
      });
      if (shrunk !== null) found = { ...shrunk, seed };
    }
    if (found === null) throw new Error('the bug is not found');
    const { seed, cut, decisions, decisionsBefore } = found;
    expect(decisions.length).toBeLessThanOrEqual(Math.min(DECISIONS_MAX, decisionsBefore - 1));
    const [whole, small] = [await live({ seed, mutants, cut: SHORT }), await live({ seed, mutants, cut })];
    expect(small.broken).toBe(whole.broken);
    expect(small.decisions).toEqual(decisions);
  });

  test('tells of a run that does not fail', async () => {
    const options = { seed: 2, mutants: [], cut: SHORT, live, workers: 1 };
    expect(await shrink({ ...options, isOver: () => false, report: () => {} })).toBeNull();
  });
});

describe('a part of a run', () => {
  const seed = 7;
  let whole: Awaited<ReturnType<typeof live>>;
  beforeAll(async () => {
    whole = await live({ seed, mutants: [], cut: WHOLE });
  });

  test('a part of a run that keeps all decisions is the whole', async () => {
    expect(whole.decisions.length).toBeGreaterThan(10);
    const { traceHash } = await live({ seed, mutants: [], cut: { ...WHOLE, keep: whole.decisions } });
    expect(traceHash).toBe(whole.traceHash);
  });

  test('has only what is kept', async () => {
    const { decisions } = whole;
    const keep = decisions.filter((_name, at) => at % 3 === 0);
    const part = await live({ seed, mutants: [], cut: { ...WHOLE, clients: 1, keep } });
    expect(part.error).toBeNull();
    expect(keep).toEqual(expect.arrayContaining([...part.decisions]));
  });

  test('is replayed by a command', () => {
    const cut = { nodes: 3, clients: 1, faultsMs: 500, without: ['loss', 'clock'], keep: ['f3', 'c0.7'] };
    expect(commandOf(42, ['no_noop'], cut)).toBe(
      'npm run simulate -- --seed 42 --only no_noop --nodes 3 --clients 1 --faults 500 --without loss,clock --keep f3,c0.7',
    );
    expect(commandOf(42, [], { ...WHOLE, keep: [] })).toBe('npm run simulate -- --seed 42 --keep none');
    expect(commandOf(42, [], WHOLE)).toBe('npm run simulate -- --seed 42');
  });
});
