import { getOrInsertComputed } from '../get-or-insert.js';
import { TAG_COUNT, type Tag } from '../value/tag.js';
import type { Value } from '../value/value.js';
import type { Entry } from './builtin.js';

/** The methods of one name, by the tag of the receiver. */
export type MethodsByTag = readonly (Entry | undefined)[];

/** All built-in functions, methods and constants, by name. */
export class FunctionTable {
  private readonly functions = new Map<string, Entry>();
  private readonly methods = new Map<string, (Entry | undefined)[]>();

  constructor(
    readonly entries: readonly Entry[],
    readonly constants: ReadonlyMap<string, Value>,
  ) {
    for (const entry of entries) {
      if (entry.on === null) this.addFunction(entry);
      else for (const tag of entry.on) this.addMethod(entry, tag);
    }
  }

  function(name: string): Entry | undefined {
    return this.functions.get(name);
  }

  method(name: string): MethodsByTag | undefined {
    return this.methods.get(name);
  }

  private addFunction(entry: Entry): void {
    if (this.functions.has(entry.name)) throw new Error(`two functions are called ${entry.name}`);
    this.functions.set(entry.name, entry);
  }

  private addMethod(entry: Entry, tag: Tag): void {
    const byTag = getOrInsertComputed(this.methods, entry.name, () =>
      new Array<Entry | undefined>(TAG_COUNT).fill(undefined),
    );
    if (byTag[tag] !== undefined) throw new Error(`two methods ${entry.name} for one type`);
    byTag[tag] = entry;
  }
}
