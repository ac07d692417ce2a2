/** The balancer in front of the nodes: HAProxy with the project's own configuration. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Launched, within } from '@althing/node/testing';
import { DeploymentError } from './compose.js';
import type { Machine } from './machine.js';

const STOP_MS = 30_000;

/** Why there can be no balancer here; null when there can. */
export function balancerProblem(): string | null {
  const { status } = spawnSync('haproxy', ['-v'], { stdio: 'ignore' });
  return status === 0 ? null : 'haproxy is not installed (apt-get install haproxy)';
}

export class Balancer {
  private readonly process: Launched;

  /** @param config text of haproxy.cfg */
  constructor(machine: Machine, config: string, folder: string) {
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configHere(config, machine));
    const log = openSync(join(folder, 'lb.log'), 'a');
    // It looks names up as a process, too, before it asks the name server.
    const command = [...machine.prefix('lb'), 'haproxy', '-db', '-f', file];
    this.process = new Launched(command, { output: log });
    closeSync(log);
  }

  /** A soft stop; gives how it ended. */
  async stop(): Promise<string> {
    this.process.signal('SIGUSR1');
    try {
      return (await within(this.process.ended, 'the end of the balancer', STOP_MS)).text;
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  async kill(): Promise<void> {
    await this.process.kill();
  }
}

/** The configuration with the address and the name server of this machine, where a container has Docker's. */
function configHere(config: string, machine: Machine): string {
  const changes: readonly (readonly [string, string])[] = [
    ['bind :9210', `bind ${machine.front}:9210`],
    ['bind :8404', `bind ${machine.front}:8404`],
    ['nameserver dns 127.0.0.11:53', `nameserver dns ${machine.front}:${machine.names.port}`],
  ];
  let text = config;
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new DeploymentError(`haproxy.cfg has no line "${from}"`);
    text = text.replace(from, to);
  }
  return text;
}
