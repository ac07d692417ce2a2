import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DamagedStateError, NewerFormatError, SnapshotRefusedError, StorageError } from '../errors.js';
import { MemoryStore } from '../kv/memory-store.js';
import { decodeMeta, encodeMeta } from './group-meta.js';
import { nameRecord, readName, recordKeyBuffer } from './keys.js';
import { applySlab, checkSlab, Slab } from './slabs.js';
import {
  beginPieces,
  decodeContent,
  encodeHeader,
  encodeTrailer,
  formatOf,
  isWhole,
  makeChunk,
  PIECE_HEADER_BYTES,
  type Piece,
  type SnapshotFormat,
  writePiece,
} from './snapshot-format.js';
import { decodeValue, encodeValue, Rekeying } from './values.js';

const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
const u53 = fc.maxSafeNat();
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const applied = fc.record({ index: u53, term: u53, context: bytes });

/** A chunk of these pieces. */
function encodePieces(pieces: readonly Piece[], format: SnapshotFormat = 1): Buffer {
  const bytes = Buffer.alloc(pieces.reduce((sum, { data }) => sum + PIECE_HEADER_BYTES + data.length, 1));
  const key = recordKeyBuffer(1, 1);
  let at = beginPieces(bytes);
  for (const { kind, id, part, more, data } of pieces) {
    nameRecord(key, kind, id, part);
    writePiece(bytes, at, key, more, data, 0, data.length, format);
    at += PIECE_HEADER_BYTES + data.length;
  }
  return bytes;
}

describe('values', () => {
  test('values of another generation get the checksum that they would have here, and keep damage that they had', () => {
    const generation = fc.integer({ min: 1, max: 0xffffffff });
    fc.assert(
      fc.property(generation, generation, u53, bytes, fc.nat(), (there, here, id, payload, bit) => {
        const [from, to] = [there, here].map((each) => {
          const key = recordKeyBuffer(7, each);
          nameRecord(key, 1, id, 2);
          return key;
        }) as [Buffer, Buffer];
        // The name is the same, and its bytes count for nothing.
        const rekeying = new Rekeying(recordKeyBuffer(7, there), recordKeyBuffer(7, here));
        const value = encodeValue(from, payload);
        const before = Buffer.from(value);
        rekeying.apply(value);
        expect(value).toEqual(encodeValue(to, payload));
        rekeying.apply(value);
        expect(value).toEqual(before);
        value[bit % value.length]! ^= 1 << (bit & 7);
        rekeying.apply(value);
        expect(() => decodeValue(to, value)).toThrow(StorageError);
      }),
    );
  });

  test('come back, and only under their own key', () => {
    fc.assert(
      fc.property(bytes, bytes, bytes, (key, other, payload) => {
        const value = encodeValue(key, payload);
        expect(decodeValue(key, value)).toEqual(payload);
        if (!key.equals(other)) expect(() => decodeValue(other, value)).toThrow(DamagedStateError);
      }),
    );
  });

  test('values of any other bytes are refused with a typed error', () => {
    fc.assert(
      fc.property(bytes, bytes, (key, value) =>
        expect(() => decodeValue(key, value)).toThrow(DamagedStateError),
      ),
    );
  });

  test('values of a later format are told as such', async () => {
    const { crc32c } = await import('../crc32c.js');
    const key = Buffer.from('key');
    const value = encodeValue(key, Buffer.from('payload'));
    value[4] = 2;
    value.writeUInt32LE(crc32c(value, 4, value.length, crc32c(key)), 0);
    expect(() => decodeValue(key, value)).toThrow(NewerFormatError);
  });
});

describe('a record of a group', () => {
  const redo = fc.record({ file: u53, slabs: u32, bytes: u53, crc: u32, applied });

  test('comes back', () => {
    const meta = fc.record({ generation: u32, applied, redo: fc.option(redo, { nil: undefined }) });
    fc.assert(fc.property(meta, (one) => expect(decodeMeta(encodeMeta(one), 1)).toEqual(one)));
  });

  test('a record of any other bytes is refused with a typed error, or has a form', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 90 }), (array) => {
        try {
          decodeMeta(Buffer.from(array), 1);
        } catch (error) {
          expect(error).toBeInstanceOf(DamagedStateError);
        }
      }),
    );
  });
});

describe('slabs', () => {
  test('bring their changes into a batch, in order', async () => {
    const change = fc.record({ kind: fc.nat(255), id: u53, part: u32, payload: fc.option(bytes) });
    await fc.assert(
      fc.asyncProperty(fc.array(change), async (changes) => {
        const slab = new Slab(3, 1 << 20);
        const key = recordKeyBuffer(7, 8);
        const expected = new Map<string, Buffer | null>();
        for (const { kind, id, part, payload } of changes) {
          nameRecord(key, kind, id, part);
          if (payload === null) slab.delete(key);
          else slab.put(key, payload);
          expected.set(key.toString('hex'), payload);
        }
        const sealed = slab.seal();
        checkSlab(sealed.bytes, 3, 7);
        expect(() => checkSlab(sealed.bytes, 4, 7)).toThrow(DamagedStateError);
        const store = new MemoryStore().attach();
        const batch = store.batch();
        applySlab(sealed.bytes, batch, 7, 8);
        await batch.write({ sync: true });
        for (const [name, payload] of expected) {
          const found = store.getSync(Buffer.from(name, 'hex'));
          expect(found === undefined ? null : decodeValue(Buffer.from(name, 'hex'), found)).toEqual(payload);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('slabs with any flipped bit are refused', () => {
    const slab = new Slab(0, 1024);
    const key = recordKeyBuffer(1, 1);
    slab.put(key, Buffer.from('payload'));
    const { bytes: sealed } = slab.seal();
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const flipped = Buffer.from(sealed);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => checkSlab(flipped, 0, 1)).toThrow(DamagedStateError);
    }
    expect(() => checkSlab(Buffer.alloc(3), 0, 1)).toThrow(DamagedStateError);
  });
});

describe('chunks of a snapshot', () => {
  const piece = fc.record({ kind: fc.nat(255), id: u53, part: u32, more: fc.boolean(), data: bytes });

  test('come back', () => {
    fc.assert(
      fc.property(u53, applied, u32, fc.array(piece), u53, (group, point, generation, pieces, records) => {
        for (const header of [
          { group, applied: point },
          { group, applied: point, generation },
        ]) {
          const format = formatOf(header);
          expect(decodeContent(encodeHeader(header), 1)).toEqual({ kind: 'header', header });
          const total = Buffer.alloc(32, 4);
          const trailer = { kind: 'trailer', records, total };
          expect(decodeContent(encodeTrailer(records, total), format)).toEqual(trailer);
        }
        expect(decodeContent(encodePieces(pieces), 1)).toEqual({ kind: 'records', pieces });
        const stored = decodeContent(encodePieces(pieces, 2), 2);
        const come =
          stored.kind === 'stored' &&
          stored.pieces.map(({ name, more, data }) => ({ ...readName(name), more, data }));
        expect(come).toEqual(pieces);
      }),
    );
  });

  test('chunks of any bytes, also nearly right ones, are refused with a typed error or have a form', () => {
    const good = fc.oneof(
      fc.record({ group: u53, applied }).map(encodeHeader),
      fc.record({ group: u53, applied, generation: u32 }).map(encodeHeader),
      fc.array(piece, { maxLength: 4 }).map((pieces) => encodePieces(pieces)),
      fc.array(piece, { maxLength: 4 }).map((pieces) => encodePieces(pieces, 2)),
      fc.constant(encodeTrailer(3, Buffer.alloc(32))),
    );
    const mutated = fc.tuple(good, fc.nat(), fc.nat(255), fc.nat(80)).map(([content, at, byte, cut]) => {
      const changed = Buffer.from(content.subarray(0, content.length - (cut % content.length)));
      changed[at % changed.length] = byte;
      return changed;
    });
    fc.assert(
      fc.property(fc.oneof(bytes, mutated), fc.constantFrom(1, 2), (content, format) => {
        try {
          decodeContent(content, format);
        } catch (error) {
          expect(error).toBeInstanceOf(SnapshotRefusedError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('chunks of a later format are refused, telling the way out', () => {
    const header = encodeHeader({ group: 1, applied: { index: 1, term: 1, context: Buffer.alloc(0) } });
    header.writeUInt32LE(3, 9);
    expect(() => decodeContent(header, 1)).toThrow('use the newer program');
  });

  test.each([1, 2] as const)('changed on their way do not hold their checksum, in format %d', (format) => {
    const chunk = makeChunk(3, Buffer.from('content'), format);
    expect(isWhole(chunk, format)).toBe(true);
    expect(isWhole({ ...chunk, sequence: 4 }, format)).toBe(false);
    expect(isWhole({ ...chunk, bytes: Buffer.from('Content') }, format)).toBe(false);
    expect(() => decodeContent(Buffer.alloc(0), format)).toThrow(StorageError);
  });

  test('the first one holds its checksum whatever format it will tell', () => {
    const first = makeChunk(0, Buffer.from('header'), 2);
    expect(isWhole(first, 1)).toBe(true);
  });
});
