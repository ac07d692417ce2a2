/**
 * Enums: what the state knows of one, and what stands for it while the engine runs.
 *
 *   enum    := id:varint name:text 00 created:varint modified:varint nextMember:varint
 *              members:varint (id:varint name:text value)* methods      `modified` is 0 for never; the first member is the default
 *            | id:varint name:text 80                  deleted
 *   refs    := (member:varint refs:varint)*            how often stored data refer to each; ascending, without zeros
 *
 * `value` as in `state/value-codec.ts`, `methods` as in `structure.ts`.
 */
import type { Closure } from '../value/closure.js';
import { Member } from '../value/member.js';
import type { Value } from '../value/value.js';
import { WeakById } from './weak-by-id.js';

/** Members of one enum at most. */
export const MEMBERS_OF_ENUM_MAX = 65_535;

export interface MemberDef {
  readonly id: number;
  readonly name: string;
  readonly value: Value;
}

/** An enum as the state has it. Never changes; the next one replaces it. */
export interface EnumDef {
  readonly id: number;
  readonly name: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly modifiedAt: number | null;
  readonly nextMember: number;
  /** At least one; the first is the default. */
  readonly members: readonly MemberDef[];
  readonly methods: ReadonlyMap<string, Closure>;
}

/** One enum of a collection, through all its changes, and also when it is gone. */
export class EnumType {
  def: EnumDef | null = null;
  /** The number of its uses, during which it must not change. */
  uses = 0;
  /** Above the ids of all members that this node has ever seen it have, those too that were taken back. */
  nextMember = 0;
  /** In order; the first is the default. */
  members: readonly Member[] = [];
  private byName = new Map<string, Member>();
  private readonly byId = new Map<number, Member>();
  /** Members that were deleted. */
  private readonly detached = new WeakById<Member>();

  constructor(
    readonly id: number,
    public name: string,
  ) {}

  /** Makes a definition the present one. Members keep their objects. */
  become(def: EnumDef): void {
    this.def = def;
    this.name = def.name;
    this.nextMember = Math.max(this.nextMember, def.nextMember);
    this.members = def.members.map(({ id, name, value }) => {
      const member = this.member(id);
      member.name = name;
      member.value = value;
      return member;
    });
    this.byName = new Map(this.members.map((member) => [member.name, member]));
    this.detachOthers(new Set(this.members));
  }

  /** Makes it one that was deleted, or never was. */
  end(name: string): void {
    this.def = null;
    this.name = name;
    this.members = [];
    this.byName = new Map();
    this.detachOthers(new Set());
  }

  /** Lets go of members that are not there, as soon as no variable holds them, or change that may be taken back. */
  private detachOthers(present: ReadonlySet<Member>): void {
    for (const [id, member] of this.byId) {
      if (member.refs > 0 || present.has(member)) continue;
      this.byId.delete(id);
      this.detached.put(id, member);
    }
  }

  /** Forgets members with ids from one on, and what they stood for: nothing refers to them, since the change that made them was taken back. */
  forget(from: number): void {
    for (const id of this.byId.keys()) if (id >= from) this.byId.delete(id);
    this.detached.forget(from);
    if (from > 0) return;
    this.members = [];
    this.byName = new Map();
  }

  /** All members that are there, or that stored data refer to. */
  known(): Iterable<Member> {
    return this.byId.values();
  }

  get default(): Member {
    const [first] = this.members;
    if (first === undefined) throw new Error(`the enum ${this.name} has no members`);
    return first;
  }

  named(name: string): Member | undefined {
    return this.byName.get(name);
  }

  /** The member with an id; made when it is not known yet, since values may be read before the enum. */
  member(id: number): Member {
    let member = this.byId.get(id);
    if (member === undefined) {
      member = this.detached.take(id) ?? new Member(this, id, '?', null);
      this.byId.set(id, member);
    }
    return member;
  }
}
