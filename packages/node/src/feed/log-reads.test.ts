/** Parts of logs of several nodes, with calls between them. */
import { expect, test } from '@jest/globals';
import type { LogPart, NodeId } from '../between/protocol.js';
import type { CallHandler } from '../calls/calls.js';
import { LogReads } from './log-reads.js';

const GROUP = 2;

/** A node whose log holds entries from `first` to `last`; null: it does not answer. */
type Log = { readonly first: number; readonly last: number } | null;

/** Reads behind an index at the first of some nodes. */
async function read(logs: readonly Log[], after: number, upTo: number): Promise<LogPart | null> {
  const handlers = new Map<NodeId, CallHandler>();
  const nodes = logs.map((log, i) => {
    const reads: LogReads = new LogReads({
      nodeId: i + 1,
      line: {
        send: (command) => {
          if (command.kind !== 'read_log') throw new Error('it only reads');
          const part = log === null ? null : partOf(log, command.after, command.upTo);
          queueMicrotask(() => reads.handle({ kind: 'log_read', group: GROUP, id: command.id, part }));
        },
      },
      calls: {
        serve: (_, handler) => handlers.set(i + 1, handler),
        call: async (to, _, payload) => {
          const handler = handlers.get(to);
          if (handler === undefined || logs[to - 1] === null) throw new Error('no answer');
          return handler(i + 1, payload);
        },
      },
      voters: () => logs.map((_, at) => at + 1),
    });
    return reads;
  });
  return (await nodes[0]?.read(GROUP, after, upTo)) ?? null;
}

function partOf({ first, last }: NonNullable<Log>, after: number, upTo: number): LogPart {
  const at = (index: number) => ({ index, term: 1, hash: (index * 1_000_000_007) % 2 ** 32 });
  const oldest = at(first - 1);
  if (after < first - 1 || after > last) return { before: null, oldest, entries: [], last: oldest };
  const end = Math.min(last, upTo);
  const entries = Array.from({ length: Math.max(0, end - after) }, (_, i) => ({
    ...at(after + 1 + i),
    payload: Buffer.from(`entry ${after + 1 + i}`),
  }));
  return { before: at(after), oldest, entries, last: at(end) };
}

const long: Log = { first: 1, last: 9 };
const short: Log = { first: 8, last: 9 };
const shorter: Log = { first: 9, last: 9 };
const behind: Log = { first: 1, last: 2 };

test('entries that this node lacks come from one that has them, as that has them', async () => {
  expect(await read([shorter, short, long], 4, 7)).toEqual(partOf(long, 4, 7));
  expect(await read([shorter, null, long], 4, 4)).toEqual(partOf(long, 4, 4));
});

test('most of the nodes decide that something is lost, and tell of the longest log', async () => {
  const { oldest } = partOf(short, 8, 8);
  expect(await read([shorter, short, null], 4, 7)).toMatchObject({ before: null, oldest });
  expect(await read([short], 4, 7)).toMatchObject({ before: null, oldest });
});

test('nothing is known where others do not answer, or are not there yet', async () => {
  expect(await read([shorter, null, null], 4, 7)).toBe(null);
  expect(await read([shorter, behind, null], 4, 7)).toBe(null);
  expect(await read([behind, long, long], 4, 7)).toBe(null);
});
