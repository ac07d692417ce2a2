import { NumberTable } from '../../base/number-table.js';
import type { GroupId, NodeId } from '../../between/protocol.js';

/** The answers that other nodes will get, by the numbers of their requests. */
export class RequestsUnderWay {
  private readonly tables = new Map<string, NumberTable<Promise<Uint8Array>>>();

  /** The requests of one start of a node to one group. */
  of(from: NodeId, incarnation: number, group: GroupId): NumberTable<Promise<Uint8Array>> {
    const name = `${from} ${incarnation} ${group}`;
    let table = this.tables.get(name);
    if (table !== undefined) return table;
    if (this.tables.size >= TABLES_MAX) this.dropEmpty();
    table = new NumberTable();
    this.tables.set(name, table);
    return table;
  }

  private dropEmpty(): void {
    for (const [name, { size }] of this.tables) if (size === 0) this.tables.delete(name);
  }
}

/** Tables from which on empty ones are dropped. */
const TABLES_MAX = 4096;
