/** Parameters with definitions: what a closure accepts is checked before its body runs. */
import type { Param } from '@althing/language';
import { argumentsError, typeError, valueError } from '../error.js';
import type { CatalogVersion } from '../schema/catalog.js';
import { parseDefinition } from '../schema/parse-definition.js';
import { inWords, type Test, testsOf } from '../schema/rule.js';
import { List, ThingSet } from '../value/containers.js';
import type { Value } from '../value/value.js';
import type { Runtime } from './runtime.js';
import type { Cell } from './symbols.js';
import type { Code } from './unit.js';

/** A definition of a parameter, by its text, and as the types and enums of a collection understand it at present. */
export class ParameterRule {
  private version: CatalogVersion | null = null;
  private fits!: Test;
  private isOfKind!: Test;
  private nillable = false;

  constructor(
    private readonly rt: Runtime,
    readonly text: string,
  ) {}

  /** True if a call may leave the argument out. */
  get isOptional(): boolean {
    this.resolve();
    return this.nillable;
  }

  /** @throws QueryError type_err or value_err for a value that does not fit */
  check(name: string, value: Value): void {
    this.resolve();
    if (value === null ? this.nillable : this.passes(value)) return;
    const message = `argument \`${name}\`: expected \`${this.text}\`, got ${inWords(value)}`;
    throw this.isOfKind(value) ? valueError(message) : typeError(message);
  }

  private passes(value: Value): boolean {
    if (value instanceof List || value instanceof ThingSet) {
      this.rt.chargeFill(value);
      this.rt.charge(value instanceof List ? value.length : value.size);
    }
    return this.fits(value);
  }

  /** @throws QueryError type_err or value_err for a text that is no definition, or names what is not there */
  resolve(): void {
    const { schema } = this.rt;
    if (this.version === schema.version) return;
    const { base, nillable } = parseDefinition(this.text, schema);
    const [fits, isOfKind] = testsOf(base);
    this.fits = fits;
    this.isOfKind = isOfKind;
    this.nillable = nillable || (base.kind === 'plain' && base.name === 'any');
    this.version = schema.version;
  }
}

/** The rules of a closure's parameters, null for one without a definition; null when none has one. */
export function rulesOf(rt: Runtime, params: readonly Param[]): readonly (ParameterRule | null)[] | null {
  if (params.every(({ definition }) => definition === null)) return null;
  return params.map(({ definition }) =>
    definition === null ? null : new ParameterRule(rt, definition.value),
  );
}

/** Code of a body that checks what its parameters hold first. */
export function checked(
  params: readonly Cell[],
  rules: readonly (ParameterRule | null)[] | null,
  body: Code,
): Code {
  if (rules === null) return body;
  return () => {
    for (let i = 0; i < rules.length; i++) {
      const cell = params[i]!;
      rules[i]?.check(cell.name, cell.value ?? null);
    }
    return body();
  };
}

/** Arguments of a call of a procedure, by number or by name. */
export type Given = number | ReadonlyMap<string, unknown>;

/**
 * Checks the arguments of a procedure of which a parameter has a definition; others take what they are given, as ThingsDB's do.
 *
 * @throws QueryError num_arguments_err for too many, too few, or unknown names
 */
export function assertArguments(
  procedure: string,
  {
    params,
    rules,
  }: { readonly params: readonly Cell[]; readonly rules: readonly (ParameterRule | null)[] | null },
  given: Given,
): void {
  if (rules === null) return;
  const names = params.map(({ name }) => name);
  const takes = `procedure '${procedure}' takes (${names.join(', ')})`;
  if (typeof given === 'number') {
    const least = rules.findLastIndex((rule) => rule !== null && !rule.isOptional) + 1;
    if (given > names.length) throw argumentsError(`${takes}, and got ${given} arguments`);
    if (given < least) throw argumentsError(`${takes}: '${names[given]}' is missing`);
    return;
  }
  for (const name of given.keys()) {
    if (!names.includes(name)) throw argumentsError(`${takes}: it has no '${name}'`);
  }
  const missing = names.find((name, i) => rules[i]?.isOptional === false && !given.has(name));
  if (missing !== undefined) throw argumentsError(`${takes}: '${missing}' is missing`);
}
