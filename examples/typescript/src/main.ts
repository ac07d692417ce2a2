/**
 * A service over three nodes: seats of a theatre, each sold once.
 *
 *   ALTHING_URL=http://127.0.0.1:9210,http://127.0.0.1:9211,http://127.0.0.1:9212 ALTHING_TOKEN=... PORT=8080 npm start
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { AlthingError, connect, LookupErr, OutcomeUnknownError } from '@althing/client';
// Written by: althing types //theatre > src/theatre.d.ts
import type { Theatre } from './theatre.js';

const db = connect<{ theatre: Theatre }>(process.env.ALTHING_URL ?? 'http://127.0.0.1:9210', {
  token: process.env.ALTHING_TOKEN,
  timeoutMs: 10_000,
  rooms: 'websocket',
});

/** Makes the collection, its types and procedures, where they are not there yet. */
async function prepare(): Promise<void> {
  await db.$root.query`if (!has_collection(${'theatre'})) new_collection(${'theatre'}); nil;`;
  await db.theatre.query(await readFile(process.env.SCHEMA ?? '../schema.ti', 'utf8'));
}

async function sell(request: IncomingMessage, response: ServerResponse, seat: string): Promise<void> {
  let buyer = '';
  for await (const part of request) buyer += part;
  const key = request.headers['idempotency-key'];
  const theatre = typeof key === 'string' ? db.theatre.with({ idempotencyKey: key }) : db.theatre;
  const isSold = await theatre.procs.sell(seat, buyer);
  answer(response, isSold ? 201 : 409, { seat, isSold });
}

/** Who looks at sales now. */
const watchers = new Set<ServerResponse>();

/** Tells all who watch of each seat that is sold, by whichever program. */
async function watch(): Promise<void> {
  for await (const event of db.theatre.room('sales').events()) {
    if (event.kind === 'emit') tell('sold', event.args[0]);
    // Sales may have been missed: who watches reads the free seats again.
    else if (event.kind === 'gap') tell('gap', null);
  }
}

function tell(event: string, data: unknown): void {
  for (const to of watchers) to.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request;
  const [, seat] = /^\/seats\/(\w+)$/.exec(url) ?? [];
  if (method === 'GET' && url === '/seats') {
    // What this service sold itself is always seen; what others sold may lag a moment.
    const free = await db.theatre.with({ consistency: 'stale' }).procs.free_seats();
    answer(response, 200, free);
  } else if (method === 'POST' && seat !== undefined) {
    await sell(request, response, seat);
  } else if (method === 'GET' && url === '/events') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': welcome\n\n');
    watchers.add(response.once('close', () => watchers.delete(response)));
  } else answer(response, 404, { error: 'no such page' });
}

function fail(response: ServerResponse, error: unknown): void {
  if (error instanceof LookupErr) answer(response, 404, { error: error.message });
  // Sent again with the same Idempotency-Key, the request tells what became of it.
  else if (error instanceof OutcomeUnknownError)
    answer(response, 504, { error: 'it may have been sold: ask again' });
  else if (error instanceof AlthingError) answer(response, 503, { error: error.message });
  else throw error;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

await prepare();
const server = createServer((request, response) => {
  handle(request, response).catch((error) => fail(response, error));
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => console.log('ready'));
process.once('SIGTERM', () => {
  server.close();
  for (const each of watchers) each.end();
  void db.$close();
});
await watch().catch((error) => {
  if (!(error instanceof AlthingError && error.name === 'AbortError')) throw error;
});
