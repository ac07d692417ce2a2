import { createHash } from 'node:crypto';
import { crc32c } from '../crc32c.js';
import type { LogStore } from '../log/log-store.js';
import type { ChainHash, LogEntry, LogOperation, LogView } from '../log/types.js';

/** The visible state of a group, in a form to compare. */
export type ModelGroup = {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly baseTerm: number;
  readonly terms: number[];
  readonly hashes: number[];
  readonly payloads: string[];
  readonly hardState: string;
};

export type ModelState = ModelGroup[];

type GroupState = {
  readonly base: { readonly index: number; readonly term: number; readonly hash: number };
  readonly entries: readonly { readonly term: number; readonly hash: number; readonly payload: string }[];
  readonly hardState: { readonly term: number; readonly vote: number; readonly commit: number } | undefined;
};

const NO_GROUP: GroupState = { base: { index: 0, term: 0, hash: 0 }, entries: [], hardState: undefined };

/** A chain hash for tests. */
export const testChain: ChainHash = (previous, index, term, type, payload) => {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(previous);
  head.writeUInt32LE(type, 4);
  head.writeDoubleLE(index, 8);
  head.writeDoubleLE(term, 16);
  return crc32c(payload, 0, payload.length, crc32c(head));
};

/** A plain and obviously right log store, for tests: an immutable state and what each call makes of it. */
export class LogModel {
  constructor(private readonly groups: ReadonlyMap<number, GroupState> = new Map()) {}

  after(operations: readonly LogOperation[]): LogModel {
    const groups = new Map(this.groups);
    for (const operation of operations) {
      const before = groups.get(operation.group) ?? NO_GROUP;
      if (operation.kind === 'drop') groups.delete(operation.group);
      else groups.set(operation.group, applied(before, operation));
    }
    return new LogModel(groups);
  }

  lastIndex(id: number): number {
    return lastOf(this.groups.get(id) ?? NO_GROUP);
  }

  compacted(id: number, upTo: number): LogModel {
    const before = this.groups.get(id);
    if (before === undefined || upTo <= before.base.index || upTo > lastOf(before)) return this;
    const count = upTo - before.base.index;
    const { term, hash } = before.entries[count - 1]!;
    const after = { ...before, base: { index: upTo, term, hash }, entries: before.entries.slice(count) };
    return new LogModel(new Map(this.groups).set(id, after));
  }

  /**
   * A lawful append: some entries, going back over uncommitted ones by up to `back`, and perhaps a hard
   * state.
   */
  entriesFor(
    id: number,
    back: number,
    sizes: number[],
    vote: boolean,
    nextPayload: () => number,
  ): LogOperation[] {
    const group = this.groups.get(id) ?? NO_GROUP;
    const commit = group.hardState?.commit ?? 0;
    const last = lastOf(group);
    const from = Math.max(last - back, commit, group.base.index) + 1;
    const term = (group.entries.at(-1)?.term ?? group.base.term) + (from <= last || vote ? 1 : 0);
    let hash = (group.entries[from - group.base.index - 2] ?? group.base).hash;
    const operations: LogOperation[] = sizes.map((size, at) => {
      const index = from + at;
      const type = at % 256;
      const payload = payloadOf(nextPayload(), size);
      const previousHash = hash;
      hash = testChain(previousHash, index, term, type, payload);
      return { kind: 'entry', group: id, index, term, type, previousHash, hash, payload };
    });
    const end = sizes.length === 0 ? last : from + sizes.length - 1;
    const hardTerm = Math.max(group.hardState?.term ?? 0, term);
    const isNewTerm = hardTerm > (group.hardState?.term ?? 0);
    if (!vote) return operations;
    const state = {
      term: hardTerm,
      vote: isNewTerm ? 7 : (group.hardState?.vote ?? 0),
      commit: Math.max(commit, end - (end % 3)),
    };
    return [...operations, { kind: 'hardState', group: id, ...state }];
  }

  resetFor(id: number, ahead: number): LogOperation {
    const group = this.groups.get(id) ?? NO_GROUP;
    const term = (group.entries.at(-1)?.term ?? group.base.term) + 1;
    const index = Math.max(1, lastOf(group) + ahead);
    return { kind: 'reset', group: id, index, term, hash: index * 7919 };
  }

  state(): ModelState {
    return [...this.groups]
      .filter(([, group]) => group.hardState !== undefined || lastOf(group) > 0)
      .sort(([a], [b]) => a - b)
      .map(([id, group]) => ({
        id,
        first: group.base.index + 1,
        last: lastOf(group),
        baseTerm: group.base.term,
        terms: group.entries.map((entry) => entry.term),
        hashes: group.entries.map((entry) => entry.hash),
        payloads: group.entries.map((entry) => entry.payload),
        hardState: JSON.stringify(group.hardState),
      }));
  }
}

/** The same of a real store, with all entries read. */
export function stateOf(store: LogStore): ModelState {
  return store.groups().map((id) => {
    const view = store.view(id);
    const { firstIndex: first, lastIndex: last, hardState } = view;
    const entries = view.entries(first, last + 1, Number.MAX_SAFE_INTEGER);
    if (entries.some((entry, at) => !isAsSeen(view, entry, first + at))) {
      throw new Error('the view contradicts itself');
    }
    return {
      id,
      first,
      last,
      baseTerm: view.term(first - 1) ?? -1,
      terms: entries.map((entry) => entry.term),
      hashes: entries.map((entry) => entry.hash),
      payloads: entries.map((entry) => digest(entry.type, entry.payload)),
      hardState: JSON.stringify(hardState),
    };
  });
}

/** True if an entry is at its place, and all that tells of it agrees. */
function isAsSeen(view: LogView, { index, term, hash }: LogEntry, expected: number): boolean {
  return index === expected && term === view.term(index) && hash === view.hash(index);
}

function applied(before: GroupState, operation: Exclude<LogOperation, { kind: 'drop' }>): GroupState {
  switch (operation.kind) {
    case 'entry': {
      const kept = before.entries.slice(0, operation.index - before.base.index - 1);
      const { term, hash, type, payload } = operation;
      const entry = { term, hash, payload: digest(type, payload) };
      return { ...before, entries: [...kept, entry] };
    }
    case 'hardState': {
      const { term, vote, commit } = operation;
      return { ...before, hardState: { term, vote, commit } };
    }
    case 'reset':
      return { ...before, base: operation, entries: [] };
  }
}

function lastOf(group: GroupState): number {
  return group.base.index + group.entries.length;
}

function payloadOf(number: number, size: number): Buffer {
  const payload = Buffer.alloc(size, number);
  payload.write(String(number));
  return payload;
}

function digest(type: number, payload: Uint8Array): string {
  return createHash('sha1').update(String(type)).update(payload).digest('hex').slice(0, 12);
}
