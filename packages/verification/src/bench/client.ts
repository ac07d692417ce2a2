/**
 * The cost of the client library: processor time of this process for small calls, in turns with bare `node:http` that sends and takes the same
 * bytes. The other side is the bare echo, so that neither a node nor the language is measured.
 */
import { Agent, request } from 'node:http';
import { connect, type Database, encodeMessagePack, wireMap } from '@althing/client';
import { median, medianInterval } from '../harness/table.js';
import { Child } from './child.js';
import { inTurns } from './contest.js';
import { type Figure, figure } from './figures.js';

/** Above bare `node:http`, in µs. */
const GOAL_US = 40;
const CALLS = 3000;
const AT_ONCE = 16;
const WARM_ROUNDS = 2;
const TOKEN = 'a-token-of-some-length';

/** Processor time of a call, by the median of the rounds. */
export async function benchClient(rounds: number): Promise<Figure[]> {
  const echo = new Child(import.meta.url, 'yardsticks/echo.js');
  const port = await echo.ask(undefined, (message: { readonly port: number }) => message.port);
  const db = connect<{ stuff: unknown }>(`http://127.0.0.1:${port}`, { token: TOKEN });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const bare = { work: () => bareCall(port, agent), us: [] as number[] };
  const client = { work: () => smallCall(db), us: [] as number[] };
  try {
    await inTurns([bare, client], WARM_ROUNDS, async ({ work }) => void (await cpuOf(work)));
    await inTurns([bare, client], rounds, async ({ work, us }) => void us.push(await cpuOf(work)));
  } finally {
    await db.$close();
    agent.destroy();
    await echo.close();
  }
  const more = client.us.map((us, i) => us - (bare.us[i] ?? Number.NaN));
  const { low, high } = medianInterval(more);
  return [
    figure('bare node:http', 'µs', median(bare.us)),
    figure('client', 'µs', median(client.us)),
    figure(`more (${low.toFixed(1)} to ${high.toFixed(1)})`, 'µs', median(more), GOAL_US),
  ];
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  let left = CALLS;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

function smallCall({ stuff }: Database<{ stuff: unknown }>): Promise<unknown> {
  return stuff.query('x + 1;', { x: 2 });
}

/** A call as a program would write it by hand: the same body and headers, and the answer as bytes. */
function bareCall(port: number, agent: Agent): Promise<Buffer> {
  const body = encodeMessagePack(wireMap({ type: 'query', code: 'x + 1;', vars: wireMap({ x: 2n }) }));
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        method: 'POST',
        host: '127.0.0.1',
        port,
        path: '//stuff',
        agent,
        headers: {
          'Content-Type': 'application/msgpack',
          Authorization: `Bearer ${TOKEN}`,
          'Althing-Request': '0123456789abcdef01234567.1000.1000',
          'Content-Length': body.length,
          Host: `127.0.0.1:${port}`,
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('end', () => resolve(Buffer.concat(parts)));
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}
