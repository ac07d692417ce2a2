import { describe, expect, test } from '@jest/globals';
import {
  DamagedFrameError,
  encodeFrame,
  FRAME_BYTES_MAX,
  FrameError,
  FrameKind,
  FrameReader,
  GREETING_BYTES_MAX,
  PartReader,
  partHeader,
} from './frame.js';

/** Reads pieces of a stream; `bytesMax` is what is allowed. */
function read(pieces: readonly Buffer[], bytesMax = FRAME_BYTES_MAX, isChecked = false): string[] {
  const frames: string[] = [];
  const reader = new FrameReader((kind, payload) => frames.push(`${kind} ${payload.toString('latin1')}`));
  reader.bytesMax = bytesMax;
  reader.isChecked = isChecked;
  for (const piece of pieces) reader.push(piece);
  return frames;
}

describe('frames', () => {
  const streamOf = (isChecked: boolean): Buffer =>
    Buffer.concat([
      encodeFrame(1, Buffer.from('one'), isChecked),
      encodeFrame(2, Buffer.alloc(0), isChecked),
      encodeFrame(255, Buffer.from('a somewhat longer frame'), isChecked),
    ]);
  const stream = streamOf(false);
  const frames = ['1 one', '2 ', '255 a somewhat longer frame'];

  test.each([false, true])(
    'come out as they went in, however the stream is cut (checked: %p)',
    (isChecked) => {
      const whole = streamOf(isChecked);
      expect(read([whole], FRAME_BYTES_MAX, isChecked)).toEqual(frames);
      for (let size = 1; size < 20; size++) {
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
          whole.subarray(at * size, (at + 1) * size),
        );
        expect(read(pieces, FRAME_BYTES_MAX, isChecked)).toEqual(frames);
      }
      for (let cut = 0; cut <= whole.length; cut++) {
        const halves = [whole.subarray(0, cut), whole.subarray(cut)];
        expect(read(halves, FRAME_BYTES_MAX, isChecked)).toEqual(frames);
      }
    },
  );

  test('frames of which a bit is flipped are found, and what comes behind is not read', () => {
    const whole = streamOf(true);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => read([flipped], FRAME_BYTES_MAX, true)).toThrow(DamagedFrameError);
    }
  });

  test('may get checks from one to the next', () => {
    const seen: number[] = [];
    const reader = new FrameReader((kind) => {
      seen.push(kind);
      reader.isChecked = true;
    });
    reader.push(Buffer.concat([encodeFrame(7, Buffer.from('plain')), streamOf(true)]));
    expect(seen).toEqual([7, 1, 2, 255]);
  });

  test('frames that are cut off wait', () => {
    expect(read([stream.subarray(0, stream.length - 1)])).toEqual(frames.slice(0, 2));
  });

  test('frames that are too large are refused by what they claim, before they are there', () => {
    const claim = (length: number): Buffer => {
      const bytes = Buffer.alloc(5);
      bytes.writeUInt32BE(length);
      return bytes;
    };
    expect(() => read([claim(GREETING_BYTES_MAX + 1)], GREETING_BYTES_MAX)).toThrow(FrameError);
    expect(() => read([claim(FRAME_BYTES_MAX + 1)])).toThrow(FrameError);
    expect(() => read([claim(0)])).toThrow(FrameError);
    expect(read([claim(FRAME_BYTES_MAX)])).toEqual([]);
  });

  test('are not read any more once the reader is stopped, though they are here', () => {
    const seen: number[] = [];
    const reader = new FrameReader((kind) => {
      seen.push(kind);
      reader.stop();
    });
    reader.push(stream);
    reader.push(stream);
    expect(seen).toEqual([1]);
  });
});

describe('frames in pieces', () => {
  const piece = (kind: number, text: string, last: boolean): Buffer =>
    Buffer.concat([partHeader(kind, Buffer.from(text), last, false), Buffer.from(text)]).subarray(5);

  test('are put together', () => {
    const reader = new PartReader();
    expect(reader.push([piece(2, 'in ', false)])).toBeNull();
    expect(reader.push([piece(2, 'pieces', true)])?.payload.toString()).toBe('in pieces');
    expect(reader.push([piece(3, '', true)])).toEqual({ kind: 3, payload: Buffer.alloc(0) });
  });

  const stream = (isChecked: boolean): Buffer =>
    Buffer.concat([
      encodeFrame(1, Buffer.from('one'), isChecked),
      partHeader(2, Buffer.from('a large '), false, isChecked),
      Buffer.from('a large '),
      encodeFrame(1, Buffer.from('two'), isChecked),
      partHeader(2, Buffer.from('frame'), true, isChecked),
      Buffer.from('frame'),
      encodeFrame(1, Buffer.from('three'), isChecked),
    ]);

  /** Reads pieces of a stream in the parts in which they come. */
  function readParts(pieces: readonly Buffer[], isChecked: boolean): string[] {
    const come: string[] = [];
    const parts = new PartReader();
    const reader = new FrameReader((kind, payload) => come.push(`${kind} ${payload.toString()}`));
    reader.bytesMax = FRAME_BYTES_MAX;
    reader.isChecked = isChecked;
    reader.onPart = (some) => {
      const whole = parts.push(some);
      if (whole !== null) come.push(`${whole.kind} whole ${whole.payload.toString()}`);
    };
    for (const piece of pieces) reader.push(piece);
    return come;
  }

  test.each([false, true])('come in parts, however the stream is cut (checked: %p)', (isChecked) => {
    const whole = stream(isChecked);
    const expected = ['1 one', '1 two', '2 whole a large frame', '1 three'];
    for (let size = 1; size <= whole.length; size++) {
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
        whole.subarray(at * size, (at + 1) * size),
      );
      expect(readParts(pieces, isChecked)).toEqual(expected);
    }
  });

  test('frames in pieces of which a bit is flipped are found, also where they come in parts', () => {
    const whole = stream(true);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      const halves = [flipped.subarray(0, 50), flipped.subarray(50, 75), flipped.subarray(75)];
      expect(() => readParts(halves, true)).toThrow(DamagedFrameError);
    }
  });

  test('frames in pieces that make no sense are refused', () => {
    expect(() => new PartReader().push([Buffer.alloc(1)])).toThrow(FrameError);
    expect(() => new PartReader().push([Buffer.from([2, 1])])).toThrow(FrameError);
    expect(() => new PartReader().push([piece(FrameKind.Answer, 'x', true)])).toThrow(FrameError);
    const reader = new PartReader();
    reader.push([piece(2, 'one', false)]);
    expect(() => reader.push([piece(3, 'another', true)])).toThrow(FrameError);
  });

  test('have a largest size all together', () => {
    const reader = new PartReader();
    const large = Buffer.alloc(8 * 1024 * 1024);
    const part = Buffer.concat([partHeader(2, large, false, false), large]).subarray(5);
    const pushAll = (): void => {
      for (let count = 0; count < 10; count++) reader.push([part]);
    };
    expect(pushAll).toThrow(FrameError);
  });
});
