import { Engine } from '@althing/engine';
import { isDiskFull } from '@althing/storage';
import { type NodeEvent, ROOT_GROUP } from '../between/protocol.js';
import { Calls } from '../calls/calls.js';
import { Rooms } from '../events/rooms.js';
import { Feeds } from '../feed/feeds.js';
import { LogReads } from '../feed/log-reads.js';
import type { GroupSession } from '../groups/group-session.js';
import { Positions } from '../groups/positions.js';
import { Members } from '../members/members.js';
import { Router } from '../requests/router.js';
import { Tasks } from '../requests/tasks.js';
import { DiskKeeper } from '../state/disk-keeper.js';
import type { EnginePorts, EngineReports, EngineSettings } from './ports.js';
import { Scopes } from './scopes.js';

/** More calls than a node makes in a millisecond: starts are numbered by the clock, and calls behind them. */
const CALLS_PER_MS = 1024;

/**
 * The engine side of a node: what runs requests, holds the state and keeps it on disk, and leads the members.
 * All of it is put together here. It serves when `scopes.sessions.open()` has resolved.
 */
export class EngineSide {
  readonly engine: Engine;
  readonly calls: Calls;
  readonly members: Members;
  readonly router: Router;
  readonly tasks: Tasks;
  readonly rooms: Rooms;
  readonly feeds: Feeds;
  readonly scopes: Scopes;
  readonly disk: DiskKeeper;
  readonly positions: Positions;
  private readonly reports: EngineReports;
  private readonly logReads: LogReads;
  private lastId = 0;

  constructor(settings: EngineSettings, ports: EnginePorts) {
    const { environment, line, clock, disk, reports } = ports;
    this.reports = reports;
    this.disk = new DiskKeeper({
      ...disk,
      setLevel: (level) => {
        if (level !== 'ok') ports.readers?.noteDiskFull();
        this.scopes.sessions.setDisk(level);
      },
      reopenState: (makeRoom) => this.scopes.reopenState(makeRoom),
      report: reports.disk,
      onFailure: (error) => reports.failed('the data can not be kept', error),
    });
    this.engine = new Engine({
      ...settings.engine,
      environment: {
        ...environment,
        voters: () => this.scopes.sessions.voters,
        isCommittedUser: (id) => this.scopes.sessions.isCommittedUser(id),
      },
      onInternalError: (error) => this.noteDefect(error),
    });
    this.calls = new Calls({
      send: (command) => line.send(command),
      clock,
      firstId: settings.incarnation * CALLS_PER_MS,
    });
    this.positions = new Positions(line, clock);
    this.router = this.makeRouter(settings, ports);
    this.tasks = this.makeTasks(ports);
    this.rooms = this.makeRooms(settings, ports);
    this.logReads = new LogReads({
      nodeId: settings.nodeId,
      line,
      calls: this.calls,
      voters: (group) => this.scopes.sessions.ofGroup(group)?.membership.voters ?? [],
    });
    this.feeds = new Feeds({
      engine: this.engine,
      session: (group) => this.scopes.sessions.ofGroup(group),
      reads: this.logReads,
      clock,
      onDefect: (error) => this.noteDefect(error),
    });
    this.scopes = new Scopes(settings, ports, {
      engine: this.engine,
      calls: this.calls,
      disk: this.disk,
      isBehindLongRun: () => this.router.scheduler.isCatchingUpLong,
      rooms: {
        told: (session, events) => this.rooms.told(session, events),
        replaced: (group) => this.rooms.replaced(group),
        deleted: (collection) => {
          this.rooms.deleted(collection);
          this.feeds.deleted(collection);
        },
      },
      changed: (session) => this.sessionChanged(session),
      onDefect: (error) => this.noteDefect(error),
    });
    this.members = this.makeMembers(settings, ports);
    this.members.rootChanged();
  }

  /** Takes what the consensus side tells. */
  handle(event: NodeEvent): void {
    switch (event.kind) {
      case 'disk':
        this.disk.noteLevel(event.level);
        return;
      case 'called':
      case 'returned':
        this.calls.handle(event);
        return;
      case 'positions':
        this.positions.tell(event.groups);
        return;
      case 'log_read':
        this.logReads.handle(event);
        return;
      case 'given_back':
        this.scopes.snapshots.takeBack(event.buffer);
        return;
      case 'peer':
        this.router.peerChanged(event.node, event.up);
        this.members.handle(event);
        return;
      case 'asked_to_join':
      case 'invited':
      case 'membership_answer':
      case 'handed_over':
        this.members.handle(event);
        return;
      default:
        this.scopes.sessions.handle(event);
    }
  }

  /** Does what is due. To be called several times a second. */
  consider(): void {
    this.scopes.consider();
    this.disk.consider();
    this.members.tick();
  }

  /** Something went wrong that no one request answers for: no room, a defect, or damaged data. */
  noteDefect(error: unknown): void {
    if (isDiskFull(error)) this.disk.noteStateFull();
    else this.reports.defect(error);
  }

  private makeRouter(settings: EngineSettings, ports: EnginePorts): Router {
    const { clock, hasher, figures, runs, slow, changed, askModule, restore, readers, line } = ports;
    return new Router({
      engine: this.engine,
      hasher,
      nodeId: settings.nodeId,
      incarnation: settings.incarnation,
      calls: this.calls,
      positions: this.positions,
      alone: () => this.scopes.sessions.alone,
      session: (target) => this.scopes.sessions.of(target),
      waitMs: settings.requestTimeoutMs,
      clock,
      sendReady: () => line.sendReady(),
      slow,
      runs,
      figures,
      changed,
      askModule,
      restore,
      snapshots: {
        readers,
        stored: () => this.scopes.checkpointer,
        onDefect: (error) => this.noteDefect(error),
      },
    });
  }

  private makeTasks({ clock, environment, reports }: EnginePorts): Tasks {
    return new Tasks({
      engine: this.engine,
      driver: this.router.driver,
      reports: this.router.reports,
      session: (group) => this.scopes.sessions.ofGroup(group),
      wallClock: () => environment.now(),
      clock,
      scheduler: this.router.scheduler,
      report: reports.taskRan,
    });
  }

  private makeRooms({ nodeId, incarnation }: EngineSettings, { clock }: EnginePorts): Rooms {
    return new Rooms({
      engine: this.engine,
      nodeId,
      incarnation,
      handle: (request, respond) => this.router.handle(request, respond),
      session: (target) => this.scopes.sessions.of(target),
      clock,
    });
  }

  private makeMembers(settings: EngineSettings, ports: EnginePorts): Members {
    const { nodeId, name, port, cluster, replaceAfterMs } = settings;
    const { line, clock, environment, reports, departs, status } = ports;
    const { sessions } = this.scopes;
    return new Members({
      self: { nodeId, name, host: settings.host ?? name, port },
      root: () => this.engine.root,
      session: () => sessions.ofGroup(ROOT_GROUP) ?? null,
      memberships: () => sessions.memberships,
      founders: cluster.founders,
      send: (command) => line.send(command),
      calls: this.calls,
      nextId: () => ++this.lastId,
      departs,
      state: status,
      replaceAfterMs,
      clock,
      random: () => environment.random(),
      report: reports.members,
      changed: reports.changedItself,
    });
  }

  private sessionChanged(session: GroupSession): void {
    this.router.sessionChanged(session);
    this.tasks.sessionChanged(session);
    this.feeds.sessionChanged(session);
    if (session.id !== ROOT_GROUP) return;
    this.members.rootChanged();
    this.rooms.rootChanged();
  }
}
