import type { WireValue } from '@althing/client';
import { describe, expect, test } from '@jest/globals';
import { type Names, type Place, typeOfDefinition } from './definition.js';
import { schemaOf } from './schema.js';
import { writeTypes } from './write-types.js';

const names: Names = {
  typeOf: (name) =>
    name === 'Guest'
      ? { text: 'Guest', isEnum: false }
      : name === 'Color'
        ? { text: 'Color', isEnum: true }
        : undefined,
};

describe('a definition', () => {
  test.each<[string, Place, string]>([
    ['str<1:10>', 'property', 'string'],
    ['str?', 'property', 'string | null'],
    ['/^a/i<abc>', 'property', 'string'],
    ['email?', 'result', 'string | null'],
    ['int<0:9:5>', 'property', '$.Int'],
    ['uint', 'argument', '$.Int'],
    ['float', 'property', 'number'],
    ['float', 'argument', 'number | $.Float'],
    ['number?', 'argument', '$.Int | $.Float | null'],
    ['raw', 'property', 'string | Uint8Array'],
    ['any', 'property', 'unknown'],
    ['any', 'argument', '$.Sendable'],
    ['any?', 'property', 'unknown'],
    ['enum', 'property', 'unknown'],
    ['error', 'property', 'unknown'],
    ['[str]', 'property', 'string[]'],
    ['[str?]', 'property', '(string | null)[]'],
    ['[]', 'property', 'unknown[]'],
    ['[str]', 'argument', 'readonly string[]'],
    ['[[int]]?', 'result', '$.Int[][] | null'],
    ['Guest', 'property', 'Guest | $.Ref<Guest>'],
    ['Guest?', 'property', 'Guest | $.Ref<Guest> | null'],
    ['{Guest}', 'property', 'readonly (Guest | $.Ref<Guest>)[]'],
    ['[Guest]', 'result', 'Guest[]'],
    ['Guest', 'argument', '$.Sendable'],
    ['{Guest}', 'argument', '$.Sendable'],
    ['Color', 'property', 'Color'],
    ['Color{RED}?', 'property', 'Color | null'],
    ['Color', 'argument', 'Color'],
    ['thing', 'property', '{ readonly [name: string]: unknown }'],
    ['thing<int>', 'property', '{ readonly [name: string]: $.Int }'],
    ['thing<Guest>', 'result', '{ readonly [name: string]: Guest | $.Ref<Guest> }'],
    ['+Guest', 'property', 'Guest | $.Ref<Guest>'],
    ['Unheard', 'property', 'unknown'],
    ['constructor', 'property', 'unknown'],
    ['a name and more', 'result', 'unknown'],
    ['', 'result', 'unknown'],
  ])('%s as a %s is %s', (definition, place, type) => {
    expect(typeOfDefinition(definition, names, place)).toBe(type);
  });
});

describe('the file of a collection', () => {
  const answer = [
    [
      {
        name: 'Guest',
        wrap_only: false,
        hide_id: false,
        fields: [
          ['id', '#'],
          ['name', 'str<1:40>'],
          ['color', 'Color'],
          ['team', 'Team?'],
        ],
        methods: { greet: {} },
      },
      {
        name: 'Team',
        wrap_only: false,
        hide_id: false,
        fields: [
          ['players', '{Guest}'],
          ['odd name', 'any'],
        ],
        methods: {},
      },
      {
        name: '_Guest',
        wrap_only: true,
        hide_id: true,
        fields: [
          ['name', 'any'],
          ['nested', { a: 'int' }],
          ['list', [{ x: 'int?' }]],
        ],
        methods: { label: {} },
      },
      { name: 'string', wrap_only: false, hide_id: false, fields: [['stuff', 'string?']], methods: {} },
    ],
    [
      {
        name: 'Color',
        members: [
          ['RED', "#f'00"],
          ['TWO', 2],
          ['BIG', 2n ** 60n],
          ['BYTES', new Uint8Array(1)],
          ['THING', {}],
        ],
      },
      { name: 'Stuff', members: [] },
    ],
    [
      {
        name: 'add_guest',
        doc: 'Adds a guest. */ alert(1) /*\n@param age uint?\n@returns Guest',
        arguments: ['name', 'age'],
        definitions: ['str<1:40>', null],
      },
      { name: 'all', doc: '@returns [Guest]', arguments: [] },
      { name: 'delete', doc: 'Takes\nanything.', arguments: ['new'] },
    ],
    'Team',
  ];

  test('has types, enums, the root and procedures, each in the order of their names', () => {
    expect(writeTypes('stuff', schemaOf(wire(answer)))).toBe(EXPECTED);
  });

  test('is the same whatever the order in which they were made', () => {
    const [types, enums, procedures, root] = answer;
    const turned = [
      [...(types ?? [])].reverse(),
      [...(enums ?? [])].reverse(),
      [...(procedures ?? [])].reverse(),
      root,
    ];
    expect(writeTypes('stuff', schemaOf(wire(turned)))).toBe(EXPECTED);
  });

  test('is refused where the node answers something else', () => {
    expect(() => schemaOf(null)).toThrow(TypeError);
    expect(() => schemaOf(wire([[{ name: 5 }], [], [], 'thing']))).toThrow(TypeError);
  });
});

/** As a node sends it. */
function wire(value: unknown): WireValue {
  if (Array.isArray(value)) return value.map(wire);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint')
    return value;
  if (typeof value === 'number') return BigInt(value);
  if (value instanceof Uint8Array) return value;
  return new Map(Object.entries(Object(value)).map(([name, inner]) => [name, wire(inner)]));
}

const EXPECTED = `/** Types of the collection stuff, written by \`althing types //stuff\`. Do not edit. */
import type * as $ from '@althing/client';

export type Color = '#f\\'00' | 2 | 1152921504606846976n | Uint8Array | unknown;

export type Stuff = never;

export interface Guest {
  readonly id: $.Int;
  name: string;
  color: Color;
  team: Team | $.Ref<Team> | null;
}

export interface Team {
  readonly '#': $.Int;
  players: readonly (Guest | $.Ref<Guest>)[];
  'odd name': unknown;
}

export interface _Guest {
  name: unknown;
  nested: { a: $.Int };
  list: readonly ({ x: $.Int | null })[];
  readonly label: unknown;
}

export interface string$ {
  readonly '#': $.Int;
  stuff: string$ | $.Ref<string$> | null;
}

export interface Stuff$ {
  readonly types: {
    readonly Guest: Guest;
    readonly Team: Team;
    readonly _Guest: _Guest;
    readonly string: string$;
  };
  readonly enums: {
    readonly Color: Color;
    readonly Stuff: Stuff;
  };
  readonly root: Team;
  readonly procs: {
    /** Adds a guest. *\\/ alert(1) /* */
    readonly add_guest: $.Procedure<{ name: string; age?: $.Int | null }, [name: string, age: $.Int | null], Guest>;
    readonly all: $.Procedure<{}, [], Guest[]>;
    /** Takes
     * anything. */
    readonly delete: $.Procedure<{ new?: $.Sendable }, [new_: $.Sendable], unknown>;
  };
}
`;
