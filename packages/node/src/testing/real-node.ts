/**
 * A real node for tests: `althing serve` in a process of its own, on free ports and in a temporary folder.
 * Everything that a test does with it goes over the network.
 *
 *   const node = await RealNode.start({ query_duration_limit_ms: 200 });
 *   const answer = await node.query('//stuff', '1 + 1;');
 *   await node.stop(); // fails unless the process ends with code 0
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../base/error-text.js';
import type { SettingKey } from '../config/index.js';
import { Answer } from './answer.js';
import { freePorts } from './free-ports.js';
import { Launched, SERVE, variablesOf } from './launch.js';
import { RawConnection } from './raw-connection.js';
import { until, within } from './until.js';

export type TestSettings = Partial<Record<SettingKey, string | number>>;

/** Parts of a request besides its path and body. */
export interface RequestOptions {
  readonly method?: string;
  /** The Authorization header; null for none. The default is a token of `admin`. */
  readonly authorization?: string | null;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A node that starts fast and leaves little behind. Elections are as slow as a busy machine needs them to be. */
const SMALL: TestSettings = {
  election_timeout_ms: 300,
  heartbeat_ms: 30,
  log_segment_mb: 1,
  disk_reserve_mb: 0,
  node_name: 'test',
  // The host that raw requests of tests name, whatever the name of their node.
  http_allowed_hosts: 'test',
};

/** Stands for a free port, in the settings `listen_client_port` and `ws_port`. */
export const FREE_PORT = 'free';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;

/** Time that an error waits for the status of a node, in milliseconds, and the characters of the logs of other nodes that it shows. */
const STATUS_MS = 2000;
const OTHERS_LOG_MAX = 2000;

/** Starts that are tried when someone else takes a port in the meantime. */
const ATTEMPTS = 3;

/** Where a node is. */
export interface NodePlace {
  readonly apiPort: number;
  readonly statusPort: number;
  readonly nativePort?: number;
  readonly wsPort?: number;
  /** The data are in `data` below it. */
  readonly folder: string;
}

export class RealNode {
  readonly port: number;
  readonly statusPort: number;
  /** Free ports for the native protocol, which is off unless its settings say FREE_PORT. */
  readonly nativePort: number;
  readonly wsPort: number;
  /** Folder with the data; it stays until `stop` without `keep`. */
  readonly folder: string;
  /** `Bearer ...` of a token of `admin`. */
  authorization = '';
  /** The other nodes of its cluster: an error shows what they had to say, too. */
  others: () => readonly RealNode[] = () => [];
  /** The node closes idle connections after ten seconds: they are given up before. */
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 4, timeout: 5000 });

  /**
   * Starts a node and waits until it is ready.
   *
   * @param folder of an earlier node that was stopped with `keep`, to go on with its data
   * @param authorization that the earlier node had
   * @param nodeArgs options of Node.js
   */
  static async start(
    settings: TestSettings = {},
    folder?: string,
    authorization?: string,
    nodeArgs: readonly string[] = [],
  ): Promise<RealNode> {
    const launch = (): Promise<RealNode> => RealNode.launch(settings, folder, nodeArgs);
    return RealNode.whenLaunched(launch, folder === undefined, async (node) => {
      await node.whenReady();
      if (authorization === undefined) await node.login();
      else node.authorization = authorization;
    });
  }

  /**
   * Launches a node and waits until it is ready; again when someone else takes a port in the meantime.
   *
   * @param isNew whether its data go when it does not get ready
   */
  static async whenLaunched(
    launch: () => Promise<RealNode>,
    isNew: boolean,
    ready = (node: RealNode): Promise<void> => node.whenReady(),
  ): Promise<RealNode> {
    for (let attempt = 1; ; attempt++) {
      const node = await launch();
      try {
        await ready(node);
        return node;
      } catch (error) {
        await node.kill();
        if (isNew) node.clear();
        if (!/in use|EADDRINUSE/.test(node.log) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Starts the process of a node, and waits for nothing: for tests of starts that fail or are cut short. */
  static async launch(
    settings: TestSettings = {},
    folder?: string,
    nodeArgs: readonly string[] = [],
    serveArgs: readonly string[] = [],
  ): Promise<RealNode> {
    const [port = 0, statusPort = 0, nativePort = 0, wsPort = 0] = await freePorts(4);
    const home = folder ?? mkdtempSync(join(tmpdir(), 'althing-test-'));
    const all: TestSettings = {
      ...SMALL,
      http_api_port: port,
      http_status_port: statusPort,
      listen_client_port: 0,
      storage_path: join(home, 'data'),
      ...settings,
    };
    // Free ports are known only here.
    if (settings.listen_client_port === FREE_PORT) all.listen_client_port = nativePort;
    if (settings.ws_port === FREE_PORT) all.ws_port = wsPort;
    const [program = '', ...args] = SERVE;
    const command = [program, ...nodeArgs, ...args, ...serveArgs];
    const launched = new Launched(command, { environment: variablesOf(all), folder: home });
    const ports = { apiPort: Number(all.http_api_port), statusPort: Number(all.http_status_port) };
    const place = { ...ports, nativePort, wsPort, folder: home };
    return new RealNode(launched, place, String(settings.admin_password ?? 'pass'));
  }

  constructor(
    private readonly process: Launched,
    place: NodePlace,
    private readonly password = 'pass',
  ) {
    this.port = place.apiPort;
    this.statusPort = place.statusPort;
    this.nativePort = place.nativePort ?? 0;
    this.wsPort = place.wsPort ?? 0;
    this.folder = place.folder;
  }

  /** The token of `admin`. */
  get token(): string {
    return this.authorization.replace('Bearer ', '');
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Everything that the node printed so far. */
  get log(): string {
    return this.process.output;
  }

  get running(): boolean {
    return this.process.isRunning;
  }

  get pid(): number {
    return this.process.pid;
  }

  /** Reads nothing more of what the node prints: what it can't get rid of fills up. */
  stopReading(): void {
    this.process.stopReading();
  }

  readAgain(): void {
    this.process.readAgain();
  }

  /** Waits for the end of the process, and gives its exit code; null when a signal ended it. */
  async ended(timeoutMs = STOP_TIMEOUT_MS): Promise<number | null> {
    return (await within(this.process.ended, 'the end of the node', timeoutMs)).code;
  }

  /** Sends a signal to the process. */
  signal(name: NodeJS.Signals): void {
    this.process.signal(name);
  }

  /** Opens a connection to the API port. */
  open(localAddress?: string): Promise<RawConnection> {
    return RawConnection.open(this.port, '127.0.0.1', localAddress);
  }

  openStatus(): Promise<RawConnection> {
    return RawConnection.open(this.statusPort);
  }

  /** Runs a query over JSON. */
  query(scope: string, code: string, vars?: object, options: RequestOptions = {}): Promise<Answer> {
    const body = vars === undefined ? { type: 'query', code } : { type: 'query', code, vars };
    return this.post(scope, JSON.stringify(body), options);
  }

  /** Runs a procedure over JSON. */
  run(scope: string, name: string, args?: unknown, options: RequestOptions = {}): Promise<Answer> {
    const body = args === undefined ? { type: 'run', name } : { type: 'run', name, args };
    return this.post(scope, JSON.stringify(body), options);
  }

  /** The value of a query that must succeed, as JSON. */
  async value(scope: string, code: string, vars?: object): Promise<unknown> {
    const answer = await this.query(scope, code, vars);
    if (answer.status !== 200) {
      const message = `${code.slice(0, 200)}: ${answer.statusLine} ${answer.text}`;
      // A query that took too long may have had no leader.
      throw answer.status === 504 ? await this.diagnosed(message) : this.explained(message);
    }
    return answer.json;
  }

  /** Sends a request on a connection that is used again. */
  async post(path: string, body: string | Uint8Array, options: RequestOptions = {}): Promise<Answer> {
    try {
      return await within(this.send(path, body, options), `the answer to ${String(body).slice(0, 100)}`);
    } catch (error) {
      throw this.explained(messageOf(error));
    }
  }

  /** A probe of the status port. */
  async probe(path: string): Promise<Answer> {
    const connection = await this.openStatus();
    connection.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const answer = await connection.answer();
    connection.close();
    if (answer === null) throw this.explained(`the status port gave no answer to ${path}`);
    return answer;
  }

  /** The raw text of a request, as `post` would send it. */
  text(path: string, body: string, options: RequestOptions = {}): string {
    const headers = Object.entries(this.headersOf(options, Buffer.byteLength(body)));
    const lines = [
      `${options.method ?? 'POST'} ${path} HTTP/1.1`,
      'Host: test',
      ...headers.map((h) => h.join(': ')),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${Buffer.from(body, 'utf8').toString('latin1')}`;
  }

  /** Resident memory of the process in MB: now, and its peak since the last `forgetPeak`. */
  get memory(): { readonly nowMb: number; readonly peakMb: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const field = (name: string): number => {
      const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status);
      return Math.round(Number(match?.[1]) / 1024);
    };
    return { nowMb: field('VmRSS'), peakMb: field('VmHWM') };
  }

  forgetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
  }

  /** Stops the node as an operator does. Fails unless it ends with code 0. */
  async stop({ keep = false } = {}): Promise<void> {
    this.agent.destroy();
    this.process.signal('SIGTERM');
    const code = await this.ended().catch(async (error: Error) => {
      await this.kill();
      throw this.explained(error.message);
    });
    if (!keep) this.clear();
    if (code !== 0) throw this.explained(`the node ended with code ${code}`);
  }

  /** Ends the node at once. */
  async kill(): Promise<void> {
    this.agent.destroy();
    await this.process.kill();
  }

  /** Ends the node at once and removes its data. */
  async discard(): Promise<void> {
    await this.kill();
    this.clear();
  }

  /** Removes the data of a node that has ended. */
  clear(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** An error that shows what the node had to say, and the others of its cluster. */
  explained(message: string): Error {
    const state = this.running ? 'runs' : `ended with ${this.process.end?.text}`;
    const others = this.others().map(
      ({ port, log }) => `The log of the node at port ${port} ends with:\n${log.slice(-OTHERS_LOG_MAX)}`,
    );
    const own = `The node at port ${this.port} ${state}. Its log ends with:\n${this.log.slice(-4000)}`;
    return new Error([message, own, ...others].join('\n'));
  }

  /** The same with the status of each node that runs: who leads, and whom each of them reaches. */
  async diagnosed(message: string): Promise<Error> {
    const running = [this, ...this.others()].filter((node) => node.running);
    const statuses = await Promise.all(
      running.map(async (node) => {
        const status = node.probe('/status').then(({ text }) => text);
        return `${node.port}: ${await within(status, 'the status', STATUS_MS).catch(String)}`;
      }),
    );
    return this.explained([message, ...statuses].join('\n'));
  }

  /** Waits until the node serves; fails when it ends instead. */
  async whenReady(timeoutMs = START_TIMEOUT_MS): Promise<void> {
    let last = 'none';
    try {
      await until(
        async () => {
          if (!this.running) throw new Error('the node did not start');
          const answer = await this.probe('/ready').catch(() => null);
          last = answer?.text ?? 'none';
          return answer?.status === 200;
        },
        'the node is ready',
        timeoutMs,
      );
    } catch (error) {
      throw this.explained(`${messageOf(error)}\nThe last answer to /ready: ${last}`);
    }
  }

  /** Waits until every group has a leader and exactly these voters, by their numbers. */
  async untilVoters(numbers: readonly number[]): Promise<void> {
    const code = 'groups_info().map(|g| g.load()).map(|g| [g.leader, g.voters]);';
    await until(async () => {
      const groups = (await this.value('/n', code)) as [number | null, number[]][];
      return groups.every(([leader, voters]) => leader !== null && String(voters) === String(numbers));
    }, `the groups have the voters ${numbers}`);
  }

  /** Makes a token, since a password costs a slow hash now and then. */
  async login(): Promise<void> {
    const authorization = basic('admin', this.password);
    const ask = (): Promise<Answer> =>
      this.query('/t', "new_token('admin', nil, 'tests');", undefined, { authorization });
    let answer = await ask();
    // When the leader is lost meanwhile, the token may be made, and is told to nobody.
    if (answer.text.includes('"outcome":"made"')) answer = await ask();
    if (answer.status !== 200) throw this.explained(`no token: ${answer.text}`);
    const token = String(answer.json);
    this.process.secrets.add(token);
    this.authorization = `Bearer ${token}`;
  }

  private headersOf(options: RequestOptions, length: number): Record<string, string> {
    const { authorization = this.authorization, contentType = 'application/json', headers = {} } = options;
    return {
      ...(authorization === null ? {} : { Authorization: authorization }),
      'Content-Type': contentType,
      'Content-Length': String(length),
      ...headers,
    };
  }

  private send(path: string, body: string | Uint8Array, options: RequestOptions): Promise<Answer> {
    const data = Buffer.from(body);
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        agent: this.agent,
        host: '127.0.0.1',
        port: this.port,
        path,
        method: options.method ?? 'POST',
        headers: this.headersOf(options, data.length),
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const headers = Object.entries(response.headers).map(
            ([name, value]) => [name, String(value)] as const,
          );
          const line = `${response.statusCode} ${response.statusMessage}`;
          resolve(new Answer(line, new Map(headers), Buffer.concat(parts)));
        });
      });
      request.end(data);
    });
  }
}

/** The Authorization header of a name and a password. */
export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
