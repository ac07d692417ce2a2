/**
 * Another member of the cluster: a connection to it, on which this node sends, and one from it, on which it
 * hears.
 *
 *   up:    both stand, and something was heard within the silence limit
 *   down:  nothing was heard for that long; or a connection broke and can't be made again at once; or the node was
 *          started anew
 *
 * A connection that breaks and is made again at once leaves the peer up; what was under way may be lost then.
 */

import type { NetworkAddress } from '../between/protocol.js';
import type { Channel } from './channel.js';
import { type Credentials, type DialOutcome, type DialRequest, dial } from './dial.js';
import { isToBeEncrypted } from './encryption.js';
import { FIRST_OWN_KIND, FrameError, FrameKind, PartReader } from './frame.js';
import { type PeerIdentity, Purpose } from './greeting-format.js';
import { Outbox, type OutboxLimits } from './outbox.js';
import type { SignsOfLife } from './signs-of-life.js';

/** The owner of a peer, as the peer sees it. */
export interface PeerOwner extends SignsOfLife {
  readonly credentials: () => Credentials;
  readonly now: () => number;
  /** A random number from 0 to 1, 1 excluded. */
  readonly random: () => number;
  readonly silenceMs: number;
  readonly connectMs: number;
  readonly greetingMs: number;
  readonly limits: OutboxLimits;
  /** A dialled node has answered: whether it is who it should be. */
  readonly confirm: (peer: Peer, place: NetworkAddress, identity: PeerIdentity) => boolean;
  /** Dialling came to nothing. */
  readonly missed: (
    peer: Peer,
    place: NetworkAddress,
    outcome: Exclude<DialOutcome, { kind: 'open' }>,
  ) => void;
  readonly frame: (peer: Peer, kind: number, payload: Buffer) => void;
  readonly changed: (peer: Peer, up: boolean) => void;
  /** Bytes came that are no frame, or not what the peer sent; the connection is made anew. */
  readonly unreadable: (peer: Peer, address: string, error: FrameError) => void;
  /** Something was sent, and little waits to be. */
  readonly low: (peer: Peer) => void;
  /** Frames to it or from it may be lost, although it lives. */
  readonly broke: (peer: Peer) => void;
}

/** Pause before a peer is dialled again: doubled each time, less up to a half by chance. */
const RETRY_FIRST_MS = 20;
const RETRY_LAST_MS = 1000;

/** A connection that breaks sooner than this is not made again at once, lest two nodes do nothing else. */
const STEADY_MS = 1000;

/**
 * The content of a beat to a peer that has no connection to this node. An older node takes it for any beat.
 */
const UNHEARD = Buffer.of(1);

export class Peer {
  /** The identity that it last told; null before it was met. */
  identity: PeerIdentity | null = null;
  /** Monotonic milliseconds; 0 for never. */
  lastHeard = 0;
  private useAnnounced = false;
  private sending: { readonly channel: Channel; readonly outbox: Outbox } | null = null;
  private hearing: Channel | null = null;
  private cancelDial: (() => void) | null = null;
  private retryTimer: NodeJS.Timeout | null = null;
  private retryMs = RETRY_FIRST_MS;
  private isUpNow = false;
  /** True if the connection broke and is being made again for the first time. */
  private mending = false;
  private connectedAt = 0;
  private sentSinceBeat = false;
  /** Beats for which nothing was sent. */
  private quietBeats = 0;
  private closed = false;

  constructor(
    readonly nodeId: number,
    private place: NetworkAddress,
    private readonly owner: PeerOwner,
  ) {
    this.dial();
  }

  get isUp(): boolean {
    return this.isUpNow;
  }

  /** True if it is up, and every sign of life that was due of it has come. */
  get isWell(): boolean {
    return this.isUpNow && this.owner.now() - this.lastHeard <= this.owner.wellSilenceMs;
  }

  /** True if frames to it go over a network as they are. */
  get isPlain(): boolean {
    const channel = this.sending?.channel;
    if (channel === undefined || channel.isEncrypted) return false;
    return isToBeEncrypted('auto', channel.socket.remoteAddress ?? '');
  }

  /** True if the peer has a connection to this node. */
  get isHeard(): boolean {
    return this.hearing !== null;
  }

  /** The highest incarnation that was met; 0 for none. */
  get incarnation(): number {
    return this.identity?.incarnation ?? 0;
  }

  /** The peer is elsewhere from now on; a connection that stands is kept. */
  moveTo(place: NetworkAddress): void {
    if (isSamePlace(place, this.place)) return;
    this.place = place;
    this.useAnnounced = false;
    if (this.sending === null) this.dialSoon();
  }

  send(kind: number, payload: readonly Uint8Array[], bulk: boolean, sent?: () => void): boolean {
    if (this.sending === null) return false;
    this.sentSinceBeat = true;
    return this.sending.outbox.push(kind, payload, bulk, sent);
  }

  /** Bytes that wait to be sent: all, or those of bulk. */
  waiting(which: 'all' | 'bulk'): number {
    const outbox = this.sending?.outbox;
    if (outbox === undefined) return 0;
    return which === 'bulk' ? outbox.waitingBulkBytes : outbox.waitingBytes;
  }

  /** The peer has dialled this node, and proved who it is. */
  accept(channel: Channel, identity: PeerIdentity): void {
    this.meet(identity);
    const before = this.hearing;
    before?.destroy();
    this.hearing = channel;
    this.hear();
    const parts = new PartReader();
    channel.onBytes = () => this.hear();
    channel.onFrame = (kind, payload) => {
      if (kind === FrameKind.Beat) {
        if (payload.length > 0) this.unheard();
      } else if (kind < FIRST_OWN_KIND) this.owner.frame(this, kind, payload);
    };
    channel.onPart = (pieces) => {
      const whole = parts.push(pieces);
      if (whole !== null) this.owner.frame(this, whole.kind, whole.payload);
    };
    channel.onEnd = (error) => {
      if (error instanceof FrameError) this.owner.unreadable(this, channel.address, error);
      this.lostHearing();
    };
    if (before !== null) this.owner.broke(this);
    if (this.sending === null) this.dialSoon();
    this.check();
  }

  /**
   * To be called every heartbeat.
   *
   * @param beats heartbeats since the last call: several while the thread is calm
   */
  beat(beats: number): void {
    this.quietBeats = this.sentSinceBeat ? 0 : this.quietBeats + beats;
    this.sentSinceBeat = false;
    if (this.sending !== null) {
      const { outbox } = this.sending;
      if (this.hearing === null) outbox.push(FrameKind.Beat, [UNHEARD], false);
      else if (this.quietBeats >= this.owner.quietBeatsMax && outbox.isIdle) {
        outbox.push(FrameKind.Beat, [], false);
        this.quietBeats = 0;
      }
    }
    const silent = this.owner.now() - this.lastHeard > this.owner.silenceMs;
    if (!silent || (!this.isUpNow && this.hearing === null)) return;
    this.hearing?.destroy();
    this.hearing = null;
    this.dropSending();
    this.setUp(false);
    this.dialSoon();
  }

  /** This node itself was halted: the time of silence does not count. */
  forgive(ms: number): void {
    if (this.lastHeard > 0) this.lastHeard += ms;
  }

  /** Flushes what waits, and leaves. Nothing is told any more. */
  close(): void {
    this.closed = true;
    this.cancelDial?.();
    if (this.retryTimer !== null) clearTimeout(this.retryTimer);
    this.hearing?.destroy();
    this.sending?.outbox.flush();
    this.sending?.channel.end();
    this.hearing = null;
    this.sending = null;
    this.isUpNow = false;
  }

  /** Takes note of who answered or called. A process started anew has none of the old one's connections. */
  private meet(identity: PeerIdentity): void {
    const isNew = this.identity !== null && identity.incarnation > this.identity.incarnation;
    this.identity = identity;
    if (!isNew) return;
    this.hearing?.destroy();
    this.hearing = null;
    this.dropSending();
    this.setUp(false);
  }

  private hear(): void {
    this.lastHeard = this.owner.now();
  }

  private lostHearing(): void {
    this.hearing = null;
    // A dead peer has lost both connections, and a living one dials again: this node's own connection tells
    // which.
    if (this.sending === null) return;
    const { channel } = this.sending;
    if (!channel.isOpen) this.lostSending();
    else this.owner.broke(this);
  }

  /**
   * The peer hears nothing of this node. A connection on which nothing arrives any more stands here for many
   * minutes, while who should hear has long given it up.
   */
  private unheard(): void {
    // It may have said so before a new connection got there.
    if (this.sending === null || this.owner.now() - this.connectedAt < STEADY_MS) return;
    this.sending.channel.destroy();
    this.lostSending();
  }

  private lostSending(): void {
    this.sending = null;
    if (this.owner.now() - this.connectedAt < STEADY_MS) {
      this.setUp(false);
      this.retryLater();
      return;
    }
    this.mending = this.isUpNow;
    this.retryMs = RETRY_FIRST_MS;
    this.dial();
  }

  private dropSending(): void {
    this.sending?.channel.destroy();
    this.sending = null;
    this.mending = false;
  }

  private check(): void {
    if (this.sending !== null && this.hearing !== null) this.setUp(true);
  }

  private setUp(up: boolean): void {
    if (!up) this.mending = false;
    if (this.isUpNow === up || this.closed) return;
    this.isUpNow = up;
    this.owner.changed(this, up);
  }

  /** Dials without further pause, unless it is being done already. */
  private dialSoon(): void {
    if (this.cancelDial !== null) return;
    if (this.retryTimer !== null) clearTimeout(this.retryTimer);
    this.retryMs = RETRY_FIRST_MS;
    this.dial();
  }

  private dial(): void {
    this.retryTimer = null;
    if (this.closed || this.sending !== null || this.cancelDial !== null) return;
    const place = this.nextPlace();
    const request: DialRequest = {
      ...place,
      purpose: Purpose.Link,
      credentials: this.owner.credentials(),
      connectMs: this.owner.connectMs,
      greetingMs: this.owner.greetingMs,
    };
    this.cancelDial = dial(request, (outcome) => {
      this.cancelDial = null;
      if (outcome.kind !== 'open') this.missed(place, outcome);
      else if (this.owner.confirm(this, place, outcome.greeted.identity)) {
        this.connected(outcome.channel, outcome.greeted.identity);
      } else {
        outcome.channel.destroy();
        this.failed();
      }
    });
  }

  private connected(channel: Channel, identity: PeerIdentity): void {
    this.meet(identity);
    const mended = this.mending;
    this.mending = false;
    this.connectedAt = this.owner.now();
    this.useAnnounced = false;
    const low = (): void => this.owner.low(this);
    this.sending = {
      channel,
      outbox: new Outbox(channel.socket, this.owner.limits, channel.isChecked, low),
    };
    channel.onFrame = () => {};
    channel.onEnd = () => this.lostSending();
    if (mended) this.owner.broke(this);
    this.check();
  }

  private missed(place: NetworkAddress, outcome: Exclude<DialOutcome, { kind: 'open' }>): void {
    this.failed();
    this.owner.missed(this, place, outcome);
  }

  private failed(): void {
    this.setUp(false);
    this.useAnnounced = !this.useAnnounced;
    this.retryLater();
  }

  private retryLater(): void {
    if (this.closed || this.retryTimer !== null) return;
    const pause = this.retryMs * (1 - this.owner.random() / 2);
    this.retryMs = Math.min(this.retryMs * 2, RETRY_LAST_MS);
    this.retryTimer = setTimeout(() => this.dial(), pause);
  }

  /** Where the cluster knows it to be or, every other time, where it last said that it is. */
  private nextPlace(): NetworkAddress {
    const { identity } = this;
    if (!this.useAnnounced || identity === null || identity.port === 0) return this.place;
    return { host: identity.host, port: identity.port };
  }
}

function isSamePlace(a: NetworkAddress, b: NetworkAddress): boolean {
  return a.host === b.host && a.port === b.port;
}
