import { EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { RealNode, until } from '../testing/index.js';
import { isAlive } from '../testing/launch.js';
import { StreamOutput } from './log-output.js';

/** A stream that takes nothing until it is told to. */
class Blocked extends EventEmitter {
  writable = true;
  waiting: string[] = [];

  get writableLength(): number {
    return this.waiting.join('').length;
  }

  write(line: string): boolean {
    this.waiting.push(line);
    return false;
  }

  drain(): void {
    this.waiting = [];
    this.emit('drain');
  }
}

describe('standard output that nobody reads', () => {
  test('holds 1 MB of lines, drops more, and tells afterwards how many', () => {
    const stream = new Blocked();
    const seen = { dropped: 0, recovered: [] as number[] };
    const output = new StreamOutput(stream, {
      dropped: () => {
        seen.dropped += 1;
      },
      recovered: (lines) => seen.recovered.push(lines),
    });

    for (let line = 0; line < 30; line++) output.write('x'.repeat(50_000));
    expect([stream.waiting.length, seen.dropped]).toEqual([20, 10]);

    stream.drain();
    stream.drain();
    expect(seen).toEqual({ dropped: 10, recovered: [10] });
  });

  test('drops everything once it is closed', () => {
    const stream = new Blocked();
    let dropped = 0;
    const count = (): void => {
      dropped += 1;
    };
    const output = new StreamOutput(stream, { dropped: count, recovered: () => {} });
    stream.emit('error', new Error('EPIPE'));
    stream.writable = false;
    output.write('x');
    expect([stream.waiting, dropped]).toEqual([[], 1]);
  });

  test('holds up neither the service of a node nor its end', async () => {
    const node = await RealNode.start();
    try {
      node.stopReading();
      const before = node.memory.nowMb;
      for (let round = 0; round < 20; round++) await node.value('/n', LOG_MUCH);
      expect(node.memory.nowMb - before).toBeLessThan(150);
      expect(await droppedLines(node)).toBeGreaterThan(1000);

      node.signal('SIGTERM');
      await until(() => !isAlive(node.pid), 'the process has ended');
      node.readAgain();
      expect(await node.ended()).toBe(0);
    } finally {
      await node.kill();
      node.clear();
    }
  });

  test('is told of in the log when it is read again', async () => {
    const node = await RealNode.start();
    node.stopReading();
    for (let round = 0; round < 10; round++) await node.value('/n', LOG_MUCH);
    node.readAgain();
    await until(() => node.log.includes('log_lines_dropped'), 'the log tells what is missing');
    await node.stop();
  });
});

/** 180 kB of log. */
const LOG_MUCH = `x = '${'x'.repeat(900)}'; range(200).each(|i| log(x)); nil;`;

async function droppedLines(node: RealNode): Promise<number> {
  const { text } = await node.probe('/metrics');
  return Number(/^althing_log_lines_dropped_total (\d+)/m.exec(text)?.[1]);
}
