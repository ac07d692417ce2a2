import { ErrorCode, Preparation } from '@althing/engine';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CallKind } from '../calls/calls.js';
import { ORDINARY_TERMS, type Reply } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome, watch } from '../testing/mini-node.js';

let cluster: MiniCluster;
beforeEach(async () => {
  cluster = await MiniCluster.begin(3);
});

/** The answer of a query when nothing stands in its way. */
async function value(node: number, code: string): Promise<unknown> {
  const reply = cluster.node(node).query('stuff', code);
  await cluster.pass(0);
  return outcome(await reply);
}

function counterAt(node: number): unknown {
  const { store } = cluster.node(node).engine.scope(cluster.stuff) ?? { store: null };
  return store?.thingOfId(1).get('x');
}

describe('any node takes any request', () => {
  test('a change is made wherever it is asked for, and read everywhere', async () => {
    expect(await value(2, '.x = 1;')).toBe(1);
    expect(await value(3, '.x += 1;')).toBe(2);
    expect(await value(1, '.x += 1;')).toBe(3);
    for (const node of [1, 2, 3]) expect(await value(node, '.x;')).toBe(3);
  });

  test('a request that depends on a change that takes long to come in is asked of the leader, and all others are not', async () => {
    await value(1, '.x = 1;');
    // Given a node that needs so many slices of work for a change,
    const answers: unknown[] = [];
    const joined: unknown[] = [];
    let isForwarded = false;
    const findRooms = (respond: (reply: Reply) => void): void => {
      const { engine, router } = cluster.node(2);
      const user = engine.root.usersByName.get('admin');
      if (user === undefined) throw new Error('there is no admin');
      const body = { type: 'find_rooms', rooms: [], checksWhitelist: false } as const;
      const scope = { kind: 'collection', name: 'stuff' } as const;
      router.handle({ scope, user, body, format: 'msgpack', client: { gone: false } }, respond);
    };
    const ask = (stale: boolean): void => {
      const node = cluster.node(2);
      const terms = { ...ORDINARY_TERMS, stale };
      void node.query('stuff', '.x;', { terms }).then((reply) => answers.push(outcome(reply)));
    };
    const of = jest.spyOn(Preparation.prototype, 'of').mockImplementation(function* () {
      for (let slice = 0; slice < 200; slice++) {
        yield;
        // when it is asked, once they are many, for what is new, and for what is there,
        if (slice === 20) {
          ask(false);
          ask(true);
          // Rooms are joined on the node of the client alone.
          findRooms((reply) => joined.push(reply.ok, counterAt(2)));
        }
        isForwarded ||= cluster.lastCall(2, 1) !== undefined;
      }
    });
    cluster.node(3).lags = true;
    await value(1, '.x = 2;');
    of.mockRestore();
    // then it asks the leader for that while it works on them.
    expect(isForwarded).toBe(true);
    expect(new Set(answers)).toEqual(new Set([1, 2]));
    expect(joined).toEqual([true, 2]);
    expect(counterAt(2)).toBe(2);
    expect(await value(2, '.x;')).toBe(2);
  });

  test('values that come with a request arrive as they are', async () => {
    const vars = new Map<string, number | string>([
      ['a', 12],
      ['b', 'ü€𝄞'],
    ]);
    const reply = cluster.node(2).query('stuff', '.l = [a, b];', { vars });
    await cluster.settle();
    expect(outcome(await reply)).toEqual([12, 'ü€𝄞']);
  });

  test('errors of the leader are the answer', async () => {
    expect(await value(2, '.x = 1 / 0;')).toBe(ErrorCode.ZERO_DIV);
  });

  test('a procedure that was made a moment ago is known at a node that lags behind', async () => {
    cluster.node(3).lags = true;
    await value(1, "new_procedure('five', || 5);");
    const reply = watch(cluster.node(3).run('stuff', 'five'));
    await cluster.settle();
    expect(reply.reply).toBeNull();
    cluster.node(3).catchUp();
    await cluster.settle();
    expect(reply.reply && outcome(reply.reply)).toBe(5);
  });

  test('a collection and a privilege that are new are asked about before a request is refused', async () => {
    cluster.node(3).lags = true;
    const made = cluster.node(1).query('/t', "new_collection('more');");
    await cluster.settle();
    await made;
    const id = cluster.node(1).engine.root.collectionsByName.get('more')?.id ?? 0;
    cluster.log(id).lead(1);
    const reply = watch(cluster.node(3).query('more', '.y = 3;'));
    await cluster.settle();
    expect(reply.reply).toBeNull();
    cluster.node(3).catchUp();
    await cluster.pass(100);
    expect(reply.reply && outcome(reply.reply)).toBe(3);
  });

  test('a read index that can not be had is not asked for all the time', async () => {
    cluster.log(0).depose();
    await cluster.settle();
    let asked = 0;
    const session = cluster.node(2).session(0);
    const readIndex = session.readIndex.bind(session);
    session.readIndex = (done) => {
      asked += 1;
      readIndex(done);
    };
    const reply = cluster.node(2).query('nowhere', '1;');
    await cluster.pass(1100);
    expect(outcome(await reply)).toBe(ErrorCode.NODE);
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThan(12);
  });

  test('a collection that does not exist is refused, once that is certain', async () => {
    const reply = cluster.node(3).query('nowhere', '1;');
    await cluster.settle();
    expect(outcome(await reply)).toBe(ErrorCode.LOOKUP);
  });

  test('another node is asked about itself', async () => {
    const calls: number[] = [];
    cluster.fate = ({ kind, to }) => {
      if (kind === CallKind.NodeRequest) calls.push(to);
      return 'deliver';
    };
    const reply = cluster.node(1).query('/n3', '1 + 1;');
    await cluster.settle();
    expect(outcome(await reply)).toBe(2);
    expect(calls).toEqual([3, 1]);
    const unknown = cluster.node(1).query('/n9', '1;');
    await cluster.settle();
    expect(outcome(await unknown)).toBe(ErrorCode.LOOKUP);
  });
});

describe('reads', () => {
  test('wait until the node has everything that was acknowledged', async () => {
    await value(1, '.x = 1;');
    cluster.node(2).lags = true;
    await value(1, '.x = 2;');
    const reply = watch(cluster.node(2).query('stuff', '.x;'));
    await cluster.settle();
    expect(reply.reply).toBeNull();
    cluster.node(2).catchUp();
    await cluster.settle();
    expect(reply.reply).toMatchObject({ ok: true, result: '2' });
  });

  test('a stale read does not wait, and says so', async () => {
    await value(1, '.x = 1;');
    cluster.node(2).lags = true;
    await value(1, '.x = 2;');
    const reply = cluster.node(2).query('stuff', '.x;', { terms: { stale: true } });
    await cluster.settle();
    expect(await reply).toMatchObject({ ok: true, result: '1', stale: true });
  });

  test('a stale read waits for the index that it asks for', async () => {
    await value(1, '.x = 1;');
    cluster.node(2).lags = true;
    const written = cluster.node(1).query('stuff', '.x = 2;');
    await cluster.settle();
    const { index = 0 } = await written;
    const terms = { stale: true, minIndex: index };
    const reply = watch(cluster.node(2).query('stuff', '.x;', { terms }));
    await cluster.settle();
    expect(reply.reply).toBeNull();
    cluster.node(2).catchUp();
    await cluster.settle();
    expect(reply.reply).toMatchObject({ ok: true, result: '2', index });
  });

  test('an index that never comes ends in 503', async () => {
    const reply = cluster.node(2).query('stuff', '.x;', { terms: { stale: true, minIndex: 1e9 } });
    await cluster.pass(1100);
    expect(outcome(await reply)).toBe(ErrorCode.NODE);
  });

  test('reads without a leader wait for one, until the deadline', async () => {
    cluster.log(cluster.stuff).depose();
    const inTime = watch(cluster.node(2).query('stuff', '1 + .len();'));
    await cluster.pass(500);
    expect(inTime.reply).toBeNull();
    cluster.log(cluster.stuff).lead(3);
    await cluster.settle();
    expect(inTime.reply).toMatchObject({ ok: true });
    cluster.log(cluster.stuff).depose();
    const late = cluster.node(2).query('stuff', '1 + .len();');
    await cluster.pass(1100);
    expect(outcome(await late)).toBe(ErrorCode.NODE);
  });

  test('a read of changes that are lost is made again', async () => {
    await value(1, '.x = 1;');
    cluster.commits = false;
    const lost = watch(cluster.node(1).query('stuff', '.x = 2;'));
    await cluster.settle();
    const read = watch(cluster.node(1).query('stuff', '.x;'));
    await cluster.settle();
    expect(read.reply).toBeNull();
    cluster.log(cluster.stuff).depose();
    await cluster.pass(1100);
    expect(lost.reply && outcome(lost.reply)).toBe(ErrorCode.TIMEOUT);
    const again = watch(cluster.node(1).query('stuff', '.x;'));
    cluster.log(cluster.stuff).lead(2, 0);
    await cluster.settle();
    expect(again.reply).toMatchObject({ ok: true, result: '1' });
  });

  test('a change that turns out to change nothing is answered by who leads for certain', async () => {
    await value(1, '.x = 1;');
    const code = 'if (.x == 9) .x = 0; .x;';
    expect(await value(1, code)).toBe(1);
    expect(await value(2, code)).toBe(1);
    // Node 1 still believes that it leads, while node 2 made a change.
    cluster.node(1).lags = true;
    cluster.log(cluster.stuff).lead(2);
    await cluster.settle();
    expect(await value(2, '.x = 5;')).toBe(5);
    const reply = watch(cluster.node(1).query('stuff', code));
    await cluster.settle();
    expect(reply.reply).toBeNull();
    cluster.node(1).catchUp();
    await cluster.settle();
    expect(reply.reply).toMatchObject({ ok: true, result: '5' });
  });
});

describe('a change takes effect once', () => {
  beforeEach(async () => {
    await value(1, '.x = 0;');
  });

  test('a change takes effect once when the answer gets lost on its way back', async () => {
    let losses = 2;
    cluster.fate = ({ what }) => (what === 'return' && losses-- > 0 ? 'lose' : 'deliver');
    const reply = cluster.node(2).query('stuff', '.x += 1;');
    await cluster.pass(300);
    expect(outcome(await reply)).toBe(1);
    expect(await value(3, '.x;')).toBe(1);
  });

  test('a change takes effect once when it gets lost on its way there', async () => {
    let losses = 2;
    cluster.fate = ({ what }) => (what === 'call' && losses-- > 0 ? 'lose' : 'deliver');
    const reply = cluster.node(2).query('stuff', '.x += 1;');
    await cluster.pass(300);
    expect(outcome(await reply)).toBe(1);
    expect(await value(3, '.x;')).toBe(1);
  });

  test.each([
    ['survives', 1],
    ['is lost', 0],
  ])(
    'a change takes effect once when the leadership moves before it is committed, and it %s',
    async (_, kept) => {
      cluster.commits = false;
      const replies = [1, 2, 3].map((node) => watch(cluster.node(node).query('stuff', '.x += 1;')));
      await cluster.settle();
      expect(cluster.log(cluster.stuff).uncommitted).toBe(3);
      cluster.log(cluster.stuff).lead(2, kept * 3);
      cluster.commits = true;
      await cluster.pass(400);
      expect(replies.map(({ reply }) => reply && outcome(reply)).sort()).toEqual([1, 2, 3]);
      expect(await value(3, '.x;')).toBe(3);
      for (const node of [1, 2, 3]) expect(counterAt(node)).toBe(3);
    },
  );

  test('changes take effect once when only the first of several survive', async () => {
    cluster.commits = false;
    const replies = [1, 2, 3, 1, 2].map((node) => watch(cluster.node(node).query('stuff', '.x += 1;')));
    await cluster.settle();
    cluster.log(cluster.stuff).lead(3, 2);
    cluster.commits = true;
    await cluster.pass(400);
    expect(replies.map(({ reply }) => reply && outcome(reply)).sort()).toEqual([1, 2, 3, 4, 5]);
    expect(await value(1, '.x;')).toBe(5);
  });

  test('a change takes effect once when the leadership goes away and comes back', async () => {
    cluster.commits = false;
    const reply = watch(cluster.node(1).query('stuff', '.x += 1;'));
    await cluster.settle();
    cluster.log(cluster.stuff).lead(2);
    cluster.log(cluster.stuff).lead(1);
    cluster.commits = true;
    await cluster.pass(400);
    expect(reply.reply && outcome(reply.reply)).toBe(1);
    expect(await value(2, '.x;')).toBe(1);
  });

  test('a change takes effect once when an old copy of it arrives after it was answered', async () => {
    let copies = 0;
    cluster.fate = ({ what, from }) => {
      if (what === 'call' && from === 2 && copies++ === 0) return 'hold';
      return 'deliver';
    };
    // The first copy hangs somewhere; the request is sent again, since the roles changed meanwhile.
    const reply = watch(cluster.node(2).query('stuff', '.x += 1;'));
    await cluster.settle();
    expect(cluster.held).toBe(1);
    await cluster.pass(1100);
    expect(reply.reply && outcome(reply.reply)).toBe(ErrorCode.TIMEOUT);
    expect(await value(2, '.x += 10;')).toBe(10);
    cluster.release();
    await cluster.settle();
    expect(await value(3, '.x;')).toBe(10);
  });

  test('a change takes effect once when it comes again after its time is over, and the first copy may yet be committed', async () => {
    cluster.commits = false;
    const reply = watch(cluster.node(2).query('stuff', '.x += 1;'));
    await cluster.pass(1500);
    expect(reply.reply && outcome(reply.reply)).toBe(ErrorCode.TIMEOUT);
    cluster.repeatCall(2, 1);
    await cluster.settle();
    expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
    cluster.commits = true;
    await cluster.pass(500);
    expect(await value(3, '.x;')).toBe(1);
  });

  test('values that a lost attempt changed are fresh in the next', async () => {
    cluster.commits = false;
    const vars = new Map<string, number>([['n', 1]]);
    const reply = watch(cluster.node(1).query('stuff', 'n += 1; .x = n;', { vars }));
    await cluster.settle();
    cluster.log(cluster.stuff).lead(2, 0);
    cluster.commits = true;
    await cluster.pass(400);
    expect(reply.reply && outcome(reply.reply)).toBe(2);
  });
});

describe('the answer to a change that goes along with it', () => {
  let returns: number[];
  beforeEach(() => {
    returns = [];
    cluster.fate = ({ what, to }) => {
      if (what === 'return') returns.push(to);
      return 'deliver';
    };
  });

  test('is given once, with the index of the entry', async () => {
    cluster.commits = false;
    const replies = ['.x = 1;', '.x += 1;', '.x;'].map((code) => watch(cluster.node(2).query('stuff', code)));
    const failing = watch(cluster.node(3).query('stuff', '.x = 5; raise("no");'));
    await cluster.settle();
    expect(returns).toEqual([]);
    cluster.commits = true;
    await cluster.settle();
    const before = cluster.node(1).session(cluster.stuff).appliedIndex - 2;
    expect(replies[0]?.reply).toMatchObject({ ok: true, result: '1', index: before + 1, outcome: 'made' });
    expect(replies[1]?.reply).toMatchObject({ ok: true, result: '2', index: before + 2, outcome: 'made' });
    expect(failing.reply).toMatchObject({ ok: false });
    expect(returns.sort()).toEqual([2, 2, 3]);
    expect(cluster.node(1).router.busy).toBe(0);
  });

  test('leaves while the engine side of the leader has no turn', async () => {
    const reply = watch(cluster.node(2).query('stuff', '.x = 7;'));
    let seen: unknown;
    cluster.fate = ({ what }) => {
      if (what === 'return') seen = cluster.node(1).session(cluster.stuff).hasUncommitted;
      return 'deliver';
    };
    await cluster.settle();
    expect(seen).toBe(true);
    expect(reply.reply && outcome(reply.reply)).toBe(7);
  });

  test('is also that of a copy which came meanwhile', async () => {
    cluster.commits = false;
    const reply = watch(cluster.node(2).query('stuff', '.x = 1;'));
    await cluster.settle();
    cluster.repeatCall(2, 1);
    await cluster.settle();
    cluster.commits = true;
    await cluster.settle();
    expect(reply.reply && outcome(reply.reply)).toBe(1);
    expect(returns).toEqual([2, 2]);
  });

  test('is not given for a change that is lost', async () => {
    cluster.commits = false;
    const reply = watch(cluster.node(2).query('stuff', '.x = 1;'));
    await cluster.settle();
    cluster.log(cluster.stuff).lead(3, 0);
    cluster.commits = true;
    await cluster.pass(400);
    expect(reply.reply).toMatchObject({ ok: true, result: '1' });
    expect(reply.reply?.index).toBe(cluster.node(3).session(cluster.stuff).appliedIndex);
    expect(counterAt(1)).toBe(1);
  });

  test.each([
    ['is large', `.x = "${'a'.repeat(5000)}";`, 'stuff'],
    ['is of the root scope', "new_collection('other');", '/t'],
  ])('is given by the engine side where it %s', async (_, code, scope) => {
    const reply = watch(cluster.node(2).query(scope, code));
    let seen: unknown;
    cluster.fate = ({ what }) => {
      const group = scope === '/t' ? 0 : cluster.stuff;
      if (what === 'return') seen = cluster.node(1).session(group).hasUncommitted;
      return 'deliver';
    };
    await cluster.settle();
    expect(seen).toBe(false);
    expect(reply.reply).toMatchObject({ ok: true });
  });
});

describe('changes without a majority', () => {
  test('a change that was not proposed is refused with 503', async () => {
    cluster.log(cluster.stuff).depose();
    const reply = cluster.node(2).query('stuff', '.x = 1;');
    await cluster.pass(1100);
    expect(outcome(await reply)).toBe(ErrorCode.NODE);
  });

  test('a change that may be committed later is answered with 504', async () => {
    cluster.commits = false;
    const local = watch(cluster.node(1).query('stuff', '.x = 1;'));
    const forwarded = watch(cluster.node(2).query('stuff', '.x = 1;'));
    await cluster.pass(1100);
    for (const { reply } of [local, forwarded]) expect(reply && outcome(reply)).toBe(ErrorCode.TIMEOUT);
  });

  test('a node that is known to be down is not asked', async () => {
    cluster.node(2).router.peerChanged(1, false);
    const reply = cluster.node(2).query('stuff', '.x = 1;');
    await cluster.pass(1100);
    expect(outcome(await reply)).toBe(ErrorCode.NODE);
  });

  test('a client that is gone costs nothing more', async () => {
    cluster.log(cluster.stuff).depose();
    const client = { gone: false };
    const reply = watch(cluster.node(2).query('stuff', '.x = 1;', { client }));
    await cluster.settle();
    client.gone = true;
    await cluster.pass(400);
    expect(reply.reply).not.toBeNull();
    expect(cluster.node(2).router.busy).toBe(0);
  });
});

describe('Idempotency-Key', () => {
  const body = '\x02'.repeat(16);
  const terms = { key: { key: 'k1', body } };

  beforeEach(async () => {
    await value(1, '.x = 0;');
  });

  test('a repetition at any node gets the first answer', async () => {
    for (const node of [1, 2, 3, 1]) {
      const reply = cluster.node(node).query('stuff', '.x += 1;', { terms });
      await cluster.settle();
      expect(outcome(await reply)).toBe(1);
    }
    expect(await value(1, '.x;')).toBe(1);
  });

  test('repetitions at once wait for the first', async () => {
    cluster.commits = false;
    const replies = [1, 2, 3, 1].map((node) =>
      watch(cluster.node(node).query('stuff', '.x += 1;', { terms })),
    );
    await cluster.settle();
    expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
    cluster.commits = true;
    await cluster.settle();
    expect(replies.map(({ reply }) => reply && outcome(reply))).toEqual([1, 1, 1, 1]);
  });

  test('another body is a conflict, whether the first is done or not', async () => {
    const other = { key: { key: 'k1', body: '\x01'.repeat(16) } };
    cluster.commits = false;
    const first = cluster.node(1).query('stuff', '.x += 1;', { terms });
    const early = cluster.node(1).query('stuff', '.x += 2;', { terms: other });
    cluster.commits = true;
    await cluster.settle();
    await first;
    const late = cluster.node(2).query('stuff', '.x += 2;', { terms: other });
    await cluster.settle();
    expect(await early).toMatchObject({ ok: false, conflict: true });
    expect(await late).toMatchObject({ ok: false, conflict: true });
    expect(await value(1, '.x;')).toBe(1);
  });

  test('holds on a node that is alone', async () => {
    const alone = await MiniCluster.begin(1);
    const send = async (): Promise<unknown> => {
      const reply = alone.node(1).query('stuff', '.x = .get("x", 0) + 1;', { terms });
      await alone.settle();
      return outcome(await reply);
    };
    expect(await send()).toBe(1);
    expect(await send()).toBe(1);
  });
});

describe('Althing-Request', () => {
  const termsOf = (sequence: number, low: number, client = 'c') => ({
    name: { client, sequence, low, body: '\x02'.repeat(16) },
  });
  const send = async (node: number, sequence: number, low: number, code = '.x += 1;'): Promise<Reply> => {
    const reply = cluster.node(node).query('stuff', code, { terms: termsOf(sequence, low) });
    await cluster.settle();
    return reply;
  };

  beforeEach(async () => {
    await value(1, '.x = 0;');
  });

  test('a repetition at any node gets the first answer, however many requests come between', async () => {
    expect(outcome(await send(2, 1, 1))).toBe(1);
    for (let sequence = 2; sequence < 40; sequence++) await send((sequence % 3) + 1, sequence, 1);
    for (const node of [1, 2, 3]) expect(outcome(await send(node, 1, 1))).toBe(1);
    expect(await value(1, '.x;')).toBe(39);
  });

  test('a number below LOW is refused and not carried out, and told to be undecided', async () => {
    await send(2, 1, 1);
    await send(2, 2, 2);
    expect(await send(3, 1, 1)).toMatchObject({ ok: false, outcome: 'unknown' });
    expect(await value(1, '.x;')).toBe(2);
  });

  test('repetitions at once wait for the first', async () => {
    cluster.commits = false;
    const replies = [1, 2, 3, 1].map((node) =>
      watch(cluster.node(node).query('stuff', '.x += 1;', { terms: termsOf(1, 1) })),
    );
    await cluster.settle();
    expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
    cluster.commits = true;
    await cluster.settle();
    expect(replies.map(({ reply }) => reply && outcome(reply))).toEqual([1, 1, 1, 1]);
  });

  test('another body under the same number is a conflict', async () => {
    await send(2, 1, 1);
    const terms = { name: { ...termsOf(1, 1).name, body: '\x01'.repeat(16) } };
    const reply = cluster.node(3).query('stuff', '.x += 5;', { terms });
    await cluster.settle();
    expect(await reply).toMatchObject({ ok: false, conflict: true });
    expect(await value(1, '.x;')).toBe(1);
  });

  test('a read may have a name, and so may what changes nothing: both are carried out each time', async () => {
    expect(outcome(await send(2, 1, 1, '.x;'))).toBe(0);
    expect(outcome(await send(2, 2, 1, 'if (.x > 5) .x = 1; .x;'))).toBe(0);
    await value(1, '.x = 3;');
    expect(outcome(await send(3, 1, 1, '.x;'))).toBe(3);
    expect(outcome(await send(3, 2, 1, 'if (.x > 5) .x = 1; .x;'))).toBe(3);
  });

  test('an answer with a secret is not kept; its repetition tells the way out', async () => {
    const ask = async (node: number): Promise<Reply> => {
      const reply = cluster.node(node).query('/t', "new_token('admin');", { terms: termsOf(1, 1) });
      await cluster.settle();
      return reply;
    };
    const first = await ask(2);
    const key = String(outcome(first));
    expect(key).toHaveLength(22);
    const again = await ask(3);
    expect(again).toMatchObject({ ok: false, outcome: 'made' });
    const short = `${key.slice(0, 6)}...`;
    expect(again.ok || again.error.message).toContain(`del_token('${short}')`);
    expect(again.ok || again.error.message).not.toContain(key);
    expect(cluster.node(1).engine.root.usersByName.get('admin')?.tokens).toHaveLength(1);
  });

  test('the body of a request with a password leaves no quick hash', async () => {
    const ask = async (body: string): Promise<Reply> => {
      const terms = { name: { client: 'c', sequence: 1, low: 1, body } };
      const reply = cluster.node(2).query('/t', "set_password('admin', 'secret');", { terms });
      await cluster.settle();
      return reply;
    };
    expect((await ask('\x07'.repeat(16))).ok).toBe(true);
    const written: Buffer[] = [];
    const put = (_kind: number, _id: number, _part: number, record: Uint8Array): void => {
      written.push(Buffer.from(record));
    };
    cluster
      .node(1)
      .session(0)
      .table.writeAll({ put, delete: () => {} });
    expect(written.filter((record) => record.includes(Buffer.alloc(16, 7)))).toEqual([]);
    expect((await ask('\x07'.repeat(16))).ok).toBe(true);
  });

  test('holds on a node that is alone', async () => {
    const alone = await MiniCluster.begin(1);
    for (let times = 0; times < 2; times++) {
      const reply = alone.node(1).query('stuff', '.x = .get("x", 0) + 1;', { terms: termsOf(1, 1) });
      await alone.settle();
      expect(outcome(await reply)).toBe(1);
    }
  });
});

describe('the same results are known everywhere', () => {
  test('records that the leader keeps follow from the log', async () => {
    for (let i = 0; i < 20; i++) await value((i % 3) + 1, `.x = ${i};`);
    const records = [1, 2, 3].map((node) => {
      const written: string[] = [];
      cluster
        .node(node)
        .session(cluster.stuff)
        .table.writeAll({
          put: (kind, id, part, bytes) => {
            written.push(`${kind} ${id} ${part} ${Buffer.from(bytes).toString('hex')}`);
          },
          delete: () => {},
        });
      return written;
    });
    expect(records[0]?.length).toBeGreaterThan(1);
    expect(records[1]).toEqual(records[0]);
    expect(records[2]).toEqual(records[0]);
  });
});
