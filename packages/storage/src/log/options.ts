import { demand } from '../errors.js';
import {
  SEGMENT_FORMAT_FIRST,
  SEGMENT_FORMAT_NEWEST,
  SEGMENT_HEADER_BYTES,
  STORE_ID_BYTES,
} from './format.js';
import type { ChainHash } from './types.js';

export type LogStoreOptions = {
  /** Size of a segment file. Default 16 MiB. */
  readonly segmentBytes?: number;
  /** Bytes of the newest records, over all groups, that stay in memory. Default 32 MiB. */
  readonly cacheBytes?: number;
  /** The largest append call, as it lies on the disk. Default 256 MiB. */
  readonly maxAppendBytes?: number;
  /**
   * The largest write, unless one append is larger: waiting appends are written together up to it. Default 8
   * MiB.
   */
  readonly maxWriteBytes?: number;
  /** Appends that wait, in bytes; more is refused with `LimitError`. Default 1 GiB. */
  readonly maxWaitingBytes?: number;
  /** 16 bytes that tell this store from others, checked at each start. Default: zeros. */
  readonly storeId?: Uint8Array;
  /** The format of segments to write, 1 or 2, unless the newest one there has a higher. Default 2. */
  readonly format?: number;
  /** The function that computes the chain hashes of entries. Default: not known, so they are not compared. */
  readonly chainHash?: ChainHash;
  /** Called with each durable write: how long it took, and what was in it. */
  readonly observe?: WriteObserver;
};

export interface WriteObserver {
  /** A clock in milliseconds. */
  readonly now: () => number;
  readonly written: (durationMs: number, records: number, bytes: number) => void;
}

export type LogStoreSettings = Required<Omit<LogStoreOptions, 'storeId' | 'observe' | 'chainHash'>> & {
  readonly storeId: Buffer;
  readonly observe: WriteObserver | null;
  readonly chainHash: ChainHash | null;
};

const MEBIBYTE = 1 << 20;
const SEGMENT_BYTES_MIN = SEGMENT_HEADER_BYTES + 512;
const APPEND_BYTES_MAX = 1 << 30;

export function logStoreSettings(options: LogStoreOptions): LogStoreSettings {
  const storeId = Buffer.alloc(STORE_ID_BYTES);
  if (options.storeId !== undefined) {
    demand(options.storeId.length === STORE_ID_BYTES, 'the identity of a log store has 16 bytes');
    storeId.set(options.storeId);
  }
  const settings = {
    segmentBytes: options.segmentBytes ?? 16 * MEBIBYTE,
    cacheBytes: options.cacheBytes ?? 32 * MEBIBYTE,
    maxAppendBytes: options.maxAppendBytes ?? 256 * MEBIBYTE,
    maxWriteBytes: options.maxWriteBytes ?? 8 * MEBIBYTE,
    maxWaitingBytes: options.maxWaitingBytes ?? 1024 * MEBIBYTE,
    storeId,
    observe: options.observe ?? null,
    chainHash: options.chainHash ?? null,
    format: options.format ?? SEGMENT_FORMAT_NEWEST,
  };
  const { segmentBytes, maxAppendBytes, format } = settings;
  const isKnown =
    Number.isInteger(format) && format >= SEGMENT_FORMAT_FIRST && format <= SEGMENT_FORMAT_NEWEST;
  demand(isKnown, `there is no format ${format} of segments`);
  demand(
    segmentBytes % 8 === 0 && segmentBytes >= SEGMENT_BYTES_MIN,
    'a segment size below 1 KiB or not of eights',
  );
  demand(
    segmentBytes <= APPEND_BYTES_MAX && maxAppendBytes <= APPEND_BYTES_MAX,
    'a segment or append over 1 GiB',
  );
  return settings;
}
