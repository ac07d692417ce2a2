/**
 * Whole lives of a collection of large and small values: queries of which some fail half-way, commits, a leader that is deposed and takes
 * back what is not committed, checkpoints in steps with all that between them, of which some fail, searches for garbage, evictions,
 * restarts, another node that leads and gives the same ids. At any time it holds what another node holds that only applied the effects, and its disk what a start needs, no more.
 */
import { test } from '@jest/globals';
import fc from 'fast-check';
import { Life } from '../testing/life.js';
import { live, type Step } from '../testing/live.js';

// The gate lives the same lives each time, and leaves the search for others to ALTHING_TEST_RUNS_FACTOR: lives are long, and what they
// find is rare.
const isSearch = Number(process.env.ALTHING_TEST_RUNS_FACTOR) > 1;
const seed = isSearch ? Number(process.env.ALTHING_TEST_SEED) : 101;

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 16, arbitrary: fc.constant('query' as const) },
    { weight: 3, arbitrary: fc.constant('elsewhere' as const) },
    {
      weight: 8,
      arbitrary: fc.constantFrom('begin' as const, 'encode' as const, 'encode' as const, 'finish' as const),
    },
    {
      weight: 8,
      arbitrary: fc.constantFrom(
        'commit' as const,
        'depose' as const,
        'fail' as const,
        'evict' as const,
        'restart' as const,
        'mark' as const,
        'sweep' as const,
        'sweep' as const,
        'sweep' as const,
        'build' as const,
        'build' as const,
        'expire' as const,
        'expire' as const,
        'work' as const,
        'work' as const,
        'look' as const,
      ),
    },
  ),
  choices: fc.array(fc.nat(10_000), { minLength: 8, maxLength: 24 }),
});

test(`a collection holds what its log says, whatever it lives through (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), (steps) => {
      live(steps);
    }),
    { numRuns: 4, seed },
  );
});

test('a change of a large set that fails leaves what nodes compare as it was, in an instance, too', () => {
  const life = new Life();
  life.query("set_type('T', {s: '{T}'}); .all = range(1100).map(|| T{}); .o = T{}; .o.s = set(.all);", true);
  life.query(".o.s.remove(.all[3], .all[700]); raise('stop')");
  life.query('.o.s.add(T{});', true);
  life.begin();
  life.finish(true);
  life.query('.o.s.remove(.all[3]);', true);
  life.begin();
  life.finish(true);
  life.restart();
  life.look();
});

test('a checkpoint has the fields of an instance that the type loses while it is under way', () => {
  const life = new Life();
  life.query("set_type('T', {n: 'int', f: 'int'}); .ts = range(9).map(|i| T{n: i, f: 10 + i});", true);
  life.commit();
  life.begin();
  life.query("mod_type('T', 'del', 'f');", true);
  life.query('.ts[3].n = 7; .ts.pop();', true);
  life.finish(true);
  life.look();
  // Uncommitted changes are lost, and with them that the field went.
  life.restart();
  life.look();
});

test('an instance has the value of a field whose loss was taken back also in the next checkpoint', () => {
  const life = new Life();
  life.query(
    "set_type('T', {n: 'int'}); mod_type('T', 'add', 'f', 'int', 5); .ts = range(9).map(|i| T{n: i, f: i});",
    true,
  );
  life.commit();
  life.query("mod_type('T', 'del', 'f'); .ts[3].n; raise('stop');");
  life.begin();
  life.finish(true);
  life.restart();
  life.look();
});
