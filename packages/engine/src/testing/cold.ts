/** A collection that is read anew from its records, of which nothing is in memory then: for tests of what comes into memory, and when. */
import { writeCheckpoint } from '../state/checkpoint.js';
import { RecordKind } from '../state/records.js';
import { Harness, type HarnessOptions } from './harness.js';
import { RecordMap } from './record-map.js';

export class Cold {
  readonly db: Harness;
  /** Records that were read, and those of them that are pages of things. */
  reads = 0;
  pageReads = 0;
  private readonly disk = new RecordMap();
  /** The records, by their names. */
  readonly records = this.disk.values;
  private meta: Uint8Array = new Uint8Array();

  /** The clock stands still by default: what is refused is refused for what it was going to take. */
  constructor(options: HarnessOptions = { limits: { durationMs: 50 }, monotonic: () => 1000 }) {
    this.db = new Harness({ evicts: false, ...options });
  }

  /** Writes what changed, and lets nothing be in memory. */
  reopen(): void {
    const { db } = this;
    writeCheckpoint(db.collection, this.disk);
    db.collection.dirty.release();
    this.meta = db.collection.encodeMeta();
    this.open();
  }

  /** Lets nothing be in memory, and forgets what changed since that was written. */
  open(): void {
    const opened = this.db.reopen({
      read: (kind, id, part) => {
        this.reads += 1;
        if (part > 0) this.pageReads += 1;
        return this.disk.read(kind, id, part);
      },
    });
    opened.loadRecord(RecordKind.META, 0, this.meta);
    this.disk.load(opened);
    this.reads = 0;
    this.pageReads = 0;
  }

  /** Runs a query until its limits do not end it, and says how often they did, and how many pages were read at first. */
  runAgain(code: string): { readonly value: unknown; readonly ended: number; readonly readAtFirst: number } {
    let readAtFirst = 0;
    for (let ended = 0; ended < 20; ended++) {
      try {
        return { value: this.db.run(code), ended, readAtFirst };
      } catch (error) {
        if (!String(error).includes('query_duration_limit_ms')) throw error;
        if (ended === 0) readAtFirst = this.pageReads;
      }
    }
    throw new Error(`it never ends: ${code}`);
  }
}
