import { loadConfig, settingKeys, variableOf } from '@althing/node';
import { describe, expect, test } from '@jest/globals';
import { filesIn, firstOf, run, textOf, yamlOf } from './files.js';
import { isRecord } from './kubernetes-api.js';

type Json = Readonly<Record<string, unknown>>;

const [file] = yamlOf('docker-compose.yml');
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
    const known = new Set(settingKeys.flatMap((key) => [variableOf(key), `${variableOf(key)}_FILE`]));
    expect(Object.keys(environment).filter((variable) => !known.has(variable))).toEqual([]);
    const { config, warnings } = loadConfig({
      environment: { ...environment, SERVICE_LOG_LEVEL: 'info' },
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

  test('no node waits for another one', () => {
    for (const name of nodes)
      expect(Object.keys(recordOf(recordOf(services[name]).depends_on))).toEqual(['secrets']);
  });

  test('every container is confined, bounded in its log, and can end in time', () => {
    for (const [name, service] of Object.entries(services)) {
      const { read_only, cap_drop, security_opt, logging, stop_grace_period } = recordOf(service);
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

  test('only the balancer is open to the network, and no port of the nodes among themselves is', () => {
    for (const [name, service] of Object.entries(services)) {
      const { ports } = recordOf(service);
      for (const port of Array.isArray(ports) ? ports : []) {
        expect([name, port]).toEqual([
          name,
          expect.stringMatching(name === 'lb' ? /:9210$/ : /^127\.0\.0\.1:\d+:(?:9230|9090|3000)$/),
        ]);
      }
    }
  });

  test('names no image without a version, and no volume that is not declared', () => {
    const declared = Object.keys(recordOf(recordOf(file).volumes));
    for (const service of Object.values(services)) {
      const { image, volumes } = recordOf(service);
      expect(image).toMatch(/^(?:\$\{ALTHING_IMAGE:-althing:latest\}|[\w./-]+:v?\d[\d.]*)$/);
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

describe('the balancer', () => {
  const text = textOf('deploy/haproxy/haproxy.cfg');

  test('is accepted by HAProxy', () => {
    const result = firstOf([['haproxy', '-c', '-f', 'deploy/haproxy/haproxy.cfg']]);
    if (result !== undefined) expect([result.code, result.code === 0 ? '' : result.output]).toEqual([0, '']);
  });

  test('knows every node of the compose file', () => {
    const servers = [...text.matchAll(/^ +server(?:-template)? (\w+) (?:1-\d+ )?(\w+):9210$/gm)];
    expect(servers.map(([, name, host]) => [name, host])).toEqual(nodes.map((name) => [name, name]));
  });

  test('sends only what carries an idempotency key a second time', () => {
    expect(text).toContain('http-request disable-l7-retry unless { req.hdr(Idempotency-Key) -m found }');
  });

  test('answers for the nodes with the error that a node would give', () => {
    const bodies = [
      ...text.matchAll(/http-error status (\d+) content-type application\/json string '([^']*)'/g),
    ];
    expect(bodies.map(([, status]) => status).sort()).toEqual(['502', '503', '504']);
    for (const [, , body = ''] of bodies) {
      expect(JSON.parse(body)).toEqual({
        error: { code: -51, name: 'node_err', message: expect.any(String) },
      });
    }
  });
});

function filesBelow(path: string): string[] {
  try {
    return filesIn(path);
  } catch {
    return [textOf(path)];
  }
}

function recordOf(value: unknown): Json {
  if (!isRecord(value)) throw new Error(`not a map: ${JSON.stringify(value)}`);
  return value;
}

function stringsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(recordOf(value)).map(([key, item]) => [key, String(item)]));
}
