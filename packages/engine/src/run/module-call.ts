/** Calls of modules: what a request holds, and the future that it becomes. A request is sent when its future starts. */
import type { ModuleInfo } from '../admin/modules.js';
import { argumentsError, lookupError, typeError, valueError } from '../error.js';
import type { ModuleDefaults, ModuleFunction } from '../pack/manifest.js';
import { NAME } from '../schema/name.js';
import { Future } from '../value/future.js';
import { isTruthy } from '../value/kinds.js';
import type { Module } from '../value/module.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { callClosure } from './invoke.js';
import { checkedDeep } from './params.js';
import type { Runtime } from './runtime.js';
import type { Code } from './unit.js';

/** The future of `future({module: 'NAME', ...}, ...)`. */
export function futureOfRequest(rt: Runtime, request: Thing, args: readonly Value[]): Future {
  rt.assertFutures();
  rt.load(request);
  const name = request.get('module');
  if (name === undefined) throw lookupError("a request to a module needs the property 'module'");
  if (typeof name !== 'string') throw typeError(`the name of a module must be a str, not ${typeName(name)}`);
  if (!NAME.test(name)) throw valueError(`'${name}' can not be the name of a module`);
  const module = rt.root.modules.byName.get(name);
  if (module === undefined) {
    rt.freshenModules();
    throw lookupError(`there is no module '${name}'`);
  }
  rt.assertCallable(module);
  return requestOf(rt, module, request, args);
}

/** `NAME({...}, ...)`. */
export function callModule(rt: Runtime, module: ModuleInfo, args: readonly Code[]): Value {
  rt.assertFutures();
  rt.assertCallable(module);
  const [first, ...others] = args;
  if (first === undefined)
    throw argumentsError(`${module.name}() takes a thing, and arguments for what is done then`);
  const request = first();
  if (!(request instanceof Thing)) {
    throw typeError(`the request to a module must be a thing, not ${typeName(request)}`);
  }
  rt.load(request);
  // Checked before the other arguments are evaluated.
  deepOf(request);
  return rt.addFuture(
    requestOf(
      rt,
      module,
      request,
      others.map((code) => code()),
    ),
  );
}

/** `NAME.fn(...)`: a function that the manifest of a module exposes on this node. */
export function callExposed(rt: Runtime, module: Module, name: string, args: readonly Code[]): Value {
  const info = infoOf(rt, module);
  const look = rt.environment.node?.modules?.look(info.id);
  const exposed = look?.manifest?.exposes.get(name);
  if (exposed === undefined) {
    throw lookupError(`the module '${info.name}' exposes no function '${name}' on this node`);
  }
  if (exposed.kind === 'closure') {
    return callClosure(rt, exposed.closure, [() => module, ...args]);
  }
  rt.assertFutures();
  return rt.addFuture(
    exposedRequest(
      info,
      module,
      exposed,
      args.map((code) => code()),
      rt,
    ),
  );
}

/** @throws QueryError lookup_err for a module that was deleted, forbidden_err for one of another scope */
function infoOf(rt: Runtime, { id }: Module): ModuleInfo {
  const info = rt.root.modules.byId.get(id);
  if (info === undefined) throw lookupError('the module was deleted');
  rt.assertCallable(info);
  return info;
}

function requestOf(rt: Runtime, info: ModuleInfo, request: Thing, args: readonly Value[]): Future {
  const defaults = rt.environment.node?.modules?.look(info.id).manifest?.defaults;
  const deep = deepOf(request) ?? defaults?.deep ?? rt.deep;
  const load = loadOf(request) ?? defaults?.load ?? false;
  return new Future(null, args, {
    module: rt.root.modules.valueOf(info),
    holds: [request],
    build: () => (defaults === undefined ? request : completed(rt, request, defaults)),
    deep,
    load,
  });
}

/** The request as it is, or, where it lacks something, a copy that does not. */
function completed(rt: Runtime, request: Thing, { keys }: ModuleDefaults): Thing {
  rt.load(request);
  const missing = [...keys].filter(([key]) => request.get(key) === undefined);
  if (missing.length === 0) return request;
  const copy = new Thing(0, rt.shapes.empty(), []);
  request.forEach((key, value) => {
    copy.put(key, value);
  });
  for (const [key, value] of missing) copy.put(key, value);
  return copy;
}

/** One step of filling a request: all properties of a thing, or one value. */
type Filling = { readonly from: Thing } | { readonly key: string; readonly value: Value };

function exposedRequest(
  info: ModuleInfo,
  module: Module,
  { argmap, defaults }: Extract<ModuleFunction, { kind: 'request' }>,
  values: readonly Value[],
  rt: Runtime,
): Future {
  const fillings: Filling[] = [];
  let { deep, load } = defaults;
  argmap.forEach((key, i) => {
    const value = values[i];
    if (key === '*') {
      if (value === undefined || value === null) return;
      if (!(value instanceof Thing)) {
        throw typeError(
          `argument ${i + 1} of ${info.name}'s function must be a thing or nil, not ${typeName(value)}`,
        );
      }
      rt.load(value);
      deep = deepOf(value) ?? deep;
      load = loadOf(value) ?? load;
      fillings.push({ from: value });
    } else if (key === 'deep') {
      if (value !== undefined) deep = checkedDeep(value);
    } else if (key === 'load') {
      if (value !== undefined) load = isTruthy(value);
    } else
      fillings.push({ key, value: value ?? (i < values.length ? null : (defaults.keys.get(key) ?? null)) });
  });
  const build = (): Thing => {
    const request = new Thing(0, rt.shapes.empty(), []);
    for (const filling of fillings) {
      if ('key' in filling) {
        request.put(filling.key, filling.value);
        continue;
      }
      rt.load(filling.from);
      filling.from.forEach((key, value) => {
        request.put(key, value);
      });
    }
    for (const [key, value] of defaults.keys) if (request.get(key) === undefined) request.put(key, value);
    return request;
  };
  const holds = fillings.map((filling) => ('key' in filling ? filling.value : filling.from));
  return new Future(null, values.slice(argmap.length), {
    module,
    holds,
    build,
    deep: deep ?? 1,
    load: load ?? false,
  });
}

/** The option `deep` of a request; null for none. */
function deepOf(request: Thing): number | null {
  const deep = request.get('deep');
  return deep === undefined ? null : checkedDeep(deep);
}

function loadOf(request: Thing): boolean | null {
  const load = request.get('load');
  return load === undefined ? null : isTruthy(load);
}
