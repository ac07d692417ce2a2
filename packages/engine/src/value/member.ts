import type { EnumType } from '../schema/enum.js';
import { Tag } from './tag.js';
import type { Value } from './value.js';

/** A member of an enum. There is one object for each, which changes with the enum: it shows its present name and value. */
export class Member {
  readonly enum: EnumType;
  /** References from stored data. */
  refs = 0;

  constructor(
    of: EnumType,
    /** Never used again within the enum. */
    readonly id: number,
    public name: string,
    public value: Value,
  ) {
    this.enum = of;
  }

  get tag(): typeof Tag.MEMBER {
    return Tag.MEMBER;
  }

  /** True if its enum has it still: a variable may hold one that was deleted. */
  get isThere(): boolean {
    return this.enum.def !== null && this.enum.named(this.name) === this;
  }

  /** As it is written in the language: `Color{RED}`. */
  get label(): string {
    return `${this.enum.name}{${this.name}}`;
  }
}
