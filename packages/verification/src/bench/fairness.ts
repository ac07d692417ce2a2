/** Two users who each ask in loops: what part of the engine's time each of them gets. */
import type { Database } from '@althing/client';
import type { RealNode } from '@althing/node/testing';
import { clientOf } from '../harness/client-of.js';
import { ADMIN } from '../harness/node-client.js';
import { startNode } from '../harness/start-node.js';
import { table } from '../harness/table.js';

/** The load of one of two users: so many loops at once, each of queries of so many milliseconds or so. */
interface Side {
  readonly loops: number;
  readonly ms: number;
}

export interface FairnessRow {
  readonly sides: readonly [Side, Side];
  /** Queries of each that were answered. */
  readonly counts: readonly [number, number];
  /** The part of the time of both that the first one's queries ran. */
  readonly share: number;
}

const CASES: readonly (readonly [Side, Side])[] = [
  [side(1, 5), side(1, 5)],
  [side(16, 5), side(2, 5)],
  [side(16, 1), side(4, 1)],
  [side(8, 30), side(8, 3)],
  [side(4, 150), side(4, 5)],
  [side(4, 150), side(1, 150)],
];

function side(loops: number, ms: number): Side {
  return { loops, ms };
}

const NAMES = ['ann', 'bob'] as const;
const SCOPE = '//stuff';
const TIMEOUT_MS = 60_000;
/** Distance from a half that the part of the first of two may have; in the slow lane, where a run is some hundredths of all, somewhat further. */
const DEVIATION = 0.05;
const SLOW_DEVIATION = 0.1;
const SLOW_MS = 40;

/** @param durationMs length of each case */
export async function benchFairness(durationMs: number): Promise<FairnessRow[]> {
  const node = await startNode();
  const admin = clientOf(node.url, ADMIN, TIMEOUT_MS, 2);
  try {
    for (const name of NAMES) {
      await admin.$root.query(
        `new_user('${name}'); set_password('${name}', 'secret'); grant('//stuff', '${name}', RUN);`,
      );
      await admin
        .$scope(SCOPE)
        .query(
          `new_procedure('${name}', |n: 'int'| { s = 0; for (i in range(n)) for (j in range(1000)) s += j; s; }); nil;`,
        );
    }
    const perMs = await roundsPerMs(admin);
    const rows: FairnessRow[] = [];
    for (const sides of CASES) rows.push(await contest(node, admin, sides, perMs, durationMs));
    return rows;
  } finally {
    await admin.$close();
    await node.stop();
  }
}

/** Rounds of the outer loop in a millisecond, when its code is hot. */
async function roundsPerMs(admin: Database): Promise<number> {
  for (let i = 0; i < 20; i++) await admin.$scope(SCOPE).call(NAMES[0], { n: 100n });
  await admin.$scope('@node').query('reset_counters();');
  for (let i = 0; i < 20; i++) await admin.$scope(SCOPE).call(NAMES[0], { n: 100n });
  return 2000 / (1000 * (await runTimes(admin))[0]);
}

async function contest(
  node: RealNode,
  admin: Database,
  sides: readonly [Side, Side],
  perMs: number,
  durationMs: number,
): Promise<FairnessRow> {
  await admin.$scope('@node').query('reset_counters();');
  const until = Date.now() + durationMs;
  const [first, second] = await Promise.all(
    sides.map(async ({ loops, ms }, at) => {
      const name = NAMES[at] ?? '';
      const asker = clientOf(node.url, { basic: [name, 'secret'] }, TIMEOUT_MS, loops);
      const n = BigInt(Math.round(ms * perMs));
      let count = 0;
      const loop = async (): Promise<void> => {
        while (Date.now() < until) {
          await asker.$scope(SCOPE).call(name, { n });
          count += 1;
        }
      };
      await Promise.all(Array.from({ length: loops }, loop));
      await asker.$close();
      return count;
    }),
  );
  const [own, others] = await runTimes(admin);
  return { sides, counts: [first ?? 0, second ?? 0], share: own / (own + others) };
}

/** Seconds that the procedure of each user ran. */
async function runTimes(admin: Database): Promise<[number, number]> {
  const code = 'procedure_stats().map(|p| p.load()).map(|p| [p.procedure, p.run_total]);';
  const stats = await admin.$scope('@node').query(code);
  const rows: readonly unknown[] = Array.isArray(stats) ? stats : [];
  const timeOf = (name: string): number => {
    const row = rows.find((each) => Array.isArray(each) && each[0] === name);
    return Array.isArray(row) ? Number(row[1]) : 0;
  };
  return [timeOf(NAMES[0]), timeOf(NAMES[1])];
}

export function isFair(rows: readonly FairnessRow[]): boolean {
  return rows.every(({ sides, share }) => {
    const isSlow = sides.some(({ ms }) => ms >= SLOW_MS);
    return Math.abs(share - 0.5) <= (isSlow ? SLOW_DEVIATION : DEVIATION);
  });
}

export function fairnessText(rows: readonly FairnessRow[]): string {
  return table([
    ['first user', 'second user', 'answered', 'first', 'second'],
    ...rows.map(({ sides, counts, share }) => [
      ...sides.map(({ loops, ms }) => `${loops} x ${ms} ms`),
      counts.join(', '),
      `${(100 * share).toFixed(1)} %`,
      `${(100 - 100 * share).toFixed(1)} %`,
    ]),
  ]);
}
