/**
 * The logic of calls under a clock of its own, against a cluster that is played: nodes that lose requests and answers, are late, refuse, and
 * die; which take what has a name once. Each run is decided by its seed.
 */
import { describe, expect, test } from '@jest/globals';
import { AlthingError } from '../errors/errors.js';
import { collectionScope, nodeScope } from '../scope.js';
import { ManualClock } from '../testing/manual-clock.js';
import type { Attempt, AttemptEnd, Reply, Sent, Transport } from './attempt.js';
import { Caller } from './caller.js';
import { Login } from './login.js';
import { type NodeAddress, NodeList } from './node-list.js';

const RUNS = 40;
const CALLS = 40;

/** Numbers that the seed decides (mulberry32, by Tommy Ettinger). */
function drawOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Nodes that share one state: how often each request was carried out, by its number in the body. */
class PlayedCluster implements Transport {
  readonly carriedOut = new Map<number, number>();
  readonly problems: string[] = [];
  /** By client: which numbers were carried out, and the LOW that was seen. */
  readonly #known = new Map<string, { low: number; readonly made: Set<number> }>();
  readonly #clock: ManualClock;
  readonly #draw: () => number;
  readonly #badness: number;

  constructor(clock: ManualClock, draw: () => number, badness: number) {
    this.#clock = clock;
    this.#draw = draw;
    this.#badness = badness;
  }

  bodyOf(_scope: unknown, { text }: { readonly text: string }): Uint8Array {
    return Uint8Array.of(Number(text));
  }

  send(attempt: Attempt): Sent {
    let settle: (end: AttemptEnd) => void = () => {};
    const end = new Promise<AttemptEnd>((resolve) => {
      settle = resolve;
    });
    const lost = (): void => settle({ kind: 'lost', error: new Error('lost'), wasReused: false });
    const timer = this.#clock.after(attempt.timeoutMs, lost);
    const done = (how: AttemptEnd): void => {
      timer();
      settle(how);
    };
    if (this.#is('unreachable'))
      this.#clock.after(this.#ms(20), () => done({ kind: 'unsent', error: new Error('refused') }));
    else this.#travel(attempt, done);
    return { end, cancel: lost };
  }

  close(): void {}

  /** To the node, and back: each way may take long, and lose what travels. */
  #travel(attempt: Attempt, done: (end: AttemptEnd) => void): void {
    const cut = (): void => done({ kind: 'lost', error: new Error('reset'), wasReused: this.#is('reused') });
    if (this.#is('lost on the way there')) {
      if (this.#is('noticed')) this.#clock.after(this.#ms(50), cut);
      return;
    }
    this.#clock.after(this.#ms(this.#is('late') ? 20_000 : 30), () => {
      const reply = this.#answer(attempt);
      if (this.#is('lost on the way back')) {
        if (this.#is('noticed')) cut();
        return;
      }
      this.#clock.after(this.#ms(30), () => done({ kind: 'answered', reply }));
    });
  }

  #answer({ request, body }: Attempt): Reply {
    const [number = 0] = body;
    if (this.#is('busy')) return replyOf(503, 'none');
    const [client = '', sequence, low] = (request ?? '').split('.');
    if (request === null) return this.#make(number);
    const known = this.#known.get(client) ?? { low: 0, made: new Set() };
    this.#known.set(client, known);
    if (Number(sequence) < Number(low)) this.problems.push(`${request} has a LOW above its SEQUENCE`);
    if (Number(sequence) < known.low) return replyOf(504, 'unknown');
    known.low = Math.max(known.low, Number(low));
    if (known.made.has(Number(sequence))) return replyOf(200, null);
    if (this.#is('an election')) return replyOf(504, 'unknown');
    known.made.add(Number(sequence));
    return this.#make(number);
  }

  #make(number: number): Reply {
    this.carriedOut.set(number, (this.carriedOut.get(number) ?? 0) + 1);
    return replyOf(200, null);
  }

  #is(_what: string): boolean {
    return this.#draw() < this.#badness;
  }

  #ms(max: number): number {
    return this.#draw() * max;
  }
}

function replyOf(status: number, outcome: 'none' | 'unknown' | null): Reply {
  const failure =
    outcome === null
      ? null
      : { code: -51, message: 'not now', outcome, at: null, procedure: null, calls: [], detail: null };
  const retryAfterMs = status === 503 ? 1000 : null;
  return {
    status,
    body: new Uint8Array(),
    failure,
    index: 0,
    retryAfterMs,
    closes: false,
    node: null,
    requestId: null,
  };
}

interface Played {
  readonly cluster: PlayedCluster;
  readonly outcomes: readonly string[];
  readonly pending: number;
}

async function play(seed: number, badness: number, scope = collectionScope('stuff')): Promise<Played> {
  const draw = drawOf(seed);
  const clock = new ManualClock();
  const cluster = new PlayedCluster(clock, draw, badness);
  const places = ['a', 'b', 'c'].map(
    (name): NodeAddress => ({ url: new URL(`http://${name}`), address: null }),
  );
  let clients = 0;
  const caller = new Caller({
    surroundings: { clock, random: draw, newClientName: () => `c${++clients}` },
    nodes: new NodeList(places, draw),
    refreshNodes: () => null,
    transport: cluster,
    login: new Login(null, null),
    hooks: {},
    requestsMax: 8,
    waitingMax: 1000,
  });
  const outcomes: string[] = new Array(CALLS).fill('open');
  for (let i = 0; i < CALLS; i++) {
    const controller = new AbortController();
    if (draw() < 0.1) clock.after(draw() * 200, () => controller.abort());
    caller
      .call(
        scope,
        { kind: 'query', text: String(i), values: null },
        { signal: controller.signal },
        () => null,
      )
      .then(
        () => {
          outcomes[i] = 'ok';
        },
        (error: unknown) => {
          outcomes[i] = error instanceof AlthingError ? error.outcome : String(error);
        },
      );
    await clock.pass(draw() * 20);
  }
  await clock.pass(31_000);
  const played = { cluster, outcomes: [...outcomes], pending: 0 };
  // Everything that is still on its way comes now: also an attempt that was given up long ago.
  await clock.pass(120_000);
  return { ...played, pending: clock.pending };
}

describe('calls to a cluster that is played', () => {
  const first = Number(process.env.ALTHING_TEST_SEED);

  test.each([0.02, 0.15, 0.4])(
    'take effect once, and say what became of them, where %d of all goes wrong',
    async (badness) => {
      const seen = new Set<string>();
      for (let run = 0; run < RUNS; run++) {
        const seed = (first + run) | 0;
        const { cluster, outcomes, pending } = await play(seed, badness);
        const wrong = outcomes.flatMap((outcome, number) => {
          const times = cluster.carriedOut.get(number) ?? 0;
          const isTrue =
            outcome === 'ok'
              ? times === 1
              : outcome === 'unknown'
                ? times <= 1
                : outcome === 'none' || outcome === 'not_sent'
                  ? times === 0
                  : false;
          seen.add(outcome);
          return isTrue
            ? []
            : [`seed ${seed}: call ${number} ended as ${outcome}, and was carried out ${times} times`];
        });
        expect([...wrong, ...cluster.problems]).toEqual([]);
        expect({ seed, pending }).toEqual({ seed, pending: 0 });
      }
      expect(seen).toContain('ok');
    },
  );

  test('calls without names are not sent again where they may have been carried out', async () => {
    for (let run = 0; run < RUNS; run++) {
      const { cluster } = await play((first + run) | 0, 0.3, nodeScope());
      expect([...cluster.carriedOut.values()].filter((times) => times > 1)).toEqual([]);
    }
  });
});
