import { describe, expect, it } from '@jest/globals';
import { ByteReader, ByteWriter } from './bytes.js';

describe('reading past what is expected', () => {
  it.each([0, 1, 127, 128, 300, 2 ** 31, 2 ** 53 - 1])('takes the varint %d and no other', (value) => {
    const input = written((out) => out.varint(value));
    expect(input.takeVarint(value + 1)).toBe(false);
    expect(input.takeVarint(value)).toBe(true);
    expect(input.remaining).toBe(1);
  });

  it.each(['', 'a', 'name', 'x'.repeat(127)])('takes the text "%s" and no other', (text) => {
    const input = written((out) => out.text(text));
    for (const other of [`${text}b`, `b${text}`, text.slice(1), 'nAme']) {
      if (other !== text) expect(input.takeText(other)).toBe(false);
    }
    expect(input.takeText(text)).toBe(true);
    expect(input.remaining).toBe(1);
  });

  it('leaves texts that are long or no ASCII to be decoded', () => {
    for (const text of ['é', 'naïve', 'x'.repeat(128)]) {
      const input = written((out) => out.text(text));
      expect(input.takeText(text)).toBe(false);
      expect(input.text()).toBe(text);
    }
  });

  it('reads no text beyond its end', () => {
    const cut = new ByteReader(Buffer.from([4, 0x6e, 0x61, 0x6d]));
    expect(cut.takeText('name')).toBe(false);
    expect(new ByteReader(Buffer.from([3, 0x3d, 0x31])).takeNumberedText('=')).toBe(-1);
    expect(new ByteReader(Buffer.alloc(0)).takeText('')).toBe(false);
  });

  it.each([0, 7, 4_294_967_296, 10_000_000_000_000])('takes the text of the number %d', (value) => {
    const input = written((out) => out.text(`=${value}`));
    expect(input.takeNumberedText('*')).toBe(-1);
    expect(input.takeNumberedText('=')).toBe(value);
    expect(input.remaining).toBe(1);
  });

  it.each(['', '=', '=a', '=1a', '1', 'name'])('takes no number from the text "%s"', (text) => {
    const input = written((out) => out.text(text));
    expect(input.takeNumberedText('=')).toBe(-1);
    expect(input.text()).toBe(text);
  });
});

/** The written bytes, with one more behind them. */
function written(write: (out: ByteWriter) => void): ByteReader {
  const out = new ByteWriter();
  write(out);
  out.u8(0);
  return new ByteReader(out.take());
}

describe('bytes that are needed for a moment', () => {
  it('stay as they are while more is written, whatever its size, and behind what grew', () => {
    const out = new ByteWriter(8);
    const taken: [Uint8Array, number[]][] = [];
    for (let i = 0; i < 120; i++) {
      out.rewind();
      const bytes = Array.from({ length: (i * 37) % 1500 }, (_, at) => (i + at) & 0xff);
      for (const byte of bytes) out.u8(byte);
      out.u8(0);
      out.patch(out.length - 1, i & 0xff);
      expect([...out.view()]).toEqual([...out.take()]);
      taken.push([out.takeBriefly(), [...bytes, i & 0xff]]);
      expect(out.length).toBe(0);
    }
    for (const [bytes, expected] of taken) expect([...bytes]).toEqual(expected);
  });
});
