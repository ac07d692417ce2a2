import { ByteWriter, FormatError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { decodeEntry, type EntryHead, encodeEntry, plainHead } from './entry.js';

const request = { origin: 2 ** 48 - 1, incarnation: 1_700_000_000_000, sequence: 12, low: 7 };
const key = { user: 3, key: 'ключ', body: '\x09'.repeat(16) };
const client = { user: 3, client: 'c-1', sequence: 2 ** 40, low: 7, body: '\x08'.repeat(16) };
const reply = Uint8Array.of(0, 52, 50);
const effects = Uint8Array.of(1, 2, 3);

describe('entries of the log', () => {
  test.each<EntryHead>([
    plainHead(1_700_000_000_000),
    { ...plainHead(0), request, reply },
    { ...plainHead(1), key, reply },
    { ...plainHead(2), request, key, reply },
    { ...plainHead(3), request, key },
    { ...plainHead(5), elapsed: 3_600_000, request, key, client, reply },
    { ...plainHead(6), elapsed: 1, client, reply },
  ])('are read as they were written: %j', (head) => {
    expect(decodeEntry(encodeEntry(head, effects, new ByteWriter()))).toMatchObject({ head, effects });
  });

  test('give an answer that does not keep the parcel in which they came', () => {
    const entry = encodeEntry({ ...plainHead(6), elapsed: 1, client, reply }, effects, new ByteWriter());
    const parcel = Buffer.concat([new Uint8Array(16_384), entry]);
    expect(decodeEntry(parcel.subarray(16_384)).head.reply.buffer.byteLength).toBe(reply.length);
  });

  test('cost a few bytes when they carry no names', () => {
    const head = plainHead(1_700_000_000_000);
    expect(encodeEntry(head, effects, new ByteWriter()).length).toBe(effects.length + 9);
  });

  test('entries of another format, or with flags of a newer version, are refused', () => {
    expect(() => decodeEntry(Uint8Array.of(3, 0, 0))).toThrow(FormatError);
    expect(() => decodeEntry(Uint8Array.of(0, 0, 0))).toThrow(FormatError);
    expect(() => decodeEntry(Uint8Array.of(2, 8, 0, 0))).toThrow(FormatError);
  });

  test('entries of the first format tell no time that passed', () => {
    const head = { ...plainHead(3), request, key, reply };
    const whole = [...encodeEntry(head, effects, new ByteWriter())];
    // Behind the format, the flags and the time.
    expect(whole.splice(3, 1)).toEqual([0]);
    whole[0] = 1;
    expect(decodeEntry(Uint8Array.from(whole))).toMatchObject({ head, effects });
  });

  test('entries that are cut off are refused', () => {
    const head = { ...plainHead(5), elapsed: 9, request, key, client, reply };
    const whole = encodeEntry(head, new Uint8Array(0), new ByteWriter());
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeEntry(whole.subarray(0, length))).toThrow(FormatError);
    }
  });
});
