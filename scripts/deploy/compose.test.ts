import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig, settingKeys, variableOf } from '@althing/node';
import { freePorts } from '@althing/node/testing';
import { describe, expect, test } from '@jest/globals';
import { filesIn, firstOf, run, textOf, yamlOf } from './files.js';
import { recordOf } from './kubernetes-api.js';

const [file] = yamlOf('docker-compose.yml');
const [tlsFile] = yamlOf('docker-compose.tls.yml');
const services = recordOf(recordOf(file).services);
const nodes = ['node0', 'node1', 'node2', 'more'];

describe('docker-compose.yml', () => {
  test('is accepted by Docker', () => {
    const profiles = ['--profile', 'monitoring', '--profile', 'tools'];
    const hasPlugin = run('docker', ['compose', 'version'])?.code === 0;
    const result = hasPlugin
      ? run('docker', ['compose', ...profiles, 'config'])
      : firstOf([['docker-compose', ...profiles, 'config']]);
    if (result !== undefined) expect([result.code, result.code === 0 ? '' : result.output]).toEqual([0, '']);
  });

  test.each(nodes)('%s gets settings that exist and fit together', (name) => {
    const environment = stringsOf(recordOf(services[name]).environment);
    const settings = settingKeys.flatMap((key) => [variableOf(key), `${variableOf(key)}_FILE`]);
    const known = new Set([...settings, 'NODE_OPTIONS']);
    expect(Object.keys(environment).filter((variable) => !known.has(variable))).toEqual([]);
    const { config, warnings } = loadConfig({
      environment,
      readFile: () => 'a secret that is long enough',
    });
    expect(warnings).toEqual([]);
    expect(config.cluster).toEqual(['node0:9220', 'node1:9220', 'node2:9220']);
  });

  test('every node runs the same, but for its name, its volume and the port of its status page', () => {
    const [first, ...others] = nodes.map((name) => {
      const { hostname: _, volumes: __, ports: ___, deploy: ____, ...rest } = recordOf(services[name]);
      return rest;
    });
    for (const other of others) expect(other).toEqual(first);
  });

  test('every node has volumes of its own for its data and its backups', () => {
    const mounted = nodes.map((name) => {
      const { volumes } = recordOf(services[name]);
      return (Array.isArray(volumes) ? volumes : []).map(String);
    });
    for (const path of ['/data', '/backup']) {
      expect(textOf('Dockerfile')).toMatch(new RegExp(`SERVICE_\\w+_PATH=${path}\\b`));
      const sources = mounted.map((volumes) => volumes.filter((volume) => volume.endsWith(path)));
      expect(sources.map(({ length }) => length)).toEqual(nodes.map(() => 1));
      expect(new Set(sources.flat()).size).toBe(nodes.length);
    }
  });

  test('a node is checked often enough that the balancer can be there within seconds', () => {
    for (const name of nodes) {
      const { interval, retries, start_period: start } = recordOf(recordOf(services[name]).healthcheck);
      const [, every = 0] = /^(\d+)s$/.exec(String(interval)) ?? [];
      expect(Number(every)).toBeLessThanOrEqual(2);
      // As patient as the image: 3 checks in 15 s.
      expect(Number(every) * Number(retries)).toBeGreaterThanOrEqual(15);
      // `up` gives up no start for which upgrade.sh would wait.
      expect(textOf('deploy/docker/upgrade.sh')).toContain(`WAIT_S:-${parseInt(String(start), 10)}}`);
    }
  });

  test('no node waits for another one', () => {
    for (const name of nodes)
      expect(Object.keys(recordOf(recordOf(services[name]).depends_on))).toEqual(['secrets', 'guard']);
  });

  test('every container is confined, bounded in memory, processes and its log, and can end in time', () => {
    const certs = recordOf(recordOf(recordOf(tlsFile).services).certs);
    for (const [name, service] of [...Object.entries(services), ['certs', certs] as const]) {
      const { read_only, cap_drop, security_opt, logging, stop_grace_period } = recordOf(service);
      const { mem_limit, pids_limit } = recordOf(service);
      expect([name, mem_limit, pids_limit]).toEqual([
        name,
        expect.stringMatching(/^(?:\d+[mg]|\$\{ALTHING_MEMORY:-\d+[mg]\})$/),
        expect.any(Number),
      ]);
      expect([name, read_only, cap_drop, security_opt]).toEqual([
        name,
        true,
        ['ALL'],
        ['no-new-privileges:true'],
      ]);
      expect(recordOf(logging).options).toEqual({ 'max-size': '50m', 'max-file': '5' });
      if (nodes.includes(name)) expect([name, stop_grace_period]).toEqual([name, '60s']);
    }
  });

  test('only the balancer can be opened to the network, and no port of the nodes among themselves is', () => {
    for (const [name, service] of Object.entries(services)) {
      const { ports } = recordOf(service);
      for (const port of Array.isArray(ports) ? ports : []) {
        expect([name, port]).toEqual([
          name,
          expect.stringMatching(
            name === 'lb'
              ? /^\$\{ALTHING_BIND:-127\.0\.0\.1\}:\$\{ALTHING_PORT:-9210\}:9210$/
              : /^127\.0\.0\.1:\d+:(?:9230|9090|3000)$/,
          ),
        ]);
      }
    }
  });

  test('runs the version that it comes with', () => {
    const { version } = recordOf(JSON.parse(textOf('package.json')));
    for (const name of [...nodes, 'guard', 'secrets', 'althing'])
      expect(recordOf(services[name]).image).toBe(`\${ALTHING_IMAGE:-althing:${version}}`);
  });

  test('names no image without a version, and no volume that is not declared', () => {
    const declared = Object.keys(recordOf(recordOf(file).volumes));
    for (const service of Object.values(services)) {
      const { image, volumes } = recordOf(service);
      expect(image).toMatch(/^(?:\$\{ALTHING_IMAGE:-althing:[\d.]+(?:-dev)?\}|[\w./-]+:v?\d[\d.]*)$/);
      for (const volume of Array.isArray(volumes) ? volumes : []) {
        const source =
          String(volume)
            .replace(/^\$\{ALTHING_SECRETS:-(\w+)\}/, '$1')
            .split(':')[0] ?? '';
        if (!/^[./]/.test(source)) expect(declared).toContain(source);
        if (source.startsWith('./')) expect(filesBelow(source.slice(2))).not.toEqual([]);
      }
    }
  });
});

describe('docker-compose.tls.yml', () => {
  const overrides = recordOf(recordOf(tlsFile).services);

  test('is accepted by Docker on top of the other', () => {
    const files = ['-f', 'docker-compose.yml', '-f', 'docker-compose.tls.yml'];
    const profiles = ['--profile', 'monitoring', '--profile', 'tools'];
    const hasPlugin = run('docker', ['compose', 'version'])?.code === 0;
    const result = hasPlugin
      ? run('docker', ['compose', ...files, ...profiles, 'config'])
      : firstOf([['docker-compose', ...files, ...profiles, 'config']]);
    if (result !== undefined) expect([result.code, result.code === 0 ? '' : result.output]).toEqual([0, '']);
  });

  test('gives every node a certificate of its own name, that is made before it starts', () => {
    const { command } = recordOf(overrides.certs);
    const made = (Array.isArray(command) ? command : []).map((names) => String(names).split(',')[0]);
    expect(made).toEqual([...nodes, 'lb']);
    for (const name of nodes) {
      const override = recordOf(overrides[name]);
      const { config, warnings } = loadConfig({
        environment: {
          ...stringsOf(recordOf(services[name]).environment),
          ...stringsOf(override.environment),
        },
        readFile: () => 'a secret that is long enough',
      });
      expect(warnings).toEqual([]);
      expect(config.tlsCertFile).toBe(`/certs/${name}.crt`);
      expect(config.tlsKeyFile).toBe(`/certs/${name}.key`);
      expect(config.tlsClientCaFile).toBe('/certs/ca.crt');
      expect(recordOf(services[name]).hostname ?? override.hostname).toBe(name);
      expect(override.depends_on).toEqual({ certs: { condition: 'service_completed_successfully' } });
    }
  });

  test('has Prometheus look at the same nodes', () => {
    const [plain, secure] = ['prometheus', 'prometheus-tls'].map((name) =>
      textOf(`deploy/prometheus/${name}.yml`),
    );
    const targets = (text = ''): string[] => text.match(/\w+:\d{4}\b/g) ?? [];
    expect(targets(secure)).toEqual(targets(plain));
    expect(secure).toContain('- names: [more]');
  });
});

describe('the balancer', () => {
  const text = textOf('deploy/haproxy/haproxy.cfg');

  test('is accepted by HAProxy', () => {
    const result = firstOf([['haproxy', '-c', '-f', 'deploy/haproxy/haproxy.cfg']]);
    if (result !== undefined) expect([result.code, result.code === 0 ? '' : result.output]).toEqual([0, '']);
  });

  test.each([
    ['node0', 200],
    ['other', 503],
  ])('over TLS takes a node with the certificate of %s: %i', async (name, expected) => {
    // Given a node, as far as the balancer sees it, that calls itself node0
    const folder = mkdtempSync(join(tmpdir(), 'althing-deploy-'));
    run(process.execPath, ['deploy/docker/make-certs.mjs', folder, name, 'lb']);
    const pem = readFileSync(join(folder, `${name}.pem`));
    let checks = 0;
    const node = createServer({ cert: pem, key: pem }, (_, response) => response.end());
    node.on('connection', () => checks++);
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
    const address = node.address();
    const nodePort = typeof address === 'object' && address !== null ? address.port : 0;
    const [port = 0, observePort = 0] = await freePorts(2);
    const config = text
      .replace(/^resolvers docker\n(?: .*\n)+/m, '')
      .replaceAll(' resolvers docker init-addr libc,none', '')
      .replace(/^ {2}server(?:-template more| node[12]).*\n/gm, '')
      .replaceAll('connect port 9230', `connect port ${nodePort}`)
      .replaceAll('bind :9210', `bind 127.0.0.1:${port}`)
      .replaceAll('bind :8404', `bind 127.0.0.1:${observePort}`)
      .replace('node0:9210', `127.0.0.1:${nodePort}`);
    writeFileSync(join(folder, 'haproxy.cfg'), config);
    const ca = readFileSync(join(folder, 'ca.crt'));
    // When it is asked through the balancer, after it was checked often enough
    const balancer = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], {
      env: { ...process.env, ALTHING_TLS_FOLDER: folder },
      stdio: 'ignore',
    });
    const isThere = await new Promise<boolean>((resolve) => {
      balancer.on('spawn', () => resolve(true));
      balancer.on('error', () => resolve(false));
    });
    if (!isThere) process.stderr.write('skipped: haproxy is not installed\n');
    const asked = (): Promise<number> =>
      new Promise((resolve) => {
        const request = get({ host: '127.0.0.1', servername: 'lb', port, ca, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        request.on('error', () => resolve(0));
      });
    // Then
    try {
      const end = Date.now() + 20_000;
      while (isThere && (checks < 4 || (await asked()) !== expected)) {
        if (Date.now() > end) throw new Error(`${checks} checks, and the answer is ${await asked()}`);
        await pause(50);
      }
    } finally {
      balancer.kill('SIGKILL');
      node.close();
      node.closeAllConnections();
      rmSync(folder, { recursive: true });
    }
  });

  test('knows every node of the compose file', () => {
    const servers = [
      ...text.matchAll(/^ +server(?:-template)? (\w+) (?:1-\d+ )?(\w+):9210 verifyhost \2$/gm),
    ];
    expect(servers.map(([, name, host]) => [name, host])).toEqual(nodes.map((name) => [name, name]));
  });

  test('gives the connection of a check, handshake included, the time of any other', () => {
    const [, connect] = /^ +timeout connect (\d+)s$/m.exec(text) ?? [];
    const checks = [...text.matchAll(/^ +default-server check inter (\d+)(m?s) /gm)];
    expect(checks.length).toBe(2);
    // HAProxy takes the shorter one.
    for (const [, inter, unit] of checks)
      expect(Number(inter) * (unit === 's' ? 1000 : 1)).toBeGreaterThanOrEqual(Number(connect) * 1000);
  });

  test('is a file that the container sees change, whatever replaces it', () => {
    const { volumes } = recordOf(services.lb);
    expect(volumes).toEqual(['./deploy/haproxy:/usr/local/etc/haproxy:ro']);
    expect(filesIn('deploy/haproxy').map((path) => path.split('/').at(-1))).toEqual(['haproxy.cfg']);
  });

  test('waits longer than a node does, with the settings that it has by itself', () => {
    const { config } = loadConfig({ environment: {} });
    const [, seconds] = /^ +timeout server (\d+)s$/m.exec(text) ?? [];
    expect(Number(seconds) * 1000).toBeGreaterThan(
      config.requestTimeoutMs + config.queryDurationLimitMs + 1000,
    );
  });
});

describe('nginx in place of it', () => {
  const text = textOf('deploy/nginx/nginx.conf');

  test('is accepted by nginx', () => {
    const folder = mkdtempSync(join(tmpdir(), 'althing-deploy-'));
    try {
      // Names of nodes that are not there would be looked up; the usual folders want root.
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      const here = text
        .replaceAll(/\bnode\d:9210/g, '127.0.0.1:9210')
        .replace('http {', `pid ${join(folder, 'pid')};\nhttp {\n${folders.join('\n')}`);
      writeFileSync(join(folder, 'nginx.conf'), here);
      const result = firstOf([['nginx', '-t', '-q', '-c', join(folder, 'nginx.conf')]]);
      if (result !== undefined) expect([result.code, result.output]).toEqual([0, '']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('knows the founders, takes what they take, and repeats nothing that may be done', () => {
    const { config } = loadConfig({ environment: {} });
    const servers = [...text.matchAll(/^ +server (\w+):9210 /gm)].map(([, name]) => name);
    expect(servers).toEqual(nodes.filter((name) => name !== 'more'));
    expect(text).toContain(`client_max_body_size ${config.requestSizeLimit / 1024 ** 2}m;`);
    expect(text).toMatch(/^ +proxy_next_upstream error timeout http_503;$/m);
  });
});

function filesBelow(path: string): string[] {
  try {
    return filesIn(path);
  } catch {
    return [textOf(path)];
  }
}

/** Texts of a map, with the defaults of variables. */
function stringsOf(value: unknown): Record<string, string> {
  const entries = Object.entries(recordOf(value));
  return Object.fromEntries(
    entries.map(([key, item]) => [key, String(item).replace(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  );
}
