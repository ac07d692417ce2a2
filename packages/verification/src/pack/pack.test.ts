/** The command line as a tarball: what a stranger installs, with nothing of this project around it. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startNode } from '../harness/start-node.js';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../../../../', import.meta.url));
const timeoutMs = 180_000;

describe('the command line, packed and installed', () => {
  let folder: string;
  let prefix: string;
  let program: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'althing-pack-'));
    prefix = join(folder, 'prefix');
    program = join(prefix, 'bin/althing');
    mkdirSync(join(folder, 'home'));
    // No registry, no cache, no scripts that could build, and nothing of this machine's settings.
    const { npm_config_registry: _, ...environment } = process.env;
    const env = { ...environment, HOME: join(folder, 'home'), npm_config_cache: join(folder, 'cache') };
    const npm = (...args: string[]) => run('npm', args, { cwd: folder, env, maxBuffer: 64 * 1024 ** 2 });

    await run('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: join(project, 'packages/cli'),
    });
    const [tarball = 'no tarball'] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    await npm(
      'install',
      '--global',
      '--offline',
      '--ignore-scripts',
      '--prefix',
      prefix,
      join(folder, tarball),
    );
  }, timeoutMs);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    'runs a node and asks it',
    async () => {
      const node = await startNode({ command: [program, 'serve'] });
      try {
        const login = ['--user', 'admin:pass', '--url', node.url];
        await run(program, ['query', '//stuff', ".told = 'kept';", ...login], { cwd: folder });
        const { stdout } = await run(program, ['query', '//stuff', '.told;', ...login], { cwd: folder });
        expect(JSON.parse(stdout)).toBe('kept');
      } finally {
        await node.stop();
      }
    },
    timeoutMs,
  );

  test('says its version', async () => {
    const { version } = await import(join(project, 'package.json'), { with: { type: 'json' } }).then(
      (m) => m.default,
    );
    const { stdout } = await run(program, ['--version'], { cwd: folder });
    expect(stdout).toContain(`althing version: ${version} `);
  });

  test('brings a licence and native parts for every platform, and nothing to build with', () => {
    const home = join(prefix, 'lib/node_modules/@althing/cli');
    const natives = readdirSync(join(home, 'node_modules/uWebSockets.js/dist/bin'));
    const platforms = ['linux_x64', 'linux_arm64', 'darwin_x64', 'darwin_arm64'];
    const expected = platforms.flatMap((platform) =>
      ['115', '127'].map((version) => `uws_${platform}_${version}.node`),
    );
    expect(natives.sort()).toEqual(expected.sort());
    expect(readdirSync(join(home, 'node_modules/classic-level/prebuilds')).sort()).toEqual([
      'darwin-x64+arm64',
      'linux-arm64',
      'linux-x64',
    ]);
    expect(readdirSync(home).sort()).toEqual([
      'LICENSE',
      'README.md',
      'bin',
      'bundle',
      'node_modules',
      'package.json',
    ]);
    expect(existsSync(join(home, 'node_modules/classic-level/binding.gyp'))).toBe(false);
  });
});
