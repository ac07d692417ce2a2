/** Requests that other nodes sent here, and their answers. */
import type { ByteWriter } from '@althing/engine';
import { NumberTable } from '../base/number-table.js';
import type { GroupId, NodeId, PreparedAnswer } from '../between/protocol.js';
import type { OpenCall } from '../calls/calls.js';
import { LogTexts } from '../groups/request.js';
import { encodeAnswer, encodePrepared, type ForwardedRequest, withLogs } from './forward-format.js';
import type { Doubt, EarlyAnswer, RequestEnd } from './request.js';

/** A request that another node sent, and the calls that get its answer: of each copy of it that came meanwhile, too. */
export class TakenRequest implements EarlyAnswer {
  /** Takes what code says by `log`; null where the sender does not want to know. */
  readonly logs: LogTexts | null;
  private readonly calls: OpenCall[];
  /** True if the first call was answered along with the change. */
  private isAnswered = false;

  /** @param writer one that is free for short answers */
  constructor(
    readonly from: NodeId,
    readonly message: ForwardedRequest,
    /** The group that it is bound to; null for a request to this node itself. */
    readonly group: GroupId | null,
    readonly bytes: number,
    call: OpenCall,
    private readonly writer: ByteWriter,
  ) {
    this.logs = message.wantsLogs ? new LogTexts() : null;
    this.calls = [call];
  }

  /** The doubt that the sender has about earlier attempts. Requests to a node itself are made once. */
  get doubt(): Doubt {
    return this.group !== null && this.message.undecided ? 'others' : 'none';
  }

  /** A copy came, and gets the same answer. */
  join(call: OpenCall): void {
    this.calls.push(call);
  }

  prepare(result: string | Uint8Array): PreparedAnswer | null {
    const [first] = this.calls;
    if (result.length > EARLY_LENGTH_MAX || first === undefined) return null;
    return first.prepare(encodePrepared(result, this.writer));
  }

  noteAnswered(): void {
    this.isAnswered = true;
  }

  /** @param writer one that is free for the answer */
  end(end: RequestEnd, writer: ByteWriter): void {
    const waiting = this.isAnswered ? this.calls.slice(1) : this.calls;
    if (waiting.length === 0) return;
    const encoded = encodeAnswer(end, writer);
    const answer = this.logs === null ? encoded : withLogs(encoded, this.logs.texts);
    for (const call of waiting) call.answer(answer);
  }
}

/** Characters or bytes of a result that goes along with its change at most: it is there a second time meanwhile. */
const EARLY_LENGTH_MAX = 4 * 1024;

/** The requests of other nodes that are carried out, by their numbers. */
export class TakenRequests {
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
