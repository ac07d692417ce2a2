import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { main } from './index.js';
import * as node from './node.js';
import { addOptions, serve } from './serve.js';
import { FakeIo } from './testing.js';

/** A data folder that is not there. */
const EMPTY = join(tmpdir(), 'althing-cli-there-is-none');

/** A server that only notes what it is told. */
class FakeNode implements node.RunningNode {
  readonly stops: node.StopReason[] = [];
  readonly reloads: (() => node.Config)[] = [];
  readonly closed: Promise<number>;
  end: (exitCode: number) => void = () => undefined;

  constructor() {
    this.closed = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  stop(reason: node.StopReason): void {
    this.stops.push(reason);
    if (reason === 'now') this.end(0);
  }

  reload(load: () => node.Config): void {
    this.reloads.push(load);
  }
}

function parsed(
  startNode: node.StartNode,
  args: readonly string[],
): { command: Command; package: typeof node } {
  const withFake = { ...node, startNode };
  const command = new Command('serve').exitOverride();
  addOptions(command, withFake);
  command.parse(args, { from: 'user' });
  return { command, package: withFake };
}

function run(io: FakeIo, startNode: node.StartNode, ...args: string[]): Promise<number> {
  const { command, package: withFake } = parsed(startNode, args);
  return serve(command, io, withFake);
}

describe('serve', () => {
  test('starts a node with the configuration of flags and environment, and ends with its exit code', async () => {
    const running = new FakeNode();
    const configs: node.Config[] = [];
    const io = new FakeIo({
      SERVICE_HTTP_API_PORT: '1234',
      SERVICE_LOG_LEVEL: 'error',
      SERVICE_GCLOUD_KEY_FILE: 'x',
    });
    const result = run(
      io,
      async (config) => {
        configs.push(config);
        return running;
      },
      '--log-level',
      'debug',
      '--storage-path',
      'here',
    );
    const secrets = [node.variableOf('admin_password'), node.variableOf('cluster_secret')];
    expect(io.hidden).toEqual(expect.arrayContaining([...secrets, 'ALTHING_TOKEN']));
    running.end(4);

    expect(await result).toBe(4);
    expect(configs[0]).toMatchObject({ httpApiPort: 1234, logLevel: 'debug', storagePath: 'here' });
    expect(io.errors).toBe(
      'althing: warning: the variable SERVICE_GCLOUD_KEY_FILE is ignored: there are no cloud backups\n',
    );
    expect(io.listening).toBe(0);
  });

  test('takes the options of ThingsDB for a first start', async () => {
    const firsts: (node.FirstStart | undefined)[] = [];
    const start: node.StartNode = async (_, { first }) => {
      firsts.push(first);
      const running = new FakeNode();
      running.end(0);
      return running;
    };
    const cases: readonly (readonly [
      Record<string, string>,
      readonly string[],
      node.FirstStart | undefined,
    ])[] = [
      [{}, [], undefined],
      [{}, ['--secret', 's'], { kind: 'wait', secret: 's' }],
      [{ THINGSDB_SECRET: 's' }, [], { kind: 'wait', secret: 's' }],
      [{ THINGSDB_SECRET: 's' }, ['--init'], { kind: 'init' }],
      [{ THINGSDB_INIT: '1' }, [], { kind: 'init' }],
      [{ THINGSDB_NODE_NAME: 'db-0' }, ['--deploy'], { kind: 'init' }],
      [{ THINGSDB_NODE_NAME: 'db-10' }, ['--deploy'], { kind: 'wait', secret: 'db-10' }],
      [
        { THINGSDB_NODE_NAME: 'db-1', THINGSDB_DEPLOY: '1', THINGSDB_NODE_SECRET: 'x' },
        [],
        { kind: 'wait', secret: 'x' },
      ],
    ];
    for (const [environment, args, expected] of cases) {
      const io = new FakeIo(environment);
      expect([await run(io, start, '--storage-path', EMPTY, ...args), io.errors]).toEqual([0, '']);
      expect(firsts.pop()).toEqual(expected);
    }
  });

  test.each([
    ['--init --secret s', '--init and --secret exclude each other'],
    ['--deploy --secret s', '--secret and --deploy exclude each other'],
    ['--rebuild --init', '--init and --rebuild exclude each other'],
    ['--forget-nodes --rebuild', '--rebuild and --forget-nodes exclude each other'],
    ['--force', '--force goes with --init or --secret only'],
    ['--secret \u00e4', 'printable'],
    ['--forget-nodes', 'holds no data of a node'],
    ['--secret s --cluster a,b', '"cluster" must be empty'],
  ])('%s is refused', async (args, message) => {
    const io = new FakeIo({ SERVICE_CLUSTER_SECRET: 'of the cluster itself' });
    const start: node.StartNode = () => Promise.reject(new Error('started'));
    expect(await run(io, start, '--storage-path', EMPTY, ...args.split(' '))).toBe(2);
    expect(io.errors).toContain(message);
  });

  test('--rebuild of a node without others changes nothing, and starts nothing', async () => {
    const io = new FakeIo({});
    const start: node.StartNode = () => Promise.reject(new Error('started'));
    expect(await run(io, start, '--storage-path', EMPTY, '--rebuild')).toBe(0);
    expect(io.errors).toContain('no other nodes');
  });

  test('the first signal drains, the second stops at once', async () => {
    const running = new FakeNode();
    const io = new FakeIo();
    const result = run(io, async () => running);
    await new Promise(setImmediate);
    io.signal('SIGTERM');
    io.signal('SIGINT');

    expect(await result).toBe(0);
    expect(running.stops).toEqual(['drain', 'now']);
  });

  test('SIGHUP hands over the configuration as it is now, or what is wrong with it', async () => {
    const running = new FakeNode();
    const environment: Record<string, string> = { SERVICE_LOG_LEVEL: 'error' };
    const io = new FakeIo(environment);
    const result = run(io, async () => running);
    await new Promise(setImmediate);
    environment.SERVICE_LOG_LEVEL = 'debug';
    io.reload();
    expect(running.reloads.map((load) => load().logLevel)).toEqual(['debug']);
    environment.SERVICE_LOG_LEVEL = 'loud';
    io.reload();
    expect(running.reloads[1]).toThrow('SERVICE_LOG_LEVEL');
    running.end(0);

    expect(await result).toBe(0);
  });

  test('a signal during the start takes effect when the node is up', async () => {
    const running = new FakeNode();
    const io = new FakeIo();
    const result = run(io, async () => {
      io.signal('SIGTERM');
      return running;
    });
    running.end(0);

    expect(await result).toBe(0);
    expect(running.stops).toEqual(['drain']);
  });

  test('an error that knows its exit code gives it; its message stands alone', async () => {
    const io = new FakeIo();
    const result = run(io, () => Promise.reject(node.portInUse('http_api_port', '127.0.0.1', 9210)));
    expect(await result).toBe(1);
    expect(io.errors).toMatch(/^althing: configuration: http_api_port = 9210: the port is in use .*\n$/);
  });

  test('any other error is fatal', async () => {
    const io = new FakeIo();
    expect(await run(io, () => Promise.reject(new Error('no luck')))).toBe(1);
    expect(io.errors).toContain('no luck');
  });

  test('a wrong configuration starts nothing', async () => {
    const io = new FakeIo({ SERVICE_HTTP_API_PORT: 'ninety' });
    let starts = 0;
    const result = run(io, () => {
      starts++;
      return Promise.reject(new Error('started'));
    });
    expect([await result, starts]).toEqual([2, 0]);
    expect(io.errors).toBe(
      'althing: configuration: http_api_port = "ninety" (from SERVICE_HTTP_API_PORT): must be a whole number from 0 to 65535\n',
    );
  });
});

describe('the command line', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'althing-cli-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  test('--print-config shows what a file gives, with secrets masked', async () => {
    const file = join(folder, 'a.conf');
    writeFileSync(file, '[thingsdb]\nhttp_api_port = 4321\nadmin_password = hidden\n');
    const io = new FakeIo();

    expect(await main(['serve', '--config', file, '--print-config'], io)).toBe(0);
    expect(io.output).toContain(`# from ${file} line 2\nhttp_api_port = 4321\n`);
    expect(io.output).toContain('admin_password = ********');
    expect(io.output).not.toContain('hidden');
  });

  test('--help is there for all, and that of serve lists every setting', async () => {
    for (const args of [
      ['--help'],
      ['help'],
      ['query', '--help'],
      ['version', '--help'],
      ['help', 'query'],
    ]) {
      const io = new FakeIo();
      expect(await main(args, io)).toBe(0);
      expect(io.output).toContain('Usage: althing');
    }
    const io = new FakeIo();
    expect(await main(['serve', '--help'], io)).toBe(0);
    for (const key of node.settingKeys) expect(io.output).toContain(node.flagOf(key) ?? `${key}_file`);
  });

  test('the version has two spellings', async () => {
    for (const args of [['version'], ['--version'], ['-v']]) {
      const io = new FakeIo();
      expect(await main(args, io)).toBe(0);
      expect(io.output).toMatch(/^althing version: \d+\.\d+\.\d+(-dev)? /);
    }
  });

  test.each([
    ['nothing', [], 'Usage: althing'],
    ['an unknown command', ['sreve'], 'Did you mean serve?'],
    ['an unknown option', ['serve', '--http-port', '1'], 'unknown option'],
    ['a missing value', ['serve', '--config'], 'argument missing'],
    ['too many words', ['version', 'x'], 'too many arguments'],
  ])('%s is wrong usage', async (_, args, message) => {
    const io = new FakeIo();
    expect(await main(args, io)).toBe(2);
    expect(io.errors).toContain(message);
  });

  test('the program says what to run when there is no build', async () => {
    const bin = fileURLToPath(new URL('../bin', import.meta.url));
    cpSync(bin, join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, [join(folder, 'bin', 'althing.js'), 'version'], (error, _, text) => {
        resolve({ code: error?.code, stderr: text });
      });
    });
    expect(code).toBe(1);
    expect(stderr).toContain('run "npm run build"');
  });
});
