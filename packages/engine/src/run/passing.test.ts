/**
 * Texts that come for the first time: their code is made for one run.
 */
import { describe, expect, test } from '@jest/globals';
import { builtIns } from '../functions/index.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import type { WireValues } from '../pack/wire-values.js';
import { Harness, type Plain, randomOf } from '../testing/harness.js';
import { RandomPrograms, STORED_PLACES } from '../testing/random-program.js';
import { stateLines } from '../testing/state-lines.js';
import { FICKLE, trace } from '../testing/trace.js';

/** Has a text known before it runs, so that its first run is that of code that lasts. */
function announce(harness: Harness, code: string): void {
  for (let i = 0; i < 2; i++) {
    try {
      harness.engine.prepare(code);
    } catch {
      // The error shows when it runs.
    }
  }
}

const seed = Number(process.env.ALTHING_TEST_SEED);
const runs = 800 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);

test(`a text does the same when it comes for the first time and when it is known (seed ${seed})`, () => {
  const entries = builtIns().filter(({ name }) => !FICKLE.has(name));
  const programs = new RandomPrograms(randomOf(seed), { entries, stored: true });
  let fresh = new Harness();
  let known = new Harness();
  for (let run = 0; run < runs; run++) {
    if (run % 100 === 0) {
      fresh = new Harness();
      known = new Harness();
      // Code that runs hot is translated at once, in the second half.
      if (run * 2 >= runs) for (const harness of [fresh, known]) harness.engine.runtime.hotRuns = 2;
      for (const harness of [fresh, known]) harness.run(STORED_PLACES);
    }
    const code = programs.program();
    announce(known, code);
    const expected = trace(known, code);
    const found = trace(fresh, code);
    if (found !== expected) throw new Error(`${code}\n\ngives ${found}\ninstead of ${expected}`);
  }
  expect(stateLines(fresh.collection)).toEqual(stateLines(known.collection));
});

describe('values that outlive the query that made them', () => {
  test('a closure that was stored is called by others, and means the variables of its caller', () => {
    const harness = new Harness();
    harness.run('.add = |a| { total = a + base; total }; .list = [|x| x * factor]; nil;');
    expect(harness.run('base = 10; .add(5);')).toBe(15);
    expect(harness.run('base = 20; factor = 3; f = .list[0]; [.add(5), f(4), is_err(try(total))];')).toEqual([
      25,
      12,
      true,
    ]);
    expect(harness.run('factor = 2; .list.push(|x| x + factor); f = .list[1]; f(1);')).toBe(3);
    expect(harness.run('factor = 5; f = .list[1]; f(1);')).toBe(6);
  });

  test('a procedure that a new text makes runs in the same text, and in later ones', () => {
    const harness = new Harness();
    expect(
      harness.run("new_procedure('twice', |n| { m = n * 2; m + more }); more = 1; run('twice', 4);"),
    ).toBe(9);
    expect(harness.run("more = 2; run('twice', 4);")).toBe(10);
    expect(harness.run("more = 3; new_procedure('thrice', |n| run('twice', n) + n); run('thrice', 1);")).toBe(
      6,
    );
  });

  test('a stored closure that is compiled while a new text runs means its variables', () => {
    const harness = new Harness();
    harness.run('.read = || hidden; .write = || { hidden = 7; hidden }; nil;');
    expect(harness.run('hidden = 1; a = .read(); b = .write(); [a, b, hidden, .read()];')).toEqual([
      1, 7, 1, 1,
    ]);
    expect(harness.error('.read();')).toBe('lookup_err');
    expect(harness.run('hidden = 2; .read();')).toBe(2);
  });

  test('closures of futures, with what they are given', () => {
    const harness = new Harness();
    harness.run('.log = []; nil;');
    harness.run(
      'f = |x| x + offset; future(|x, f| { offset = 100; .log.push(f(x)); }, [5, f]); offset = 1; nil;',
    );
    expect(harness.run('.log;')).toEqual([105]);
    expect(harness.run('future(|| future(|| 42));')).toBe(42);
  });

  test('variables that come with a query are seen by closures that were stored before', () => {
    const harness = new Harness();
    harness.run('.read = || given; nil;');
    expect(harness.run('.read();', { vars: { given: 3 } })).toBe(3);
    expect(harness.run('.read() + given;', { vars: { given: 4 } })).toBe(8);
    expect(harness.run('.read() + given;', { vars: { given: 5 } })).toBe(10);
    expect(harness.run('.read() + given;', { vars: { given: 6 } })).toBe(12);
    expect(harness.error('.read();')).toBe('lookup_err');
  });

  test.each(['json', 'msgpack'] as const)(
    'variables in the bytes of a request that a text mentions are remembered, and nothing of their values: %s',
    (format) => {
      const harness = new Harness();
      const { engine } = harness;
      harness.run('.seen = || other; nil;');
      const code = 'try(a) + try(b) + (try(c) || 0) + (is_err(try(.seen())) ? 0 : .seen());';
      const run = (vars: readonly (readonly [string, number])[]): Plain =>
        harness.run(code, { sent: sentOf(format, vars) });
      for (let i = 0; i < 4; i++) {
        expect(
          run([
            ['a', i],
            ['b', 10],
          ]),
        ).toBe(i + 10);
        expect(
          run([
            ['b', 10],
            ['a', i],
          ]),
        ).toBe(i + 10);
        expect(
          run([
            ['c', 5],
            ['other', 100],
            ['b', 1],
            ['a', i],
          ]),
        ).toBe(i + 106);
        // The last one of those that come twice counts.
        expect(
          run([
            ['a', 7],
            ['b', 1],
            ['a', i],
          ]),
        ).toBe(i + 1);
        expect(engine.runtime.symbols.values()).toEqual([]);
        expect(harness.error(code, { sent: sentOf(format, [['a', 1]]) })).not.toBe('');
      }
      const { variables } = engine.prepare(code);
      expect(variables.map(({ name }) => name).toSorted()).toEqual(['a', 'b', 'c', 'other']);
    },
  );

  test('a variable that comes under its name in another form is the same one', () => {
    const harness = new Harness();
    const run = (text: string): Plain =>
      harness.run('a * 10;', { sent: { format: 'json', data: text, start: 0 } });
    for (let i = 0; i < 4; i++) {
      expect(run('{"a": 1}')).toBe(10);
      expect(run('{"\\u0061": 2}')).toBe(20);
      expect(run('{"\\u0061": 2, "a": 3}')).toBe(30);
      expect(run('{"a": 3, "\\u0061": 4}')).toBe(40);
      // A str whose length stands in a byte of its own.
      const long = Buffer.of(0x82, 0xa1, 0x61, 5, 0xd9, 1, 0x61, 6);
      expect(harness.run('a * 10;', { sent: { format: 'msgpack', data: long } })).toBe(60);
    }
  });

  test('variables are bound to nothing when one of them is refused, or the query fails', () => {
    const harness = new Harness();
    const { symbols } = harness.engine.runtime;
    const code = '[a, b];';
    const sent = (data: string): { readonly sent: WireValues } => ({
      sent: { format: 'json', data, start: 0 },
    });
    for (let i = 0; i < 3; i++) expect(harness.run(code, sent('{"a": [1], "b": {"x": 2}}'))).toHaveLength(2);
    expect(harness.error(code, sent('{"a": 1, "b": 99999999999999999999}'))).toBe('bad_data_err');
    expect(harness.error(code, sent('{"a": 1, "b": 2, "not a name": 3}'))).toBe('value_err');
    expect(harness.error('a + b;', sent('{"a": 1, "b": "x"}'))).toBe('type_err');
    expect(symbols.values()).toEqual([]);
    expect(harness.error(code, sent('{"b": 1}'))).toBe('lookup_err');
    const many = Array.from({ length: 10_000 }, (_, i) => `"v${i}": 0`).join();
    expect(
      harness.run(code, sent(`{"a": 1, "a": 2, ${many.slice(0, -'"v9999": 0,"v9998": 0,'.length)}, "b": 3}`)),
    ).toEqual([2, 3]);
    expect(harness.error(code, sent(`{"a": 1, "b": 2, ${many}}`))).toBe('max_quota_err');
    expect(harness.engine.prepare(code).variables.length).toBeLessThanOrEqual(16);
  });

  test('a type whose methods and rules a new text gives', () => {
    const harness = new Harness();
    harness.run("set_type('P', {n: 'int', more: |this| this.n + step}); step = 1; .p = P{n: 1}; .p.more();");
    expect(harness.run('step = 5; .p.more();')).toBe(6);
  });
});

test('nothing is kept of texts that come once: neither their names nor their programs', () => {
  const { engine, run } = boundHarness();
  const { symbols } = engine.runtime;
  const before = symbols.size;
  for (let i = 0; i < 100; i++)
    expect(run(`name_${i} = ${i}; f_${i} = |p_${i}| p_${i} + name_${i}; f_${i}(1);`)).toBe(i + 1);
  expect([symbols.size, symbols.values().length, engine.cachedPrograms]).toEqual([before, 0, 0]);
});

test('a text that comes again is known from then on; one that ran long or told of events is known at once', () => {
  const { engine, run } = boundHarness();
  const code = 'x = 5; x + 1;';
  const known: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    const hits = engine.programHits;
    expect(run(code)).toBe(6);
    known.push(engine.programHits > hits);
  }
  expect(known).toEqual([false, false, true, true]);

  const long = 'n = 0; for (i in range(20000)) n += 1; n;';
  const first = engine.prepare(long);
  expect(run(long)).toBe(20_000);
  expect(run(long)).toBe(20_000);
  expect(engine.prepare(long)).not.toBe(first);
  expect(engine.prepare(long)).toBe(engine.prepare(long));
});

function boundHarness(): Pick<Harness, 'engine'> & { run(code: string): ReturnType<Harness['run']> } {
  const harness = new Harness();
  return { engine: harness.engine, run: (code) => harness.run(code) };
}

function sentOf(format: 'json' | 'msgpack', vars: readonly (readonly [string, number])[]): WireValues {
  if (format === 'json')
    return { format, data: `{${vars.map(([name, value]) => `"${name}":${value}`).join()}}` };
  const writer = new MsgpackWriter();
  writer.beginMap(vars.length);
  for (const [name, value] of vars) {
    writer.key(name);
    writer.int(value);
  }
  return { format, data: Buffer.from(writer.out.take()) };
}
