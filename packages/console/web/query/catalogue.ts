/** Names for completion: what is known at once, and properties of paths, which are asked for and kept for a while. */
import { AlthingError } from '@althing/client';
import type { Catalogue } from '@althing/language';
import { namesOf, proceduresOf } from '../state/names.js';
import { ask, isNodeAway } from '../state/session.js';
import { textsOf } from '../state/values.js';

/** Time that names of properties are taken for true, and that they are waited for, in milliseconds. */
const FRESH_MS = 10_000;
const WAIT_MS = 150;
/** Names of one thing at most. */
const NAMES_MAX = 200;

const keys = new Map<string, { readonly at: number; readonly names: readonly string[] | null }>();
/** Questions that are not answered yet. */
const asked = new Map<string, Promise<void>>();

export function catalogueOf(scope: string): Catalogue {
  const { functions, types, enums } = namesOf(scope);
  const procedures = proceduresOf(scope);
  const texts = (call: string): readonly string[] => {
    if (call === 'run' || call.includes('procedure')) return procedures.map(({ name }) => name);
    if (call.includes('enum')) return enums.map(({ name }) => name);
    return call.includes('type') || call === 'wrap' ? types.map(({ name }) => name) : [];
  };
  return {
    functions: functions.filter(({ scopes }) => scopes.includes(kindOf(scope))),
    procedures,
    types: types.map(({ name, fields }) => ({ name, fields: fields.map(([field]) => field) })),
    enums: enums.map(({ name, members }) => ({ name, members: members.map(([member]) => member) })),
    keys: (path) => keys.get(keyOf(scope, path))?.names ?? null,
    texts: (call, argument) => (argument > 0 ? [] : texts(call)),
  };
}

/** Waits a moment for the names of properties at a path; without them completion goes on as well. */
export async function knowKeys(scope: string, path: readonly string[]): Promise<void> {
  if (!scope.startsWith('@collection:')) return;
  const key = keyOf(scope, path);
  const found = keys.get(key);
  if (found !== undefined && Date.now() - found.at < FRESH_MS) return;
  // The frame asks whether it is back.
  if (isNodeAway.value) return;
  const answer = asked.get(key) ?? askKeys(scope, path, key);
  await Promise.race([answer, new Promise((done) => setTimeout(done, WAIT_MS))]);
}

function askKeys(scope: string, path: readonly string[], key: string): Promise<void> {
  // Nothing of it is code of somebody else: the grammar takes words alone behind a dot.
  const code = `${path.length === 0 ? '' : `.${path.join('.')}`}.keys()[:${NAMES_MAX}];`;
  const know = (names: readonly string[] | null): void => {
    keys.set(key, { at: Date.now(), names });
    asked.delete(key);
  };
  const answer = ask(scope, code, {}, { consistency: 'stale', timeoutMs: 10 * WAIT_MS }).then(
    (value) => know(textsOf(value)),
    (error: unknown) => {
      know(null);
      if (!(error instanceof AlthingError)) throw error;
    },
  );
  asked.set(key, answer);
  return answer;
}

function keyOf(scope: string, path: readonly string[]): string {
  return `${scope} ${path.join('.')}`;
}

function kindOf(scope: string): string {
  return scope === '@thingsdb' ? 'thingsdb' : scope.startsWith('@node') ? 'node' : 'collection';
}
