import { expect, test } from '@jest/globals';
import type { Form } from '../ui/form.js';
import { DefinitionForms } from './definition-forms.js';

const forms = new DefinitionForms('@collection:stuff');
const BOOK = { name: 'Book', flags: [], fields: [], methods: [], relations: [] };

/** The code that a form makes of texts. */
const made = (form: Form, texts: Readonly<Record<string, string>>) =>
  form.deed({ text: (key) => texts[key] ?? '', value: (key) => texts[key] });

test('no text of a form becomes code', () => {
  const hostile = "x'); del_collection('stuff'); ('";
  const all = [
    made(forms.newType(), { name: hostile, parts: 'a: str' }),
    made(forms.addProperty(BOOK), { name: hostile, definition: hostile }),
    made(forms.changeProperty(BOOK, hostile, 'str'), { definition: hostile, convert: hostile }),
    made(forms.relate(BOOK, hostile), { to: hostile }),
    made(forms.method(BOOK, null), { name: hostile, source: hostile }),
    made(forms.newIndex(BOOK), { name: hostile, properties: hostile, flags: hostile }),
  ];
  expect(all.map((deed) => deed?.code.includes('del_collection'))).toEqual(all.map(() => false));
});

test('every change of a definition says so, as collections with a history want', () => {
  expect(made(forms.removeProperty(BOOK, 'title'), {})).toEqual({
    scope: '@collection:stuff',
    code: "mod_type(type, 'del', field);",
    vars: { type: 'Book', field: 'title' },
    defines: true,
  });
});

test('lines that are no pairs make no type', () => {
  expect(made(forms.newType(), { name: 'A', parts: 'a: str\n\nb : {Book}?,' })?.vars?.parts).toEqual(
    new Map([
      ['a', 'str'],
      ['b', '{Book}?'],
    ]),
  );
  expect(made(forms.newType(), { name: 'A', parts: 'a: str\nwhat is this' })).toBeNull();
  expect(made(forms.newType(), { name: 'A', parts: '' })).toBeNull();
});

test('a first value is JSON, exactly', () => {
  const texts = { name: 'n', definition: 'int', first: '9007199254740993' };
  expect(made(forms.addProperty(BOOK), texts)?.vars?.first).toBe(9007199254740993n);
  expect(made(forms.addProperty(BOOK), { ...texts, first: 'no json' })).toBeNull();
});

test('an index without properties is one of the property of its name', () => {
  expect(made(forms.newIndex(BOOK), { name: 'title', flags: 'UNIQUE' })).toMatchObject({
    code: 'new_index(type, name, properties, UNIQUE);',
    vars: { properties: ['title'] },
  });
  expect(
    made(forms.newIndex(BOOK), { name: 'by', properties: ' a, b ,', flags: '0' })?.vars?.properties,
  ).toEqual(['a', 'b']);
});
