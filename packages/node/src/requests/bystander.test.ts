/**
 * A search for what makes others wait: crowds of requests of all kinds come to a real router, on a virtual clock that goes on by what each is
 * said to take. Somebody who asks something quick every 20 ms must never wait for longer than one query and a tenth of a second.
 *
 * `ALTHING_TEST_RUNS_FACTOR=100` searches for some minutes.
 */
import { type Engine, ErrorCode, QueryError, type WireValues } from '@althing/engine';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Request } from '../groups/request.js';
import { EventLoop } from '../testing/event-loop.js';
import { MiniCluster } from '../testing/mini-cluster.js';

const RUNS = 12 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);

const LIMIT_MS = 1000;
const WAIT_MAX_MS = 1100;
const ENDLESS = 1e9;
const USERS = 12;
const PROGRAMS = 10;

/** A request of the crowd. */
interface Asked {
  /** Milliseconds until it comes. */
  readonly at: number;
  readonly user: number;
  readonly kind: 'new text' | 'known text' | 'procedure' | 'change' | 'future' | 'task' | 'long text';
  /** Which of the known texts or procedures. */
  readonly program: number;
  /** Milliseconds that it takes. */
  readonly ms: number;
  /** Milliseconds after its end when it comes again. */
  readonly againMs: number;
}

/** A node whose queries take as long as is said for their variables. */
class Node {
  longestMs = 0;
  /** Questions of the one who asks something quick that were answered. */
  answers = 0;
  /** Requests of the crowd that came to an end. */
  ends = 0;
  private readonly loop: EventLoop;
  private readonly cluster: MiniCluster;
  private readonly costs = new WeakMap<object, number>();
  /** What the runs of the tasks take that were made, in that order. */
  private readonly taskCosts: number[] = [];
  private texts = 0;

  static async begin(): Promise<Node> {
    const loop = new EventLoop();
    const turns = { after: loop.after.bind(loop), soon: loop.soon.bind(loop) };
    const cluster = await MiniCluster.begin(1, { loop: turns, waitMs: () => 10_000 });
    loop.clock = cluster;
    const node = new Node(loop, cluster);
    for (let i = 0; i < USERS; i++) {
      await node.value('/t', `new_user('u${i}'); grant('//stuff', 'u${i}', 31);`);
    }
    await node.value('/t', "new_user('other'); grant('//stuff', 'other', 31);");
    for (let i = 0; i < PROGRAMS; i++) {
      await node.value('stuff', `new_procedure('p${i}', |n| n);`);
      await node.value('stuff', `n; ${i};`, new Map([['n', 1]]));
      await node.value('stuff', `n; ${i};`, new Map([['n', 1]]));
    }
    return node;
  }

  private constructor(loop: EventLoop, cluster: MiniCluster) {
    this.loop = loop;
    this.cluster = cluster;
    this.slowDown(cluster.node(1).engine);
  }

  /** Lets the crowd come, and somebody who asks every 20 ms. */
  async meet(crowd: readonly Asked[], forMs: number): Promise<void> {
    const { now } = this.loop;
    for (const asked of crowd) this.comes(asked, now + asked.at);
    for (let at = 0; at < forMs; at += 20) this.asks(now + at);
    await this.pass(forMs + 2 * LIMIT_MS);
  }

  private async pass(ms: number): Promise<void> {
    await this.loop.run(this.loop.now + ms, () => this.cluster.settle());
  }

  private async value(scope: string, code: string, vars?: ReadonlyMap<string, number>): Promise<void> {
    let isDone = false;
    void this.cluster
      .node(1)
      .query(scope, code, vars === undefined ? {} : { vars })
      .then((reply) => {
        if (!reply.ok) throw reply.error;
        isDone = true;
      });
    await this.pass(100);
    expect(isDone).toBe(true);
  }

  private asks(at: number): void {
    this.loop.arrive(at, () => {
      this.handle('other', { type: 'query', code: '1;', vars: null }, () => {
        this.answers += 1;
        this.longestMs = Math.max(this.longestMs, this.loop.now - at);
      });
    });
  }

  private comes(asked: Asked, at: number): void {
    this.loop.arrive(at, () => {
      this.handle(`u${asked.user}`, this.bodyOf(asked), () => {
        this.ends += 1;
        this.comes(asked, this.loop.now + asked.againMs);
      });
    });
  }

  private handle(name: string, body: Request['body'], done: () => void): void {
    const { engine, router } = this.cluster.node(1);
    const user = engine.root.usersByName.get(name);
    if (user === undefined) throw new Error(`there is no user ${name}`);
    const scope = { kind: 'collection', name: 'stuff' } as const;
    router.handle({ scope, user, body, format: 'json', client: { gone: false } }, done);
  }

  private bodyOf({ kind, program, ms }: Asked): Request['body'] {
    const vars: WireValues = { format: 'json', data: Buffer.from('{"n":1}') };
    this.costs.set(vars, ms);
    if (kind === 'procedure') return { type: 'run', name: `p${program}`, args: vars };
    this.texts += 1;
    const code = {
      'new text': `n; "${this.texts}";`,
      'known text': `n; ${program};`,
      change: `.x${program} = n;`,
      future: `future(|| ${program});`,
      task: `task(datetime(), || ${program}); 1;`,
      'long text': `n; /* ${'-'.repeat(20_000)}${this.texts} */`,
    }[kind];
    return { type: 'query', code, vars };
  }

  /** Lets runs take time: the engine is real, but what it runs is done at once. */
  private slowDown(engine: Engine): void {
    const run = engine.run.bind(engine);
    const resume = engine.resume.bind(engine);
    const runTask = engine.runTask.bind(engine);
    engine.run = (call) => {
      const { body, spentMs = 0, sliceMs = Number.POSITIVE_INFINITY } = call;
      const values = body.kind === 'query' ? body.vars : body.kind === 'run' ? body.args : null;
      const costMs = values === null ? 0 : (this.costs.get(values) ?? 0);
      if (body.kind === 'query' && body.prepared.code.startsWith('task')) {
        this.taskCosts.push(costMs);
        return run(call);
      }
      const hasFuture = body.kind === 'query' && body.prepared.code.startsWith('future');
      if (hasFuture) {
        const outcome = run(call);
        if (outcome.kind === 'more') this.costs.set(outcome.rest, costMs);
        return outcome;
      }
      const leftMs = LIMIT_MS - spentMs;
      this.loop.now += Math.min(costMs, leftMs, sliceMs);
      if (sliceMs < Math.min(costMs, leftMs)) return { kind: 'slice_over' };
      return leftMs < costMs ? { kind: 'error', error: TOO_LONG } : run(call);
    };
    engine.runTask = (...args) => {
      this.loop.now += Math.min(this.taskCosts.shift() ?? 0, LIMIT_MS);
      return runTask(...args);
    };
    engine.resume = (rest, options) => {
      const costMs = this.costs.get(rest) ?? 0;
      this.costs.delete(rest);
      this.loop.now += Math.min(costMs, LIMIT_MS);
      return resume(rest, options);
    };
  }
}

const TOO_LONG = new QueryError(ErrorCode.TIMEOUT, 'the query ran longer than its limit');

const asked: fc.Arbitrary<Asked> = fc.record({
  at: fc.nat({ max: 3000 }),
  user: fc.nat({ max: USERS - 1 }),
  kind: fc.constantFrom('new text', 'known text', 'procedure', 'change', 'future', 'task', 'long text'),
  program: fc.nat({ max: PROGRAMS - 1 }),
  ms: fc.constantFrom(0.1, 1, 5, 20, 39, 60, 300, 900, ENDLESS, ENDLESS),
  againMs: fc.constantFrom(1, 50, 100_000),
});

/** Crowds that come at once, and such that come one by one. */
const crowd = fc.oneof(
  fc.array(asked, { minLength: 1, maxLength: 40 }),
  fc
    .tuple(fc.nat({ max: 1000 }), fc.array(asked, { minLength: 2, maxLength: 40 }))
    .map(([at, all]) => all.map((one) => ({ ...one, at }))),
);

test('nobody waits for longer than one query, whatever crowd comes', async () => {
  await fc.assert(
    fc.asyncProperty(crowd, async (all) => {
      const node = await Node.begin();
      await node.meet(all, 6000);
      expect(node.longestMs).toBeLessThan(WAIT_MAX_MS);
      expect(node.answers).toBe(300);
      expect(node.ends).toBeGreaterThan(0);
    }),
    { numRuns: RUNS },
  );
}, 600_000);
