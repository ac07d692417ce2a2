/**
 * The messages by which two nodes get to know each other, in the order in which they are sent; each is the
 * payload of a frame of its name. Big endian. What follows the fields that are known is ignored: later
 * versions may append to it.
 *
 *   open      := magic[8] "ALTHPEER" min:u16 max:u16 nonce[32]          dialer: the protocol versions that it speaks
 *   challenge := version:u16 nonce[32]                                  listener: the one that is spoken from here on
 *   prove     := mac[32] proveBody                                      dialer
 *   proveBody := purpose:u8 identity
 *   welcome   := mac[32] identity                                       listener
 *   refused   := mac[32] refusedBody                                    listener, instead of challenge or welcome
 *   refusedBody := code:u8 min:u16 max:u16 known:u8 [identity]          who refuses is told to whom has proved the secret
 *   identity  := nodeId:u48 incarnation:u64 inCluster:u8 clusterId[16] name:text host:text port:u16 version:text
 *   text      := length:u8 utf8
 *
 * The mac of what tells nothing of worth, because the other side proved nothing, is zeros.
 */

/** The identity that a node tells of itself. */
export interface PeerIdentity {
  readonly nodeId: number;
  /** Higher with each start of the node. */
  readonly incarnation: number;
  /** 16 bytes; null as long as the node belongs to no cluster. */
  readonly clusterId: Uint8Array | null;
  readonly name: string;
  /** Where the node can be dialled. */
  readonly host: string;
  readonly port: number;
  /** The version of the software. */
  readonly version: string;
}

/** The purpose of a connection: frames from the dialer on and on, or one question and its answer. */
export const Purpose = { Link: 1, Ask: 2 } as const;

export type Purpose = (typeof Purpose)[keyof typeof Purpose];

/** Why a connection is refused. */
export const Refusal = {
  /** The ranges of protocol versions do not meet. */
  Version: 1,
  WrongSecret: 2,
  OtherCluster: 3,
  /** The listener is in no cluster yet. */
  NoCluster: 4,
  /** The dialer was removed from the cluster. */
  Removed: 5,
  /** A newer process has the dialer's node id. */
  Superseded: 6,
  /** The dialer has dialled itself. */
  Self: 7,
  /** Too much at a time. */
  Busy: 8,
  /** The connection is in plain and has to be encrypted. */
  NeedsTls: 9,
} as const;

export type Refusal = (typeof Refusal)[keyof typeof Refusal];

/** Protocol versions, both included. */
export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

export const NONCE_BYTES = 32;
export const MAC_BYTES = 32;
export const CLUSTER_ID_BYTES = 16;

/** A message that is not what it should be. */
export class GreetingFormatError extends Error {
  override readonly name = 'GreetingFormatError';
}

export interface Open extends VersionRange {
  readonly nonce: Buffer;
}

export function encodeOpen({ min, max, nonce }: Open): Buffer {
  const head = Buffer.alloc(MAGIC.length + 4);
  MAGIC.copy(head);
  head.writeUInt16BE(min, MAGIC.length);
  head.writeUInt16BE(max, MAGIC.length + 2);
  return Buffer.concat([head, nonce]);
}

export function decodeOpen(bytes: Buffer): Open {
  const reader = new Reader(bytes);
  if (!reader.bytes(MAGIC.length).equals(MAGIC)) throw new GreetingFormatError('not a node of a cluster');
  return { min: reader.u16(), max: reader.u16(), nonce: reader.bytes(NONCE_BYTES) };
}

export interface Challenge {
  readonly version: number;
  readonly nonce: Buffer;
}

export function encodeChallenge({ version, nonce }: Challenge): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(version);
  return Buffer.concat([head, nonce]);
}

export function decodeChallenge(bytes: Buffer): Challenge {
  const reader = new Reader(bytes);
  return { version: reader.u16(), nonce: reader.bytes(NONCE_BYTES) };
}

/** Splits a message that begins with its mac. */
export function splitMac(bytes: Buffer): { readonly mac: Buffer; readonly body: Buffer } {
  const reader = new Reader(bytes);
  return { mac: reader.bytes(MAC_BYTES), body: bytes.subarray(MAC_BYTES) };
}

export interface Prove {
  readonly purpose: Purpose;
  readonly identity: PeerIdentity;
}

export function encodeProveBody({ purpose, identity }: Prove): Buffer {
  return Buffer.concat([Buffer.from([purpose]), encodeIdentity(identity)]);
}

export function decodeProveBody(bytes: Buffer): Prove {
  const reader = new Reader(bytes);
  const purpose = reader.u8();
  if (purpose !== Purpose.Link && purpose !== Purpose.Ask) {
    throw new GreetingFormatError(`a connection for purpose ${purpose}, which this version does not know`);
  }
  return { purpose, identity: readIdentity(reader) };
}

export interface Refused {
  /** One of `Refusal`, or what a later version knows. */
  readonly code: number;
  /** The versions that the listener speaks. */
  readonly versions: VersionRange;
  readonly identity: PeerIdentity | null;
}

export function encodeRefusedBody({ code, versions, identity }: Refused): Buffer {
  const head = Buffer.alloc(6);
  head[0] = code;
  head.writeUInt16BE(versions.min, 1);
  head.writeUInt16BE(versions.max, 3);
  head[5] = identity === null ? 0 : 1;
  return identity === null ? head : Buffer.concat([head, encodeIdentity(identity)]);
}

export function decodeRefusedBody(bytes: Buffer): Refused {
  const reader = new Reader(bytes);
  const code = reader.u8();
  const versions = { min: reader.u16(), max: reader.u16() };
  return { code, versions, identity: reader.u8() === 0 ? null : readIdentity(reader) };
}

export function encodeIdentity(identity: PeerIdentity): Buffer {
  const fixed = Buffer.alloc(6 + 8 + 1 + CLUSTER_ID_BYTES);
  fixed.writeUIntBE(identity.nodeId, 0, 6);
  fixed.writeBigUInt64BE(BigInt(identity.incarnation), 6);
  if (identity.clusterId !== null) {
    fixed[14] = 1;
    fixed.set(identity.clusterId, 15);
  }
  const port = Buffer.alloc(2);
  port.writeUInt16BE(identity.port);
  return Buffer.concat([fixed, text(identity.name), text(identity.host), port, text(identity.version)]);
}

export function decodeIdentity(bytes: Buffer): PeerIdentity {
  return readIdentity(new Reader(bytes));
}

const MAGIC = Buffer.from('ALTHPEER', 'latin1');
const TEXT_BYTES_MAX = 255;

function readIdentity(reader: Reader): PeerIdentity {
  const nodeId = reader.u48();
  if (nodeId === 0) throw new GreetingFormatError('a node without an id');
  const incarnation = reader.u53();
  const inCluster = reader.u8() !== 0;
  const clusterId = reader.bytes(CLUSTER_ID_BYTES);
  const name = reader.text();
  const host = reader.text();
  const port = reader.u16();
  return {
    nodeId,
    incarnation,
    clusterId: inCluster ? clusterId : null,
    name,
    host,
    port,
    version: reader.text(),
  };
}

/** Texts are names and versions, which are short; one that is not is cut. */
function text(value: string): Buffer {
  const utf8 = Buffer.from(value).subarray(0, TEXT_BYTES_MAX);
  return Buffer.concat([Buffer.from([utf8.length]), utf8]);
}

/** Reads fields one after the other; throws GreetingFormatError where there are none. */
class Reader {
  private at = 0;

  constructor(private readonly source: Buffer) {}

  bytes(count: number): Buffer {
    const end = this.at + count;
    if (end > this.source.length) throw new GreetingFormatError('a message that ends too early');
    const bytes = this.source.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  u8(): number {
    return this.bytes(1).readUInt8(0);
  }

  u16(): number {
    return this.bytes(2).readUInt16BE(0);
  }

  u48(): number {
    return this.bytes(6).readUIntBE(0, 6);
  }

  u53(): number {
    const value = this.bytes(8).readBigUInt64BE(0);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new GreetingFormatError('a number out of range');
    return Number(value);
  }

  text(): string {
    return this.bytes(this.u8()).toString('utf8');
  }
}
