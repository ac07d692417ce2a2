/**
 * The cluster that a node belongs to, or is about to found, in the file `cluster` of its data folder. The
 * file is replaced as a whole: what `save` has answered survives a power cut, and what a crash interrupts
 * leaves the old one.
 *
 *   file     := "ALTHCLST" check[8] body                 see `small-file.ts`
 *   body     := format:u8 (1) starts:varint state
 *   state    := 0 | 1 promise | 2 member
 *   promise  := round:varint clusterId founders
 *   member   := clusterId known:u8 [founders]            known 0: joined a cluster that was there before
 *   founders := count:varint (nodeId:varint name:bytes host:bytes port:varint)*
 *
 * clusterId is `bytes` of 16; varint and bytes are those of raft-ts: LEB128, and a varint length with that
 * many bytes.
 */
import { type Disk, DiskError, type DiskFile } from '@althing/storage';
import { ByteReader, ByteWriter, CodecError } from 'raft-ts';
import { sealed, unsealed } from '../base/small-file.js';
import { ExitCode } from '../config/exit-codes.js';

/** One of the nodes that a cluster begins with. */
export interface Founder {
  readonly nodeId: number;
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

export interface ClusterRecord {
  /** 16 bytes. */
  readonly clusterId: Uint8Array;
  /** Null: this node joined a cluster that was there before. */
  readonly founders: readonly Founder[] | null;
}

/** A cluster that its first founder wants to found. */
export interface Proposal {
  /** Higher than that of any proposal that the proposer has heard of. */
  readonly round: number;
  /** 16 bytes. */
  readonly clusterId: Uint8Array;
  /** The first one is the proposer. */
  readonly founders: readonly Founder[];
}

/** The cluster, as a node knows it. */
export type ClusterState =
  | { readonly kind: 'empty' }
  /** It has promised to be part of this cluster, if it is founded, and of none with a lower round. */
  | { readonly kind: 'promised'; readonly proposal: Proposal }
  | { readonly kind: 'member'; readonly record: ClusterRecord };

/** Names that the data folder may hold because of this file. */
export const CLUSTER_FILE_NAMES: readonly string[] = ['cluster', 'cluster.tmp'];

/** The file is not what it was when it was written, or of a version that we do not know. */
export class ClusterFileError extends Error {
  override readonly name = 'ClusterFileError';
  readonly exitCode = ExitCode.DataDamaged;
}

/** The file of a data folder that this process holds. */
export class ClusterFile {
  /**
   * A number that is higher at each start of the node, by which others tell a new process from the one
   * before: the number of starts, and, so that copies of a folder differ too, a part of the time.
   */
  readonly incarnation: number;
  private current: ClusterState;

  /**
   * @param nowMs the time of day
   * @throws ClusterFileError, DiskError
   */
  static async open(disk: Disk, nowMs: number): Promise<ClusterFile> {
    const names = await disk.list();
    const found = names.some(({ name }) => name === NAME) ? await read(disk) : { starts: 0, state: EMPTY };
    const file = new ClusterFile(disk, found.starts + 1, found.state, nowMs);
    try {
      await file.write(found.state);
    } catch (error) {
      // A full disk is no reason not to start; then the time alone tells this process from the one before.
      if (!(error instanceof DiskError) || !NO_ROOM.has(error.errno)) throw error;
    }
    return file;
  }

  private constructor(
    private readonly disk: Disk,
    private readonly starts: number,
    state: ClusterState,
    nowMs: number,
  ) {
    this.current = state;
    this.incarnation = starts * INCARNATION_STEP + (Math.floor(nowMs / 100) % INCARNATION_STEP);
  }

  load(): ClusterState {
    return this.current;
  }

  /** Resolves when the state is durable. One at a time. */
  async save(state: ClusterState): Promise<void> {
    await this.write(state);
    this.current = state;
  }

  private async write(state: ClusterState): Promise<void> {
    const bytes = encodeClusterFile(this.starts, state);
    const file = await this.disk.create(TEMPORARY_NAME, bytes.length);
    try {
      await writeAll(file, bytes);
    } finally {
      await file.close();
    }
    await this.disk.rename(TEMPORARY_NAME, NAME);
    await this.disk.sync();
  }
}

export function encodeClusterFile(starts: number, state: ClusterState): Uint8Array {
  const body = new ByteWriter(256);
  body.u8(FORMAT);
  body.varint(starts);
  writeState(body, state);
  return sealed(MAGIC, body.finish());
}

/** @throws ClusterFileError */
export function decodeClusterFile(bytes: Uint8Array): {
  readonly starts: number;
  readonly state: ClusterState;
} {
  const body = unsealed(MAGIC, bytes, damaged);
  if (body[0] !== FORMAT) {
    throw new ClusterFileError(
      `the file "cluster" in the data folder has format ${body[0]}, and this version knows ${FORMAT} only: start a newer version`,
    );
  }
  try {
    const reader = new ByteReader(body, 1);
    return { starts: reader.varint(), state: readState(reader) };
  } catch (error) {
    if (error instanceof CodecError) throw damaged(error.message);
    throw error;
  }
}

export function writeProposal(out: ByteWriter, { round, clusterId, founders }: Proposal): void {
  out.varint(round);
  out.bytes(clusterId);
  writeFounders(out, founders);
}

/** @throws CodecError */
export function readProposal(reader: ByteReader): Proposal {
  return { round: reader.varint(), clusterId: readClusterId(reader), founders: readFounders(reader) };
}

export function writeRecord(out: ByteWriter, { clusterId, founders }: ClusterRecord): void {
  out.bytes(clusterId);
  out.u8(founders === null ? 0 : 1);
  if (founders !== null) writeFounders(out, founders);
}

/** @throws CodecError */
export function readRecord(reader: ByteReader): ClusterRecord {
  const clusterId = readClusterId(reader);
  return { clusterId, founders: reader.u8() === 0 ? null : readFounders(reader) };
}

export function writeState(out: ByteWriter, state: ClusterState): void {
  out.u8(STATE_CODES[state.kind]);
  if (state.kind === 'promised') writeProposal(out, state.proposal);
  if (state.kind === 'member') writeRecord(out, state.record);
}

/** @throws CodecError */
export function readState(reader: ByteReader): ClusterState {
  const code = reader.u8();
  if (code === STATE_CODES.empty) return EMPTY;
  if (code === STATE_CODES.promised) return { kind: 'promised', proposal: readProposal(reader) };
  if (code === STATE_CODES.member) return { kind: 'member', record: readRecord(reader) };
  return reader.fail('unknown_kind', `State ${code}`);
}

export function writeFounder(out: ByteWriter, { nodeId, name, host, port }: Founder): void {
  out.varint(nodeId);
  out.bytes(Buffer.from(name));
  out.bytes(Buffer.from(host));
  out.varint(port);
}

/** @throws CodecError */
export function readFounder(reader: ByteReader): Founder {
  const nodeId = reader.varint();
  const name = Buffer.from(reader.bytes()).toString('utf8');
  const host = Buffer.from(reader.bytes()).toString('utf8');
  return { nodeId, name, host, port: reader.varint() };
}

const EMPTY: ClusterState = { kind: 'empty' };
const STATE_CODES = { empty: 0, promised: 1, member: 2 } as const;
const NAME = 'cluster';
const TEMPORARY_NAME = 'cluster.tmp';
const MAGIC = 'ALTHCLST';
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const CLUSTER_ID_BYTES = 16;
const FORMAT = 1;

/** Smallest founder in bytes: a count that promises more of them than can follow is a lie. */
const FOUNDER_BYTES_MIN = 4;

/** The part of the time in an incarnation: tenths of a second, for nineteen days. */
const INCARNATION_STEP = 2 ** 24;

async function read(disk: Disk): Promise<ReturnType<typeof decodeClusterFile>> {
  const file = await disk.open(NAME);
  try {
    return decodeClusterFile(file.read(0, file.bytes));
  } finally {
    await file.close();
  }
}

function writeAll(file: DiskFile, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    file.write([bytes], 0, (error) => (error === undefined ? resolve() : reject(error)));
  });
}

function damaged(why: string): ClusterFileError {
  return new ClusterFileError(
    `the file "cluster" in the data folder is damaged (${why}): restore the folder from a backup, or empty it to join as a new node`,
  );
}

function writeFounders(out: ByteWriter, founders: readonly Founder[]): void {
  out.varint(founders.length);
  for (const founder of founders) writeFounder(out, founder);
}

function readFounders(reader: ByteReader): Founder[] {
  return Array.from({ length: reader.count(FOUNDER_BYTES_MIN) }, () => readFounder(reader));
}

function readClusterId(reader: ByteReader): Uint8Array {
  const bytes = reader.bytes();
  if (bytes.length !== CLUSTER_ID_BYTES) reader.fail('invalid', 'A cluster id of a wrong length');
  return Uint8Array.from(bytes);
}
