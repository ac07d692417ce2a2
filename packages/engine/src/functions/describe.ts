/** Entries of the table in words: what `help` gives, and the page docs/functions.md. */

import { privilegeText } from '../admin/privileges.js';
import type { Info } from '../pack/info.js';
import { type ChangeRule, type Entry, In } from '../run/builtin.js';
import { tagName, typeName } from '../value/value.js';
import { CONSTANTS } from './constants.js';

/**
 * The call of an entry, its doc, its parameters, where it exists, what it takes beside them, and whether it makes a change:
 *
 *   rename_user(name, new_name)
 *   Gives a user another name.
 *     name: a str
 *     new_name: a str
 *   In @thingsdb only. Takes the privilege GRANT on @thingsdb. Makes the query a change.
 */
export function helpText(entry: Entry): string {
  const receivers = entry.on === null ? '' : `${entry.on.map(tagName).join('/')}.`;
  const change = entry.changes === null ? '' : CHANGE_TEXT[changeText(entry.changes)];
  const notes = [...conditions(entry).map((note) => note.replaceAll('`', '')), change].filter(
    (note) => note !== '',
  );
  return [
    `${receivers}${signature(entry)}`,
    entry.doc,
    ...allParams(entry).map(({ name, type }) => `  ${name}: ${type}`),
    ...(notes.length === 0 ? [] : [notes.join(' ')]),
  ].join('\n');
}

const CHANGE_TEXT = {
  yes: 'Makes the query a change.',
  modifies: 'Makes the query a change in a collection, unless nse() stands before it.',
  'modifies stored':
    'Makes the query a change in a collection, unless nse() stands before it, or the receiver is a variable, a literal, or the result of a function.',
};

/** In which scopes and on which things an entry exists, and which privilege it takes. */
function conditions({ in: scopes, instances, needs }: Entry): string[] {
  const notes: string[] = [];
  if (scopes !== In.ALL) notes.push(`In ${scopesText(scopes)} only.`);
  if (instances !== 'all') notes.push(INSTANCES_TEXT[instances]);
  if (needs !== null)
    notes.push(`Takes the privilege ${privilegeText(needs.privilege)} on \`@${needs.on}\`.`);
  return notes;
}

/**
 * An entry as data:
 *
 *   {name, on: types of the receiver, or nil for a function, params: [{name, type, optional}], rest: {name, type} or nil,
 *    doc, scopes: some of collection, thingsdb, node, changes: yes, modifies, modifies stored, or nil}
 */
export function entryInfo(entry: Entry): Info {
  return {
    name: entry.name,
    on: entry.on?.map(tagName) ?? null,
    params: entry.params.map(({ name, type, optional }) => ({ name, type, optional })),
    rest: entry.rest === null ? null : { name: entry.rest.name, type: entry.rest.type },
    doc: [entry.doc, ...conditions({ ...entry, in: In.ALL })].join(' ').replaceAll('`', ''),
    scopes: SCOPES.filter(([bit]) => (entry.in & bit) !== 0).map(([, name]) => name),
    changes: entry.changes === null ? null : changeText(entry.changes),
  };
}

const SCOPES = [
  [In.COLLECTION, 'collection'],
  [In.ROOT, 'thingsdb'],
  [In.NODE, 'node'],
] as const;

/** The page docs/functions.md. */
export function functionsPage(entries: readonly Entry[]): string {
  const parts = [INTRO];
  for (const [title, group] of groups(entries)) {
    const rows = group.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(row);
    parts.push(`## ${title}\n\n| call | | takes | change |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`);
  }
  const constants = [...CONSTANTS].map(
    ([name, value]) =>
      `| \`${name}\` | ${typeName(value)} | ${typeof value === 'object' && value !== null && 'value' in value ? value.value : value} |`,
  );
  parts.push(`## Constants\n\n| name | type | value |\n| --- | --- | --- |\n${constants.join('\n')}`);
  return `${parts.join('\n')}\n`;
}

const INTRO = `# Functions and methods

This page is made by \`npm run docs\` from the tables of built-in functions; edit those, not this. In the language,
\`help('push')\` gives the same for one name.

A name with \`?\` may be left out, \`...name\` stands for any number of arguments. Where a line names scopes, the function
exists only there. \`change\` tells whether a call makes the query a change, which only a user with the privilege CHANGE may run:

- **yes**: always
- **modifies**: in a collection, unless \`nse\` stands somewhere before it
- **modifies stored**: the same, and not for a call on a variable, on a literal, or on what a function gives: \`x.push(1)\` is no
  change, \`.x.push(1)\` is one
`;

/** Functions first, then the methods of each type or group of types, in the order of the types. */
function groups(entries: readonly Entry[]): [string, Entry[]][] {
  const byTitle = new Map<string, { order: string; group: Entry[] }>();
  for (const entry of entries) {
    const title = entry.on === null ? 'Functions' : `Methods of ${entry.on.map(tagName).join(', ')}`;
    const order = (entry.on ?? []).map((tag) => String(tag).padStart(2, '0')).join();
    const known = byTitle.get(title);
    if (known === undefined) byTitle.set(title, { order, group: [entry] });
    else known.group.push(entry);
  }
  return [...byTitle]
    .sort(([, a], [, b]) => (a.order < b.order ? -1 : 1))
    .map(([title, { group }]) => [title, group]);
}

function row(entry: Entry): string {
  const takes = allParams(entry).map(({ name, type }) => `${name}: ${type}`);
  const cells = [
    `\`${signature(entry)}\``,
    [entry.doc, ...conditions(entry)].join(' '),
    takes.join('; '),
    entry.changes === null ? '' : changeText(entry.changes),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** On which things a method exists. */
const INSTANCES_TEXT = {
  never: 'Not on instances of types.',
  only: 'On instances of types only.',
};

function signature(entry: Entry): string {
  const names = entry.params.map(({ name, optional }) => (optional ? `${name}?` : name));
  if (entry.rest !== null) names.push(`...${entry.rest.name}`);
  return `${entry.name}(${names.join(', ')})`;
}

function allParams(entry: Entry): Entry['params'] {
  return entry.rest === null ? entry.params : [...entry.params, entry.rest];
}

function scopesText(scopes: number): string {
  const names: [number, string][] = [
    [In.COLLECTION, 'collections'],
    [In.ROOT, '`@thingsdb`'],
    [In.NODE, '`@node`'],
  ];
  return names.flatMap(([bit, name]) => ((scopes & bit) === 0 ? [] : [name])).join(' and ');
}

function changeText(rule: ChangeRule): 'yes' | 'modifies' | 'modifies stored' {
  if (rule.nse !== true) return 'yes';
  return rule.unlessDirect === true ? 'modifies stored' : 'modifies';
}
