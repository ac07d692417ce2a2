import { describe, expect, test } from '@jest/globals';
import { LocalEngine } from '../harness/local-engine.js';
import { BareStore } from './lang-bare.js';

describe('the bare path of a stored push', () => {
  test('has the effects of the real one', () => {
    const local = new LocalEngine();
    local.bootstrap();
    const { engine, admin } = local;
    const effectsOf = (code: string): Uint8Array => {
      const scope = engine.scope(local.idOf('stuff') ?? -1);
      if (scope === undefined) throw new Error('the collection is not open');
      const body = { kind: 'query', prepared: engine.prepare(code), vars: null } as const;
      const outcome = engine.run({ scope, user: admin, body, format: 'json' });
      if (outcome.kind !== 'value' || outcome.change === null) throw new Error(`${code} makes no change`);
      return outcome.change.effects;
    };
    effectsOf('.things = [];');
    const real = effectsOf("for (i in range(1000)) .things.push({name: 'name', age: i});");

    const bare = new BareStore();
    expect(bare.fill(1000)).toBe(1000);
    expect(Buffer.from(bare.effects).equals(Buffer.from(real))).toBe(true);
  });

  test('is taken back', () => {
    const bare = new BareStore();
    bare.fill(300);
    const { effects } = bare;
    expect(bare.rollback()).toBe(0);
    expect(bare.fill(300)).toBe(300);
    expect(Buffer.from(bare.effects).equals(Buffer.from(effects))).toBe(true);
  });
});
