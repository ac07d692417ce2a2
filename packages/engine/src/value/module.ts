import { Tag } from './tag.js';

/** A module as a value: what its bare name means. Never stored; what it is called and may do is told by the root scope. */
export class Module {
  constructor(
    /** The id of its definition. */
    readonly id: number,
  ) {}

  get tag(): typeof Tag.MODULE {
    return Tag.MODULE;
  }
}
