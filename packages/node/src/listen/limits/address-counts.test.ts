import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { RawConnection, until } from '../../testing/index.js';
import {
  AddressCounts,
  addressKey,
  countLines,
  isLoopbackKey,
  networkKey,
  systemCounts,
} from './address-counts.js';

const HERE = addressKey(Buffer.of(127, 0, 0, 1));
const THERE = addressKey(Buffer.of(127, 0, 0, 4));

function setUp(max: number) {
  const real = new Map<string, number>();
  const clock = { now: 0 };
  const asked = { count: 0 };
  const counts = new AddressCounts({
    max,
    now: () => clock.now,
    recount: () => {
      asked.count += 1;
      return new Map(real);
    },
  });
  /** A connection that stays if it may. */
  const connect = (address: string): boolean => {
    real.set(address, (real.get(address) ?? 0) + 1);
    const admitted = counts.connected(address);
    if (!admitted) real.set(address, (real.get(address) ?? 0) - 1);
    return admitted;
  };
  const end = (address: string) => real.set(address, (real.get(address) ?? 0) - 1);
  return { real, clock, asked, counts, connect, end };
}

describe('connections of an address', () => {
  test('up to the limit are admitted, and no more; other addresses are not concerned', () => {
    const { connect, clock } = setUp(3);
    expect([1, 2, 3, 4, 5].map(() => connect('a'))).toEqual([true, true, true, false, false]);
    clock.now += 1000;
    expect(connect('a')).toBe(false);
    expect(connect('b')).toBe(true);
  });

  test('connections that come and go are admitted for ever, without the system being asked each time', () => {
    const { connect, end, clock, asked } = setUp(100);
    for (let i = 0; i < 20_000; i++) {
      clock.now += 5;
      if (!connect('a')) throw new Error(`connection ${i} is refused`);
      end('a');
    }
    expect(asked.count).toBeLessThan(220);
  });

  test('are admitted again when others ended', () => {
    const { connect, end, clock } = setUp(2);
    connect('a');
    connect('a');
    clock.now += 1000;
    expect(connect('a')).toBe(false);
    end('a');
    clock.now += 1000;
    expect(connect('a')).toBe(true);
  });

  test('are fewer while the limit of the moment is lower', () => {
    const { real, counts } = setUp(100);
    real.set('a', 3);
    expect([1, 2, 3].map(() => counts.connected('a', 2))).toEqual([true, true, false]);
    expect(counts.connected('b', 2)).toBe(true);
  });

  test('are those of the whole network in IPv6', () => {
    const keyOf = (...last: number[]): string =>
      networkKey(addressKey(Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, ...last)));
    expect(keyOf(0, 0, 0, 0, 0, 0, 0, 1)).toBe(keyOf(1, 2, 3, 4, 5, 6, 7, 8));
    expect(networkKey(HERE)).toBe(HERE);
  });

  test('are not limited where the system does not tell', () => {
    const clock = { now: 0 };
    const counts = new AddressCounts({ max: 2, now: () => clock.now, recount: () => null });
    for (let i = 0; i < 100; i++) {
      clock.now += 1000;
      expect(counts.connected('a')).toBe(true);
    }
  });

  test('connections from very many addresses do not fill the memory', () => {
    const { connect, end, clock, asked } = setUp(2);
    for (let i = 0; i < 25_000; i++) {
      clock.now += 1;
      connect(`address ${i}`);
      end(`address ${i}`);
    }
    expect(asked.count).toBeGreaterThan(1);
  });
});

describe('the connections that the system tells of', () => {
  test('addresses of both kinds, and only connections to the port that are still there', () => {
    const lines = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:23FA 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100',
      '   1: 0100007F:23FA 0400007F:AC8B 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20',
      '   2: 0100007F:23FA 0400007F:AC8C 08 00000000:00000000 00:00000000 00000000     0        0 3 1 0 20',
      '   3: 0100007F:23FA 0400007F:AC8D 06 00000000:00000000 03:00000ABC 00000000     0        0 0 3 0',
      '   4: 0100007F:23FB 0400007F:AC8E 01 00000000:00000000 00:00000000 00000000     0        0 4 1 0 20',
      ' 105: 0000000000000000FFFF00000100007F:23FA 0000000000000000FFFF00000400007F:AC8F 01 00000000:00000000 0',
      ' 106: 00000000000000000000000001000000:23FA B80D0120000000000000000001000000:AC90 01 00000000:00000000 0',
    ];
    const counts = new Map<string, number>();
    countLines(`${lines.join('\n')}\n`, 0x23fa, counts);
    expect(counts).toEqual(
      new Map([
        [THERE, 3],
        ['20010db800000000', 1],
      ]),
    );
  });

  test('about connections of this process', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const open = [
      await RawConnection.open(port),
      await RawConnection.open(port, '127.0.0.1', '127.0.0.4'),
      await RawConnection.open(port, '127.0.0.1', '127.0.0.4'),
    ];
    await until(() => sockets.length === 3, 'all are accepted');
    expect(systemCounts(port)).toEqual(
      new Map([
        [HERE, 1],
        [THERE, 2],
      ]),
    );
    for (const connection of open) connection.close();
    await until(() => systemCounts(port)?.size === 0, 'all are gone');
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});

test('an address of this machine itself is known', () => {
  const keyOf = (...bytes: number[]): string => addressKey(Uint8Array.from(bytes));
  const v6 = (...last: number[]): number[] => [...new Array<number>(16 - last.length).fill(0), ...last];
  expect(
    [keyOf(127, 0, 0, 1), keyOf(127, 9, 9, 9), keyOf(...v6(1)), keyOf(...v6(255, 255, 127, 0, 0, 1))].map(
      isLoopbackKey,
    ),
  ).toEqual([true, true, true, true]);
  expect(
    [
      keyOf(10, 0, 0, 127),
      keyOf(128, 0, 0, 1),
      keyOf(...v6(2)),
      keyOf(...v6(0)),
      keyOf(...v6(255, 255, 10, 0, 0, 1)),
    ].map(isLoopbackKey),
  ).toEqual([false, false, false, false, false]);
});
