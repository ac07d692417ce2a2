/** A node of a `MiniCluster`: a real engine side, and a line to the logs that the test moves by hand. */
import { createHash } from 'node:crypto';
import { bootstrap, type Engine, LEVEL_NEWEST, type WireValues } from '@althing/engine';
import { newSalt } from '../base/password-salts.js';
import type { Founder } from '../between/cluster-record.js';
import {
  type Command,
  type GroupId,
  type NodeEvent,
  type NodeId,
  type PreparedAnswer,
  ROOT_GROUP,
} from '../between/protocol.js';
import type { CallKind } from '../calls/calls.js';
import { EngineSide } from '../engine-side/engine-side.js';
import type { EnginePorts } from '../engine-side/ports.js';
import { silentReports } from '../engine-side/silent-reports.js';
import type { GroupSession } from '../groups/group-session.js';
import { type Client, ORDINARY_TERMS, type ProgramBody, type Reply, type Terms } from '../groups/request.js';
import type { State } from '../groups/state.js';
import { RequestFigures } from '../requests/request-figures.js';
import type { Router } from '../requests/router.js';
import type { MiniCluster } from './mini-cluster.js';
import { engineOf, READY, roomyDisk, stillEnvironment } from './still-ports.js';

const TIMEOUT_MS = 1000;

export class MiniNode {
  /** Events wait while this holds: the node lags behind. */
  lags = false;
  /** Events of the root scope alone wait while this holds. */
  lagsInRoot = false;
  /** Time and steps that its requests took. */
  readonly runs: RequestFigures;
  private readonly side: EngineSide;
  /** Groups that the engine side has opened: of others it is told nothing. */
  private readonly opened = new Set<GroupId>();
  private early: NodeEvent[] = [];
  private readonly underWay = new Map<number, CallKind>();

  constructor(
    private readonly cluster: MiniCluster,
    readonly id: NodeId,
    private readonly members: readonly NodeId[],
    state: State,
  ) {
    this.runs = new RequestFigures({
      now: () => cluster.now,
      wallClock: () => cluster.now,
      scopeOf: (target) => this.engine.scope(target)?.name ?? null,
    });
    this.side = new EngineSide(
      {
        incarnation: 1,
        cluster: { clusterId: new Uint8Array(16), founders: members.map(founderOf) },
        ...founderOf(id),
        engine: engineOf(100),
        requestTimeoutMs: cluster.options.waitMs?.(id) ?? TIMEOUT_MS,
        replaceAfterMs: TIMEOUT_MS,
        checkpointIntervalMs: TIMEOUT_MS,
        checkpointBytes: Number.MAX_SAFE_INTEGER,
        cacheBytes: Number.MAX_SAFE_INTEGER,
        garbageIntervalMs: TIMEOUT_MS,
        stateCheckIntervalMs: 0,
      },
      this.ports(state),
    );
  }

  get engine(): Engine {
    return this.side.engine;
  }

  get router(): Router {
    return this.side.router;
  }

  get rooms(): EngineSide['rooms'] {
    return this.side.rooms;
  }

  get tasks(): EngineSide['tasks'] {
    return this.side.tasks;
  }

  get scopes(): EngineSide['scopes'] {
    return this.side.scopes;
  }

  get sessions(): EngineSide['scopes']['sessions'] {
    return this.scopes.sessions;
  }

  session(group: GroupId): GroupSession {
    const session = this.sessions.ofGroup(group);
    if (session === undefined) throw new Error(`node ${this.id} does not have group ${group}`);
    return session;
  }

  /** Runs a query as `admin`: in a collection, or in `/t` or `/n...`. */
  query(scope: string, code: string, options: QueryOptions = {}): Promise<Reply> {
    return this.ask(scope, { type: 'query', code, vars: wireValues(options.vars) }, options);
  }

  /** Runs a procedure as `admin`. */
  run(scope: string, name: string, options: Pick<QueryOptions, 'terms'> = {}): Promise<Reply> {
    return this.ask(scope, { type: 'run', name, args: null }, options);
  }

  private ask(scope: string, body: ProgramBody, options: QueryOptions): Promise<Reply> {
    const user = this.engine.root.usersByName.get(options.user ?? 'admin');
    if (user === undefined) throw new Error(`node ${this.id} knows no such user`);
    const terms = options.terms === undefined ? null : { ...ORDINARY_TERMS, ...options.terms };
    return new Promise((resolve) => {
      this.router.handle(
        {
          scope: scopeOf(scope),
          user,
          body,
          format: 'json',
          client: options.client ?? STAYS,
          terms,
          ...(options.id === undefined ? {} : { id: options.id }),
          ...(options.saltKey === undefined ? {} : { saltKey: options.saltKey }),
        },
        resolve,
      );
    });
  }

  async bootstrap(): Promise<void> {
    const members = this.members.map((nodeId) => ({
      ...founderOf(nodeId),
      number: nodeId,
      leaving: false,
    }));
    const { root } = this.engine;
    const change = bootstrap(root, 0, PASSWORD, members, LEVEL_NEWEST);
    const collectionEvents = root.collectionEvents.splice(0);
    this.session(0).propose({ ...change, collectionEvents }, { ok: true, result: '' }, () =>
      root.confirmLevel(),
    );
    await this.cluster.settle();
  }

  tell(event: NodeEvent): void {
    this.cluster.later(() => this.take(event));
  }

  /** Catches up with what came while it lagged behind. */
  catchUp(): void {
    this.lags = false;
    this.lagsInRoot = false;
    for (const event of this.early.splice(0)) this.tell(event);
  }

  /** Sends the answer to a call of another node, as the consensus side does. */
  answer(answer: PreparedAnswer): void {
    this.obey({ kind: 'return', ...answer });
  }

  private take(event: NodeEvent): void {
    if (this.waits(event)) {
      this.early.push(event);
      return;
    }
    this.side.handle(event);
  }

  private waits(event: NodeEvent): boolean {
    if (!('group' in event)) return false;
    return this.lags || (this.lagsInRoot && event.group === ROOT_GROUP) || !this.opened.has(event.group);
  }

  private ports(state: State): EnginePorts {
    const { cluster, id } = this;
    const { asked } = cluster.options;
    const now = (): number => cluster.now + (cluster.options.clockAheadMs?.(id) ?? 0);
    const unexpected = (error: unknown): never => {
      throw error;
    };
    return {
      clock: {
        now: () => cluster.now,
        after: (ms, work) => cluster.delay(ms, work),
        soon: (work) => cluster.later(work),
        every: () => () => {},
      },
      environment: {
        ...stillEnvironment({ now, monotonic: () => cluster.now }, id),
        log: () => cluster.options.logged?.(id),
      },
      disk: roomyDisk(state),
      line: { send: (command) => this.obey(command), sendReady: () => {} },
      hasher: {
        hash: async (password, saltKey) => ({
          ...PASSWORD,
          salt: saltKey ? newSalt(saltKey) : PASSWORD.salt,
          hash: createHash('sha256').update(password).digest(),
        }),
      },
      reports: silentReports(unexpected),
      runs: this.runs,
      ...READY,
      ...(asked === undefined ? {} : { askModule: (ask, answer) => asked(id, ask, answer) }),
    };
  }

  private obey(command: Command): void {
    const { cluster } = this;
    switch (command.kind) {
      case 'open':
        this.opened.add(command.group);
        for (const event of this.early.splice(0)) this.tell(event);
        return;
      case 'propose':
        cluster.log(command.group).propose(this.id, command);
        return;
      case 'release':
        cluster.log(command.group).release(command.epoch);
        return;
      case 'read':
        cluster.log(command.group).read(this.id, command.id);
        return;
      case 'call': {
        const { to, id, payload } = command;
        const kind = payload[0] as CallKind;
        const failed = (): void => this.take({ kind: 'returned', id, payload: null });
        cluster.noteCall(this.id, to, id, payload);
        cluster.node(to).underWay.set(id * 100 + this.id, kind);
        cluster.carry(
          { from: this.id, to, what: 'call', kind },
          () => cluster.node(to).take({ kind: 'called', from: this.id, id, payload }),
          failed,
        );
        return;
      }
      case 'return': {
        const { to, id, payload } = command;
        const kind = this.underWay.get(id * 100 + to) as CallKind;
        cluster.carry(
          { from: this.id, to, what: 'return', kind },
          () => cluster.node(to).take({ kind: 'returned', id, payload }),
          () => cluster.node(to).take({ kind: 'returned', id, payload: null }),
        );
        return;
      }
      default:
    }
  }
}

export interface QueryOptions {
  /** Its name in logs. */
  readonly id?: string;
  readonly user?: string;
  readonly vars?: ReadonlyMap<string, number | string>;
  readonly terms?: Partial<Terms>;
  readonly client?: Client;
  readonly saltKey?: Uint8Array;
}

/** The JSON of an answer, or the code of its error. */
export function outcome(reply: Reply): unknown {
  return reply.ok ? JSON.parse(String(reply.result)) : reply.error.code;
}

const STAYS: Client = { gone: false };

function founderOf(nodeId: NodeId): Founder {
  return { nodeId, name: `n${nodeId}`, host: 'localhost', port: 9220 };
}

const PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 1, r: 1, p: 1 };

function scopeOf(text: string) {
  if (text === '/t') return { kind: 'thingsdb' } as const;
  if (!text.startsWith('/n')) return { kind: 'collection', name: text } as const;
  return { kind: 'node', id: text === '/n' ? null : Number(text.slice(2)) } as const;
}

/** Variables as a client would send them. */
function wireValues(vars: ReadonlyMap<string, number | string> | undefined): WireValues | null {
  return vars === undefined ? null : { format: 'json', data: JSON.stringify(Object.fromEntries(vars)) };
}

/** Lets a promise tell whether it is settled. */
export function watch(reply: Promise<Reply>): { reply: Reply | null } {
  const watched: { reply: Reply | null } = { reply: null };
  reply.then((answer) => {
    watched.reply = answer;
  });
  return watched;
}
