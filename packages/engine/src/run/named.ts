import type { CatalogVersion } from '../schema/catalog.js';
import type { EnumType } from '../schema/enum.js';
import type { Type } from '../schema/type.js';
import type { Runtime } from './runtime.js';

/** The type or enum that a name means now, looked up again only when names changed. */
export function namedBy(rt: Runtime, name: string): () => Type | EnumType | null {
  let version: CatalogVersion | null = null;
  let known: Type | EnumType | null = null;
  return () => {
    const { schema } = rt;
    if (schema.version !== version) {
      version = schema.version;
      known = schema.typeNamed(name) ?? schema.enumNamed(name) ?? null;
    }
    return known;
  };
}
