import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, RealCluster, type RealNode, until } from '../testing/index.js';

const SETTINGS = { request_timeout_ms: 3000, election_timeout_ms: 300, heartbeat_ms: 30, drain_delay_ms: 0 };

let cluster: RealCluster;
beforeAll(async () => {
  cluster = await RealCluster.start(3, SETTINGS);
  await cluster.node(1).value('//stuff', '.list = [];');
});
afterAll(() => cluster?.discard());

/** Appends to a list, one element after another, through one node, until it is told to stop. */
function append(place: number, name: string): { stop(): Promise<AppendReport> } {
  let stopped = false;
  const report: AppendReport = { acknowledged: [], unclear: [], failed: [] };
  const work = (async () => {
    for (let i = 0; !stopped; i++) {
      const element = `${name}-${i}`;
      const answer = await cluster
        .node(place)
        .query('//stuff', '.list.push(e); nil;', { e: element })
        .catch((error: unknown) => String(error));
      if (typeof answer === 'string' || answer.status === 504) report.unclear.push(element);
      else if (answer.status === 200) report.acknowledged.push(element);
      else report.failed.push(`${element}: ${answer.text}`);
      if (typeof answer === 'string') break;
    }
    return report;
  })();
  return {
    stop: () => {
      stopped = true;
      return work;
    },
  };
}

interface AppendReport {
  readonly acknowledged: string[];
  readonly unclear: string[];
  readonly failed: string[];
}

/**
 * A token of a user. A leader that is lost between a token and its answer leaves an answer without the secret:
 * then another token is made.
 */
async function newToken(maker: RealNode, user: string): Promise<string> {
  for (;;) {
    const answer = await maker.query('/t', `new_token('${user}');`);
    if (answer.status === 200) return answer.json as string;
    expect(answer.text).toMatch(/its answer holds a secret and is not kept/);
  }
}

async function list(place: number): Promise<string[]> {
  return (await cluster.node(place).value('//stuff', '.list;')) as string[];
}

describe('three nodes', () => {
  test('a change is seen at every node as soon as it is acknowledged', async () => {
    for (let i = 1; i <= 30; i++) {
      await cluster.node((i % 3) + 1).value('//stuff', '.n = v;', { v: i });
      for (const node of cluster.nodes) expect(await node.value('//stuff', '.n;')).toBe(i);
    }
  });

  test('users, tokens and collections of one node are known at the others at once', async () => {
    for (let i = 0; i < 5; i++) {
      const maker = cluster.node((i % 3) + 1);
      await maker.value('/t', `new_collection('c${i}'); new_user('u${i}'); grant('@:c${i}', 'u${i}', 31);`);
      const token = await newToken(maker, `u${i}`);
      const authorization = `Bearer ${String(token)}`;
      for (const node of cluster.nodes) {
        const answer = await node.query(`//c${i}`, '.x = 1;', undefined, { authorization });
        expect(answer.text).toBe('1');
      }
    }
  });

  test('answers tell the node and the log position; a stale read can ask for that place', async () => {
    const written = await cluster.node(1).query('//stuff', '.y = 7;');
    expect(written.headers.get('althing-node')).toBe('127.0.0.1');
    const index = String(written.headers.get('althing-index'));
    expect(Number(index)).toBeGreaterThan(0);
    const headers = { Consistency: 'stale', 'Althing-Min-Index': index };
    const read = await cluster.node(2).query('//stuff', '.y;', undefined, { headers });
    expect(read.text).toBe('7');
    expect(read.headers.get('althing-consistency')).toBe('stale');
    expect(read.headers.get('althing-node')).toBe('127.0.0.2');
  });

  test('a request with a key takes effect once, wherever it is repeated', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const answers: Answer[] = [];
    for (const node of [...cluster.nodes, ...cluster.nodes]) {
      answers.push(await node.query('//stuff', '.k = .get("k", 0) + 1;', undefined, { headers }));
    }
    expect(answers.map(({ text }) => text)).toEqual(['1', '1', '1', '1', '1', '1']);
    const other = await cluster.node(1).query('//stuff', '.k = 5;', undefined, { headers });
    expect(other.status).toBe(409);
  });

  test('nodes are asked about each other', async () => {
    for (const node of cluster.nodes) {
      for (const number of [0, 1, 2]) expect(await node.value(`/node/${number}`, '1 + 1;')).toBe(2);
      expect((await node.query('/node/9', '1;')).status).toBe(404);
      expect((await node.query('/node/nobody', '1;')).status).toBe(404);
    }
  });

  test('nodes are asked by their names, and answer for themselves', async () => {
    const ask = 'i = node_info().load(); [i.node_id, i.node_name];';
    const own = await Promise.all(cluster.nodes.map((node) => node.value('/n', ask)));
    for (const node of cluster.nodes) {
      for (const [number, name] of own as [number, string][]) {
        expect(await node.value(`/node/${name}`, ask)).toEqual([number, name]);
        expect(await node.value(`/@node:${number}`, ask)).toEqual([number, name]);
      }
    }
  });

  test('the leader is killed: no request at the others fails, and none takes effect twice', async () => {
    const leader = await cluster.whenLed('@thingsdb');
    const survivors = [1, 2, 3].filter((place) => place !== leader);
    const before = (await list(survivors[0] as number)).length;
    const loads = [...survivors, ...survivors].map((place, i) => append(place, `kill${i}`));
    await until(async () => (await list(survivors[0] as number)).length > before + 20, 'the load runs');
    await cluster.killNode(leader);
    const after = (await list(survivors[0] as number)).length;
    await until(async () => (await list(survivors[1] as number)).length > after + 20, 'the load goes on');
    const reports = await Promise.all(loads.map((load) => load.stop()));
    expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
    expect(reports.flatMap(({ unclear }) => unclear)).toEqual([]);
    const found = (await list(survivors[0] as number)).slice(before);
    expect([...found].sort()).toEqual(reports.flatMap(({ acknowledged }) => acknowledged).sort());

    const node = await cluster.restartNode(leader);
    expect((await node.value('//stuff', '.list.len();')) as number).toBe(before + found.length);
  });

  test('the leader is stopped as an operator does: the others go on without one failed request', async () => {
    const leader = await cluster.whenLed('@thingsdb');
    const survivors = [1, 2, 3].filter((place) => place !== leader);
    const before = (await list(survivors[0] as number)).length;
    const loads = survivors.map((place, i) => append(place, `term${i}`));
    await until(async () => (await list(survivors[0] as number)).length > before + 10, 'the load runs');
    cluster.node(leader).signal('SIGTERM');
    expect(await cluster.node(leader).ended()).toBe(0);
    const after = (await list(survivors[0] as number)).length;
    await until(async () => (await list(survivors[0] as number)).length > after + 10, 'the load goes on');
    const reports = await Promise.all(loads.map((load) => load.stop()));
    expect(reports.flatMap(({ failed, unclear }) => [...failed, ...unclear])).toEqual([]);
    const found = (await list(survivors[1] as number)).slice(before);
    expect([...found].sort()).toEqual(reports.flatMap(({ acknowledged }) => acknowledged).sort());
    await cluster.restartNode(leader);
  });

  test('changes without a majority are refused clearly, stale reads go on, and service comes back by itself', async () => {
    const [first = 0, second = 0, third = 0] = [1, 2, 3];
    const survivor = cluster.node(third);
    await cluster.node(first).value('//stuff', '.z = 1;');
    // The two others are a majority: without being asked, this one may not have it yet.
    await survivor.value('//stuff', '.z;');
    await cluster.killNode(first);
    await cluster.killNode(second);
    await until(async () => {
      const answer = await survivor.query('//stuff', '.z = 2;');
      return answer.status === 503 && answer.headers.get('retry-after') === '1';
    }, 'changes are refused');
    expect((await survivor.query('//stuff', '.z;')).status).toBe(503);
    const headers = { Consistency: 'stale' };
    expect((await survivor.query('//stuff', '.z;', undefined, { headers })).status).toBe(200);
    const waiting = survivor.query('//stuff', '.z = 3;');
    const back = cluster.restartNode(first);
    await until(async () => (await survivor.query('//stuff', '.z = 4;')).status === 200, 'service is back');
    // Either of the two may have come later.
    await waiting;
    await back;
    await cluster.restartNode(second);
    await survivor.value('//stuff', '.z = 5;');
    for (const node of cluster.nodes) expect(await node.value('//stuff', '.z;')).toBe(5);
  });
});
