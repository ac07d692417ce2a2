import { NumberTable } from '../../base/number-table.js';
import type { GroupId, NodeId } from '../../between/protocol.js';
import type { TakenRequest } from './taken-request.js';

/** The requests of other nodes that are being carried out, by their numbers. */
export class RequestsUnderWay {
  private readonly tables = new Map<string, NumberTable<TakenRequest>>();
  /** The table that was looked for last: requests of one node to one group come in a row. */
  private last: Table | null = null;

  /** The requests of one start of a node to one group. */
  of(from: NodeId, incarnation: number, group: GroupId): NumberTable<TakenRequest> {
    const { last } = this;
    if (last?.from === from && last.incarnation === incarnation && last.group === group) return last.table;
    const table = this.find(`${from} ${incarnation} ${group}`);
    this.last = { from, incarnation, group, table };
    return table;
  }

  private find(name: string): NumberTable<TakenRequest> {
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

interface Table {
  readonly from: NodeId;
  readonly incarnation: number;
  readonly group: GroupId;
  readonly table: NumberTable<TakenRequest>;
}

/** Tables from which on empty ones are dropped. */
const TABLES_MAX = 4096;
