import { describe, expect, test } from '@jest/globals';
import { ChangeReader } from '../state/feed/read-changes.js';
import { SchemaView } from '../state/feed/schema-view.js';
import { Harness } from '../testing/harness.js';
import { ChangeJsonWriter, packChange } from './changes.js';

describe('changes as JSON', () => {
  const harness = new Harness();

  function lines(code: string): unknown[] {
    const view = new SchemaView(harness.collection.store.schema);
    const changes: unknown[] = [];
    new ChangeReader().read(harness.effects(code, { vars: { b: Uint8Array.of(1, 2) } }), view, (change) => {
      const writer = new ChangeJsonWriter();
      const type = change.op === 'new' && change.type !== null ? view.typeLabel(change.type) : null;
      packChange(writer, change, type, view);
      changes.push(JSON.parse(writer.take()));
    });
    return changes;
  }

  test('have things by their ids, bytes as base64, and floats that are no numbers as texts', () => {
    harness.run("set_type('P', {n: 'int'}); set_enum('Color', {RED: 'r'});");
    const [made, set] = lines('.p = P{n: 3}; .x = [.p, b, nan, -inf, Color{RED}, 1.0, set(.p)];');
    const id = harness.run('.p.id()');
    expect(made).toEqual({ op: 'new', type: 'P', id, values: { n: 3 } });
    expect(set).toEqual({ op: 'set', id: 1, key: 'p', value: { '#': id } });
    expect(lines('.x.push(7);')).toMatchObject([{ op: 'splice', start: 7, removed: 0, items: [7] }]);
    expect(lines('.x = [.p, b, nan, -inf, Color{RED}];')[0]).toEqual({
      op: 'set',
      id: 1,
      key: 'x',
      value: [{ '#': id }, 'AQI=', 'nan', '-inf', 'r'],
    });
  });

  test('tell how instances change with their type', () => {
    expect(
      lines("mod_type('P', 'ren', 'n', 'm'); mod_type('P', 'add', 's', 'str', 'new');").slice(0, 2),
    ).toEqual([
      { op: 'schema', type: 'P', fields: [{ name: 'm', definition: 'int', was: 'n' }] },
      {
        op: 'schema',
        type: 'P',
        fields: [
          { name: 'm', definition: 'int' },
          { name: 's', definition: 'str', initial: 'new' },
        ],
      },
    ]);
    expect(lines("rename_type('P', 'Q');")).toMatchObject([{ type: 'Q', was: 'P' }]);
    expect(lines("mod_enum('Color', 'add', 'BLUE', 'b');")).toEqual([
      {
        op: 'schema',
        enum: 'Color',
        members: [
          { name: 'RED', value: 'r' },
          { name: 'BLUE', value: 'b' },
        ],
      },
    ]);
    expect(lines("del_type('Q');")).toEqual([{ op: 'schema', type: 'Q', gone: true }]);
  });
});
