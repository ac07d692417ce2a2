/**
 * Makes kubernetes-api.txt: the kinds of objects that our manifests use, with the types of their fields, taken from the
 * type declarations of the npm packages kubernetes-models and @kubernetes-models/prometheus-operator, which are made from
 * the API's own OpenAPI description. They are too large to be a dependency for the sake of a dozen kinds.
 *
 *   npm install --prefix FOLDER kubernetes-models @kubernetes-models/prometheus-operator
 *   node scripts/deploy/make-kubernetes-api.mjs FOLDER/node_modules > scripts/deploy/kubernetes-api.txt
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const KINDS = {
  'kubernetes-models/v1': [
    'ConfigMap',
    'Namespace',
    'PersistentVolumeClaim',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  'kubernetes-models/apps/v1': ['StatefulSet'],
  'kubernetes-models/batch/v1': ['CronJob'],
  'kubernetes-models/networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
  'kubernetes-models/policy/v1': ['PodDisruptionBudget'],
  '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1': ['PrometheusRule', 'ServiceMonitor'],
};
/** Types with a meaning of their own: written with braces in the declarations, or not at all. */
const LEAVES = {
  Quantity: 'quantity',
  IntOrString: 'int-or-string',
  Time: 'string',
  MicroTime: 'string',
  FieldsV1: 'any',
};

const [modules] = process.argv.slice(2);
if (modules === undefined || !existsSync(join(modules, 'kubernetes-models'))) {
  console.error('usage: make-kubernetes-api.mjs FOLDER/node_modules');
  process.exit(2);
}

const waiting = [];
const done = new Map();
const aliases = new Map();
const parents = new Map();
const roots = [];
for (const [folder, kinds] of Object.entries(KINDS)) {
  for (const kind of kinds) roots.push(ask(join(modules, folder, `${kind}.d.ts`)));
}
while (waiting.length > 0) declare(waiting.shift());

const version = (name) => JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).version;
console.log(`# Made by make-kubernetes-api.mjs from kubernetes-models ${version('kubernetes-models')} and
# @kubernetes-models/prometheus-operator ${version('@kubernetes-models/prometheus-operator')}. Do not edit.
#
#   file  = { type }
#   type  = name LF { "  " field [ "?" ] " " kind LF }          "?": the field may be left out
#   kind  = "string" | "number" | "boolean" | "any" | "quantity" | "int-or-string" | text { "|" text }
#         | "[" kind "]" | "{" kind "}" | name                  list, map, type
#   text  = '"' ... '"'`);
for (const name of [...reachable()].sort()) {
  console.log(name);
  for (const [field, kind] of fieldsOf(name)) console.log(`  ${field} ${withoutAliases(kind)}`);
}

/** The fields of a type, inherited ones first. */
function fieldsOf(name) {
  return [...(parents.get(name) ?? []).flatMap(fieldsOf), ...done.get(name)];
}

/** Names of the types that the kinds lead to; those of what was left out are not among them. */
function reachable() {
  const found = new Set(roots);
  for (const name of found) {
    for (const [, kind] of fieldsOf(name)) {
      for (const [word] of withoutAliases(kind).matchAll(/[\w./-]+/g)) if (done.has(word)) found.add(word);
    }
  }
  return found;
}

function withoutAliases(kind) {
  return kind.replace(/[\w./-]+/g, (word) => aliases.get(word) ?? word);
}

function nameOf(path) {
  return relative(modules, path)
    .replace(/\.d\.ts$/, '')
    .replace('kubernetes-models/', '')
    .replace('@kubernetes-models/', '')
    .replace('@', '')
    .replace('apimachinery/apis/', '')
    .replace('prometheus-operator/', '');
}

function ask(path) {
  const name = nameOf(path);
  if (!done.has(name) && !aliases.has(name)) {
    done.set(name, []);
    waiting.push({ name, path });
  }
  return name;
}

function declare({ name, path }) {
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const imports = new Map();
  for (const [, names, from] of text.matchAll(/import \{ ([^}]*) \} from "([^"]+)"/g)) {
    const target = from.startsWith('.')
      ? join(dirname(path), from.replace(/\.js$/, '.d.ts'))
      : join(modules, `${from}.d.ts`);
    for (const one of names.split(', ')) imports.set(one, target);
  }
  const start = /export (?:interface \w+(?: extends ([\w, ]+?))? (?=\{)|type \w+ = )/.exec(text);
  const source = text.slice(start.index + start[0].length);
  if (source.startsWith('{')) {
    parseObject(source, 0, name, imports);
    const bases = (start[1] ?? 'TypeMeta').split(', ').filter((base) => base !== 'TypeMeta');
    parents.set(
      name,
      bases.map((base) => ask(imports.get(base))),
    );
  } else {
    aliases.set(name, parseKind(source, 0, name, imports)[0]);
    done.delete(name);
  }
}

/** Reads `{ "field"?: type; ... }` at an offset into a named type; returns the offset behind it. */
function parseObject(source, from, name, imports) {
  const fields = [];
  let at = skip(source, from + 1);
  while (source[at] !== '}') {
    const match = /^"([^"]+)"(\??): /.exec(source.slice(at));
    if (match === null) throw new Error(`${name}: ${source.slice(at, at + 60)}`);
    const [whole, field, optional] = match;
    const [kind, end] = parseKind(source, at + whole.length, `${name}.${field}`, imports);
    if (field !== 'status' && field !== 'managedFields') fields.push([field + optional, kind]);
    at = skip(source, end + 1);
  }
  done.set(name, fields);
  return at + 1;
}

function parseKind(source, at, name, imports) {
  const rest = source.slice(at);
  const enumeration = /^"[^"]*"(?: \| "[^"]*")*/.exec(rest);
  if (enumeration !== null) return [enumeration[0].replaceAll(' | ', '|'), at + enumeration[0].length];
  if (rest.startsWith('Array<')) {
    const [kind, end] = parseKind(source, at + 6, name, imports);
    return [`[${kind}]`, end + 1];
  }
  const map = /^\{\s*\[key: string\]: /.exec(rest);
  if (map !== null) {
    const [kind, end] = parseKind(source, at + map[0].length, name, imports);
    return [`{${kind}}`, skip(source, end + 1) + 1];
  }
  if (rest.startsWith('{')) return [name, parseObject(source, at, name, imports)];
  const plain = /^(?:string|number|boolean|unknown|any|object)(?: \| (?:string|number|null))*/.exec(rest);
  if (plain !== null) {
    const kind = plain[0].includes('|') ? 'int-or-string' : plain[0];
    return [['unknown', 'object'].includes(kind) ? 'any' : kind, at + plain[0].length];
  }
  const [word] = /^\w+/.exec(rest);
  const target = imports.get(word);
  if (target === undefined) throw new Error(`${name}: ${word}`);
  const leaf = LEAVES[/(\w+)\.d\.ts$/.exec(target)[1]];
  return [leaf ?? ask(target), at + word.length];
}

function skip(source, from) {
  let at = from;
  while (/\s/.test(source[at])) at++;
  return at;
}
