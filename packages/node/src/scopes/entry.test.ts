import { ByteWriter, FormatError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { decodeEntry, type EntryHead, encodeEntry, NO_REPLY } from './entry.js';

const request = { origin: 2 ** 48 - 1, epoch: 1_700_000_000_000, sequence: 12, low: 7 };
const key = { user: 3, key: 'ключ', body: new Uint8Array(16).fill(9) };
const reply = Uint8Array.of(0, 52, 50);
const effects = Uint8Array.of(1, 2, 3);

describe('entries of the log', () => {
  test.each<EntryHead>([
    { time: 1_700_000_000_000, request: null, key: null, reply: NO_REPLY },
    { time: 0, request, key: null, reply },
    { time: 1, request: null, key, reply },
    { time: 2, request, key, reply },
    { time: 3, request, key, reply: NO_REPLY },
  ])('are read as they were written: %j', (head) => {
    expect(decodeEntry(encodeEntry(head, effects, new ByteWriter()))).toMatchObject({ head, effects });
  });

  test('cost a few bytes when they carry no names', () => {
    const head = { time: 1_700_000_000_000, request: null, key: null, reply: NO_REPLY };
    expect(encodeEntry(head, effects, new ByteWriter()).length).toBe(effects.length + 8);
  });

  test('of another format, or with flags of a newer version, are refused', () => {
    expect(() => decodeEntry(Uint8Array.of(2, 0, 0))).toThrow(FormatError);
    expect(() => decodeEntry(Uint8Array.of(1, 4, 0))).toThrow(FormatError);
  });

  test('that are cut off are refused', () => {
    const whole = encodeEntry({ time: 5, request, key, reply }, new Uint8Array(0), new ByteWriter());
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeEntry(whole.subarray(0, length))).toThrow(FormatError);
    }
  });
});
