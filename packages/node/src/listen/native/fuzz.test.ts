/** Packages and frames of any kind, cut anywhere, against the readers and a connection whose node is a stand-in. */

import { clientFrame, encodeMessagePack, encodePackage, type WireValue } from '@althing/client';
import { ErrorCode, QueryError, type User } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Request, Respond } from '../../groups/request.js';
import { ManualClock } from '../../testing/index.js';
import type { Gate } from '../gate/gate.js';
import { ByteBudget } from '../limits/byte-budget.js';
import { RequestIds } from '../shared/request-ids.js';
import { MessageReader } from '../websocket/messages.js';
import { Connection, STRANGER_BYTES_MAX } from './connection.js';
import type { ConnectionHost } from './connection-host.js';
import { NativeCounts } from './native-counts.js';
import { type Header, PackageType } from './package.js';
import { PackageReader, type PackageSink } from './package-reader.js';
import { openGate, roomsThat } from './testing.js';
import type { Wire } from './wire.js';

const MiB = 1024 * 1024;

/** Collects packages as a connection takes them. */
class Collected implements PackageSink {
  readonly memory = new ByteBudget(MiB);
  readonly packages: (readonly [type: number, id: number, data: string])[] = [];

  begins({ length }: Header): 'read' | 'skip' | 'end' {
    return length > 100_000 ? 'end' : 'read';
  }

  take({ type, id }: Header, data: Buffer): void {
    this.packages.push([type, id, data.toString('hex')]);
  }

  skipped(): void {}
  full(): void {}
}

const packages = fc.array(fc.tuple(fc.nat(255), fc.nat(65_535), fc.uint8Array({ maxLength: 40 })), {
  maxLength: 12,
});
const cuts = fc.array(fc.nat(400), { maxLength: 20 });

/** Pieces of bytes, cut at any places. */
function pieces(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set([0, ...at.filter((place) => place < bytes.length), bytes.length])].sort(
    (a, b) => a - b,
  );
  return places.slice(1).map((end, i) => Buffer.from(bytes.subarray(places[i], end)));
}

const silent = { pong: () => {}, closed: () => {} };

describe('readers', () => {
  test('take the packages that were sent, however they are cut', () => {
    fc.assert(
      fc.property(packages, cuts, (sent, at) => {
        const sink = new Collected();
        const reader = new PackageReader(sink);
        const bytes = Buffer.concat(sent.map(([type, id, data]) => encodePackage(type, id, data)));
        for (const piece of pieces(bytes, at)) expect(reader.push(piece)).toBe(true);
        expect(sink.packages).toEqual(
          sent.map(([type, id, data]) => [type, id, Buffer.from(data).toString('hex')]),
        );
        expect([reader.isWithin, sink.memory.used]).toEqual([false, 0]);
      }),
    );
  });

  test('take the messages that were sent, in any frames, however they are cut', () => {
    const framed = fc.array(
      fc.tuple(fc.nat(255), fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300), { maxLength: 4 })),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(framed, cuts, fc.boolean(), (sent, at, pings) => {
        const sink = new Collected();
        let pongs = 0;
        const reader = new MessageReader(sink, { ...silent, pong: () => (pongs += 1) });
        const frames = sent.flatMap(([type, data, places]) => {
          const parts = pieces(encodePackage(type, 7, data), places);
          return parts.flatMap((part, i) => [
            ...(pings ? [clientFrame(9, Buffer.of(i))] : []),
            clientFrame(i === 0 ? 2 : 0, part, i === parts.length - 1),
          ]);
        });
        for (const piece of pieces(Buffer.concat(frames), at)) expect(reader.push(piece)).toBe(true);
        expect(sink.packages).toEqual(
          sent.map(([type, data]) => [type, 7, Buffer.from(data).toString('hex')]),
        );
        expect([reader.isWithin, sink.memory.used, pings ? pongs : 0]).toEqual([
          false,
          0,
          pings ? frames.length / 2 : 0,
        ]);
      }),
    );
  });

  test('take any bytes, and keep no memory behind their end', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .tuple(fc.nat(2 ** 32 - 1), fc.nat(255), fc.uint8Array({ maxLength: 60 }))
        .map(([length, type, data]) => {
          const header = encodePackage(type, 1, data);
          header.writeUInt32LE(length);
          return header;
        }),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 8 }), fc.boolean(), (all, isWebSocket) => {
        const sink = new Collected();
        const reader = isWebSocket ? new MessageReader(sink, silent) : new PackageReader(sink);
        let goesOn = true;
        for (const each of all) goesOn = goesOn && reader.push(Buffer.from(each));
        reader.end();
        expect(sink.memory.used).toBe(0);
      }),
    );
  });

  test('take a header whatever is wrong with a byte of it: it is another package, or the end', () => {
    const whole = encodePackage(PackageType.QUERY, 513, Buffer.from('0123456789'));
    for (let at = 0; at < 8; at++) {
      for (let value = 0; value < 256; value++) {
        const bytes = Buffer.from(whole);
        bytes[at] = value;
        const sink = new Collected();
        const goesOn = new PackageReader(sink).push(bytes);
        const length = bytes.readUInt32LE();
        const isSound = bytes[7] === ((bytes[6] ?? 0) ^ 0xff) && length <= 100_000;
        expect([at, value, sink.packages.length]).toEqual([at, value, isSound && length <= 10 ? 1 : 0]);
        if (!isSound) expect(goesOn).toBe(false);
      }
    }
  });
});

interface Sent {
  readonly type: number;
  readonly id: number;
}

/** A way to a client that reads only when it is told to. */
class Line implements Wire {
  readonly address = '192.0.2.1';
  readonly transport = 'tcp';
  readonly packages: Sent[] = [];
  unsent = 0;
  sent = 0;
  isPaused = false;
  state: 'open' | 'ended' | 'destroyed' = 'open';
  isReading = true;

  send(type: number, id: number, data: Uint8Array | null): void {
    if (this.state !== 'open') return;
    this.packages.push({ type, id });
    if (!this.isReading) this.unsent += 8 + (data?.length ?? 0);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  end(): void {
    this.state = 'ended';
  }

  destroy(): void {
    this.state = 'destroyed';
  }
}

const USER: User = { id: 1, name: 'ann', createdAt: 0, password: null, tokens: [] };
const TOKEN = 'x'.repeat(22);

interface Stand {
  readonly connection: Connection;
  readonly line: Line;
  readonly gate: Gate;
  /** Answers what waits for its answer. */
  readonly answer: () => void;
  readonly defects: unknown[];
}

function stand(isAsync: boolean, answer: Uint8Array = Buffer.of(2)): Stand {
  const line = new Line();
  const clock = new ManualClock();
  const gate = openGate({ memoryMax: 4 * MiB }, clock);
  const open: (() => void)[] = [];
  const defects: unknown[] = [];
  const later = (work: () => void): void => {
    if (isAsync) open.push(work);
    else work();
  };
  const respondTo = (respond: Respond): void => later(() => respond({ ok: true, result: answer, index: 0 }));
  const host: ConnectionHost = {
    authenticator: {
      known: () => null,
      login: (header, _address, { done }) =>
        later(() =>
          done(
            header === `Bearer ${TOKEN}`
              ? { kind: 'user', user: USER, readOnly: false }
              : { kind: 'refused' },
          ),
        ),
    },
    root: {
      users: new Map([[1, USER]]),
      accessVersion: 1,
      isLoading: false,
      level: 2,
      memberByName: () => undefined,
      sessions: { byHashOfKey: () => undefined },
    },
    readsLater: () => false,
    handle: (_request: Request, respond: Respond) => {
      respondTo(respond);
      return true;
    },
    rooms: roomsThat(respondTo),
    feeds: { follow: () => Promise.reject(new QueryError(ErrorCode.NODE, 'not now')) },
    gate,
    nestingMax: 500,
    sizeMax: MiB,
    ids: new RequestIds(),
    figures: { refused: () => {} },
    counts: new NativeCounts(),
    onDefect: (error) => defects.push(error),
    now: () => 0,
    clock,
  };
  const connection = new Connection(1, host, line, () => {});
  return { connection, line, gate, defects, answer: () => open.shift()?.() };
}

const values = fc.letrec<{ value: WireValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<WireValue>(null, true, '@t', '//stuff', '1', 'lobby', 1n, -1n, 1.5, TOKEN),
    fc.uint8Array({ maxLength: 5 }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .dictionary(fc.constantFrom('request', 'key', 'timeout_ms', 'min_index', 'a'), tie('value'), {
        maxKeys: 3,
      })
      .map((fields) => new Map(Object.entries(fields))),
  ),
})).value;

const REQUESTS = [33, 34, 37, 38, 39, 40, 41];

const commands = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constantFrom(...REQUESTS, 32, 35, 36, 0, 18, 99),
      fc.nat(65_535),
      fc.oneof(
        values.map((value): Uint8Array => encodeMessagePack(value)),
        fc.uint8Array({ maxLength: 30 }),
      ),
    ),
    fc.constant('answer' as const),
  ),
  { maxLength: 40 },
);

describe('a connection', () => {
  test('answers each request once, whatever is in it, and PING at once', async () => {
    await fc.assert(
      fc.asyncProperty(commands, fc.boolean(), cuts, async (all, isAsync, at) => {
        const { connection, line, gate, answer, defects } = stand(isAsync);
        const reader = new PackageReader(connection);
        reader.push(encodePackage(33, 1, encodeMessagePack(TOKEN)));
        answer();
        const expected: number[] = [1];
        for (const command of all) {
          if (command === 'answer') answer();
          else {
            const [type, id, data] = command;
            if (REQUESTS.includes(type) || (type >= 32 && type <= 36)) expected.push(id);
            for (const piece of pieces(encodePackage(type, id, data), at)) reader.push(piece);
          }
        }
        // Requests behind a JOIN wait for its events: they are taken up a moment after the answer.
        for (let i = 0; i < all.length + 50; i++) {
          answer();
          await Promise.resolve();
        }
        expect(defects).toEqual([]);
        expect(
          line.packages
            .filter(({ type }) => type >= 16)
            .map(({ id }) => id)
            .sort((a, b) => a - b),
        ).toEqual(expected.sort((a, b) => a - b));
        reader.end();
        connection.close();
        expect([gate.pending, gate.bytes]).toEqual([0, 0]);
      }),
    );
  });

  test('keeps the order of requests, and closes in the middle of one without a trace', () => {
    const { connection, line, gate, answer } = stand(true);
    const reader = new PackageReader(connection);
    reader.push(encodePackage(33, 1, encodeMessagePack(TOKEN)));
    for (let id = 2; id < 200; id++) reader.push(encodePackage(34, id, encodeMessagePack(['@t', '1'])));
    expect(line.packages).toEqual([]);
    expect(line.isPaused).toBe(true);
    for (let i = 0; i < 100; i++) answer();
    expect(line.packages.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    for (let i = 0; i < 66; i++) answer();
    expect(line.isPaused).toBe(false);
    connection.close();
    for (let i = 0; i < 100; i++) answer();
    expect([line.packages.length, gate.pending, gate.bytes]).toEqual([166, 0, 0]);
  });

  test('is not read from while its client does not read, and ends when events pile up', () => {
    const { connection, line, gate } = stand(false, Buffer.alloc(100_000));
    const reader = new PackageReader(connection);
    reader.push(encodePackage(33, 1, encodeMessagePack(TOKEN)));
    line.isReading = false;
    for (let i = 0; i < 200; i++) reader.push(encodePackage(34, i, encodeMessagePack(['@t', '1'])));
    expect([line.packages.length, line.isPaused]).toEqual([4, true]);
    expect(gate.memory.used).toBeGreaterThan(300_000);
    line.unsent = 0;
    connection.drained();
    expect(line.packages.length).toBe(7);
    for (let i = 0; i < 60_000 && line.state === 'open'; i++) connection.push(8, Buffer.alloc(100));
    expect(line.state).toBe('ended');
    expect(line.unsent).toBeLessThan(5 * MiB);
    expect(line.packages.at(-1)).toEqual({ type: PackageType.WARN, id: 65535 });
    connection.close();
    expect(gate.bytes).toBe(0);

    const pinged = stand(false);
    pinged.line.isReading = false;
    const pings = new PackageReader(pinged.connection);
    let count = 0;
    while (!pinged.line.isPaused && count < 1e6) {
      pings.push(encodePackage(32, 1));
      count += 1;
    }
    expect(count).toBeLessThan(40_000);
  });

  test('takes little before AUTH, and a part of the memory for strangers', () => {
    const { connection, line, gate } = stand(true);
    const reader = new PackageReader(connection);
    const header = encodePackage(34, 5);
    header.writeUInt32LE(STRANGER_BYTES_MAX + 1);
    expect(reader.push(header)).toBe(false);
    expect(line.packages).toEqual([{ type: PackageType.ERROR, id: 5 }]);
    connection.close();
    expect(gate.bytes).toBe(0);
    const other = stand(true);
    const half = encodePackage(33, 5);
    half.writeUInt32LE(STRANGER_BYTES_MAX);
    const slow = new PackageReader(other.connection);
    slow.push(Buffer.concat([half, Buffer.alloc(1000)]));
    expect([other.gate.memory.used, other.gate.strangers.bytes > 0]).toEqual([0, true]);
    slow.end();
    expect(other.gate.strangers.bytes).toBe(0);
  });

  test('says what is wrong with the shape of requests, and never throws', () => {
    const { connection, line } = stand(false);
    const reader = new PackageReader(connection);
    fc.assert(
      fc.property(fc.constantFrom(34, 37, 38, 40), fc.uint8Array({ maxLength: 40 }), (type, data) => {
        expect(reader.push(encodePackage(type, 3, data))).toBe(true);
        expect(line.packages.pop()).toEqual({ type: PackageType.ERROR, id: 3 });
      }),
      { numRuns: 500 },
    );
  });
});
