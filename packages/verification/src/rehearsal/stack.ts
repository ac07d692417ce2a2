/** The containers of docker-compose.yml, and what `docker compose` does with them. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { basic, until } from '@althing/node/testing';
import { settle } from '../chaos/members.js';
import { Requests, type Response } from '../chaos/requests.js';
import { Balancer } from './balancer.js';
import { DeploymentError, type Image, readImage, readService, type Service } from './compose.js';
import { Container, type Mounts, runOnce } from './container.js';
import type { Machine } from './machine.js';

const FOUNDERS = ['node0', 'node1', 'node2'] as const;
const SCALED = 'more';
const GUARD = 'guard';
const SECRETS = ['cluster_secret', 'admin_password'] as const;
const SERVES_MS = 20_000;

export interface StackOptions {
  readonly machine: Machine;
  /** The project's folder. */
  readonly project: string;
  /** The folder of volumes, secrets and logs. */
  readonly folder: string;
  /** Settings of the nodes on top of the compose file's. */
  readonly environment: Readonly<Record<string, string>>;
  /** Called when a node ends though nobody ended it. */
  readonly onEnd: (container: Container, how: string) => void;
}

export class Stack {
  /** Sends requests to nodes directly, and through the balancer. */
  readonly requests = new Requests('');
  private readonly compose: string;
  private readonly image: Image;
  private readonly byName = new Map<string, Container>();
  private balancer: Balancer | null = null;
  private guard: Container | null = null;
  /** The build that new containers run: a project's folder. */
  build: string;

  /** @throws {DeploymentError} */
  constructor(private readonly options: StackOptions) {
    const { project, folder } = options;
    this.build = project;
    this.image = readImage(readFileSync(join(project, 'Dockerfile'), 'utf8'));
    this.compose = readFileSync(join(project, 'docker-compose.yml'), 'utf8');
    for (const name of ['secrets', 'bin', 'backup', 'logs']) mkdirSync(join(folder, name));
    // As the image has it.
    symlinkSync(join(project, 'packages/cli/bin/althing.js'), join(folder, 'bin/althing'));
  }

  get containers(): readonly Container[] {
    return [...this.byName.values()];
  }

  container(name: string): Container {
    const container = this.byName.get(name);
    if (container === undefined) throw new Error(`there is no container ${name}`);
    return container;
  }

  /** The one-shot service that makes the secrets. */
  async makeSecrets(): Promise<void> {
    const { machine } = this.options;
    const { how, output } = await runOnce(machine, this.service('secrets'), [], this.mounts(), '');
    if (how !== 'code 0') throw new DeploymentError(`the service "secrets" ended with ${how}: ${output}`);
  }

  /** Secrets that the service "secrets" made. */
  get secrets(): readonly string[] {
    return SECRETS.map((name) => readFileSync(join(this.options.folder, 'secrets', name), 'utf8'));
  }

  /** Starts the service that the nodes depend on, unless it runs. */
  startGuard(): void {
    this.guard ??= this.create(GUARD, GUARD);
    this.guard.start();
  }

  /** `docker compose kill guard`, `docker compose rm -f guard` and `docker compose up -d --no-recreate guard`. */
  async replaceGuard(): Promise<void> {
    await this.guard?.destroy();
    this.guard = null;
    this.startGuard();
  }

  /** The founders; those that are not there yet are made, and not started. */
  createFounders(): readonly Container[] {
    return FOUNDERS.map((name) => this.byName.get(name) ?? this.create(name, name));
  }

  /** `docker compose up -d --wait`: what is there stays as it is. */
  async up(): Promise<void> {
    await this.makeSecrets();
    this.startGuard();
    const founders = this.createFounders();
    for (const founder of founders) founder.start();
    await Promise.all(founders.map((founder) => founder.whenHealthy()));
    this.startBalancer();
  }

  /**
   * `docker compose up -d` after a change of what all nodes have in common. As Compose 2 has it: what others depend on comes
   * first; each container is stopped, removed and made again; and none is started before all have been made.
   *
   * @param interrupted the command, when it is given up; what was stopped by then stays so
   */
  async upChanged(interrupted: AbortSignal): Promise<void> {
    const names = [GUARD, ...FOUNDERS];
    const made = new Set<string>();
    while (made.size < names.length) {
      const next = names.filter(
        (name) => !made.has(name) && this.dependencies(name, names).every((each) => made.has(each)),
      );
      if (next.length === 0) throw new DeploymentError('services depend on each other in a circle');
      await Promise.all(next.map((name) => this.remade(name)));
      if (interrupted.aborted) return;
      for (const name of next) made.add(name);
    }
    this.startGuard();
    for (const founder of this.createFounders()) founder.start();
  }

  /** `docker compose down`: the containers go, the volumes stay; gives how each of them ended. */
  async down(): Promise<readonly string[]> {
    const ends = await this.stop();
    this.byName.clear();
    this.guard = null;
    return ends;
  }

  /** `docker compose rm -sf NAME` and `docker compose up -d --no-recreate --wait NAME`; gives how the former container ended. */
  async recreate(name: string): Promise<string> {
    const how = await this.container(name).stop();
    const container = this.create(name, name);
    container.start();
    await container.whenReady();
    return how;
  }

  /** `docker compose rm -sf NAME`, `docker volume rm`, and `docker compose up -d NAME`. */
  async loseVolume(name: string): Promise<void> {
    await this.container(name).stop();
    rmSync(join(this.options.folder, name), { recursive: true });
    const container = this.create(name, name);
    container.start();
    await container.whenReady();
  }

  /** One more of the service that is scaled. */
  async scaleUp(): Promise<Container> {
    // A container is known by its id.
    const container = this.create(SCALED, randomBytes(6).toString('hex'));
    container.start();
    await container.whenReady();
    return container;
  }

  /** `--scale` to one less. */
  async scaleDown(container: Container): Promise<void> {
    await container.destroy();
    this.byName.delete(container.name);
  }

  /** Starts the balancer, unless there is one. */
  startBalancer(): void {
    if (this.balancer !== null) return;
    const { machine, project, folder } = this.options;
    const config = readFileSync(join(project, 'deploy/haproxy/haproxy.cfg'), 'utf8');
    this.balancer = new Balancer(machine, config, join(folder, 'logs'));
  }

  /** Makes the requests to come those of the administrator of a new cluster. */
  beAdmin(): void {
    const [, password = ''] = this.secrets;
    this.requests.authorization = basic('admin', password.trim());
  }

  /** Makes a token for what is asked, as soon as the balancer serves. */
  async login(): Promise<void> {
    this.beAdmin();
    let token: unknown;
    const isIn = async (): Promise<boolean> => {
      const { outcome, value } = await this.ask('/t', "new_token('admin', nil, 'rehearsal');");
      token = value;
      return outcome === 'ok';
    };
    await until(isIn, 'the balancer serves', SERVES_MS);
    this.requests.authorization = `Bearer ${String(token)}`;
  }

  /** `docker compose run --rm althing ...`. */
  runCommand(...args: string[]): Promise<{ readonly how: string; readonly output: string }> {
    const { machine, folder } = this.options;
    return runOnce(machine, this.service('althing'), args, this.mounts(), join(folder, 'bin'));
  }

  /** Asks through the balancer. */
  ask(scope: string, code: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const { front } = this.options.machine;
    return this.requests.ask({ host: front, port: 9210 }, { scope, code, headers });
  }

  /** Waits until all nodes are well; see `settle` of members. */
  settle(whileWriting: boolean): Promise<void> {
    return settle(this.members, whileWriting);
  }

  get members(): Parameters<typeof settle>[0] {
    return this.containers.map((container) => ({
      name: container.name,
      isRunning: container.isRunning,
      ask: (scope, code, headers = {}) => this.requests.ask(container.endpoint, { scope, code, headers }),
    }));
  }

  /** `docker compose stop`; gives how each of them ended. */
  async stop(): Promise<readonly string[]> {
    const balancer = await this.balancer?.stop();
    this.balancer = null;
    const nodes = await Promise.all(this.containers.map((container) => container.stop()));
    const guard = await this.guard?.stop();
    return [...nodes, ...[balancer, guard].map((how) => how ?? 'nothing')];
  }

  /** Ends all at once. */
  async close(): Promise<void> {
    this.requests.close();
    const containers = [...this.containers, ...(this.guard === null ? [] : [this.guard])];
    await Promise.all([this.balancer?.kill(), ...containers.map((container) => container.destroy())]);
  }

  private create(service: string, hostname: string): Container {
    const { machine, folder, environment, onEnd } = this.options;
    mkdirSync(join(folder, hostname), { recursive: true });
    const container = new Container({
      machine,
      service: this.service(service),
      hostname,
      mounts: { ...this.mounts(), '/app': this.build, '/data': join(folder, hostname) },
      environment,
      logFile: join(folder, 'logs', `${hostname}.log`),
      onEnd,
    });
    if (service !== GUARD) this.byName.set(hostname, container);
    return container;
  }

  private dependencies(name: string, among: readonly string[]): readonly string[] {
    return this.service(name).dependsOn.filter((each) => among.includes(each));
  }

  /** Stops the container of a service, and makes it again. */
  private async remade(name: string): Promise<void> {
    if (name === GUARD) {
      const former = this.guard;
      await former?.stop();
      // Unless there is another one by then.
      if (this.guard === former) this.guard = null;
    } else {
      await this.container(name).stop();
      this.create(name, name);
    }
  }

  private service(name: string): Service {
    return readService(this.compose, name, this.image);
  }

  private mounts(): Mounts {
    const { project, folder } = this.options;
    return { '/app': project, '/secrets': join(folder, 'secrets'), '/backup': join(folder, 'backup') };
  }
}
