import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { project, textOf, yamlOf } from './files.js';
import { recordOf } from './kubernetes-api.js';

const nodes = ['node0', 'node1', 'node2', 'more'];

describe('the guard of docker-compose.yml', () => {
  const services = servicesOf('docker-compose.yml');
  const guard = recordOf(services.guard);

  test('is stopped before any node is, when Compose makes them again', () => {
    for (const name of nodes) expect(recordOf(recordOf(services[name]).depends_on)).toHaveProperty('guard');
    expect(guard.depends_on).toEqual({});
  });

  test('has everything that the nodes have in common, so that it has changed when they have', () => {
    const own = ['hostname', 'volumes', 'ports', 'deploy', 'depends_on', 'healthcheck', 'stop_grace_period'];
    const [common] = nodes.map((name) => {
      const entries = Object.entries(recordOf(services[name]));
      return Object.fromEntries(entries.filter(([key]) => !own.includes(key)));
    });
    expect(guard).toMatchObject(common ?? {});
    expect(guard.healthcheck).toMatchObject(recordOf(recordOf(services.node0).healthcheck));
  });

  test.each(['docker-compose.yml', 'docker-compose.tls.yml'])(
    'changes with every variable that %s takes for the nodes',
    (file) => {
      const { guard: here, ...others } = servicesOf(file);
      const used = variablesIn(nodes.map((name) => others[name]));
      expect(used.size).toBeGreaterThan(0);
      // Its name has no part in what it looks after.
      const { container_name: _, ...watched } = recordOf(here);
      expect([...variablesIn([watched])].sort()).toEqual([...used].sort());
    },
  );

  test('is not killed while it waits', () => {
    expect(guard.stop_grace_period).toBe('8760h');
  });

  describe('told to end', () => {
    let node: Server;
    let child: ChildProcess;
    let output = '';
    let ended: Promise<number | null>;

    beforeEach(async () => {
      node = createServer((socket) => socket.destroy());
      await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
      const address = node.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      child = spawn(process.execPath, [join(project, 'deploy/docker/guard.mjs')], {
        // The second one is not there.
        env: { SERVICE_CLUSTER: '127.0.0.1:9220,127.0.0.9:9220', SERVICE_HTTP_STATUS_PORT: String(port) },
      });
      output = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (part: Buffer) => {
          output += part.toString('utf8');
        });
      ended = new Promise((resolve) => child.on('exit', resolve));
      await until(() => output.includes('all at once'));
    });
    afterEach(() => {
      child.kill('SIGKILL');
      node.close();
    });

    test('goes on as long as a node runs, and says what to do', async () => {
      child.kill('SIGTERM');
      await until(() => output.includes('127.0.0.1 would be stopped'));
      expect(output).toContain('deploy/docker/upgrade.sh');
      await pause(500);
      expect(child.exitCode).toBeNull();
      node.close();
      expect(await ended).toBe(0);
    });

    test('ends at once when none does', async () => {
      await new Promise((resolve) => node.close(resolve));
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    });
  });
});

describe('upgrade.sh', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'althing-deploy-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('replaces one node after the other, each when all others are ready, and then what is around them', async () => {
    docker('');
    const { code, output } = await upgrade();
    expect([code, output]).toEqual([0, 'upgrade: node0\nupgrade: node1\nupgrade: node2\n']);
    const check = nodes.slice(0, 3).map((name) => `exec -T ${name} node /app/deploy/docker/healthcheck.mjs`);
    expect(calls()).toEqual([
      'rm -fv guard',
      'rm -fv secrets',
      ...check,
      ...nodes.slice(0, 3).flatMap((name, i) => {
        const others = check.filter((_, k) => k !== i);
        return [...others, `rm -sf ${name}`, `up -d --no-recreate --wait ${name}`];
      }),
      ...check,
      'kill guard',
      'rm -fv guard',
      'up -d --no-recreate guard',
      'up -d --no-recreate --wait lb',
      'kill -s SIGUSR2 lb',
    ]);
  });

  test('has no `up` that could make a running container again', () => {
    const ups = textOf('deploy/docker/upgrade.sh').match(/^[^#\n]*docker compose up.*$/gm) ?? [];
    expect(ups.length).toBeGreaterThan(2);
    for (const up of ups) expect(up).toContain(' --no-recreate');
  });

  test('runs the services again that run once, with TLS that of the certificates, too', async () => {
    docker('case "$*" in "config --services") printf "%s\\n" certs guard lb node0 secrets ;; esac');
    expect((await upgrade()).code).toBe(0);
    expect(calls().slice(0, 3)).toEqual(['rm -fv guard', 'rm -fv certs', 'rm -fv secrets']);
  });

  test.each([
    ['other settings', 'case "$*" in "config --hash *") echo lb 2 ;; esac'],
    ['another image', 'case "$*" in "image inspect"*) echo sha256:new ;; esac'],
  ])('makes the balancer again that has %s', async (_what, body) => {
    docker(body);
    expect((await upgrade()).code).toBe(0);
    expect(calls().slice(-3)).toEqual(['rm -sf lb', 'up -d --no-recreate --wait lb', 'kill -s SIGUSR2 lb']);
  });

  test('fails when a node was stopped beside the one that it replaced', async () => {
    docker(
      'case "$*" in "up "*node0) touch "$0.stopped" ;; inspect*node1) [ ! -e "$0.stopped" ] || echo later ;; esac',
    );
    const { code, output } = await upgrade();
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('nodes were stopped that were to go on (2.40.3'),
    ]);
    expect(calls().at(-1)).toBe('up -d --no-recreate --wait node0');
  });

  test('fails when nodes were stopped while the balancer was made again', async () => {
    docker(
      'case "$*" in "up "*lb) touch "$0.stopped" ;; inspect*) [ ! -e "$0.stopped" ] || echo later ;; esac',
    );
    expect((await upgrade()).code).toBe(1);
    expect(calls().at(-1)).toBe('kill -s SIGUSR2 lb');
  });

  test.each(['2.26.0', 'v2.26.1', '2.26.1-4', '2.40.3', '5.0.1'])(
    'takes Docker Compose %s',
    async (version) => {
      docker(`case "$*" in "version --short") echo ${version}; exit ;; esac`);
      expect((await upgrade()).code).toBe(0);
    },
  );

  test.each(['1.29.2', '2.25.9', 'v2.9.0', 'dev', ''])('refuses Docker Compose "%s"', async (version) => {
    docker(`case "$*" in "version --short") echo "${version}"; exit ;; esac`);
    const { code, output } = await upgrade();
    expect([code, output]).toEqual([1, expect.stringMatching(/too old: 2\.26 or newer|is no version/)]);
    expect(calls()).toEqual([]);
  });

  test('refuses to take the native protocol away', async () => {
    docker('case "$*" in "port lb 9200") echo 127.0.0.1:9200; exit 0 ;; esac');
    const { code, output } = await upgrade();
    expect([code, output]).toEqual([1, expect.stringContaining('into the file .env')]);
    expect(calls()).toEqual([]);
  });

  test('goes on where the native protocol stays', async () => {
    docker(
      'case "$*" in "port lb 9200") echo 127.0.0.1:9200; exit 0 ;; "config lb") echo "        target: 9200" ;; esac',
    );
    expect((await upgrade()).code).toBe(0);
  });

  test('stops no node while another one is not ready', async () => {
    docker('case "$*" in *"exec -T node1"* | *"exec -T node2"*) exit 1 ;; esac');
    const { code, output } = await upgrade();
    expect([code, output]).toEqual([1, expect.stringContaining('node1 is not ready, so no other node')]);
    expect(calls().filter((call) => /^(?:up|rm -sf)/.test(call))).toEqual([]);
  });

  test('replaces the one first that did not start with what it was given before', async () => {
    docker(
      'case "$*" in "up "*node1) touch "$0.new" ;; *"exec -T node1"*) [ -e "$0.new" ] || exit 1 ;; esac',
    );
    const { code, output } = await upgrade();
    expect([code, output]).toEqual([0, 'upgrade: node1\nupgrade: node0\nupgrade: node2\n']);
  });

  test('goes no further when that one is not ready again', async () => {
    docker('case "$*" in *"exec -T node1"*) exit 1 ;; esac');
    const { code, output } = await upgrade();
    expect([code, output]).toEqual([1, expect.stringContaining('node1 is not ready, so no other node')]);
    expect(calls().filter((call) => /^(?:up|rm -sf)/.test(call))).toEqual([
      'rm -sf node1',
      'up -d --no-recreate --wait node1',
    ]);
  });

  test('goes no further when a node does not come back', async () => {
    docker('case "$*" in *"--wait node1"*) exit 1 ;; esac');
    expect((await upgrade()).code).toBe(1);
    expect(calls().at(-1)).toBe('up -d --no-recreate --wait node1');
  });

  test('says that further nodes are as they were', async () => {
    docker('case "$*" in *"ps -q more"*) echo 4711 ;; esac');
    expect((await upgrade()).output).toContain('nodes of "more" go on as they were');
  });

  test('takes no other words', async () => {
    docker('');
    expect((await upgrade('node0')).code).toBe(1);
    expect(calls()).toEqual([]);
  });

  /**
   * A `docker` that writes down the commands of Compose which do something, without that word, and answers questions as one
   * whose cluster is as the files say.
   *
   * @param body goes first, with the command in `$*`
   */
  function docker(body: string): void {
    const program = join(folder, 'docker');
    writeFileSync(join(folder, 'calls'), '');
    writeFileSync(
      program,
      `#!/bin/sh
[ "$1" != compose ] || shift
case "$1" in rm | up | kill | exec) echo "$*" >> '${folder}/calls' ;; esac
${body}
case "$*" in
  "version --short") echo 2.40.3 ;;
  "config --services") printf '%s\\n' guard lb node0 node1 node2 secrets ;;
  "config --hash *") printf '%s\\n' 'guard 7' 'lb 1' ;;
  "port "*) exit 1 ;;
  "ps -aq "*) echo "$3" ;;
  *config-hash*) echo 1 ;;
  *.Config.Image*) echo haproxy:3.0 ;;
  "image inspect"*) echo sha256:same ;;
  *" {{.Image}} "*) echo sha256:same ;;
  inspect*) echo started ;;
esac
`,
    );
    chmodSync(program, 0o755);
  }

  function calls(): string[] {
    return readFileSync(join(folder, 'calls'), 'utf8')
      .split('\n')
      .filter((call) => call !== '');
  }

  function upgrade(...parameters: string[]): Promise<{ code: number | null; output: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(join(project, 'deploy/docker/upgrade.sh'), parameters, {
        env: { PATH: `${folder}:${process.env.PATH ?? ''}`, ALTHING_UPGRADE_WAIT_S: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (part: Buffer) => {
          output += part.toString('utf8');
        });
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, output }));
    });
  }
});

describe('docs/docker.md', () => {
  test('has no `up` of a cluster that runs which could make a node again', () => {
    const rows = textOf('docs/docker.md')
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const ups = rows.flatMap((row) => row.match(/docker compose (?:--profile \w+ )?up [^`&;]*/g) ?? []);
    expect(ups.length).toBeGreaterThan(2);
    for (const up of ups) expect(up).toMatch(/ --no-recreate\b/);
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !isTrue(); await pause(20))
    if (Date.now() > end) throw new Error('waited in vain');
}

function variablesIn(values: readonly unknown[]): Set<string> {
  return new Set([...JSON.stringify(values).matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name));
}

function servicesOf(path: string): Readonly<Record<string, unknown>> {
  return recordOf(recordOf(yamlOf(path)[0]).services);
}
