import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { FrameKind } from './frame.js';
import {
  DialerGreeting,
  type GreetingContext,
  type GreetingFrame,
  type GreetingStep,
  type Judge,
  keyOf,
  ListenerGreeting,
} from './greeting.js';
import {
  decodeChallenge,
  decodeIdentity,
  decodeOpen,
  decodeRefusedBody,
  encodeChallenge,
  encodeIdentity,
  encodeOpen,
  encodeRefusedBody,
  GreetingFormatError,
  MAC_BYTES,
  type PeerIdentity,
  Purpose,
  Refusal,
} from './greeting-format.js';

const key = keyOf('a secret of the cluster');
const otherKey = keyOf('another secret of a cluster');

function identityOf(nodeId: number): PeerIdentity {
  const clusterId = Buffer.alloc(16, nodeId);
  return {
    nodeId,
    incarnation: 2 ** 53 - 1,
    clusterId,
    name: `n${nodeId}`,
    host: '::1',
    port: 9220,
    version: '1.0',
  };
}

function contextOf(nodeId: number, changes: Partial<GreetingContext> = {}): GreetingContext {
  const identity = identityOf(nodeId);
  return {
    key,
    versions: { min: 1, max: 1 },
    identity,
    binding: Buffer.alloc(0),
    nonce: randomBytes(32),
    ...changes,
  };
}

interface Sides {
  readonly dialer: GreetingStep | null;
  readonly listener: GreetingStep | null;
}

/** Lets a dialer and a listener talk; `meddle` may change what goes over. */
function greet(
  dialerContext: GreetingContext,
  listenerContext: GreetingContext,
  judge: Judge = () => null,
  meddle: (frame: GreetingFrame) => GreetingFrame = (frame) => frame,
): Sides {
  const dialer = new DialerGreeting(dialerContext, Purpose.Link);
  const listener = new ListenerGreeting(listenerContext, judge, false);
  let last: { dialer: GreetingStep | null; listener: GreetingStep | null } = { dialer: null, listener: null };
  let frame: GreetingFrame | null = dialer.start();
  for (let toListener = true; frame !== null; toListener = !toListener) {
    const { kind, payload } = meddle(frame);
    const step: GreetingStep = (toListener ? listener : dialer).handle(kind, payload);
    last = toListener ? { ...last, listener: step } : { ...last, dialer: step };
    frame = step.frame;
  }
  return last;
}

function refusalOf(step: GreetingStep | null): number | null {
  return step?.kind === 'refused' ? step.refused.code : null;
}

describe('two nodes with the same secret', () => {
  test('know each other then', () => {
    const { dialer, listener } = greet(contextOf(1), contextOf(2));
    expect(dialer).toMatchObject({ kind: 'done', greeted: { identity: identityOf(2), version: 1 } });
    expect(listener).toMatchObject({
      kind: 'done',
      greeted: { identity: identityOf(1), purpose: Purpose.Link },
    });
  });

  test('speak the newest version that both know', () => {
    const versions = (min: number, max: number): Partial<GreetingContext> => ({ versions: { min, max } });
    const { dialer } = greet(contextOf(1, versions(1, 5)), contextOf(2, versions(3, 9)));
    expect(dialer).toMatchObject({ kind: 'done', greeted: { version: 5 } });
    const refused = greet(contextOf(1, versions(1, 2)), contextOf(2, versions(3, 9)));
    expect(refused.dialer).toMatchObject({
      kind: 'refused',
      refused: { code: Refusal.Version, versions: { min: 3, max: 9 } },
    });
    expect(refused.listener).toMatchObject({
      refused: { code: Refusal.Version, versions: { min: 1, max: 2 } },
    });
  });

  test('understand each other though a later version says more', () => {
    const more = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.from('what is new')]);
    const nonce = Buffer.alloc(32, 7);
    expect(decodeIdentity(more(encodeIdentity(identityOf(1))))).toEqual(identityOf(1));
    expect(decodeOpen(more(encodeOpen({ min: 1, max: 2, nonce })))).toEqual({ min: 1, max: 2, nonce });
    expect(decodeChallenge(more(encodeChallenge({ version: 2, nonce })))).toEqual({ version: 2, nonce });
  });

  test('a refusal with its reason is believed, and tells who refuses', () => {
    const { dialer, listener } = greet(contextOf(1), contextOf(2), () => Refusal.Removed);
    expect(dialer).toMatchObject({
      kind: 'refused',
      refused: { code: Refusal.Removed, identity: identityOf(2) },
    });
    expect(listener).toMatchObject({ refused: { identity: identityOf(1) } });
  });
});

describe('two that do not share a secret', () => {
  test('learn nothing of each other', () => {
    const judged: unknown[] = [];
    const judge: Judge = (prove) => {
      judged.push(prove);
      return null;
    };
    const { dialer, listener } = greet(contextOf(1), contextOf(2, { key: otherKey }), judge);
    expect([refusalOf(dialer), refusalOf(listener)]).toEqual([Refusal.WrongSecret, Refusal.WrongSecret]);
    expect(judged).toEqual([]);
    expect(dialer).toMatchObject({ refused: { identity: null } });
  });

  test('a listener that only claims to know the secret is found out', () => {
    const liar = new ListenerGreeting(contextOf(2, { key: otherKey }), () => null, false);
    const dialer = new DialerGreeting(contextOf(1), Purpose.Link);
    const challenge = liar.handle(FrameKind.Open, dialer.start().payload);
    dialer.handle(FrameKind.Challenge, challenge.frame!.payload);
    const forged = Buffer.concat([randomBytes(MAC_BYTES), encodeIdentity(identityOf(2))]);
    expect(refusalOf(dialer.handle(FrameKind.Welcome, forged))).toBe(Refusal.WrongSecret);
  });

  test('a forged refusal makes nobody believe that it was removed', () => {
    const dialer = new DialerGreeting(contextOf(1), Purpose.Link);
    const body = encodeRefusedBody({
      code: Refusal.Removed,
      versions: { min: 1, max: 1 },
      identity: identityOf(2),
    });
    const step = dialer.handle(FrameKind.Refused, Buffer.concat([Buffer.alloc(MAC_BYTES), body]));
    expect(step).toMatchObject({ kind: 'refused', refused: { identity: null } });
  });
});

describe('an attacker between two nodes', () => {
  test('can change no bit without being found out', () => {
    for (let at = 0; at < 400; at++) {
      let length = 0;
      const flip = (frame: GreetingFrame): GreetingFrame => {
        const from = length;
        length += frame.payload.length;
        if (at < from || at >= length) return frame;
        const payload = Buffer.from(frame.payload);
        payload[at - from] = payload[at - from]! ^ 1;
        return { ...frame, payload };
      };
      let dialer: GreetingStep | null = null;
      try {
        dialer = greet(contextOf(1), contextOf(2), () => null, flip).dialer;
      } catch (error) {
        expect(error).toBeInstanceOf(GreetingFormatError);
      }
      if (at < length) expect({ at, kind: dialer?.kind }).not.toEqual({ at, kind: 'done' });
    }
  });

  test('can not pass the messages of one TLS connection on to another', () => {
    const { dialer, listener } = greet(
      contextOf(1, { binding: randomBytes(32) }),
      contextOf(2, { binding: randomBytes(32) }),
    );
    expect([refusalOf(dialer), refusalOf(listener)]).toEqual([Refusal.WrongSecret, Refusal.WrongSecret]);
  });

  test("can not use a node's own proof against it", () => {
    const listener = new ListenerGreeting(contextOf(2), () => null, false);
    const dialer = new DialerGreeting(contextOf(1), Purpose.Link);
    const challenge = listener.handle(FrameKind.Open, dialer.start().payload);
    const prove = dialer.handle(FrameKind.Challenge, challenge.frame!.payload);
    expect(refusalOf(dialer.handle(FrameKind.Welcome, prove.frame!.payload))).toBe(Refusal.WrongSecret);
  });
});

describe('messages', () => {
  test('come out as they went in', () => {
    const identities = [
      identityOf(1),
      { ...identityOf(2 ** 47), clusterId: null, name: 'ß'.repeat(100), port: 0 },
    ];
    for (const identity of identities) expect(decodeIdentity(encodeIdentity(identity))).toEqual(identity);
    const refused = { code: 200, versions: { min: 1, max: 65535 }, identity: identityOf(3) };
    expect(decodeRefusedBody(encodeRefusedBody(refused))).toEqual(refused);
    expect(decodeRefusedBody(encodeRefusedBody({ ...refused, identity: null }))).toEqual({
      ...refused,
      identity: null,
    });
  });

  test('messages that are cut off are refused', () => {
    const bytes = encodeIdentity(identityOf(1));
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeIdentity(bytes.subarray(0, length))).toThrow(GreetingFormatError);
    }
  });
});
