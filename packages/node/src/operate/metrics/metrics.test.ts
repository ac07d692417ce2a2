import { readFileSync } from 'node:fs';
import { ErrorCode, QueryError } from '@althing/engine';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GroupFigures, type GroupNow } from '../../consensus/group-figures.js';
import { EngineMetrics } from '../../telemetry/engine-metrics.js';
import { FAMILIES } from '../../telemetry/families.js';
import { Metrics } from '../../telemetry/metrics.js';
import { Page } from '../../telemetry/page.js';
import { RealNode, until } from '../../testing/index.js';

/** Samples of a page: name with labels, and value. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

describe('figures', () => {
  test('are seen by who has the same memory', () => {
    const engine = new Metrics();
    const consensus = new Metrics(engine.buffer);

    engine.add('requests', 5);
    engine.add('requests', 5, 2);
    engine.set('connections', 7);

    expect(consensus.get('requests', 5)).toBe(3);
    expect(consensus.get('requests', 4)).toBe(0);
    expect(consensus.get('connections')).toBe(7);
  });

  test('figures of a histogram are told as Prometheus wants them: each bucket holds the smaller ones', () => {
    const metrics = new Metrics();
    for (const seconds of [0.0001, 0.0005, 0.0006, 29, 31]) metrics.observe('querySeconds', seconds);
    const page = new Page();
    page.addMetrics(metrics);

    const samples = samplesOf(page.text);

    expect(samples.get('althing_query_duration_seconds_bucket{le="0.0005"}')).toBe(2);
    expect(samples.get('althing_query_duration_seconds_bucket{le="0.001"}')).toBe(3);
    expect(samples.get('althing_query_duration_seconds_bucket{le="30"}')).toBe(4);
    expect(samples.get('althing_query_duration_seconds_bucket{le="+Inf"}')).toBe(5);
    expect(samples.get('althing_query_duration_seconds_count')).toBe(5);
    expect(samples.get('althing_query_duration_seconds_sum')).toBeCloseTo(60.0012);
  });

  test('figures of requests have the kind, the scope and the outcome of each', () => {
    const metrics = new Metrics();
    const full = new QueryError(ErrorCode.NODE, 'full');
    const figures = new EngineMetrics(metrics, new Map([[full, 'disk_full']]));
    figures.refused(null, new QueryError(ErrorCode.BAD_DATA, 'x'), '405 Method Not Allowed');
    figures.refused({ kind: 'thingsdb' }, full, '503 Service Unavailable');
    const page = new Page();
    page.addMetrics(metrics);

    const samples = samplesOf(page.text);

    expect(samples.get('althing_requests_total{kind="other",scope="none",outcome="invalid"}')).toBe(1);
    expect(samples.get('althing_requests_total{kind="other",scope="root",outcome="unavailable"}')).toBe(1);
    expect(samples.get('althing_requests_rejected_total{reason="disk_full"}')).toBe(1);
  });
});

describe('groups', () => {
  const group = (id: number): GroupNow => ({
    id,
    term: 3,
    isLeader: true,
    hasLeader: true,
    commitIndex: 8,
    appliedIndex: 7,
    lastIndex: 10,
    voters: 3,
    learners: 0,
    reachable: 2,
  });

  test('have their times from proposal to commit', () => {
    let now = 0;
    const figures = new GroupFigures(new Metrics(), () => now);
    const watch = figures.watch(4);

    watch.proposed(10);
    now = 3;
    watch.proposed(12);
    now = 5;
    watch.committed(11, 11);
    now = 20;
    watch.lost();
    const page = new Page();
    figures.addTo(page, [group(4)]);

    const samples = samplesOf(page.text);
    expect(samples.get('althing_raft_commit_latency_seconds_count{group="4"}')).toBe(1);
    expect(samples.get('althing_raft_commit_latency_seconds_sum{group="4"}')).toBe(0.005);
    expect(samples.get('althing_raft_proposals_total{group="4",outcome="committed"}')).toBe(11);
    expect(samples.get('althing_raft_proposals_total{group="4",outcome="lost"}')).toBe(1);
    expect(samples.get('althing_raft_proposals_pending{group="4"}')).toBe(2);
  });

  test('beyond the hundredth share one series', () => {
    const figures = new GroupFigures(new Metrics(), () => 0);
    const groups = Array.from({ length: 103 }, (_, id) => group(id));
    for (const { id } of groups) figures.watch(id).committed(1, 2);
    const page = new Page();
    figures.addTo(page, groups);

    const samples = samplesOf(page.text);
    expect(samples.get('althing_raft_proposals_total{group="99",outcome="committed"}')).toBe(2);
    expect(samples.get('althing_raft_proposals_total{group="other",outcome="committed"}')).toBe(6);
    expect(samples.has('althing_raft_term{group="100"}')).toBe(false);
  });
});

const ENDLESS = 'for (i in range(100000)) {for (j in range(100000)) {i + j}};';

describe('a node', () => {
  let node: RealNode;
  beforeAll(async () => {
    node = await RealNode.start({ query_duration_limit_ms: 300, metrics_procedures: 'stuff.order' });
  });
  afterAll(() => node.stop());

  const page = async (): Promise<string> => (await node.probe('/metrics')).text;

  test('has the metrics that are documented, with their types, and no others', async () => {
    const documented = new Map(
      [...documentation().matchAll(/^\| `(\w+)` \| (\w+) \| /gm)].map(([, name, type]) => [name, type]),
    );
    const told = new Map(
      [...(await page()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]),
    );
    expect(told).toEqual(documented);
    expect(told.size).toBeGreaterThan(Object.keys(FAMILIES).length);
  });

  test('counts what it does', async () => {
    await node.value('//stuff', '.x = 1;');
    await node.value('//stuff', '.x;');
    await node.query('//stuff', '.x = 1 / 0;');
    await node.query('//stuff', ENDLESS);
    await node.query('/t', 'users_info();', undefined, { authorization: null });

    let samples = new Map<string, number>();
    await until(async () => {
      samples = samplesOf(await page());
      return samples.get('althing_queries_stopped_total{reason="time"}') === 1;
    }, 'the figures of the engine are told');
    const requests = (kind: string, scope: string, outcome: string): number | undefined =>
      samples.get(`althing_requests_total{kind="${kind}",scope="${scope}",outcome="${outcome}"}`);
    expect(requests('query', 'collection', 'ok')).toBe(2);
    expect(requests('query', 'collection', 'error')).toBe(1);
    expect(requests('other', 'root', 'unauthorized')).toBe(1);
    expect(samples.get('althing_raft_is_leader{group="0"}')).toBe(1);
    expect(samples.get('althing_logins_total{method="password",outcome="ok"}')).toBe(1);
    expect(samples.get('althing_log_sync_duration_seconds_count')).toBeGreaterThan(0);
    expect(samples.get('althing_ready')).toBe(1);
    expect(samples.get('althing_log_messages_total{level="info"}')).toBeGreaterThan(0);
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  });

  test('counts the procedures that are named, by themselves', async () => {
    await node.value('//stuff', "new_procedure('order', |n| 1 / n); new_procedure('other', || 1); nil;");
    const run = (name: string, args: readonly number[]): Promise<unknown> =>
      node.post('//stuff', JSON.stringify({ type: 'run', name, args }));
    for (const [name, ...args] of [['order', 1], ['order', 2], ['order', 0], ['other']] as const)
      await run(name, args);
    const samples = samplesOf(await page());
    const calls = (outcome: string): number | undefined =>
      samples.get(`althing_procedure_calls_total{procedure="stuff.order",outcome="${outcome}"}`);
    expect([calls('ok'), calls('error')]).toEqual([2, 1]);
    expect(samples.get('althing_procedure_run_seconds_total{procedure="stuff.order"}')).toBeGreaterThan(0);
    expect(
      [...samples.keys()].filter((name) => name.includes('other"') && name.includes('procedure')),
    ).toEqual([]);
  });

  test('tells how far the logs of its groups are', async () => {
    await node.value('//stuff', '.x = 1;');
    const groups = await node.value(
      '/n',
      'groups_info().map(|g| { g = g.load(); [g.scope, g.term > 0, g.commit > 0, g.last >= g.commit, g.applied <= g.last, g.members]; });',
    );
    expect(groups).toEqual([
      ['@thingsdb', true, true, true, true, []],
      ['@collection:stuff', true, true, true, true, []],
    ]);
  });

  test('tells who is connected, what they asked, and what of it is not answered', async () => {
    for (let i = 0; i < 5; i++) await node.value('//stuff', `.counter = ${i};`);
    const shapes = await node.value('/n', 'queries_info().map(|q| q.load().query);');
    expect(shapes).toContain('.counter = ?');

    const connections = await node.value(
      '/n',
      'connections_info().map(|c| [c.load().transport, c.load().address]);',
    );
    expect(connections).toEqual([['http', expect.stringMatching(/^127\.0\.0\.1$|^null$/)]]);

    const queries = Array.from({ length: 4 }, () => node.query('//stuff', ENDLESS));
    let told: unknown[] = [];
    await until(async () => {
      told = (await node.value(
        '/n',
        'requests_info().map(|r| { r = r.load(); [r.id, r.state, r.user, r.address, r.scope, r.text]; });',
      )) as unknown[];
      return told.length > 0;
    }, 'a query waits for its next slice');
    expect(told[0]).toEqual([
      expect.any(Number),
      expect.stringMatching(/^(running|waiting)$/),
      'admin',
      '127.0.0.1',
      '@collection:stuff',
      'for (i in range(100000)) {for (j in range(100000)) {i + j}};',
    ]);
    await Promise.all(queries);
    expect(await node.value('/n', 'requests_info();')).toEqual([]);
  });

  test('tells them while a query keeps the engine thread busy', async () => {
    const endless = node.query('//stuff', ENDLESS);
    const samples = samplesOf(await page());
    expect(samples.get('althing_ready')).toBe(1);
    expect((await endless).status).toBe(504);
  });
});

function documentation(): string {
  return readFileSync(new URL('../../../../../docs/metrics.md', import.meta.url), 'utf8');
}
