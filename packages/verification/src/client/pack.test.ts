/** The client library as others get it: packed, installed in an empty folder, compiled against, run, bundled, and run in a browser. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { freePorts, RealNode } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../../../../', import.meta.url));

/** Without msgpackr, of what a page loads before it listens to a room. */
const GZIP_BYTES_MAX = 12 * 1024;
const CHROMIUM = '/usr/bin/chromium';
const testInBrowser = testThatNeeds('browsers', existsSync(CHROMIUM) ? null : 'chromium is not installed');

let folder: string;
let node: RealNode;
let site: Server;
let origin: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'althing-client-'));
  const npm = (args: readonly string[], cwd: string): Promise<unknown> =>
    run('npm', [...args, '--cache', join(folder, 'cache')], { cwd });
  for (const name of ['packages/client', 'node_modules/msgpackr']) {
    await npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], join(project, name));
  }
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const quiet = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional'];
  await npm(['install', ...quiet, ...tarballs.map((name) => `./${name}`)], folder);
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types']) {
    symlinkSync(join(project, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const [port = 0] = await freePorts(1);
  origin = `http://127.0.0.1:${port}`;
  node = await RealNode.start({ http_allowed_origins: origin });
  site = createServer(({ url = '' }, response) => {
    const name = url === '/' ? 'index.html' : url.slice(1);
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/html';
    const file = join(folder, 'site', name);
    if (existsSync(file)) response.writeHead(200, { 'Content-Type': type }).end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => site.listen(port, '127.0.0.1', resolve));
});

afterAll(async () => {
  await new Promise((resolve) => site.close(resolve));
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('the packed client', () => {
  test('holds what it needs and nothing else', () => {
    const home = join(folder, 'node_modules/@althing/client');
    expect(readdirSync(home).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    const files = readdirSync(join(home, 'dist'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /test|\.map$/.test(name))).toEqual([]);
    const imports = files
      .filter((name) => name.endsWith('.js'))
      .flatMap((name) => [
        ...readFileSync(join(home, 'dist', name), 'utf8').matchAll(
          /^(?:import|export)\b.* from '([^'.][^']*)'/gm,
        ),
      ])
      .map((match) => match[1] ?? '');
    expect(new Set(imports.filter((name) => !name.startsWith('node:')))).toEqual(new Set(['msgpackr']));
  });

  test('is compiled against strictly, libraries included, and runs', async () => {
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      types: ['node'],
      skipLibCheck: false,
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['program.ts'] }),
    );
    const tsc = join(project, 'node_modules/typescript/bin/tsc');
    const compiled = await run(process.execPath, [tsc, '-p', folder]).catch((error) => ({
      stdout: String(error.stdout),
    }));
    // Declarations of its own dependencies are not its affair.
    expect(compiled.stdout.split('\n').filter((line) => !line.includes('node_modules/msgpackr'))).toEqual([
      '',
    ]);
    const env = {
      ...process.env,
      ALTHING_URL: `http://127.0.0.1:${node.port}`,
      ALTHING_TOKEN: node.token,
    };
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env });
    expect(stdout).toBe('42\n');
  });

  test('is 12 kB for browsers before a page listens to a room, and has nothing of Node.js', async () => {
    const { entry, all } = await bundled(['msgpackr']);
    expect(all.match(/.{0,40}(?:\bBuffer\b\.|["'`]node:[a-z]|\brequire\().{0,40}/)).toBeNull();
    expect(gzipSync(entry, { level: 9 }).length).toBeLessThanOrEqual(GZIP_BYTES_MAX);
  });

  testInBrowser('works in a browser, over HTTP and WebSocket, with rooms', async () => {
    await bundled([]);
    const page = '<!doctype html><script type="module" src="page.js"></script>';
    writeFileSync(join(folder, 'site/index.html'), page);
    const browser = await started();
    try {
      const tab = await browser.newPage();
      const failures: string[] = [];
      tab.on('pageerror', (error) => failures.push(String(error)));
      await tab.goto(origin);
      await tab.waitForFunction('globalThis.isLoaded === true');
      const url = `http://127.0.0.1:${node.port}`;
      const found = await tab.evaluate(`play(${JSON.stringify(url)}, ${JSON.stringify(node.token)})`);
      expect({ found, failures }).toEqual({
        found: {
          http: 'equal',
          websocket: 'equal',
          events: ['joined', 'emit:hello:1'],
          error: 'lookup_err',
          aborted: 'AbortError',
        },
        failures: [],
      });
    } finally {
      await browser.close();
    }
  });
});

/** The page as a bundle in the folder of the site; the text of what is loaded first, and of all. */
async function bundled(external: string[]): Promise<{ readonly entry: string; readonly all: string }> {
  mkdirSync(join(folder, 'site'), { recursive: true });
  writeFileSync(join(folder, 'page.js'), external.length === 0 ? PAGE : SMALL_PAGE);
  const { metafile, outputFiles } = await build({
    entryPoints: [join(folder, 'page.js')],
    absWorkingDir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    external,
    outdir: 'site',
    metafile: true,
    write: external.length === 0,
    logLevel: 'error',
  });
  const texts = new Map(outputFiles?.map((file) => [file.path, file.text]));
  const textOf = (path: string): string => texts.get(join(folder, path)) ?? '';
  // The entry, and what it imports at once.
  const first = new Set(['site/page.js']);
  for (const path of first) {
    for (const { path: other, kind } of metafile.outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external.includes(other)) first.add(other);
    }
  }
  return { entry: [...first].map(textOf).join('\n'), all: [...texts.values()].join('\n') };
}

function started(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

const PROGRAM = `
import { connect, type Database } from '@althing/client';

await using db: Database<{ stuff: unknown }> = connect(process.env.ALTHING_URL ?? '', { token: process.env.ALTHING_TOKEN });
console.log(await db.stuff.query<number>('x * 2;', { x: 21 }));
`;

const SMALL_PAGE = `
import { connect } from '@althing/client';
globalThis.connect = connect;
`;

const PAGE = `
import { connect } from '@althing/client';

globalThis.play = async (url, token) => {
  const value = {
    ints: [0, -1, 2 ** 40, 2n ** 60n, -(2n ** 63n)], float: 1.5, text: 'ä€😀', yes: true, nothing: null,
    bytes: new Uint8Array(300).map((_, i) => i), deep: { list: [{ a: [1, [2]] }] },
  };
  const text = (of) => JSON.stringify(of, (_, each) => typeof each === 'bigint' ? each + 'n' : each instanceof Uint8Array ? [...each] : each);
  const found = {};
  for (const transport of ['http', 'websocket']) {
    const db = connect(url, { token, transport });
    const back = await db.stuff.query('return x, 10;', { x: value });
    found[transport] = text(back) === text(value) ? 'equal' : text(back);
    await db.$close();
  }
  const db = connect(url, { token });
  await db.stuff.query(".lobby = room(); .lobby.set_name('lobby'); nil;");
  found.events = [];
  for await (const event of db.stuff.room('lobby').events()) {
    found.events.push(event.kind === 'emit' ? [event.kind, event.event, ...event.args].join(':') : event.kind);
    if (event.kind === 'emit') break;
    await db.stuff.room('lobby').emit('hello', 1);
  }
  found.error = await db.stuff.query('.nobody;').catch(({ name }) => name);
  found.aborted = await db.stuff.with({ signal: AbortSignal.abort() }).query('1;').catch(({ name }) => name);
  await db.$close();
  return found;
};
globalThis.isLoaded = true;
`;
