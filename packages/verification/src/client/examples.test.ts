/** The examples in TypeScript, compiled, and a load: run over three nodes, while those die. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { connect } from '@althing/client';
import { freePorts, Launched, type RealCluster, until } from '@althing/node/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startCluster } from '../harness/start-node.js';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../../../../', import.meta.url));

let folder: string;
let cluster: RealCluster;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'althing-example-'));
  cpSync(join(project, 'examples'), folder, { recursive: true });
  // As if both had installed what they need.
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['@althing', '@types', 'node-sqlite3-wasm']) {
    symlinkSync(join(project, 'node_modules', name), join(folder, 'node_modules', name));
  }
  cluster = await startCluster(3);
});

afterAll(async () => {
  await cluster.discard();
  rmSync(folder, { recursive: true, force: true });
});

async function compile(example: string): Promise<void> {
  const tsc = join(project, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', join(folder, example)]).catch(({ stdout }) => {
    throw new Error(stdout);
  });
}

test('sells each seat once, whichever node dies', async () => {
  const urls = cluster.nodes.map(({ url }) => url);
  const { token } = cluster.node(1);
  const db = connect<{ theatre: unknown }>(urls, { token });
  await db.$root.query("new_collection('theatre');");
  await db.theatre.query(readFileSync(join(folder, 'schema.ti'), 'utf8'));
  await db.$close();
  const environment = { ALTHING_URL: urls.join(), ALTHING_TOKEN: token };
  const althing = join(project, 'packages/cli/bin/althing.js');
  const types = new Launched([process.execPath, althing, 'types', '//theatre'], { environment });
  await types.ended;
  expect(types.output).toBe(readFileSync(join(folder, 'typescript/src/theatre.d.ts'), 'utf8'));
  await compile('typescript');
  const [port = 0] = await freePorts(1);
  const service = new Launched([process.execPath, 'dist/main.js'], {
    folder: join(folder, 'typescript'),
    environment: { ...environment, PORT: String(port) },
  });
  await until(() => service.output.includes('ready') || !service.isRunning, 'the service is ready');
  expect(service.output).toBe('ready\n');
  const url = `http://127.0.0.1:${port}`;
  const post = (seat: string, buyer: string, key: string): Promise<Response> =>
    fetch(`${url}/seats/${seat}`, { method: 'POST', body: buyer, headers: { 'Idempotency-Key': key } });

  expect((await post('A1', 'Ann', 'order-1')).status).toBe(201);
  expect((await post('A1', 'Ann', 'order-1')).status).toBe(201);
  expect((await post('A1', 'Bob', 'order-2')).status).toBe(409);
  expect((await post('Z9', 'Bob', 'order-3')).status).toBe(404);
  const events = (await fetch(`${url}/events`)).body?.pipeThrough(new TextDecoderStream()).getReader();
  const selling = ['A2', 'A3', 'B1', 'B2'].map((seat) => post(seat, 'Cleo', seat));
  await cluster.node(2).kill();
  expect((await Promise.all(selling)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(await (await fetch(`${url}/seats`)).json()).toEqual(['B3']);
  expect((await post('B3', 'Dan', 'order-9')).status).toBe(201);
  let told = '';
  while (!/event: (sold\ndata: "B3"|gap)/.test(told)) told += (await events?.read())?.value ?? '';
  await events?.cancel();
  service.signal('SIGTERM');
  expect(await service.ended).toMatchObject({ code: 0 });
});

test('keeps a copy in SQLite through kills of everything', async () => {
  await compile('copy');
  const urls = cluster.nodes.map(({ url }) => url);
  const { token } = cluster.node(1);
  const db = connect<{ theatre: unknown }>(urls, { token });
  const copy = join(folder, 'copy.db');
  const start = (): Launched =>
    new Launched([process.execPath, 'dist/main.js'], {
      folder: join(folder, 'copy'),
      environment: { ALTHING_URL: urls.join(), ALTHING_TOKEN: token, COPY: copy },
    });
  let example = start();
  await until(() => existsSync(copy), 'it begins');
  for (let round = 0; round < ROUNDS; round++) {
    const changing = db.theatre.query(CHANGE, { round });
    const dying = round === 2 ? [1, 2, 3] : [round + 1];
    if (round > 0) await example.kill();
    await Promise.all(dying.map((at) => cluster.node(at).kill()));
    await Promise.all(dying.map((at) => cluster.restartNode(at)));
    await changing;
    if (!example.isRunning) example = start();
  }
  const seats = await db.theatre.query<{ '#': number }[]>("type_all('Seat').map(|seat| seat);");
  const wanted = seats
    .map(({ '#': id, ...values }) => [id, values])
    .sort(([a], [b]) => Number(a) - Number(b));
  const rows = async (): Promise<unknown> => {
    const { stdout } = await run(process.execPath, ['-e', READ_COPY, copy], { cwd: join(folder, 'copy') });
    return JSON.parse(stdout);
  };
  await until(
    async () => isDeepStrictEqual(await rows().catch(() => null), wanted),
    'both are the same',
    20_000,
  );
  expect([seats.length, example.output]).toEqual([6 + ROUNDS - 1, '']);
  await example.kill();
  await db.$close();
});

test('a load makes each row once, whether loader, follower or leader are killed', async () => {
  const urls = cluster.nodes.map(({ url }) => url);
  const { token } = cluster.node(1);
  const db = connect<{ stuff: unknown }>(urls, { token });
  await db.stuff.query("set_type('Row', {nr: 'int'}); .rows = []; nil;");
  const file = join(folder, 'rows.jsonl');
  writeFileSync(file, Array.from({ length: ROWS }, (_none, nr) => `{"nr": ${nr}}\n`).join(''));
  const command = `load //stuff Row ${file} --into rows --id rows --rate 4000`.split(' ');
  const start = (): Launched =>
    new Launched([process.execPath, join(project, 'packages/cli/bin/althing.js'), ...command], {
      environment: { ALTHING_URL: urls.join(), ALTHING_TOKEN: token },
    });
  let loader = start();
  const place = (): Promise<number> =>
    db.stuff.query<number>("i = load_info('rows'); is_nil(i) ? 0 : i.rows;");
  for (let kills = 0; kills < KILLED.length; kills++) {
    await until(
      async () => {
        if (!loader.isRunning) loader = start();
        return (await place()) > (kills * ROWS) / (KILLED.length + 1);
      },
      'it is further',
      60_000,
    );
    if (KILLED[kills] === 'loader') await loader.kill();
    else {
      const leader = await cluster.whenLed('@collection:stuff');
      const at = KILLED[kills] === 'leader' ? leader : (leader % urls.length) + 1;
      await cluster.killNode(at);
      await cluster.restartNode(at);
    }
  }
  for (let starts = 0; (await loader.ended).code !== 0; starts++) {
    if (starts === 5) throw new Error(loader.output);
    loader = start();
  }
  expect(await place()).toBe(ROWS);
  // In their order, too: a list has them as they were made.
  expect(await db.stuff.query('[.rows.len(), .rows.filter(|row, at| row.nr != at).len()];')).toEqual([
    ROWS,
    0,
  ]);
  await db.$close();
});

const ROWS = 10_000;
const KILLED = ['loader', 'leader', 'follower', 'loader'];

const ROUNDS = 3;

const CHANGE = `.seats.push(Seat{name: 'N' + str(round)}); .seats[round].buyer = 'Eve'; .other = {round:};
  if (round % 3 == 0) .seats.shift(); nil;`;

const READ_COPY = `const copy = new (require('node-sqlite3-wasm').Database)(process.argv[1], { readOnly: true });
const rows = copy.all('select id, value from thing order by id').map(({ id, value }) => [id, JSON.parse(value)]);
console.log(JSON.stringify(rows));`;
