/** A node that closes its doors goes on as soon as everything is answered, whatever was asked last. */
import { encodeMessagePack } from '@althing/client';
import type { User } from '@althing/engine';
import { expect, test } from '@jest/globals';
import { backgroundClock } from '../../base/clock.js';
import type { Respond } from '../../groups/request.js';
import { within } from '../../testing/index.js';
import { NativeListener } from './listener.js';
import { PackageType } from './package.js';
import { openGate, roomsThat } from './testing.js';
import type { Wire } from './wire.js';

const USER: User = { id: 1, name: 'ann', createdAt: 0, password: null, tokens: [] };
const TOKEN = 'x'.repeat(22);

test.each([PackageType.JOIN, PackageType.LEAVE, PackageType.EMIT, PackageType.QUERY, PackageType.AUTH])(
  'a request of type %i is the last one',
  async (type) => {
    const open: (() => void)[] = [];
    const later = (respond: Respond): void => {
      open.push(() => respond({ ok: true, result: Buffer.of(0x90) }));
    };
    let logins = 0;
    const gate = openGate({}, backgroundClock);
    const listener = new NativeListener({
      authenticator: {
        known: () => null,
        login: (_header, _address, { done }) => {
          const end = (): void => done({ kind: 'user', user: USER, readOnly: false });
          if (logins++ === 0) end();
          else open.push(end);
        },
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
      handle: (_request, respond) => {
        later(respond);
        return true;
      },
      feeds: { follow: () => Promise.reject(new Error('nobody follows')) },
      rooms: roomsThat(later),
      gate,
      nestingMax: 100,
      sizeMax: 2 ** 20,
      ids: { idOf: () => '1' },
      figures: { refused: () => {} },
      onDefect: (error) => {
        throw error;
      },
      now: () => 0,
      nodeNumber: () => 1,
      connectionsPerAddressMax: 10,
      isProxy: () => false,
      loginTimeoutMs: 10_000,
      packageTimeoutMs: 10_000,
    });
    const sent: number[] = [];
    const wire: Wire = {
      address: '192.0.2.1',
      transport: 'tcp',
      unsent: 0,
      sent: 0,
      send: (each) => sent.push(each),
      pause: () => {},
      resume: () => {},
      end: () => opened.closed(),
      destroy: () => opened.closed(),
    };
    const opened = listener.take(
      () => wire,
      () => {},
    );
    const take = (each: number, data: Parameters<typeof encodeMessagePack>[0]): void => {
      const bytes = encodeMessagePack(data);
      opened.connection.take({ type: each, id: 1, length: bytes.length }, bytes);
    };
    take(PackageType.AUTH, TOKEN);
    take(type, type === PackageType.AUTH ? TOKEN : ['//stuff', 'lobby', 'x']);
    listener.leave();
    gate.leave();
    const drained = gate.idle(() => listener.isBusy).then(() => listener.end());
    expect(open).toHaveLength(1);
    expect([gate.pending, listener.isBusy]).toEqual([1, true]);
    open[0]?.();
    await within(drained, 'the end of the drain', 5000);
    const answer = type === PackageType.EMIT || type === PackageType.AUTH ? PackageType.OK : PackageType.DATA;
    expect(sent).toEqual([PackageType.OK, PackageType.NODE_STATUS, answer, PackageType.NODE_STATUS]);
    expect(listener.connections).toBe(0);
  },
);
