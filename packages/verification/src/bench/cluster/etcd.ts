/**
 * Three nodes of etcd, the yardstick for a cluster: the same machine, the same disk, the same load, durable writes, and
 * reads that are linearizable.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, Launched, until } from '@althing/node/testing';
import type { Target } from '../measure.js';

const startTimeoutMs = 30_000;
const nodeCount = 3;

/** The version of etcd on this machine; undefined if there is none. */
export function etcdVersion(): string | undefined {
  const { status, stdout } = spawnSync('etcd', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  return /etcd Version: (\S+)/.exec(stdout)?.[1] ?? 'unknown';
}

export class EtcdCluster {
  private constructor(
    readonly targets: readonly Target[],
    private readonly children: readonly Launched[],
    private readonly folder: string,
  ) {}

  /** Starts the nodes and waits until they answer. */
  static async start(storage = tmpdir()): Promise<EtcdCluster> {
    const folder = mkdtempSync(join(storage, 'etcd-'));
    const ports = await freePorts(2 * nodeCount);
    const nodes = Array.from({ length: nodeCount }, (_, at) => ({
      name: `e${at}`,
      client: ports[2 * at] ?? 0,
      peer: ports[2 * at + 1] ?? 0,
    }));
    const members = nodes.map(({ name, peer }) => `${name}=http://127.0.0.1:${peer}`).join(',');
    const children = nodes.map(({ name, client, peer }) => {
      const options = {
        name,
        'data-dir': join(folder, name),
        'listen-client-urls': `http://127.0.0.1:${client}`,
        'advertise-client-urls': `http://127.0.0.1:${client}`,
        'listen-peer-urls': `http://127.0.0.1:${peer}`,
        'initial-advertise-peer-urls': `http://127.0.0.1:${peer}`,
        'initial-cluster': members,
        'log-level': 'error',
      };
      const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]);
      return new Launched(['etcd', ...args], { output: 'ignore' });
    });
    const targets = nodes.map(({ client }, at) => ({ port: client, pid: children[at]?.pid ?? 0 }));
    const cluster = new EtcdCluster(targets, children, folder);
    const answer = async (): Promise<boolean> => {
      for (const { port } of targets) await post(port, '/v3/kv/put', putBody);
      return true;
    };
    try {
      await until(() => answer().catch(() => false), 'etcd answers', startTimeoutMs);
    } catch (error) {
      await cluster.discard();
      throw error;
    }
    return cluster;
  }

  /** The number of the target that leads. */
  async leader(): Promise<number> {
    const statuses = await Promise.all(this.targets.map(({ port }) => statusOf(port)));
    const at = statuses.findIndex(({ header, leader }) => header.member_id === leader);
    if (at === -1) throw new Error('no node of etcd leads');
    return at;
  }

  async discard(): Promise<void> {
    await Promise.all(this.children.map((child) => child.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const key = Buffer.from('counter').toString('base64');
const putBody = JSON.stringify({ key, value: Buffer.from('123456').toString('base64') });

/** A put of one small value: durable on a majority before it is answered. */
export const putRequest = requestOf('/v3/kv/put', putBody);

/** A range of one key; linearizable, as it is by default. */
export const rangeRequest = requestOf('/v3/kv/range', JSON.stringify({ key }));

function requestOf(path: string, body: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '\r\n',
  ];
  return Buffer.from(head.join('\r\n') + body);
}

/** The parts of the answer about a node's status that are used. */
interface Status {
  readonly header: { readonly member_id: string };
  readonly leader: string;
}

async function statusOf(port: number): Promise<Status> {
  return JSON.parse(await post(port, '/v3/maintenance/status', '{}')) as Status;
}

async function post(port: number, path: string, body: string): Promise<string> {
  const signal = AbortSignal.timeout(2000);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body, signal });
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return response.text();
}
