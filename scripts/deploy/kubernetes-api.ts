/**
 * Checks objects against the API of Kubernetes, without a cluster: types, missing and unknown fields, words of
 * enumerations. `kubernetes-api.txt` holds what is known of the API, and its grammar.
 */
import { isRecord } from '../check-packages.js';

/** The types of the API by name. */
export type Api = ReadonlyMap<string, ReadonlyMap<string, Field>>;

interface Field {
  readonly isOptional: boolean;
  readonly kind: Kind;
}

type Kind =
  | { readonly is: 'string' | 'number' | 'boolean' | 'any' | 'quantity' | 'int-or-string' }
  | { readonly is: 'enum'; readonly words: readonly string[] }
  | { readonly is: 'list' | 'map'; readonly of: Kind }
  | { readonly is: 'type'; readonly name: string };

const QUANTITY = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|e[+-]?\d+)?$/;

/**
 * Reads the text of `kubernetes-api.txt`.
 *
 * @throws {Error} when it names a type that it does not have
 */
export function parseApi(text: string): Api {
  const api = new Map<string, Map<string, Field>>();
  let fields = new Map<string, Field>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name, mark, kind] = /^ {2}([^ ?]+)(\??) (.+)$/.exec(line) ?? [];
    if (name === undefined || kind === undefined) api.set(line, (fields = new Map()));
    else fields.set(name, { isOptional: mark === '?', kind: parseKind(kind) });
  }
  for (const [name, members] of api) for (const { kind } of members.values()) requireTypes(api, name, kind);
  return api;
}

/** Problems of an object of Kubernetes, one line each. */
export function objectProblems(api: Api, value: unknown): string[] {
  if (!isRecord(value)) return ['not an object'];
  const { apiVersion, kind } = value;
  const name = `${apiVersion}/${kind}`;
  if (!api.has(name)) return [`${name} is no kind that kubernetes-api.txt knows`];
  return problems(api, { is: 'type', name }, value, '');
}

function problems(api: Api, kind: Kind, value: unknown, path: string): string[] {
  const must = (holds: boolean, what: string): string[] =>
    holds ? [] : [`${path}: must be ${what}, is ${JSON.stringify(value)}`];
  switch (kind.is) {
    case 'any':
      return [];
    case 'string':
    case 'boolean':
      return must(typeof value === kind.is, `a ${kind.is}`);
    case 'number':
      return must(typeof value === 'number' && Number.isFinite(value), 'a number');
    case 'int-or-string':
      return must(typeof value === 'string' || Number.isInteger(value), 'a whole number or a string');
    case 'quantity':
      return must(
        (typeof value === 'string' || typeof value === 'number') && QUANTITY.test(`${value}`),
        'a quantity',
      );
    case 'enum':
      return must(typeof value === 'string' && kind.words.includes(value), kind.words.join(' or '));
    case 'list':
      if (!Array.isArray(value)) return must(false, 'a list');
      return value.flatMap((item: unknown, index) => problems(api, kind.of, item, `${path}[${index}]`));
    case 'map':
      if (!isRecord(value)) return must(false, 'a map');
      return Object.entries(value).flatMap(([key, item]) => problems(api, kind.of, item, `${path}.${key}`));
    case 'type':
      return isRecord(value) ? memberProblems(api, kind.name, value, path) : must(false, 'an object');
  }
}

function memberProblems(
  api: Api,
  name: string,
  value: Readonly<Record<string, unknown>>,
  path: string,
): string[] {
  const fields = api.get(name) ?? new Map<string, Field>();
  const missing = [...fields]
    .filter(([field, { isOptional }]) => !isOptional && value[field] === undefined)
    .map(([field]) => `${path}.${field}: is missing`);
  const present = Object.entries(value).flatMap(([field, item]) => {
    const known = fields.get(field);
    if (known === undefined) return [`${path}.${field}: no such field in ${name}`];
    return problems(api, known.kind, item, `${path}.${field}`);
  });
  return [...missing, ...present];
}

function parseKind(text: string): Kind {
  switch (text) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'any':
    case 'quantity':
    case 'int-or-string':
      return { is: text };
  }
  if (text.startsWith('[')) return { is: 'list', of: parseKind(text.slice(1, -1)) };
  if (text.startsWith('{')) return { is: 'map', of: parseKind(text.slice(1, -1)) };
  if (text.startsWith('"')) {
    return { is: 'enum', words: text.split('|').map((word) => word.slice(1, -1)) };
  }
  return { is: 'type', name: text };
}

function requireTypes(api: Api, name: string, kind: Kind): void {
  if (kind.is === 'list' || kind.is === 'map') requireTypes(api, name, kind.of);
  if (kind.is === 'type' && !api.has(kind.name)) {
    throw new Error(`kubernetes-api.txt: ${name} needs ${kind.name}, which is not there`);
  }
}

/** @throws {Error} when a value is no object with string keys */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new Error(`not a map: ${JSON.stringify(value)}`);
  return value;
}
