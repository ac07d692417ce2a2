/**
 * Random writes to instances by every way there is, with values of the query and with values that a client sent, and changes of
 * their types and enums. After each query, whether it failed or not: every instance satisfies its type, relations are symmetric,
 * the index of each type and the references to each member are right, and the state is the same on a node that only applied the
 * effects, on one that had to read everything from records, and after the change was taken back and made again.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JsonWriter } from '../pack/json-writer.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import type { Sink } from '../pack/walk.js';
import type { Format, WireValues } from '../pack/wire-values.js';
import { Harness, type Plain, randomOf } from '../testing/harness.js';
import {
  brokenRules,
  copyMeta,
  newGroup,
  savedRecords,
  sharedLines,
  sourceOf,
  stateLines,
} from '../testing/state-lines.js';
import { STATEMENTS } from '../testing/type-statements.js';
import { SENT, SETUP } from '../testing/type-words.js';
import { List, ThingSet } from '../value/containers.js';
import { Float } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { CollectionGroup } from './collection-group.js';
import { allThings } from './describe.js';
import { RecordKind } from './records.js';
import { takeBack } from './transaction.js';

const seed = Number(process.env.ALTHING_TEST_SEED);

const query = fc.array(
  fc.tuple(fc.nat(STATEMENTS.length - 1), fc.array(fc.nat(10_000), { minLength: 6, maxLength: 6 })),
  {
    minLength: 1,
    maxLength: 3,
  },
);

test('each kind of statement succeeds often', () => {
  const harness = new Harness();
  const random = randomOf(1);
  const rare: string[] = [];
  for (const statement of STATEMENTS) {
    harness.reopen({ read: () => undefined }).create();
    harness.run(SETUP);
    let succeeded = 0;
    for (let i = 0; i < PICKS; i++) {
      const text = statement((from) => from[Math.floor(random() * from.length)] as string);
      // Each begins with the same state.
      const failure = harness.failure(`{ ${text} }; raise('done')`, { sent: sentTo(text, 'msgpack') });
      if (failure.message === 'done') succeeded += 1;
    }
    if (succeeded < PICKS / 10) rare.push(`${succeeded} of ${PICKS}: ${String(statement)}`);
  }
  expect(rare).toEqual([]);
});

/** The number of statements of each kind that are made for that. */
const PICKS = 40;

describe(`random writes to instances (seed ${seed})`, () => {
  const harness = new Harness();
  const lazy = new Harness();

  test('no way leads past a definition, and all nodes hold the same', () => {
    fc.assert(
      fc.property(fc.array(query, { minLength: 1, maxLength: 12 }), (queries) => {
        harness.reopen({ read: () => undefined }).create();
        const replica = newGroup();
        const schema = new Map<string, SchemaRecord>();
        checkpoint(harness.collection, schema);
        const codes = [SETUP, ...queries.map(codeOf)];
        for (const [i, code] of codes.entries()) {
          const options = { sent: sentTo(code, i % 2 === 0 ? 'json' : 'msgpack') };
          const before = lines(harness.collection);
          const records = savedRecords(harness.collection);
          checkpoint(harness.collection, schema);

          const failing = harness.outcome(`${code}; raise('stop')`, options);
          if (failing.kind !== 'error') throw new Error(`${code}: did not fail`);
          expectSame(code, lines(harness.collection), before);
          expectSame(code, brokenTypes(harness.collection), []);

          // The same where nothing is in memory yet.
          const unloaded = lazy.reopen({
            read: (kind, id, part) =>
              kind === RecordKind.INDEX_PAGE
                ? schema.get(`${kind}:${id}:${part}`)?.value
                : sourceOf(records).read(kind, id, part),
          });
          for (const { kind, id, part, value } of schema.values()) unloaded.loadRecord(kind, id, value, part);
          copyMeta(harness.collection, unloaded);
          // Only the node knows of fields and ids that were taken back.
          unloaded.store.idFloor = harness.collection.store.idFloor;
          const [from, to] = [harness.collection.store.schema, unloaded.store.schema];
          to.typeIds.idFloor = from.typeIds.idFloor;
          for (let id = 0; id < from.typeIds.nextId; id++) to.type(id).nextField = from.type(id).nextField;
          to.enumIds.idFloor = from.enumIds.idFloor;
          for (let id = 0; id < from.enumIds.nextId; id++) to.enum(id).nextMember = from.enum(id).nextMember;
          const elsewhere = lazy.outcome(code, options);
          const outcome = harness.outcome(code, options);
          expect([code, elsewhere.kind]).toEqual([code, outcome.kind]);
          if (code === SETUP && outcome.kind === 'error') throw new Error(outcome.error.message);
          const after = lines(harness.collection);
          expectSame(code, brokenRules(harness.collection), []);
          expectSame(code, brokenTypes(harness.collection), []);
          expectSame(code, lines(unloaded), after);
          expectSame(code, brokenTypes(unloaded), []);

          if (outcome.kind === 'value' && outcome.change !== null) {
            takeBack(outcome.change.undo);
            expectSame(code, lines(harness.collection), before);
            expectSame(code, brokenTypes(harness.collection), []);
            harness.collection.apply(outcome.change.effects);
            expectSame(code, lines(harness.collection), after);
            replica.apply(outcome.change.effects);
            expectSame(code, lines(replica), after);
            expectSame(code, brokenTypes(replica), []);
          }
          // The digest that nodes compare does not depend on which things were written since their type changed.
          const written = savedRecords(harness.collection);
          const { store } = harness.collection;
          const isRewritten = checkpoint(harness.collection, schema);
          // Things that are as they were before, as they were written before.
          const mixed = new Map(
            [...written].map(([name, record]) => [
              name,
              isRewritten.has(numberOf(name)) ? record : (records.get(name) ?? record),
            ]),
          );
          expect(sharedLines(mixed, store.schema)).toBe(sharedLines(written, store.schema));
        }
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});

interface SchemaRecord {
  readonly kind: number;
  readonly id: number;
  readonly part: number;
  readonly value: Uint8Array;
}

const { TYPE, ENUM, INSTANCES, MEMBER_REFS, INDEX, INDEX_PAGE } = RecordKind;
const SCHEMA_KINDS: readonly number[] = [TYPE, ENUM, INSTANCES, MEMBER_REFS, INDEX, INDEX_PAGE];

/** Takes the records of a checkpoint that are types, enums and indexes; gives the ids of the things that it would write. */
function checkpoint(group: CollectionGroup, schema: Map<string, SchemaRecord>): ReadonlySet<number> {
  const { dirty } = group;
  const changes = dirty.freeze(() => {});
  const take = (kind: number, id: number, part: number, value: Uint8Array | null): void => {
    if (!SCHEMA_KINDS.includes(kind)) return;
    if (value === null) schema.delete(`${kind}:${id}:${part}`);
    else schema.set(`${kind}:${id}:${part}`, { kind, id, part, value });
  };
  for (const { kind, id, part, value } of changes.records.values()) take(kind, id, part, value);
  const rest = group.store.indexes.rest({
    put: take,
    delete: (kind, id, part) => take(kind, id, part, null),
  });
  for (const _ of rest);
  const ids = new Set(changes.things);
  for (const id of ids) {
    const thing = dirty.frozenThing(id);
    if (thing !== undefined) dirty.saved(thing);
  }
  dirty.release();
  return ids;
}

/** The variables that a query names, in the bytes of a request. Others would be in the way of relations: see `relate.ts`. */
function sentTo(code: string, format: Format): WireValues {
  const words = new Set(code.match(/\w+/g));
  const vars = Object.fromEntries(Object.entries(SENT).filter(([name]) => words.has(name)));
  if (format === 'json') {
    const sink = new JsonWriter();
    // JSON has no bytes.
    send('vb' in vars ? { ...vars, vb: null } : vars, sink);
    return { format, data: sink.take() };
  }
  const sink = new MsgpackWriter();
  send(vars, sink);
  return { format, data: Buffer.from(sink.out.take()) };
}

/** Writes a value as a client does. */
function send(value: Plain, sink: Sink): void {
  if (value === null) sink.nil();
  else if (typeof value === 'boolean') sink.bool(value);
  else if (typeof value === 'number' || typeof value === 'bigint') sink.int(value);
  else if (typeof value === 'string') sink.str(value);
  else if (value instanceof Float) sink.float(value.value);
  else if (value instanceof Uint8Array) sink.bin(value);
  else if (Array.isArray(value)) {
    sink.beginArray(value.length);
    value.forEach((item: Plain) => {
      send(item, sink);
    });
    sink.endArray();
  } else {
    const entries = Object.entries(value);
    sink.beginMap(entries.length);
    for (const [key, item] of entries) {
      sink.key(key);
      send(item, sink);
    }
    sink.endMap();
  }
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}

function codeOf(parts: readonly (readonly [number, readonly number[]])[]): string {
  return parts
    .map(([statement, choices]) => {
      let next = 0;
      return STATEMENTS[statement]?.(
        (from) => from[(choices[next++ % choices.length] as number) % from.length] as string,
      );
    })
    .map((text) => `try(${text?.includes(';') && !text.startsWith('{') ? `{${text}}` : text})`)
    .join('; ');
}

/** Things, and what is known of the types. */
function lines(group: CollectionGroup): string[] {
  const { schema } = group.store;
  const types = Array.from(schema.allTypes(), ({ id, name, instances, def }) => {
    const fields = def?.fields.map(({ id: field, name: key, definition, relation }) =>
      [field, key, definition.stored, relation?.type ?? '-', relation?.field ?? '-'].join(' '),
    );
    return `type ${id} ${name} ${[...instances].join()} {${fields?.join(', ')}} ${[...(def?.methods.keys() ?? [])].join()}`;
  });
  return [...stateLines(group), `next type ${schema.typeIds.nextId}`, ...types.sort()];
}

/** Where the state contradicts its types. */
function brokenTypes(group: CollectionGroup): string[] {
  const broken: string[] = [];
  const { schema } = group.store;
  const instances = new Map<number, number[]>();
  const things = allThings(group);
  for (const thing of things) {
    const { type } = thing;
    const restriction = thing.restriction;
    thing.forEach((key, value) => {
      if (restriction !== null && !restriction.fits(value))
        broken.push(`#${thing.id}.${key} against the restriction`);
    });
    if (type === null) continue;
    instances.set(type.id, [...(instances.get(type.id) ?? []), thing.id]);
    for (const field of type.shape?.fields ?? []) {
      const value = thing.slots[field.slot];
      if (value === undefined || !field.rule.fits(value))
        broken.push(`#${thing.id}.${field.name} does not fit`);
      if ((value instanceof List || value instanceof ThingSet) && value.rule !== field.rule.item) {
        broken.push(`#${thing.id}.${field.name} has the rule of another property`);
      }
      if (field.relation === null || value === undefined) continue;
      const end = schema
        .type(field.relation.type)
        .shape?.fields.find(({ id }) => id === field.relation?.field);
      const partners = value instanceof ThingSet ? [...value.members] : value instanceof Thing ? [value] : [];
      for (const partner of partners) {
        // Brings it into memory.
        void partner.type;
        const back = end === undefined ? undefined : partner.slots[end.slot];
        const holds = back instanceof ThingSet ? back.members.has(thing) : back === thing;
        if (!holds) broken.push(`#${thing.id}.${field.name} has #${partner.id}, which does not have it`);
      }
    }
  }
  for (const type of schema.allTypes()) {
    const found = instances.get(type.id) ?? [];
    if ([...type.instances].join() !== found.join())
      broken.push(`the index of ${type.name}: ${[...type.instances]}, not ${found}`);
    if (type.uses !== 0 || type.locks !== 0)
      broken.push(`${type.name} is in use: ${type.uses}, ${type.locks}`);
  }
  return broken;
}

function expectSame(code: string, actual: readonly string[], expected: readonly string[]): void {
  if (actual.join('\n') !== expected.join('\n')) expect([code, ...actual]).toEqual([code, ...expected]);
}
