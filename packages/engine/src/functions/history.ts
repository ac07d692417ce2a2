import type { Target } from '../admin/access-lists.js';
import { type History, ROOT_HISTORY } from '../admin/histories.js';
import { Privilege } from '../admin/privileges.js';
import { lookupError, operationError, quotaError, typeError, valueError } from '../error.js';
import { packInfo } from '../pack/info.js';
import { CHANGES_ROOT, type Entry, func, In } from '../run/builtin.js';
import { historyOfScope } from '../run/commit.js';
import { GroupNeeded } from '../run/execution.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { perform } from '../state/effect.js';
import { type Commit, CommitEffect, type Commits } from '../state/parts/commits.js';
import { List } from '../value/containers.js';
import { DateTimeValue } from '../value/datetime-value.js';
import { RegexValue } from '../value/regex-value.js';
import type { MpData } from '../value/scalars.js';
import type { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { targetOf, timeText } from './users.js';

/** Most bytes, roughly, that the entries of one scope take. */
export const HISTORY_BYTES_MAX = 64 * 1024 * 1024;

/** Commit history: who announced which change of definitions. */
export const HISTORY: readonly Entry[] = [
  func('commit', {
    doc: 'Announces a change of definitions with a message, which the history keeps with the text of the query.',
    in: In.DATA,
    readsState: false,
    params: [p.str('message')],
    run: (rt, message) => {
      const history = historyOfScope(rt);
      if (history === undefined) {
        throw operationError(
          `there is no commit history of ${rt.scope.name}; set_history('${rt.scope.name}', true) begins one`,
        );
      }
      if (rt.source === null) throw operationError('commit() works in queries only');
      if (!rt.transaction.writable) {
        throw operationError('commit() needs a query that makes a change; wse() makes any query one');
      }
      if (message === '') throw valueError('the message of a commit can not be empty');
      if (rt.isCommitted) throw operationError('a query has one commit at most');
      const { commits } = rt.group;
      deleteCommits(rt, obsolete(commits, history));
      if (commits.bytes >= HISTORY_BYTES_MAX) {
        throw quotaError(
          `the commit history of ${rt.scope.name} takes ${HISTORY_BYTES_MAX} bytes, which is the most; del_history() makes room`,
        );
      }
      rt.isCommitted = true;
      perform(rt.transaction, CommitEffect.ADD, commits, {
        id: rt.scope.changeId,
        history: history.number,
        createdAt: rt.seconds(),
        by: rt.user.name,
        message,
        code: rt.source,
      });
      return null;
    },
  }),
  func('set_history', {
    doc: 'Begins the commit history of a scope, or ends and deletes it; it takes QUERY and CHANGE on that scope.',
    changes: CHANGES_ROOT,
    params: [p.str('scope'), p.lazy('on')],
    run: (rt, scope, code) => {
      const target = numberOf(targetOf(rt.root, scope));
      rt.access.require(Privilege.QUERY | Privilege.CHANGE, targetOf(rt.root, scope));
      if (target === null) throw operationError('there is no commit history of nodes');
      const isOn = p.bool('on').accept(code(), { function: 'set_history', position: 2 });
      const { histories, commits } = rt.root;
      if (isOn === (histories.all.get(target) !== undefined)) return null;
      if (isOn) {
        rt.editor.setHistory({ target, number: rt.scope.changeId, deleted: [] });
        return null;
      }
      rt.editor.removeHistory(target);
      if (target === ROOT_HISTORY) deleteCommits(rt, commits.strangers(null));
      return null;
    },
  }),
  func('history', {
    doc: 'The commits of a scope that fit the options, oldest first; with the option id the one commit, or nil. It takes QUERY and CHANGE on that scope.',
    in: In.ROOT,
    readsState: true,
    params: [p.thing('options')],
    run: (rt, thing) => {
      const options = readOptions(rt, thing, true);
      const { commits, history } = selected(rt, options);
      const found = select(rt, commits, history, options).map((commit) =>
        commitInfo(rt, commit, options.detail),
      );
      return options.id === null ? new List(found) : (found[0] ?? null);
    },
  }),
  func('del_history', {
    doc: 'Deletes the commits of a scope that fit the options; gives their number. It takes QUERY and CHANGE on that scope.',
    changes: CHANGES_ROOT,
    params: [p.thing('options')],
    run: (rt, thing) => {
      const options = readOptions(rt, thing, false);
      const { commits, history } = selected(rt, options);
      const ids = select(rt, commits, history, options).map(({ id }) => id);
      if (ids.length === 0) return 0;
      if (history.target === ROOT_HISTORY) deleteCommits(rt, ids);
      else rt.editor.setHistory({ ...history, deleted: withDeleted(commits, history, ids) });
      return ids.length;
    },
  }),
];

/** Deletes entries of the history that lies in the scope of the query. */
function deleteCommits({ transaction, group }: Runtime, ids: readonly number[]): void {
  if (ids.length > 0) perform(transaction, CommitEffect.DELETE, group.commits, ids);
}

/** The number of commits in a scope's history; null when it has none. */
export function commitCount(rt: Runtime, target: Target): number | null {
  const number = numberOf(target);
  const history = number === null ? undefined : rt.root.histories.all.get(number);
  if (history === undefined) return null;
  const commits = commitsOf(rt, history);
  return commits === undefined ? 0 : entriesOf(commits, history).length;
}

/** The number of a scope among histories; null for that of nodes, which have none. */
function numberOf(target: Target): number | null {
  if (target === 'node') return null;
  return target === 'thingsdb' ? ROOT_HISTORY : target;
}

function commitsOf(rt: Runtime, { target }: History): Commits | undefined {
  return target === ROOT_HISTORY ? rt.root.commits : rt.catalog.collection(target)?.commits;
}

/** The entries of a history that were not deleted. */
function entriesOf(commits: Commits, { number, deleted }: History): Commit[] {
  const gone = new Set(deleted);
  return commits.of(number).filter(({ id }) => !gone.has(id));
}

/** Definitions of a scope that are no part of its history any more. */
function obsolete(commits: Commits, { number, deleted }: History): number[] {
  const gone = deleted.filter((id) => commits.find(id)?.history === number);
  return [...commits.strangers(number), ...gone];
}

/** The ids that count as deleted, without those that are gone from the collection already. */
function withDeleted(commits: Commits, { number, deleted }: History, ids: readonly number[]): number[] {
  const still = deleted.filter((id) => commits.find(id)?.history === number);
  return [...still, ...ids].sort((a, b) => a - b);
}

interface Options {
  readonly scope: string | null;
  readonly contains: string | null;
  readonly match: RegexValue | null;
  readonly id: number | null;
  readonly first: number | null;
  readonly last: number | null;
  readonly before: number | null;
  readonly after: number | null;
  readonly hasErr: boolean | null;
  readonly detail: boolean;
}

const NONE: Options = {
  scope: null,
  contains: null,
  match: null,
  id: null,
  first: null,
  last: null,
  before: null,
  after: null,
  hasErr: null,
  detail: false,
};

/** Readers of the options. Each throws type_err for another kind of value, value_err for one that can't be. */
const READERS: Readonly<Record<string, (value: Value, name: string) => Partial<Options>>> = {
  scope: (value, name) => ({ scope: textOption(value, name) }),
  contains: (value, name) => {
    const contains = textOption(value, name);
    if (contains === '') throw valueError('the option contains can not be empty');
    return { contains };
  },
  match: (value, name) => {
    if (value instanceof RegexValue) return { match: value };
    throw wrongOption(value, name, 'a regex');
  },
  id: (value, name) => ({ id: countOption(value, name) }),
  first: (value, name) => ({ first: countOption(value, name) }),
  last: (value, name) => ({ last: countOption(value, name) }),
  before: (value, name) => ({ before: timeOption(value, name) }),
  after: (value, name) => ({ after: timeOption(value, name) }),
  has_err: (value, name) => ({ hasErr: boolOption(value, name) }),
  detail: (value, name) => ({ detail: boolOption(value, name) }),
};

const FILTERS = ['contains', 'match', 'id', 'first', 'last', 'before', 'after', 'hasErr'] as const;

function readOptions(rt: Runtime, thing: Thing, takesDetail: boolean): Options {
  rt.store?.load(thing);
  let options = NONE;
  for (const [name, value] of thing.entries()) {
    const read = name === 'detail' && !takesDetail ? undefined : READERS[name];
    if (read === undefined || !Object.hasOwn(READERS, name)) {
      const names = Object.keys(READERS).filter((known) => takesDetail || known !== 'detail');
      throw valueError(`there is no option '${name}'; known: ${names.join(', ')}`);
    }
    if (value !== null) options = { ...options, ...read(value, name) };
  }
  if (FILTERS.every((name) => options[name] === null)) {
    throw lookupError(
      'which commits? Give at least one of contains, match, id, first, last, before, after, has_err',
    );
  }
  return options;
}

function textOption(value: Value, name: string): string {
  if (typeof value === 'string') return value;
  throw wrongOption(value, name, 'a str');
}

function boolOption(value: Value, name: string): boolean {
  if (typeof value === 'boolean') return value;
  throw wrongOption(value, name, 'a bool');
}

function countOption(value: Value, name: string): number {
  if (typeof value !== 'number' && typeof value !== 'bigint') throw wrongOption(value, name, 'an int');
  if (value < 0) throw valueError(`the option ${name} can not be negative`);
  return Number(value);
}

function timeOption(value: Value, name: string): number {
  if (value instanceof DateTimeValue) return Number(value.time.moment);
  throw wrongOption(value, name, 'a datetime or timeval');
}

function wrongOption(value: Value, name: string, type: string): ReturnType<typeof typeError> {
  return typeError(`the option ${name} must be ${type}, not ${typeName(value)}`);
}

/** The history that the options mean, with what this node has of its entries. */
function selected(rt: Runtime, { scope }: Options): { readonly commits: Commits; readonly history: History } {
  const history = scope === null ? onlyHistory(rt) : namedHistory(rt, scope);
  const { target } = history;
  rt.access.require(Privilege.QUERY | Privilege.CHANGE, target === ROOT_HISTORY ? 'thingsdb' : target);
  if (target !== ROOT_HISTORY && !rt.fresh.isFresh(target)) throw new GroupNeeded(target);
  const commits = commitsOf(rt, history);
  if (commits === undefined) throw lookupError('the collection is not there yet; try again');
  return { commits, history };
}

function namedHistory(rt: Runtime, scope: string): History {
  const number = numberOf(targetOf(rt.root, scope));
  const history = number === null ? undefined : rt.root.histories.all.get(number);
  if (history === undefined) throw operationError(`there is no commit history of ${scope}`);
  return history;
}

function onlyHistory({ root }: Runtime): History {
  const [history, ...others] = root.histories.all.values();
  if (history === undefined) throw lookupError('no scope has a commit history');
  if (others.length > 0) {
    throw lookupError('several scopes have a commit history: name one by the option scope');
  }
  return history;
}

function select(rt: Runtime, commits: Commits, history: History, options: Options): Commit[] {
  const { contains, match, id, first, last, before, after, hasErr } = options;
  if (hasErr === true) return [];
  const entries = entriesOf(commits, history);
  rt.charge(entries.length);
  let found = entries.filter(
    ({ createdAt }) => (after === null || createdAt > after) && (before === null || createdAt < before),
  );
  if (last !== null) found = last === 0 ? [] : found.slice(-last);
  if (first !== null) found = found.slice(0, first);
  return found.filter((commit) => {
    const texts = [commit.message, commit.code, commit.by];
    if (id !== null && commit.id !== id) return false;
    if (contains !== null || match !== null) rt.charge(commit.code.length + commit.message.length);
    if (contains !== null && !texts.some((text) => text.includes(contains))) return false;
    return match === null || texts.some((text) => match.matches(text));
  });
}

function commitInfo(rt: Runtime, { id, createdAt, by, message, code }: Commit, isDetailed: boolean): MpData {
  return packInfo(rt, {
    id,
    created_on: timeText(createdAt),
    by,
    message,
    code: isDetailed ? code : undefined,
  });
}
