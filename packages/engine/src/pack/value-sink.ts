import { attach } from '../state/attach.js';
import { List, toItem } from '../value/containers.js';
import { Bytes, Float, MpData } from '../value/scalars.js';
import type { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Sink } from './walk.js';

/** Receives what a client would get, as values: maps become plain things, arrays lists. */
export class ValueSink implements Sink {
  size = 0;
  private readonly open: (List | Thing)[] = [];
  /** The key of the next value, for each open map. */
  private readonly keys: string[] = [];
  private result: Value = null;

  constructor(private readonly shapes: ShapeTree) {}

  /** The value that was received. */
  take(): Value {
    return this.result;
  }

  nil(): void {
    this.put(null);
  }

  bool(value: boolean): void {
    this.put(value);
  }

  int(value: number | bigint): void {
    this.put(value);
  }

  float(value: number): void {
    this.put(new Float(value));
  }

  str(value: string): void {
    this.put(value);
  }

  longStr(value: string): void {
    this.put(value);
  }

  longKey(key: string): void {
    this.key(key);
  }

  bin(value: Uint8Array): void {
    this.put(new Bytes(value));
  }

  packed(data: Uint8Array): void {
    this.put(new MpData(data));
  }

  beginArray(): void {
    this.open.push(new List([]));
  }

  endArray(): void {
    this.close();
  }

  beginMap(): void {
    this.open.push(new Thing(0, this.shapes.empty(), []));
  }

  key(key: string): void {
    this.keys.push(key);
  }

  endMap(): void {
    this.close();
  }

  private close(): void {
    const value = this.open.pop();
    if (value !== undefined) this.put(value);
  }

  private put(value: Value): void {
    this.size += 1;
    const into = this.open[this.open.length - 1];
    if (into === undefined) {
      this.result = value;
    } else if (into instanceof List) {
      into.items.push(toItem(value, into));
    } else {
      const key = this.keys.pop() ?? '';
      into.put(key, value);
      attach(into, key, value);
    }
  }
}
