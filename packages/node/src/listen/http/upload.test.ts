import type { HttpResponse } from 'uWebSockets.js';
import { expect, test } from '@jest/globals';
import { ByteBudget } from '../limits/byte-budget.js';
import { Upload } from './upload.js';

const MiB = 1024 * 1024;

/** An upload of a known sender. */
function receiving() {
  const calls: string[] = [];
  let take = (_chunk: ArrayBuffer, _isLast: boolean): void => {};
  const res = {
    onData: (taker: typeof take) => {
      take = taker;
    },
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
  } as unknown as HttpResponse;
  const upload = new Upload(res, new ByteBudget(MiB));
  upload.welcome();
  return {
    upload,
    calls,
    come: (bytes: number, isLast = false): void => take(new ArrayBuffer(bytes), isLast),
  };
}

async function sizeOf(upload: Upload): Promise<number> {
  let size = 0;
  for await (const part of upload) size += part.length;
  return size;
}

test('an upload waits while nobody reads it, and goes on when it is read', async () => {
  const { upload, calls, come } = receiving();
  come(2 * MiB);
  expect(calls).toEqual(['pause']);
  const size = sizeOf(upload);
  await new Promise(setImmediate);
  expect(calls).toEqual(['pause', 'resume']);
  come(1, true);
  expect(await size).toBe(2 * MiB + 1);
});

test('an upload that has come as a whole is not resumed: its connection would be closed ten seconds later', async () => {
  const { upload, calls, come } = receiving();
  come(2 * MiB);
  come(1, true);
  expect(await sizeOf(upload)).toBe(2 * MiB + 1);
  await upload.discard();
  expect(calls).toEqual(['pause']);
});
