/** The way from rows to things: which column is which property, what is converted, and the code that does it. */
import { quoteStr } from '@althing/language';
import { UsageError } from '../input.js';

/** Where a property comes from. */
export type Mapping =
  | { readonly kind: 'column'; readonly property: string; readonly column: string }
  /** A thing that is found by a unique index. */
  | {
      readonly kind: 'reference';
      readonly property: string;
      readonly column: string;
      readonly type: string;
      readonly index: string;
    }
  | {
      readonly kind: 'date';
      readonly property: string;
      readonly column: string;
      readonly format: string | null;
    }
  /** A column of that name is left out. */
  | { readonly kind: 'none'; readonly property: string };

export type OnDuplicate = 'fail' | 'skip' | 'replace';

/** The plan of a load: where rows go, and how they become things. */
export interface LoadPlan {
  /** Null for plain things. */
  readonly type: string | null;
  /** The property of the root that things go into, as `shop.orders`. */
  readonly into: string;
  readonly target: 'list' | 'set' | 'thing';
  /** The property whose value is the key, where things go into a thing. */
  readonly key: string | null;
  readonly mappings: readonly Mapping[];
  readonly onDuplicate: OnDuplicate;
  /** The index by which a thing is found that is replaced, with its properties. */
  readonly unique: { readonly name: string; readonly fields: readonly string[] } | null;
  /** Properties that become dates. */
  readonly dates: readonly string[];
  /** Properties that are in relations: they are set when the thing is stored. */
  readonly related: readonly string[];
  /** Properties that become members of enums, with the names of these. */
  readonly enums: readonly (readonly [property: string, name: string])[];
}

const NAME = '[A-Za-z_][A-Za-z0-9_]*';

/**
 * Reads mappings: `nr=Number,customer=@Customer.email:Email,created=datetime(Created,"%Y-%m-%d"),note=`.
 *
 * @throws UsageError
 */
export function mappingsOf(text: string): readonly Mapping[] {
  return partsOf(text).map((part) => {
    const [, property = '', value = ''] =
      new RegExp(`^\\s*(${NAME})\\s*=\\s*(.*?)\\s*$`, 's').exec(part) ?? [];
    if (property === '') throw new UsageError(`--map: ${JSON.stringify(part)} is not like NAME=COLUMN`);
    if (value === '') return { kind: 'none', property };
    const reference = new RegExp(`^@(${NAME})\\.(${NAME}):(.+)$`, 's').exec(value);
    if (reference !== null) {
      const [, type = '', index = '', column = ''] = reference;
      return { kind: 'reference', property, type, index, column };
    }
    const date = /^datetime\(([^,]+?)(?:,\s*"([^"]*)")?\)$/s.exec(value);
    if (date !== null)
      return { kind: 'date', property, column: (date[1] ?? '').trim(), format: date[2] ?? null };
    return { kind: 'column', property, column: value };
  });
}

/** Divides a text at commas that are neither in quotes nor in brackets. */
function partsOf(text: string): string[] {
  const parts = [''];
  let depth = 0;
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === '(') depth += 1;
    else if (!isQuoted && character === ')') depth -= 1;
    if (character === ',' && depth === 0 && !isQuoted) parts.push('');
    else parts.push((parts.pop() ?? '') + character);
  }
  return parts.filter((part) => part.trim() !== '');
}

/** @throws UsageError for what is no path of properties */
export function pathOf(into: string): string {
  const path = into.replace(/^\./, '');
  if (!new RegExp(`^${NAME}(\\.${NAME})*$`).test(path))
    throw new UsageError(`--into: ${JSON.stringify(into)} is no property, as orders or shop.orders`);
  return path;
}

/**
 * The code of a step. Its variables: `rows` (nil for one that can't be read), `from`, `allowed` (how many rows may be refused), `name` and
 * `source` of the load. It gives the rows that were refused, with the reasons, how many were skipped, and the seconds that it took.
 *
 * @param isTrial nothing is noted, since it is taken back
 */
export function codeOf(plan: LoadPlan, isTrial: boolean): string {
  const { type, mappings, dates, enums, onDuplicate } = plan;
  const related = mappings.filter(
    (mapping) => mapping.kind === 'reference' && plan.related.includes(mapping.property),
  );
  const conversions = [
    ...dates.map((property) => convert(property, 'datetime(v)')),
    ...mappings.flatMap((mapping) => (mapping.kind === 'date' ? [dateCode(mapping)] : [])),
    ...enums.map(([property, name]) => convert(property, `enum('${name}', v)`)),
    ...mappings.flatMap((mapping) => (mapping.kind === 'reference' ? [referenceCode(mapping)] : [])),
    ...related.map(
      ({ property }) =>
        `if (r.has('${property}')) { ${partner(property)} = r.${property}; r.del('${property}'); };`,
    ),
  ];
  const skips = onDuplicate === 'skip' ? 'if (e.code() == -65) skipped += 1 else ' : '';
  // A relation that can't be made fails the step: the thing is stored then.
  const relations = related.map(
    ({ property }) => ` if (!is_nil(${partner(property)})) x.${property} = ${partner(property)};`,
  );
  return [
    'begun = now(); refused = []; skipped = 0;',
    'rows.each(|r, i| {',
    ...related.map(({ property }) => `  ${partner(property)} = nil;`),
    "  e = is_nil(r) ? err(-100, '') : try({",
    ...conversions.map((line) => `    ${line}`),
    ...putCode(plan, type === null ? 'r' : `${type}(r)`).map((line) => `    ${line}`),
    '    nil;',
    '  });',
    `  if (is_err(e)) { ${skips}refused.push([i, e.msg()]); }${relations.length === 0 ? '' : ` else {${relations.join('')} }`};`,
    '});',
    'if (refused.len() > allowed) raise(`row {from + refused[0][0]}: {refused[0][1]}`);',
    ...(isTrial ? [] : ['advance_load(name, source, from, rows.len(), refused.map(|x| x[0]));']),
    'return [refused, skipped, now() - begun], 3;',
  ].join('\n');
}

/** The variable that keeps a partner until the thing is stored. */
function partner(property: string): string {
  return `partner_${property}`;
}

function dateCode({ property, format }: Extract<Mapping, { readonly kind: 'date' }>): string {
  return convert(property, format === null ? 'datetime(v)' : `datetime(v, ${quoteStr(format)})`);
}

function convert(property: string, code: string): string {
  return `if (r.has('${property}') && !is_nil(v = r.${property})) r.${property} = ${code};`;
}

function referenceCode({ property, type, index }: Extract<Mapping, { readonly kind: 'reference' }>): string {
  const missing = `raise(\`there is no ${type} with the ${index} {v}\`)`;
  return `if (r.has('${property}') && !is_nil(v = r.${property})) { o = one_by('${type}', '${index}', v); if (is_nil(o)) ${missing}; r.${property} = o; };`;
}

/** The code that makes a thing `x` of a row, and puts it where it goes. */
function putCode({ into, type, target, key, onDuplicate, unique }: LoadPlan, made: string): string[] {
  const path = `.${into}`;
  if (target === 'thing') {
    const put = `x = ${made}; ${path}.set(k, x);`;
    const ways = { fail: 'raise(`there is a {k} already`);', skip: 'raise(err(-65, k));', replace: put };
    return [`k = str(r.${key});`, `if (${path}.has(k)) { ${ways[onDuplicate]} } else { ${put} };`];
  }
  const put = `x = ${made}; ${path}.${target === 'list' ? 'push' : 'add'}(x);`;
  if (onDuplicate !== 'replace' || unique === null) return [put];
  const values = unique.fields.map((field) => `r.${field}`).join(', ');
  return [
    `x = one_by('${type}', '${unique.name}', [${values}]);`,
    `if (is_nil(x)) { ${put} } else { x.assign(r); };`,
  ];
}
