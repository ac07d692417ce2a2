import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { RealNode } from '@althing/node/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { firstOf, project, textOf } from './files.js';

const PASSWORD = 'never-shown-password';

describe('the scripts of the image', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'althing-deploy-'));
    mkdirSync(join(folder, 'backups'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  describe('backup.mjs', () => {
    test('gives a backup its name when it is verified, and its settings to the program', async () => {
      const { code, output } = await run('backup.mjs', [join(folder, 'backups')], {
        ...program(`
          if (!isTrial && process.env.ALTHING_PASSWORD_FILE !== 'password') process.exit(9);
          if (command === 'verify' && readFileSync(file, 'utf8') !== 'data') process.exit(8);`),
        ALTHING_PASSWORD_FILE: 'password',
      });
      expect([code, output]).toEqual([0, expect.stringContaining('taken, verified and restored')]);
      expect(backups()).toEqual([expect.stringMatching(/^althing-\d{8}T\d{6}Z\.backup$/)]);
    });

    test('leaves nothing of a backup that does not verify, and removes no older one for it', async () => {
      const old = fill(['20200101T020000', '20200102T020000']);
      const { code } = await run(
        'backup.mjs',
        [join(folder, 'backups')],
        program(`if (command === 'verify') process.exit(1);`),
      );
      expect(code).toBe(1);
      expect(backups()).toEqual(old);
    });

    test.each([
      ['things are missing', 'collections[0].things = isTrial ? 9 : 10;', 'has things 9, and had 10 to 10'],
      ['it is older', 'collections[0].next_free_id = isTrial ? 5 : 6;', 'has next_free_id 5, and had 6 to 6'],
      ['a collection is missing', 'if (isTrial) collections.pop();', 'the collection stuff is missing'],
      ['it is refused', `if (command === 'restore') process.exit(1);`, 'restore'],
      ['nothing starts', `if (command === 'serve') process.exit(2);`, 'ended with code 2'],
    ])('leaves nothing of a backup of which the trial says that %s', async (_, body, words) => {
      const { code, output } = await run('backup.mjs', [join(folder, 'backups')], program(body));
      expect([code, output]).toEqual([1, expect.stringContaining(words)]);
      expect(backups()).toEqual([]);
    });

    test('starts its node on other ports when somebody else took one meanwhile', async () => {
      const { code, output } = await run(
        'backup.mjs',
        [join(folder, 'backups')],
        program(`
          if (command === 'serve') {
            const { SERVICE_HTTP_STATUS_PORT: port, SERVICE_STORAGE_PATH: data } = process.env;
            const seen = __filename + '.seen';
            const isFirst = !require('node:fs').existsSync(seen);
            writeFileSync(seen, port, { flag: 'a' });
            if (isFirst) require('node:fs').mkdirSync(data);
            if (isFirst) process.exit(2);
            if (readFileSync(seen, 'utf8') === port + port) process.exit(9);
            if (require('node:fs').existsSync(data)) process.exit(8);
          }`),
      );
      expect([code, output]).toEqual([0, expect.stringContaining('taken, verified and restored')]);
      expect(readFileSync(join(folder, 'althing.seen'), 'utf8')).toMatch(/^\d{8,10}$/);
    });

    test('restores what it took from a real node, while that is being written to', async () => {
      const node = await RealNode.start({ admin_password: PASSWORD });
      const asAdmin = { ALTHING_URL: node.url, ALTHING_USER: 'admin', ALTHING_PASSWORD: PASSWORD };
      const query = async (code: string): Promise<number> => {
        const { status } = await fetch(`${node.url}//stuff`, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            Authorization: `Basic ${btoa(`admin:${PASSWORD}`)}`,
          },
          body: JSON.stringify({ type: 'query', code }),
        });
        return status;
      };
      try {
        expect(await query('range(50).each(|i| .set("t" + str(i), {i:, below: {}})); nil;')).toBe(200);
        let isOver = false;
        const writer = (async () => {
          while (!isOver) expect(await query('.last = {at: now()};')).toBe(200);
        })();
        const { code, output } = await run('backup.mjs', [join(folder, 'backups'), folder], {
          ...asAdmin,
          ALTHING_PROGRAM: join(project, 'packages/cli/bin/althing.js'),
        });
        isOver = true;
        await writer;
        expect([code, output]).toEqual([0, expect.stringMatching(/restored, 1 collections, 10[12] things/)]);
        expect(backups()).toEqual([expect.stringMatching(/^althing-\d{8}T\d{6}Z\.backup$/)]);
        expect(readdirSync(folder)).toEqual(['backups']);
      } finally {
        await node.kill();
        node.clear();
      }
    });

    test('keeps the newest of 7 days and of 4 weeks, what it did not make, and nothing that was left half done', async () => {
      // Given two a day for 40 days: Sunday 2020-03-01 to Thursday 2020-04-09.
      const days = Array.from({ length: 40 }, (_, day) => new Date(Date.UTC(2020, 2, 1 + day)).toISOString());
      fill(
        days.flatMap((day) =>
          ['T020000', 'T140000'].map((time) => day.slice(0, 10).replaceAll('-', '') + time),
        ),
      );
      writeFileSync(join(folder, 'backups', 'mine.backup'), '');
      writeFileSync(join(folder, 'backups', 'althing-20200101T020000Z.backup.partial'), '');
      // When
      await run('backup.mjs', [join(folder, 'backups')], program(''));
      // Then
      const [first, ...rest] = backups().reverse();
      expect(first).toBe('mine.backup');
      expect(rest.slice(1)).toEqual([
        // Six days beside today's.
        ...['09', '08', '07', '06', '05', '04'].map((day) => `althing-202004${day}T140000Z.backup`),
        // The weeks of today and of 9 April are there already; Sundays end the two before.
        'althing-20200329T140000Z.backup',
      ]);
    });

    /** A program that does what `althing` does, for a cluster of one collection, and before that something else. */
    function program(body: string): Record<string, string> {
      const path = join(folder, 'althing');
      const text = `#!${process.execPath}
        const { readFileSync, writeFileSync } = require('node:fs');
        const words = process.argv.slice(2);
        const file = words.at(-1);
        const command = words[1] === 'verify' ? 'verify' : words[0];
        // Its node is asked under another address than the cluster, and by a new administrator at first.
        const isTrial = process.env.ALTHING_URL !== undefined || command === 'serve';
        const collections = [{ collection_id: 2, name: 'stuff', things: 10, next_free_id: 6 }];
        ${body}
        if (command === 'backup') writeFileSync(file, 'data');
        if (command === 'query') console.log(JSON.stringify(words[1] === '@thingsdb' ? collections : 1));
        if (command === 'serve') {
          const server = require('node:http').createServer((_, response) => response.end());
          server.listen(process.env.SERVICE_HTTP_STATUS_PORT, '127.0.0.1');
          process.on('SIGTERM', () => process.exit(0));
        }`;
      writeFileSync(path, text, { mode: 0o755 });
      return { ALTHING_PROGRAM: path };
    }

    function fill(stamps: readonly string[]): string[] {
      const names = stamps.map((stamp) => `althing-${stamp}Z.backup`);
      for (const name of names) writeFileSync(join(folder, 'backups', name), '');
      return names;
    }

    function backups(): string[] {
      return readdirSync(join(folder, 'backups')).sort();
    }
  });

  describe('make-secrets.mjs', () => {
    test('makes what is missing, differently each time, and keeps what is there', async () => {
      writeFileSync(join(folder, 'admin_password'), 'mine');
      const first = await run('make-secrets.mjs', [folder]);
      const made = readFileSync(join(folder, 'cluster_secret'), 'utf8');
      const second = await run('make-secrets.mjs', [folder]);
      expect([first.code, second.code]).toEqual([0, 0]);
      expect(readFileSync(join(folder, 'admin_password'), 'utf8')).toBe('mine');
      expect(readFileSync(join(folder, 'cluster_secret'), 'utf8')).toBe(made);
      expect(made.trim().length).toBeGreaterThanOrEqual(40);
      expect(statSync(join(folder, 'cluster_secret')).mode & 0o007).toBe(0);
      expect(first.output + second.output).not.toContain(made.trim());
    });

    test('says so when it can not', async () => {
      const { code, output } = await run('make-secrets.mjs', [join(folder, 'missing')]);
      expect([code, output]).toEqual([1, expect.stringContaining('can be neither made nor read')]);
    });
  });

  describe('make-certs.mjs', () => {
    const read = (name: string): X509Certificate => new X509Certificate(readFileSync(join(folder, name)));

    test('makes certificates that both ends of a connection prove themselves with', async () => {
      const { code } = await run('make-certs.mjs', [folder, 'node0,db.example.org', 'node1']);
      expect(code).toBe(0);
      const textIn = (name: string): Buffer => readFileSync(join(folder, name));
      const ca = textIn('ca.crt');
      const server = createTlsServer(
        {
          cert: textIn('node0.crt'),
          key: textIn('node0.key'),
          ca,
          requestCert: true,
          rejectUnauthorized: true,
        },
        (socket) => socket.end(String(socket.getPeerCertificate().subject.CN)),
      );
      server.unref();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const greet = (servername: string, trusted?: Buffer): Promise<string> =>
        new Promise((resolve) => {
          const address = server.address();
          const port = typeof address === 'object' && address !== null ? address.port : 0;
          const other = textIn('node1.pem');
          const socket = connectTls({
            port,
            servername,
            cert: other,
            key: other,
            ...(trusted === undefined ? {} : { ca: trusted }),
          });
          socket.on('data', (data) => resolve(data.toString()));
          socket.on('error', (error) => resolve(String(error)));
        });
      expect(await greet('node0', ca)).toBe('node1');
      expect(await greet('db.example.org', ca)).toBe('node1');
      expect(await greet('node2', ca)).toContain('does not match');
      expect(await greet('node0')).toContain('self-signed certificate in certificate chain');
      server.close();
    });

    test('are accepted by OpenSSL, at its strictest', async () => {
      await run('make-certs.mjs', [folder, 'node0', '127.0.0.1'], { DAYS: '9000' });
      for (const purpose of ['sslserver', 'sslclient']) {
        const files = ['node0', '127.0.0.1'].map((name) => join(folder, `${name}.crt`));
        const result = firstOf([
          [
            'openssl',
            'verify',
            '-x509_strict',
            '-purpose',
            purpose,
            '-CAfile',
            join(folder, 'ca.crt'),
            ...files,
          ],
        ]);
        if (result !== undefined)
          expect([result.code, result.code === 0 ? '' : result.output]).toEqual([0, '']);
      }
      // Nine thousand days of a year like this one end before 2050, those of the authority after it.
      expect(new Date(read('ca.crt').validTo).getUTCFullYear()).toBeGreaterThan(2200);
    });

    test('keeps what holds long enough and for the same names, when it is asked to', async () => {
      const make = async (days: string, ...names: string[]): Promise<string> => {
        await run('make-certs.mjs', ['--keep', folder, ...names], { DAYS: days });
        return read('a.crt').fingerprint256;
      };
      const first = await make('60', 'a');
      expect(await make('60', 'a')).toBe(first);
      const second = await make('60', 'a,b');
      expect(second).not.toBe(first);
      // It holds for more names than are asked for.
      expect(await make('29', 'a')).toBe(second);
      await run('make-certs.mjs', [folder, 'a'], { DAYS: '29' });
      const short = read('a.crt').fingerprint256;
      expect(await make('60', 'a')).not.toBe(short);
      rmSync(join(folder, 'ca.key'));
      rmSync(join(folder, 'ca.crt'));
      const third = read('a.crt').fingerprint256;
      expect(await make('60', 'a')).not.toBe(third);
    });

    test('makes none under an authority of somebody else, and says what is missing', async () => {
      await run('make-certs.mjs', [folder, 'a']);
      const { fingerprint256 } = read('a.crt');
      rmSync(join(folder, 'ca.key'));
      expect((await run('make-certs.mjs', ['--keep', folder, 'a'])).code).toBe(0);
      expect(read('a.crt').fingerprint256).toBe(fingerprint256);
      const { code, output } = await run('make-certs.mjs', ['--keep', folder, 'a', 'b']);
      expect([code, output]).toEqual([1, expect.stringContaining(`${join(folder, 'b.key')} is missing`)]);
    });

    test('says how it is used', async () => {
      expect((await run('make-certs.mjs', [folder])).code).toBe(2);
    });
  });

  describe('sbom.mjs', () => {
    test('lists what an image holds, and nothing else, the same each time', async () => {
      const [first, second] = await Promise.all([run('sbom.mjs', []), run('sbom.mjs', [])]);
      expect(first.code).toBe(0);
      expect(second.output).toBe(first.output);
      // Neither does another npm make another list.
      expect(first.output).not.toMatch(/package:path|"vendor": "npm",\s+"name": "cli",\s+"version"/);
      const document: unknown = JSON.parse(first.output.slice(first.output.indexOf('{')));
      expect(document).toMatchObject({
        bomFormat: 'CycloneDX',
        metadata: { component: { name: 'althing' } },
      });
      const { components = [] } = document as { components?: readonly { readonly purl: string }[] };
      const purls = components.map(({ purl }) => purl.replace(/@[^@]*$/, ''));
      // As the lock file has it: what the packages need, and what that needs.
      const lock = JSON.parse(textOf('package-lock.json')) as {
        readonly packages: Readonly<Record<string, { name?: string; dev?: boolean; link?: boolean }>>;
      };
      const expected = Object.entries(lock.packages)
        .filter(([path, { dev, link }]) => path !== '' && dev !== true && link !== true)
        .map(
          ([path, { name }]) =>
            `pkg:npm/${(name ?? path.replace(/^(?:packages|.*node_modules)\//, '')).replace('@', '%40')}`,
        );
      expect(purls.sort()).toEqual(expected.sort());
      expect(purls).toContain('pkg:npm/uws-pack');
    });
  });

  describe('trim.mjs', () => {
    const put = (...paths: readonly string[]): void => {
      for (const path of paths) {
        mkdirSync(join(folder, path, '..'), { recursive: true });
        writeFileSync(join(folder, path), '');
      }
    };
    const left = (): string[] =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.startsWith('node_modules') || path.startsWith('packages'))
        .sort();
    beforeEach(() => {
      const uws = ['x64', 'arm64', 'arm'].flatMap((arch) => ['115', '127'].map((n) => `linux_${arch}_${n}`));
      put(
        ...uws.map((name) => `node_modules/uWebSockets.js/dist/bin/uws_${name}.node`),
        'node_modules/uWebSockets.js/dist/index.d.mts',
        'node_modules/uWebSockets.js/dist/index.mjs',
        'node_modules/classic-level/binding.cc',
        'node_modules/classic-level/deps/leveldb/db.cc',
        'node_modules/classic-level/index.js',
        'node_modules/classic-level/prebuilds/darwin-x64+arm64/classic-level.node',
        'node_modules/classic-level/prebuilds/linux-arm64/classic-level.armv8.node',
        'node_modules/classic-level/prebuilds/linux-x64/classic-level.musl.node',
        'node_modules/classic-level/prebuilds/linux-x64/classic-level.node',
        'node_modules/@node-rs/crc32/index.js',
        'node_modules/@node-rs/crc32-linux-arm64-gnu/crc32.linux-arm64-gnu.node',
        'node_modules/@node-rs/crc32-linux-x64-gnu/crc32.linux-x64-gnu.node',
        'node_modules/@node-rs/crc32-linux-x64-musl/crc32.linux-x64-musl.node',
        'node_modules/.package-lock.json',
        'node_modules/@jest/core/README.md',
        'node_modules/pino/LICENSE.md',
        'node_modules/pino/README.md',
        'node_modules/pino/lib/tools.js',
        'node_modules/pino/lib/tools.js.map',
        'node_modules/pino/test/a.test.js',
        'packages/cli/bin/althing.js',
        'packages/cli/bundle/index.js',
        'packages/cli/dist/.tsbuildinfo',
        'packages/cli/dist/index.js',
        'packages/cli/package.json',
        'packages/raft-ts/dist/index.js',
      );
      mkdirSync(join(folder, 'node_modules/@althing'));
      symlinkSync('../../packages/cli', join(folder, 'node_modules/@althing/cli'));
      symlinkSync('../packages/raft-ts', join(folder, 'node_modules/raft-ts'));
    });

    test.each([
      ['x64', 'classic-level.node'],
      ['arm64', 'classic-level.armv8.node'],
    ])('leaves what runs on %s, and nothing else', async (arch, level) => {
      const { code, output } = await run('trim.mjs', [folder, 'linux', arch, '127']);
      expect([code, output]).toEqual([0, '']);
      expect(left()).toEqual([
        'node_modules',
        'node_modules/@node-rs',
        'node_modules/@node-rs/crc32',
        `node_modules/@node-rs/crc32-linux-${arch}-gnu`,
        `node_modules/@node-rs/crc32-linux-${arch}-gnu/crc32.linux-${arch}-gnu.node`,
        'node_modules/@node-rs/crc32/index.js',
        'node_modules/classic-level',
        'node_modules/classic-level/index.js',
        'node_modules/classic-level/prebuilds',
        `node_modules/classic-level/prebuilds/linux-${arch}`,
        `node_modules/classic-level/prebuilds/linux-${arch}/${level}`,
        'node_modules/pino',
        'node_modules/pino/LICENSE.md',
        'node_modules/pino/lib',
        'node_modules/pino/lib/tools.js',
        'node_modules/uWebSockets.js',
        'node_modules/uWebSockets.js/dist',
        'node_modules/uWebSockets.js/dist/bin',
        `node_modules/uWebSockets.js/dist/bin/uws_linux_${arch}_127.node`,
        'node_modules/uWebSockets.js/dist/index.mjs',
        'packages',
        'packages/cli',
        'packages/cli/bin',
        'packages/cli/bin/althing.js',
        'packages/cli/bundle',
        'packages/cli/bundle/index.js',
        'packages/cli/package.json',
      ]);
    });

    test('knows by itself where it runs', async () => {
      put(
        `node_modules/uWebSockets.js/dist/bin/uws_${process.platform}_${process.arch}_${process.versions.modules}.node`,
      );
      put(`node_modules/classic-level/prebuilds/${process.platform}-${process.arch}/classic-level.node`);
      put(`node_modules/@node-rs/crc32-${process.platform}-${process.arch}/crc32.node`);
      expect((await run('trim.mjs', [folder])).code).toBe(0);
      const natives = left().filter((path) => path.endsWith('.node') && !path.endsWith('-gnu.node'));
      expect(natives).toEqual([
        expect.stringContaining(`@node-rs/crc32-${process.platform}-${process.arch}`),
        expect.stringContaining(`${process.platform}-${process.arch}`),
        expect.stringContaining(`_${process.arch}_${process.versions.modules}`),
      ]);
    });

    test.each([
      [
        'a platform that has no binaries',
        ['linux', 'riscv64', '127'],
        'expected one uws_linux_riscv64_127.node',
      ],
      ['another Node.js', ['linux', 'arm64', '999'], 'expected one uws_linux_arm64_999.node'],
      ['half of a platform', ['linux'], 'usage'],
    ])('refuses %s', async (_, target, words) => {
      const { code, output } = await run('trim.mjs', [folder, ...target]);
      expect(code).not.toBe(0);
      expect(output).toContain(words);
    });

    test('refuses what is not bundled', async () => {
      rmSync(join(folder, 'packages/cli/bundle'), { recursive: true });
      const { code, output } = await run('trim.mjs', [folder, 'linux', 'x64', '127']);
      expect([code === 0, output]).toEqual([false, expect.stringContaining('there is no bundle')]);
    });
  });

  describe('healthcheck.mjs', () => {
    test.each([
      [200, 0],
      [503, 1],
    ])('healthcheck.mjs with status %i ends with %i and tells the reason', async (status, expected) => {
      const server = createServer((request, response) => {
        response.statusCode = status;
        response.end(`${request.url}: because`);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const { code, output } = await run('healthcheck.mjs', [], { SERVICE_HTTP_STATUS_PORT: String(port) });
      server.close();
      expect([code, output]).toEqual([expected, '/ready: because\n']);
    });

    test('fails where nobody listens', async () => {
      const { code } = await run('healthcheck.mjs', [], { SERVICE_HTTP_STATUS_PORT: '1' });
      expect(code).toBe(1);
    });
  });
});

describe('the Dockerfile', () => {
  test('puts the list of what is in the image into it, made before the tools for that are gone', () => {
    const text = textOf('Dockerfile');
    expect(text).toMatch(
      /^RUN node deploy\/docker\/sbom\.mjs > sbom\.cdx\.json && node deploy\/docker\/trim\.mjs/m,
    );
    expect(text).toMatch(/^COPY --from=build .*\/app\/sbom\.cdx\.json .*\/app\/$/m);
  });

  test('copies the manifest of every package', () => {
    const text = textOf('Dockerfile');
    for (const name of readdirSync(join(project, 'packages'))) {
      expect(text).toContain(`COPY packages/${name}/package.json packages/${name}/\n`);
    }
  });
});

function run(
  script: string,
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(project, 'deploy/docker', script), ...parameters], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keep = (part: Buffer): void => {
      output += part.toString('utf8');
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
