import { expect, test } from '@jest/globals';
import { parametersOf, proseOf, returnsOf } from './parameters.js';

const DOC = `Adds a guest.
  @param name str<1:40>
  @param age uint
  @returns Guest`;

const fieldsOf = (part: Partial<Parameters<typeof parametersOf>[0]>) =>
  parametersOf({ doc: '', arguments: ['name', 'age'], definitions: [], definition: '', ...part }).map(
    ({ definition, type, isOptional }) => [definition, type, isOptional],
  );

test('definitions of parameters choose the fields, before the documentation does', () => {
  expect(fieldsOf({ definitions: ['str?', ''], doc: DOC })).toEqual([
    ['str?', 'str', true],
    ['uint', 'int', false],
  ]);
});

test('assertions of types choose the fields of a procedure that says no more', () => {
  const definition = `|name, age| { type_assert(name, 'str'); type_assert(age, ["int", "nil"], 'how old?'); }`;
  expect(fieldsOf({ definition })).toEqual([
    ['str', 'str', false],
    ['int?', 'int', true],
  ]);
  expect(fieldsOf({ definition: "|name, age| type_assert(name, ['int', 'str'])" })).toEqual([
    ['any', 'json', false],
    ['', 'str', false],
  ]);
});

test('the result of a procedure and its prose are told apart', () => {
  expect([returnsOf(DOC), proseOf(DOC)]).toEqual(['Guest', 'Adds a guest.']);
});
