/**
 * The manifest of a module, `module.json`: what it is to start, and which functions it exposes. Strict JSON; a key that is not
 * known, of a wrong type, or there twice makes all of it invalid.
 */
import { parseClosure } from '@althing/language';
import { QueryError, valueError } from '../error.js';
import { NAME } from '../schema/name.js';
import { Closure } from '../value/closure.js';
import { Float, MpData } from '../value/scalars.js';
import { ShapeTree } from '../value/shape.js';
import { formatFloat } from '../value/text.js';
import { isReservedKey } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { JsonReader } from './json-reader.js';
import { MsgpackWriter } from './msgpack-writer.js';

/** Defaults of requests. */
export interface ModuleDefaults {
  /** Levels of things that are sent; null where nothing says. */
  readonly deep: number | null;
  /** True if answers become values of the language; null where nothing says. */
  readonly load: boolean | null;
  /** The other keys. Arrays and objects are data that is passed on. */
  readonly keys: ReadonlyMap<string, Value>;
}

export type ModuleFunction =
  | {
      readonly kind: 'request';
      readonly doc: string;
      /** Completed by those of the manifest. */
      readonly defaults: ModuleDefaults;
      readonly argmap: readonly string[];
    }
  | { readonly kind: 'closure'; readonly closure: Closure };

export interface ModuleManifest {
  /** Path of the file to start, in the folder of the manifest. */
  readonly main: string;
  readonly version: string;
  readonly doc: string | null;
  readonly defaults: ModuleDefaults;
  readonly exposes: ReadonlyMap<string, ModuleFunction>;
}

/** Why a text is no manifest, in words. */
export class ManifestError extends Error {}

export const NO_DEFAULTS: ModuleDefaults = { deep: null, load: null, keys: new Map() };

/** Most characters of a manifest. */
export const MANIFEST_LENGTH_MAX = 1024 * 1024;

/** Levels of things that a request can be sent with. */
const DEEP_MAX = 127;

/**
 * Reads a manifest.
 *
 * @param platform this node's entry where there is one for each, as `linux/amd64`
 * @throws ManifestError
 */
export function parseManifest(text: string, platform: string): ModuleManifest {
  if (text.length > MANIFEST_LENGTH_MAX)
    throw new ManifestError(`it has more than ${MANIFEST_LENGTH_MAX} characters`);
  const root = mapOf(treeOf(text), 'the manifest');
  for (const key of root.keys())
    if (!KEYS.has(key)) throw new ManifestError(`it has the unknown key '${key}'`);
  const defaults = defaultsOf(root.get('defaults'), 'defaults');
  checkPaths(root.get('includes'), platform);
  checkRequirements(root.get('requirements'));
  return {
    main: mainOf(root.get('main'), platform),
    version: versionOf(root.get('version')),
    doc: docOf(root.get('doc'), 'doc'),
    defaults,
    exposes: exposesOf(root.get('exposes'), defaults),
  };
}

/** True if a text can be the path of a file below the folder of a module. */
export function isModulePath(path: string): boolean {
  return (
    /^[\x20-\x7e]{1,1024}$/.test(path) &&
    !path.startsWith('/') &&
    !path.includes('..') &&
    !path.includes('./') &&
    !/(^|\/)\.?$/.test(path)
  );
}

const KEYS = new Set(['main', 'version', 'doc', 'defaults', 'exposes', 'includes', 'requirements']);
const FUNCTION_KEYS = new Set(['doc', 'defaults', 'argmap']);

/** JSON with its objects as maps. */
type Tree = Value | Tree[] | Map<string, Tree>;

function treeOf(text: string): Tree {
  const reader = new JsonReader(text, new ShapeTree(), {
    nestingMax: 64,
    malformed: valueError,
    tooDeep: valueError,
    loneSurrogate: 'malformed',
  });
  try {
    const tree = read(reader, 0);
    reader.end();
    return tree;
  } catch (error) {
    if (error instanceof QueryError) throw new ManifestError(error.message);
    throw error;
  }
}

function read(reader: JsonReader, nesting: number): Tree {
  if (reader.startsWith('{')) {
    const map = new Map<string, Tree>();
    reader.object((key) => {
      if (map.has(key)) throw new ManifestError(`the key '${key}' is there twice`);
      map.set(key, read(reader, nesting + 1));
    }, nesting);
    return map;
  }
  if (!reader.startsWith('[')) return reader.value(nesting);
  const items: Tree[] = [];
  reader.array(() => items.push(read(reader, nesting + 1)), nesting);
  return items;
}

function mapOf(tree: Tree | undefined, what: string): Map<string, Tree> {
  if (tree instanceof Map) return tree;
  throw new ManifestError(`${what} must be an object`);
}

function docOf(tree: Tree | undefined, what: string): string | null {
  if (tree === undefined || tree === null || typeof tree === 'string') return tree ?? null;
  throw new ManifestError(`${what} must be a text or null`);
}

function versionOf(tree: Tree | undefined): string {
  const text =
    tree instanceof Float ? formatFloat(tree.value) : typeof tree === 'number' ? String(tree) : tree;
  if (typeof text === 'string' && /^\d{1,5}(\.\d{1,5}){0,2}$/.test(text)) return text;
  throw new ManifestError("version is needed, such as '1.0.0'");
}

function mainOf(tree: Tree | undefined, platform: string): string {
  const path = pathFor(tree, platform, 'main');
  if (path === null) throw new ManifestError(`main has no entry for ${platform}, which this node is`);
  return path;
}

/** A path; null for one that is for other platforms only. */
function pathFor(tree: Tree | undefined, platform: string, what: string): string | null {
  if (tree instanceof Map) {
    for (const path of tree.values()) pathFor(typeof path === 'string' ? path : undefined, platform, what);
    return tree.has(platform) ? pathFor(tree.get(platform), platform, what) : null;
  }
  if (typeof tree !== 'string' || !isModulePath(tree))
    throw new ManifestError(`${what} must be the path of a file in the folder of the module`);
  return tree;
}

function checkPaths(tree: Tree | undefined, platform: string): void {
  if (tree === undefined || tree === null) return;
  if (!Array.isArray(tree)) throw new ManifestError('includes must be a list');
  for (const path of tree) pathFor(path, platform, 'each of includes');
}

function checkRequirements(tree: Tree | undefined): void {
  if (tree === undefined || tree === null) return;
  const fits = (text: Tree): boolean => typeof text === 'string' && /^[A-Za-z0-9 _\-,!.<=>~]+$/.test(text);
  if (!Array.isArray(tree) || !tree.every(fits))
    throw new ManifestError('requirements must be a list of requirements of pip');
}

function defaultsOf(tree: Tree | undefined, what: string): ModuleDefaults {
  if (tree === undefined) return NO_DEFAULTS;
  let { deep, load } = NO_DEFAULTS;
  const keys = new Map<string, Value>();
  for (const [key, value] of mapOf(tree, what)) {
    if (isReservedKey(key)) throw new ManifestError(`the key '${key}' of ${what} is reserved`);
    if (key === 'deep') {
      if (typeof value !== 'number' || value < 0 || value > DEEP_MAX)
        throw new ManifestError(`deep of ${what} must be from 0 to ${DEEP_MAX}`);
      deep = value;
    } else if (key === 'load') {
      if (typeof value !== 'boolean') throw new ManifestError(`load of ${what} must be true or false`);
      load = value;
    } else keys.set(key, dataOf(value));
  }
  return { deep, load, keys };
}

/** Arrays and objects are data. */
function dataOf(tree: Tree): Value {
  if (!Array.isArray(tree) && !(tree instanceof Map)) return tree;
  const out = new MsgpackWriter();
  pack(tree, out);
  return new MpData(out.out.take());
}

function pack(tree: Tree, out: MsgpackWriter): void {
  if (tree instanceof Map) {
    out.beginMap(tree.size);
    for (const [key, value] of tree) {
      out.key(key);
      pack(value, out);
    }
  } else if (Array.isArray(tree)) {
    out.beginArray(tree.length);
    for (const item of tree) pack(item, out);
  } else if (typeof tree === 'string') out.str(tree);
  else if (typeof tree === 'number' || typeof tree === 'bigint') out.int(tree);
  else if (typeof tree === 'boolean') out.bool(tree);
  else if (tree instanceof Float) out.float(tree.value);
  else out.nil();
}

function exposesOf(tree: Tree | undefined, outer: ModuleDefaults): Map<string, ModuleFunction> {
  const functions = new Map<string, ModuleFunction>();
  if (tree === undefined) return functions;
  for (const [name, spec] of mapOf(tree, 'exposes')) {
    if (!NAME.test(name)) throw new ManifestError(`'${name}' can not be the name of a function`);
    functions.set(name, typeof spec === 'string' ? closureOf(name, spec) : requestOf(name, spec, outer));
  }
  return functions;
}

function closureOf(name: string, source: string): ModuleFunction {
  try {
    parseClosure(source);
  } catch {
    throw new ManifestError(`the function '${name}' is no closure`);
  }
  const closure = new Closure(source, null);
  closure.store();
  return { kind: 'closure', closure };
}

function requestOf(name: string, spec: Tree, outer: ModuleDefaults): ModuleFunction {
  const map = mapOf(spec, `the function '${name}'`);
  for (const key of map.keys()) {
    if (!FUNCTION_KEYS.has(key))
      throw new ManifestError(`the function '${name}' has the unknown key '${key}'`);
  }
  const own = defaultsOf(map.get('defaults'), `defaults of '${name}'`);
  return {
    kind: 'request',
    doc: docOf(map.get('doc'), `doc of '${name}'`) ?? '',
    defaults: {
      deep: own.deep ?? outer.deep,
      load: own.load ?? outer.load,
      keys: new Map([...own.keys, ...[...outer.keys].filter(([key]) => !own.keys.has(key))]),
    },
    argmap: argmapOf(map.get('argmap'), name),
  };
}

function argmapOf(tree: Tree | undefined, name: string): readonly string[] {
  if (tree === undefined || tree === null) return ['*'];
  const fits = (key: Tree): key is string =>
    typeof key === 'string' && key !== '' && (key === '*' || !isReservedKey(key));
  if (!Array.isArray(tree) || !tree.every(fits) || new Set(tree).size !== tree.length)
    throw new ManifestError(`argmap of '${name}' must be a list of keys, each of them once`);
  return tree;
}
