import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BackupWriter } from '@althing/node';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { main } from './index.js';
import { FakeIo, portOf } from './testing.js';

/** The node's reaction to a request. */
type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A backup of nothing. */
const writer = new BackupWriter();
const EMPTY = Buffer.concat([
  writer.begin({ version: '9.9.9', cluster: '00', begunAt: 1, groups: 0 }),
  writer.end(),
]);

let folder: string;
let file: string;
let server: Server;
let url: string;
let handler: Handler;
let asked: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'althing-cli-'));
  file = join(folder, 'a.backup');
  asked = [];
  server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    await handler(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${portOf(server)}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

async function althing(...args: string[]): Promise<{ code: number; errors: string }> {
  const io = new FakeIo({ ALTHING_URL: url, ALTHING_TOKEN: 'abc' });
  const code = await main(args, io);
  return { code, errors: io.errors };
}

const refuses: Handler = (request, response) => {
  request.resume();
  response.writeHead(422).end('{"error":{"code":-63,"name":"operation_err","message":"not empty"}}');
};

describe('althing backup', () => {
  test('puts what the node sends into a file that nobody else may read', async () => {
    handler = (_, response) => {
      response.end(EMPTY);
    };
    const { code, errors } = await althing('backup', file);
    expect([code, asked]).toEqual([0, ['POST /@backup Bearer abc']]);
    expect(errors).toContain('begun 1970-01-01T00:00:00.001Z by version 9.9.9');
    expect(readdirSync(folder)).toEqual(['a.backup']);
    expect([statSync(file).size, statSync(file).mode & 0o777]).toEqual([EMPTY.length, 0o600]);
  });

  test.each<[string, Handler, string]>([
    ['that is damaged', (_, response) => void response.end(Buffer.alloc(100)), 'no backup of Althing'],
    [
      'that ends too early',
      (_, response) => {
        response.write(EMPTY.subarray(0, 40));
        setTimeout(() => response.destroy(), 50);
      },
      'stopped in the middle',
    ],
    [
      'that seems complete but is not',
      (_, response) => void response.end(EMPTY.subarray(0, 60)),
      'too early',
    ],
    ['that is refused', refuses, 'operation_err (-63): not empty'],
  ])('leaves nothing of a backup %s', async (_what, work, message) => {
    handler = work;
    const { code, errors } = await althing('backup', file);
    expect([code, errors, readdirSync(folder)]).toEqual([1, expect.stringContaining(message), []]);
  });

  test('comes from the first node of several that can be reached', async () => {
    handler = (_, response) => void response.end(EMPTY);
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const lost = `http://127.0.0.1:${portOf(gone)}`;
    gone.close();
    const { code, errors } = await althing('backup', file, '--url', `${lost},${url}`);
    expect([code, asked, errors]).toEqual([
      0,
      ['POST /@backup Bearer abc'],
      expect.not.stringContaining('ECONNREFUSED'),
    ]);
    const none = await althing('backup', `${file}.2`, '--url', `${lost},${lost}`);
    expect([none.code, none.errors]).toEqual([6, expect.stringContaining(`${lost} can't be reached`)]);
  });

  test('overwrites nothing, and asks nobody then', async () => {
    writeFileSync(file, 'precious');
    const { code, errors } = await althing('backup', file);
    expect([code, asked, errors]).toEqual([2, [], expect.stringContaining('exists already')]);
  });

  test('says what is wrong with the place', async () => {
    expect((await althing('backup', join(folder, 'no', 'a.backup'))).errors).toContain('ENOENT');
  });

  test.each([
    ['before anything came', (io: FakeIo) => io.listening > 0],
    ['midway', () => readdirSync(folder).some((name) => statSync(join(folder, name)).size > 0)],
  ])('leaves nothing when it is interrupted %s', async (_when, isTime) => {
    handler = (_, response) => {
      response.write(EMPTY.subarray(0, 40));
    };
    const io = new FakeIo({ ALTHING_URL: url, ALTHING_TOKEN: 'abc' });
    const running = main(['backup', file], io);
    await once(server, 'request');
    while (!isTime(io)) await new Promise((resolve) => setImmediate(resolve));
    io.signal('SIGTERM');
    expect([await running, io.errors]).toEqual([1, 'althing backup: interrupted\n']);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('althing backup verify', () => {
  test('asks no node', async () => {
    writeFileSync(file, EMPTY);
    const { code, errors } = await althing('backup', 'verify', file);
    expect([code, asked, errors]).toEqual([0, [], expect.stringContaining('is whole')]);
  });

  test('finds damage', async () => {
    writeFileSync(file, EMPTY.subarray(1));
    expect(await althing('backup', 'verify', file)).toMatchObject({ code: 1 });
    expect((await althing('backup', 'verify', join(folder, 'nix'))).errors).toContain('ENOENT');
  });
});

describe('althing restore', () => {
  test('sends a file that is whole', async () => {
    writeFileSync(file, EMPTY);
    let got = Buffer.alloc(0);
    handler = async (request, response) => {
      for await (const part of request) got = Buffer.concat([got, part]);
      response.end('{}');
    };
    const { code, errors } = await althing('restore', file);
    expect([code, asked, errors]).toEqual([
      0,
      ['POST /@restore Bearer abc'],
      expect.stringContaining('restored'),
    ]);
    expect(got.equals(EMPTY)).toBe(true);
  });

  test('sends nothing of one that is not', async () => {
    writeFileSync(file, EMPTY.subarray(0, 30));
    const { code } = await althing('restore', file);
    expect([code, asked]).toEqual([1, []]);
  });

  test('tells why the node refuses', async () => {
    writeFileSync(file, EMPTY);
    handler = refuses;
    const { code, errors } = await althing('restore', file);
    expect([code, errors]).toEqual([1, expect.stringContaining('operation_err (-63): not empty')]);
  });
});

describe('althing export and althing import', () => {
  const head = { version: '9.9.9', cluster: '00', begunAt: 0, groups: 1, collection: 'stuff', level: 4 };

  test('name the collection in the path, however it is written', async () => {
    writeFileSync(file, EMPTY);
    handler = async (request, response) => {
      for await (const _ of request);
      response.end('{"collection":"stuff","records":9,"parts":1930,"resumed":412}');
    };
    const { code, errors } = await althing('import', '//stuff', file);
    const digest = EMPTY.subarray(-32).toString('hex');
    expect([code, asked, errors]).toEqual([
      0,
      [`POST /@import/stuff/${digest} Bearer abc`],
      expect.stringMatching(/imported.*; resumed at part 412 of 1,930/),
    ]);
    expect((await althing('import', '//no-name', file)).code).toBe(2);
    expect((await althing('import', '//stuff', file, '--import-tasks')).code).toBe(0);
    expect(asked).toEqual(
      ['', '/import_tasks'].map((tasks) => `POST /@import/stuff${tasks}/${digest} Bearer abc`),
    );
  });

  test('say how an import goes on that was cut', async () => {
    writeFileSync(file, EMPTY);
    handler = (request) => void request.socket.destroy();
    const { code, errors } = await althing('import', '//stuff', file);
    expect([code, errors]).toEqual([7, expect.stringContaining('the same command goes on')]);
  });

  test('name a collection of ThingsDB by the same digest whenever it is read', async () => {
    const path = fileURLToPath(new URL('../../engine/samples/04-things.json', import.meta.url));
    writeFileSync(file, Buffer.from(JSON.parse(readFileSync(path, 'utf8')).dump, 'base64'));
    handler = async (request, response) => {
      for await (const _ of request);
      response.end('{}');
    };
    for (const _ of [1, 2]) expect((await althing('import', '//stuff', file)).code).toBe(0);
    expect(asked).toEqual([
      expect.stringMatching(/^POST \/@import\/stuff\/[0-9a-f]{64} Bearer abc$/),
      asked[0],
    ]);
  });

  test('leave nothing of an export that is cut off', async () => {
    const own = new BackupWriter();
    const cut = Buffer.concat([own.begin(head), own.end()]);
    handler = (_, response) => void response.end(cut);
    const { code, errors } = await althing('export', '@:stuff', file);
    expect([code, asked, readdirSync(folder)]).toEqual([1, ['POST /@export/stuff Bearer abc'], []]);
    expect(errors).toContain('not all groups are in it');
  });
});
