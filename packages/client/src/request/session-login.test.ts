import { beforeEach, describe, expect, test } from '@jest/globals';
import { ConnectionError } from '../errors/errors.js';
import { Code, queryErrorOf } from '../errors/query-errors.js';
import { ManualClock, settled } from '../testing/manual-clock.js';
import { encodeMessagePack } from '../wire/msgpack.js';
import { wireMap } from '../wire/value.js';
import type { Program } from './attempt.js';
import type { Caller } from './caller.js';
import { Login } from './login.js';
import { SessionLogin } from './session-login.js';

const MINUTE = 60_000;

/** The nodes: what they were asked for sessions, and the next answer. */
class Sessions implements Pick<Caller, 'call'> {
  readonly asked: string[] = [];
  /** Unix milliseconds at which a session would end that is asked for now. */
  endsAt = 30 * MINUTE;
  problem: Error | null = null;

  async call<T>(
    _scope: unknown,
    program: Program,
    _options: unknown,
    read: (body: Uint8Array) => T,
  ): Promise<T> {
    if (program.kind !== 'session') throw new TypeError('only sessions are asked for');
    const { credentials, text } = program;
    this.asked.push(`${text} ${'token' in credentials ? credentials.token : credentials.user}`);
    if (this.problem !== null) throw this.problem;
    const session = wireMap({ token: 'ses_1', user: 'ann', expires_at: BigInt(this.endsAt / 1000) });
    return read(encodeMessagePack(session));
  }
}

let clock: ManualClock;
let sessions: Sessions;
let client: SessionLogin;
const login = new Login(null, null);

beforeEach(async () => {
  clock = new ManualClock();
  sessions = new Sessions();
  client = new SessionLogin({ caller: sessions, login, clock, wallClock: () => clock.now() });
  await client.begin({ user: 'ann', password: 'secret' }, {});
  sessions.asked.length = 0;
});

async function use(): Promise<string[]> {
  client.used();
  client.used();
  await settled();
  return sessions.asked.splice(0);
}

describe('a session that a client holds', () => {
  test('is renewed by its use every five minutes, and never without', async () => {
    expect(login.current()).toEqual({ token: 'ses_1' });
    expect(await use()).toEqual([]);
    await clock.pass(5 * MINUTE - 1);
    expect(await use()).toEqual([]);
    await clock.pass(1);
    sessions.endsAt = clock.now() + 30 * MINUTE;
    expect(await use()).toEqual(['POST ses_1']);
    expect(await use()).toEqual([]);
    await clock.pass(25 * MINUTE);
    expect(sessions.asked).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(await use()).toEqual(['POST ses_1']);
  });

  test('a session that lasts a short time is renewed more often; a wrong clock makes no more than one renewal a second', async () => {
    sessions.endsAt = 12_000;
    await client.begin({ user: 'ann', password: 'secret' }, {});
    await use();
    await clock.pass(3999);
    expect(await use()).toEqual([]);
    await clock.pass(1);
    sessions.endsAt = 1000;
    expect(await use()).toEqual(['POST ses_1']);
    await clock.pass(999);
    expect(await use()).toEqual([]);
    await clock.pass(1);
    expect(await use()).toEqual(['POST ses_1']);
  });

  test('is tried again when no node answers, and left alone when it has ended', async () => {
    await clock.pass(5 * MINUTE);
    sessions.problem = new ConnectionError('no node');
    expect(await use()).toEqual(['POST ses_1']);
    await clock.pass(1000);
    sessions.problem = queryErrorOf({
      code: Code.AUTH,
      message: 'it has ended',
      outcome: 'none',
      at: null,
      procedure: null,
      calls: [],
      detail: null,
      requestId: null,
      node: null,
    });
    expect(await use()).toEqual(['POST ses_1']);
    await clock.pass(1000);
    expect(await use()).toEqual([]);
    await client.close();
    expect(sessions.asked).toEqual([]);
  });

  test('is ended by the end of the client, unless it is to stay; also one that comes late', async () => {
    await client.close();
    expect(sessions.asked).toEqual(['DELETE ses_1']);
    await expect(client.begin({ user: 'ann', password: 'secret' }, {})).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(sessions.asked).toEqual(['DELETE ses_1', 'POST ann', 'DELETE ses_1']);
  });
});
