/**
 * The examples of the client library's README, compiled strictly, and of the page on clients: each is run as a program of its own. And what the
 * tutorial has for shells and TypeScript.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect } from '@althing/client';
import { freePorts, Launched, RealNode } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../../../../', import.meta.url));
const readme = readFileSync(join(project, 'packages/client/README.md'), 'utf8');
const clients = readFileSync(join(project, 'docs/clients.md'), 'utf8');
const tutorial = readFileSync(join(project, 'docs/tutorial.md'), 'utf8').replaceAll('//stuff', '//shop');
const feed = readFileSync(join(project, 'docs/feed.md'), 'utf8');
const althing = join(project, 'packages/cli/bin/althing.js');

/** Blocks of code of one language in a page. */
function blocks(language: string, page: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    (match) => match[1] ?? '',
  );
}

/** The output that an example promises. */
function promised(example: string): string[] {
  return [...example.matchAll(/(?:\/\/|#) → (.*)$/gm)].map((match) => match[1] ?? '');
}

const examples = blocks('ts', readme).map((code, i) => ({
  name: `example-${i + 1}`,
  code,
  prints: promised(code),
}));

/** Names that the example of a feed takes as given. */
const FEED_NAMES = `
declare const urls: readonly string[], token: string, position: string;
declare const copy: { inTransaction(work: () => void): Promise<void> };
declare function apply(steps: unknown): void;
declare function keep(at: string): void;
`;

let node: RealNode;
let folder: string;

beforeAll(async () => {
  node = await RealNode.start();
  folder = mkdtempSync(join(tmpdir(), 'althing-readme-'));
  const [setup = ''] = blocks('js', readme);
  const db = connect<{ stuff: unknown }>(`http://127.0.0.1:${node.port}`, { token: node.token });
  await db.stuff.query(setup);
  await db.$root.query("new_collection('shop');");
  for (const block of blocks('js', tutorial))
    await db.$scope('//shop').query(block.replaceAll(/^.*\/\/ error.*$/gm, ''));
  await db.$close();
  mkdirSync(join(folder, 'node_modules/@opentelemetry'), { recursive: true });
  symlinkSync(join(project, 'node_modules/@althing'), join(folder, 'node_modules/@althing'));
  symlinkSync(join(project, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  symlinkSync(
    fileURLToPath(new URL('../../src/client/stand-ins/opentelemetry-api', import.meta.url)),
    join(folder, 'node_modules/@opentelemetry/api'),
  );
  writeFileSync(join(folder, 'stuff.d.ts'), await typesOf('//stuff'));
  mkdirSync(join(folder, 'shop'));
  writeFileSync(join(folder, 'shop/stuff.d.ts'), (await typesOf('//shop')).replaceAll('Shop', 'Stuff'));
  writeFileSync(join(folder, 'shop/shop.ts'), blocks('ts', tutorial).join(''));
  writeFileSync(join(folder, 'feed.ts'), FEED_NAMES + blocks('ts', feed).join(''));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    types: ['node'],
    outDir: 'out',
    rootDir: '.',
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*.ts', 'shop/*.ts'] }),
  );
  for (const { name, code } of examples) writeFileSync(join(folder, `${name}.ts`), code);
});

afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function typesOf(scope: string): Promise<string> {
  const types = new Launched([process.execPath, althing, 'types', scope], { environment: environment() });
  await types.ended;
  return types.output;
}

function environment(): Record<string, string | undefined> {
  return { ALTHING_URL: `http://127.0.0.1:${node.port}`, ALTHING_TOKEN: node.token };
}

test('there are twelve, and they compile strictly', async () => {
  expect(examples).toHaveLength(12);
  await run(process.execPath, [join(project, 'node_modules/typescript/bin/tsc'), '-p', folder], {
    cwd: folder,
  }).catch(({ stdout }) => {
    throw new Error(stdout);
  });
});

describe('each prints what it says', () => {
  test.each(examples.filter(({ code }) => !code.includes('createServer')))(
    '$name',
    async ({ name, prints }) => {
      expect(prints.length).toBeGreaterThan(0);
      const program = new Launched([process.execPath, join(folder, 'out', `${name}.js`)], {
        environment: environment(),
      });
      const { code } = await program.ended;
      expect({ code, output: program.output.trim().split('\n') }).toEqual({ code: 0, output: prints });
    },
  );
});

/** Interpreters of what the page on clients has, each with the option that runs a text. */
const INTERPRETERS = { sh: ['bash', '-c'], python: ['python3', '-c'] } as const;

describe('the page on clients', () => {
  const ofItsOwn = clients.replaceAll('//stuff', '//clients');
  const all = Object.entries(INTERPRETERS).flatMap(([language, interpreter]) =>
    blocks(language, ofItsOwn).map((code) => ({ language, interpreter, code, prints: promised(code) })),
  );

  beforeAll(async () => {
    const db = connect(`http://127.0.0.1:${node.port}`, { token: node.token });
    await db.$root.query("new_collection('clients');");
    await db.$close();
  });

  test.each(all)('has an example in $language that prints $prints', async ({ interpreter, code, prints }) => {
    expect(prints.length).toBeGreaterThan(0);
    const { stdout } = await run(interpreter[0], [interpreter[1], code], {
      env: { ...process.env, ...environment() },
    });
    expect(stdout.trim().split('\n')).toEqual(prints);
  });

  test('has some in all languages', () => {
    expect(new Set(all.map(({ language }) => language)).size).toBe(Object.keys(INTERPRETERS).length);
  });
});

test('the commands that the tutorial has for a shell work, each block in its turn', async () => {
  const [, withToken = '', ...others] = blocks('sh', tutorial);
  const db = connect(`http://127.0.0.1:${node.port}`, { token: node.token });
  const token = await db.$root.query<string>(
    "new_user('web'); grant('//shop', 'web', RUN | CHANGE | JOIN); new_token('web');",
  );
  await db.$close();
  const inShell = async (code: string): Promise<string> => {
    const runs = code
      .replaceAll('npx althing', `${process.execPath} ${althing}`)
      .replaceAll(' --user admin:pass', '')
      .replace('TOKEN=...', `TOKEN=${token}`)
      .replace('http://127.0.0.1:9210', `http://127.0.0.1:${node.port}`);
    const { stdout, stderr } = await run('bash', ['-c', runs], {
      cwd: folder,
      env: { ...process.env, ...environment() },
    });
    return stdout + stderr;
  };
  expect(await inShell(withToken)).toContain("user 'web' lacks the privilege QUERY on @collection:shop");
  const output: string[] = [];
  for (const code of others) output.push(await inShell(code));
  expect(output.join('')).toContain('ok 1 - A customer can be added once.');
  expect(output.join('')).toContain('nothing to do');
});

test('the web application shows a guest that another program adds', async () => {
  const name = examples.find(({ code }) => code.includes('createServer'))?.name ?? '';
  const [port = 0] = await freePorts(1);
  const server = spawn(process.execPath, [join(folder, 'out', `${name}.js`)], {
    env: { ...environment(), PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await printed(server, 'ready');
    const url = `http://127.0.0.1:${port}`;
    expect(await (await fetch(url)).text()).toContain('<h1>Guests</h1>');
    const events = await fetch(`${url}/events`);
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    await fetch(`${url}/guests`, { method: 'POST', body: 'Zoë' });
    const db = connect<{ stuff: unknown }>(`http://127.0.0.1:${node.port}`, { token: node.token });
    await db.stuff.call('add_guest', { name: 'From elsewhere' });
    await db.$close();
    let text = '';
    while (!text.includes('Zoë') || !text.includes('From elsewhere'))
      text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
  } finally {
    server.kill();
  }
});

function printed(program: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve) => {
    program.stdout?.on('data', (part: Buffer) => {
      if (part.toString().includes(text)) resolve();
    });
  });
}
