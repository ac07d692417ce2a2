import type { Catalog } from '../../schema/catalog.js';
import { type EnumDef, EnumType } from '../../schema/enum.js';
import { Type, type TypeDef } from '../../schema/type.js';
import { Room } from '../../value/room.js';
import { ShapeTree } from '../../value/shape.js';
import { Task } from '../../value/task.js';
import { Thing } from '../../value/thing.js';
import type { Former } from '../parts/former-definitions.js';
import type { References } from '../value-codec.js';

/**
 * The types and enums of a collection at one place of its log, which effects there are read by. It follows the log, and is taken back
 * along it by what the log says of definitions before they changed.
 */
export class SchemaView implements References {
  private readonly types = new Map<number, TypeDef>();
  private readonly enums = new Map<number, EnumType>();
  private readonly shapes = new ShapeTree();

  /** @param catalog the types and enums as they are; it may change, the view stays */
  constructor(catalog: Pick<Catalog, 'allTypes' | 'allEnums'>) {
    for (const { def } of catalog.allTypes()) if (def !== null) this.types.set(def.id, def);
    for (const { def } of catalog.allEnums()) if (def !== null) this.putEnum(def.id, def);
  }

  /** A copy, which goes its own way. */
  copy(): SchemaView {
    return new SchemaView({
      allTypes: () => Array.from(this.types.values(), (def) => asType(def)),
      allEnums: () => this.enums.values(),
    });
  }

  /** As the readers of definitions need it. */
  readonly schema = {
    type: (id: number): { readonly def: TypeDef | null } => ({ def: this.types.get(id) ?? null }),
  };

  typeDef(id: number): TypeDef | null {
    return this.types.get(id) ?? null;
  }

  typeNamed(name: string): TypeDef | undefined {
    for (const def of this.types.values()) if (def.name === name) return def;
    return undefined;
  }

  enumDef(id: number): EnumDef | null {
    return this.enums.get(id)?.def ?? null;
  }

  putType(id: number, def: TypeDef | null): void {
    if (def === null) this.types.delete(id);
    else this.types.set(id, def);
  }

  putEnum(id: number, def: EnumDef | null): void {
    if (def === null) this.enums.delete(id);
    // Members that were given out before keep the values that they had.
    else {
      const changed = new EnumType(id, def.name);
      changed.become(def);
      this.enums.set(id, changed);
    }
  }

  /** Goes back to where a definition was not changed yet. */
  goBack(former: Former): void {
    if (former.kind === 'type') this.putType(former.id, former.def);
    else this.putEnum(former.id, former.def);
  }

  typeLabel(id: number): string {
    return this.types.get(id)?.name ?? '?';
  }

  enumLabel(id: number): string {
    return this.enums.get(id)?.name ?? '?';
  }

  memberLabel(enumId: number, memberId: number): string {
    return this.enumOf(enumId).member(memberId).name;
  }

  thingOfId(id: number): Thing {
    return new Thing(id, this.shapes.empty(), []);
  }

  typeOf(id: number): Type {
    const def = this.types.get(id);
    return def === undefined ? new Type(id, '?') : asType(def);
  }

  enumOf(id: number): EnumType {
    return this.enums.get(id) ?? new EnumType(id, '?');
  }

  taskOf(id: number): Task {
    return new Task(id, null);
  }

  roomOf(id: number): Room {
    const room = new Room();
    room.id = id;
    return room;
  }
}

function asType(def: TypeDef): Type {
  const type = new Type(def.id, def.name);
  type.def = def;
  return type;
}
