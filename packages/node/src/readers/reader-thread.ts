/** The program of a thread that runs queries over snapshots. */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ErrorCode, QueryError, type WireValues } from '@althing/engine';
import { LevelStore, SnapshotReads } from '@althing/storage';
import { systemEnvironment } from '../base/environment.js';
import { describe } from '../base/error-text.js';
import { isDamage } from '../base/failures.js';
import { giveWay } from '../base/thread-share.js';
import { positionText } from '../between/feed-position.js';
import type { ProgramBody } from '../groups/request.js';
import { encodeAnswer, withLogs } from '../requests/forward-format.js';
import { failed } from '../requests/replies.js';
import type { SnapshotQuery } from '../requests/snapshot-query.js';
import { LineRing } from './line-ring.js';
import { LineSender } from './line-sender.js';
import type { FromReader, ReaderData, ToReader } from './messages.js';
import { SnapshotEngine, type SnapshotOutcome } from './snapshot-engine.js';

const { location, limits, quotas, thingBytes, lines: memory }: ReaderData = workerData;
const port = parentPort;
if (port === null) throw new Error('this file is the program of a thread');

// Everybody waits for the threads of the node, and who asks for a report for that alone.
giveWay();

const tell = (message: FromReader): void => port.postMessage(message);
const defect = (error: unknown): void =>
  tell({ kind: 'defect', message: describe(error), isDamage: isDamage(error) });

const lines = new LineSender(new LineRing(memory));
const environment = systemEnvironment(
  { warn: (fields: object, message: string) => tell({ kind: 'log', fields, message }) },
  null,
);
const store = await LevelStore.share(location);
const engine = new SnapshotEngine({
  reads: new SnapshotReads(store, (ms) => pause(ms)),
  // The time that a client takes does not count.
  environment: { ...environment, monotonic: () => performance.now() - lines.waitedMs },
  limits,
  quotas,
  thingBytes,
  onInternalError: defect,
});
port.on('message', (message: ToReader) => {
  if (message === null) {
    void close();
    return;
  }
  Object.assign(limits, message.limits);
  void answer(message.query);
});

async function answer(query: SnapshotQuery): Promise<void> {
  const { reply, logs, cost } = await outcomeOf(query);
  // A part of a larger buffer would be copied with all of it.
  const bytes = new Uint8Array(withLogs(encodeAnswer({ kind: 'reply', reply }), logs));
  const message: FromReader = { kind: 'answer', answer: bytes, cost };
  port?.postMessage(message, [bytes.buffer]);
}

async function outcomeOf(query: SnapshotQuery): Promise<SnapshotOutcome> {
  lines.begin();
  try {
    const outcome = await engine.run(
      { ...query, body: received(query.body) },
      (index) => tell({ kind: 'taken', index }),
      query.hasLines ? (text) => lines.line(text) : undefined,
    );
    const { reply, at, cost } = outcome;
    if (!query.hasLines || !reply.ok || at === null) return outcome;
    const { result, index = 0 } = reply;
    if (String(result) !== NIL) lines.line(String(result));
    if (query.hasEnd) lines.end(index, positionText(at), cost);
    lines.flush();
    return { ...outcome, reply: { ...reply, result: NIL } };
  } catch (error) {
    defect(error);
    return { reply: failed(INTERNAL), logs: [], at: null, cost: '' };
  }
}

async function close(): Promise<void> {
  await engine.close();
  await store.close();
  port?.close();
}

/** Buffers come as plain bytes. */
function received(body: ProgramBody): ProgramBody {
  if (body.type === 'query') return { ...body, vars: bytesAsBuffer(body.vars) };
  return { ...body, args: bytesAsBuffer(body.args) };
}

function bytesAsBuffer(values: WireValues | null): WireValues | null {
  if (values === null || typeof values.data === 'string') return values;
  const { buffer, byteOffset, byteLength } = values.data;
  return { ...values, data: Buffer.from(buffer, byteOffset, byteLength) };
}

/** The result of an answer whose lines have all of it. */
const NIL = 'null';

const INTERNAL = new QueryError(ErrorCode.INTERNAL, 'internal error; see the log of the node');
