/**
 * Copies of collections elsewhere, kept by the feed of changes alone (I31): each follows one node, goes on at another one from its position
 * when that one dies or ends the feed, and begins anew with the state when it is told that it is lost. What all are told of an entry is the
 * same; in the end each holds what the collection holds.
 */
import {
  ChangeReader,
  CollectionGroup,
  EMPTY_SOURCE,
  SchemaView,
  ShapeTree,
  WholeReplacedError,
} from '@althing/engine';
import {
  decodeEntry,
  type FeedEnd,
  type FeedLine,
  type FeedSink,
  filterOf,
  type GroupId,
  type GroupSession,
  LostError,
  type NodeId,
} from '@althing/node/parts';
import { messageOf } from '@althing/storage';
import { JsonCopy, type Step } from './json-copy.js';
import type { Process } from './process.js';
import { Violation } from './watcher.js';
import { ADMIN } from './workload.js';

/** Milliseconds between two looks for a node to follow. */
const LOOK_MS = 300;

/** The filters of the copies of each collection: one is told what was done, and one of things as they are. */
const FILTERS = [filterOf(null, null, false), filterOf(null, null, true)];

export interface FollowersOptions {
  /** The nodes whose logs hold what lies behind an index of a group. */
  readonly holders: (group: GroupId, index: number) => readonly NodeId[];
  /** Highest index of a group that any node knew as committed. */
  readonly committedIndex: (group: GroupId) => number;
  /** True if an entry of a group changes what no line tells of. */
  readonly isUntold: (group: GroupId, index: number) => boolean;
  readonly onViolation: (error: unknown) => void;
  readonly onReached: (place: string) => void;
}

/** True if an entry changes what no line tells of: a job gave a property another definition. */
export function isUntold(payload: Uint8Array | undefined): boolean {
  if (payload === undefined) return false;
  const { schema } = new CollectionGroup(0, new ShapeTree(), EMPTY_SOURCE).store;
  try {
    new ChangeReader().formers(decodeEntry(payload).effects, new SchemaView(schema));
    return false;
  } catch (error) {
    if (error instanceof WholeReplacedError) return true;
    throw error;
  }
}

export class Followers {
  private readonly all: Follower[] = [];
  private isWorking = false;

  constructor(
    private readonly options: FollowersOptions,
    collections: readonly string[],
  ) {
    const told = new Map<string, string>();
    for (const collection of collections)
      for (const filter of FILTERS) this.all.push(new Follower(collection, filter, options, told));
  }

  start(): void {
    this.isWorking = true;
  }

  /** Lets copies follow a process, as long as it lives. */
  attend(process: Process): void {
    const look = (): void => {
      if (!process.alive) return;
      if (this.isWorking) for (const follower of this.all) follower.consider(process);
      process.engineThread.after(LOOK_MS, look);
    };
    look();
  }

  /** Looks at the end whether the copies hold what the nodes hold that they follow. */
  check(): void {
    for (const follower of this.all)
      if (follower.check()) this.options.onReached('a copy is what it is a copy of');
  }
}

class Follower {
  private process: Process | null = null;
  private copy: JsonCopy | null = null;
  private position: { index: number; hash: number } | null = null;
  private attempt = 0;

  /** @param told what was told of entries, by collection and index */
  constructor(
    private readonly collection: string,
    private readonly filter: ReturnType<typeof filterOf>,
    private readonly options: FollowersOptions,
    private readonly told: Map<string, string>,
  ) {}

  /** Follows a process unless it follows one. */
  consider(process: Process): void {
    if (this.process?.alive === true) return;
    const user = process.root?.usersByName.get(ADMIN);
    const id = process.root?.collectionsByName.get(this.collection)?.id;
    const session = id === undefined ? undefined : process.session(id);
    if (user === undefined || session === undefined || !session.readable) return;
    this.process = process;
    const attempt = ++this.attempt;
    if (this.position !== null) {
      this.follow(process, attempt, this.position);
      this.options.onReached('a copy goes on from its position');
      return;
    }
    const { group } = session;
    if (!(group instanceof CollectionGroup)) return;
    const copy = new JsonCopy(group);
    session.mark(
      ({ index, hash }) => {
        if (attempt !== this.attempt) return;
        this.copy = copy;
        this.position = { index, hash };
        this.follow(process, attempt, this.position);
      },
      () => this.leave(attempt),
    );
  }

  /** @returns whether there was anything to look at */
  check(): boolean {
    const { process, copy, collection, position, session } = this;
    this.askFromElsewhere();
    if (process?.alive !== true || copy === null || session === undefined) return false;
    // It was told all up to its position; that nothing is behind may have been said before the last entry came.
    if (position?.index !== session.appliedIndex || !(session.group instanceof CollectionGroup)) return false;
    const [actual, expected] = [copy.lines(), new JsonCopy(session.group).lines()];
    const wrong = Array.from({ length: Math.max(actual.length, expected.length) }, (_, i) => i).find(
      (i) => actual[i] !== expected[i],
    );
    if (wrong === undefined) return true;
    throw new Violation(
      'I31',
      `a copy of ${collection} has ${actual[wrong]} at ${position.index}, and ${process.machine.name} ${expected[wrong]}`,
    );
  }

  /** Nobody goes on in a history that is not the own one. */
  private askFromElsewhere(): void {
    const { process, position, collection, filter, options } = this;
    const user = process?.root?.usersByName.get(ADMIN);
    if (process?.alive !== true || user === undefined || position === null) return;
    const since = { index: position.index, hash: (position.hash ^ 1) >>> 0 };
    const sink: FeedSink = { send: () => Promise.resolve(), caughtUp: () => {}, ended: () => {} };
    process.side?.feeds.follow({ user, collection, since, filter }, sink).then(
      () => {
        const text = `${process.machine.name} goes on behind ${position.index} of ${collection} in a history with another hash`;
        options.onViolation(new Violation('I31', text));
      },
      (error: unknown) => {
        if (error instanceof LostError) options.onReached('a position of another history is lost');
      },
    );
  }

  private get session(): GroupSession | undefined {
    const id = this.process?.root?.collectionsByName.get(this.collection)?.id;
    return id === undefined ? undefined : this.process?.session(id);
  }

  private follow(process: Process, attempt: number, since: { index: number; hash: number }): void {
    const user = process.root?.usersByName.get(ADMIN);
    const feeds = process.side?.feeds;
    if (user === undefined || feeds === undefined) {
      this.leave(attempt);
      return;
    }
    const sink: FeedSink = {
      send: (lines) => {
        if (attempt === this.attempt && process.alive) for (const line of lines) this.hear(line);
        return Promise.resolve();
      },
      caughtUp: () => {},
      ended: (end) => this.ended(end, attempt),
    };
    feeds
      .follow({ user, collection: this.collection, since, filter: this.filter }, sink)
      .catch((error: unknown) => {
        if (attempt !== this.attempt) return;
        // Lost, or not now: then it goes on later, or elsewhere.
        if (error instanceof LostError) this.lost(attempt, error.oldest.index);
        else this.leave(attempt);
      });
  }

  private hear({ at, json, isAlive }: FeedLine): void {
    const [index = '', hash = ''] = at.split('-');
    const position = { index: Number(index), hash: Number.parseInt(hash, 16) };
    const before = this.position?.index ?? 0;
    const { changes = [] } = JSON.parse(json) as { changes?: readonly Step[] };
    const { session, options } = this;
    try {
      if (!isAlive && session !== undefined && position.index > options.committedIndex(session.id))
        throw new Error(`${at} is told, and is not committed`);
      if (isAlive ? position.index < before : position.index <= before)
        throw new Error(`${at} is told behind ${before}`);
      const name = `${this.collection} ${at.split('-')[0]}`;
      if (!isAlive) {
        const known = this.told.get(name);
        if (known !== undefined && known !== at) throw new Error(`${at} is told, and ${known} was before`);
        this.told.set(name, at);
        options.onReached('a copy is told of a change');
      }
      for (const step of changes) this.take(step);
    } catch (error) {
      const text = messageOf(error);
      options.onViolation(new Violation('I31', `a copy of ${this.collection}: ${text}`));
    }
    this.position = position;
  }

  private take(step: Step): void {
    const { copy, filter } = this;
    if (copy === null) return;
    if (!filter.isOfThings) copy.take(step);
    else if (step.op === 'gone') copy.take({ ...step, ids: (step.ids ?? []).filter((id) => copy.has(id)) });
    // A type changes its instances, which are not told anew.
    else if (step.op === 'schema' && step.type !== undefined) this.begin();
    else copy.take(step);
  }

  private ended(end: FeedEnd, attempt: number): void {
    if (end.kind === 'lost') this.lost(attempt, end.oldest.index);
    else this.leave(attempt);
  }

  /** @param oldest from where on it is told of changes again */
  private lost(attempt: number, oldest: number): void {
    if (attempt !== this.attempt) return;
    this.options.onReached('a copy is told that it is lost');
    this.assertLost(oldest);
    this.begin();
  }

  /** Begins anew with the state. */
  private begin(): void {
    this.position = null;
    this.copy = null;
    this.leave(this.attempt);
  }

  /** A node that lacks something asks the others before it says so. */
  private assertLost(oldest: number): void {
    const { session, position, options, collection, process } = this;
    if (session === undefined || position === null || options.isUntold(session.id, oldest)) return;
    const { voters } = session.membership;
    const holders = options.holders(session.id, position.index).filter((node) => voters.includes(node));
    if (holders.length * 2 <= voters.length) return;
    const text = `${process?.machine.name} says that what follows ${position.index} of ${collection} is lost, and ${holders} have it`;
    options.onViolation(new Violation('I31', text));
  }

  private leave(attempt: number): void {
    if (attempt !== this.attempt) return;
    this.attempt += 1;
    this.process = null;
  }
}
