/** Lines of an answer on their way from a reader to the engine thread, in batches, no more than the client takes. */

import { crc32c } from '@althing/storage';
import type { LineRing } from './line-ring.js';

/** Characters from which on lines are handed over. */
const BATCH_LENGTH = 64 * 1024;

export class LineSender {
  /** Milliseconds that were waited for the client. */
  waitedMs = 0;
  private text = '';
  private count = 0;
  private crc = 0;

  constructor(private readonly ring: Pick<LineRing, 'put'>) {}

  line(text: string): void {
    this.text += `${text}\n`;
    this.count += 1;
    if (this.text.length >= BATCH_LENGTH) this.flush();
  }

  /** A last line, which says how many there were, the CRC-32C of all their bytes, and the position behind which changes are to be followed. */
  end(index: number, at: string, cost: string): void {
    this.flush();
    const crc = this.crc.toString(16).padStart(8, '0');
    this.line(JSON.stringify({ end: { lines: this.count, index, at, crc, cost } }));
  }

  /** Another answer begins. */
  begin(): void {
    this.text = '';
    this.count = 0;
    this.crc = 0;
  }

  /** Hands over what there is, and waits as long as too much is not taken. */
  flush(): void {
    if (this.text === '') return;
    const bytes = Buffer.from(this.text);
    this.crc = crc32c(bytes, 0, bytes.length, this.crc);
    this.text = '';
    this.waitedMs += this.ring.put(bytes);
  }
}
