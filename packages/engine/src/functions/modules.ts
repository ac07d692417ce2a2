import {
  MODULE_CODE_BYTES_MAX,
  MODULE_CONF_BYTES_MAX,
  MODULES_CODE_BYTES_MAX,
  MODULES_MAX,
  type ModuleInfo,
  slicesOf,
} from '../admin/modules.js';
import { Privilege } from '../admin/privileges.js';
import { existsError, lookupError, operationError, quotaError, typeError, valueError } from '../error.js';
import type { ModuleLook } from '../node-view.js';
import { type Info, packInfo } from '../pack/info.js';
import { isModulePath, type ModuleDefaults, type ModuleFunction } from '../pack/manifest.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { MSGPACK_NESTING_MAX, pack } from '../pack/walk.js';
import { CHANGES_ROOT, type Entry, func, OPERATE } from '../run/builtin.js';
import { chargeParse } from '../run/charge.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { assertName } from '../schema/name.js';
import { List } from '../value/containers.js';
import { compareText } from '../value/scalar-compare.js';
import { Bytes, MpData } from '../value/scalars.js';
import type { Value } from '../value/value.js';
import { targetOf } from './users.js';

/** Modules: programs that queries can call. */
export const MODULES: readonly Entry[] = [
  func('new_module', {
    doc: 'Makes a module: a program in its folder on each node, by the path of the file or of its manifest, with a configuration.',
    changes: CHANGES_ROOT,
    params: [p.str('name'), p.later(p.str('source')), p.optional(p.any('conf'))],
    run: (rt, name, sourceGiven, conf = null) => {
      assertName(name);
      const source = sourceGiven();
      const packed = packedConf(rt, conf);
      checkSource(source);
      const { modules } = rt.root;
      assertFree(rt, name);
      if (modules.byId.size >= MODULES_MAX)
        throw quotaError(`there are ${MODULES_MAX} modules, the most that there may be`);
      const id = rt.editor.nextId();
      rt.editor.putModule({
        id,
        name,
        folder: freeFolder(rt, name, id),
        source,
        createdAt: rt.seconds(),
        scope: null,
        confs: 0,
        starts: 0,
        conf: packed,
      });
      return null;
    },
  }),
  func('del_module', {
    doc: 'Deletes a module, its deployed code, and its processes.',
    changes: CHANGES_ROOT,
    params: [p.str('name')],
    run: (rt, name) => {
      rt.editor.deleteModule(moduleOf(rt, name));
      return null;
    },
  }),
  func('rename_module', {
    doc: 'Gives a module another name.',
    changes: CHANGES_ROOT,
    params: [p.str('name'), p.later(p.str('new_name'))],
    run: (rt, name, given) => {
      const module = moduleOf(rt, name);
      const newName = given();
      assertName(newName);
      assertFree(rt, newName);
      rt.editor.putModule({ ...module, name: newName });
      return null;
    },
  }),
  func('set_module_conf', {
    doc: 'Configures a module; nil for no configuration. It is sent to running processes, and starts others.',
    changes: CHANGES_ROOT,
    params: [p.str('name'), p.any('conf')],
    run: (rt, name, conf) => {
      const module = moduleOf(rt, name);
      rt.editor.putModule({ ...module, conf: packedConf(rt, conf), confs: module.confs + 1 });
      return null;
    },
  }),
  func('set_module_scope', {
    doc: 'Sets the only scope in which a module can be called; nil for every one.',
    changes: CHANGES_ROOT,
    params: [p.str('name'), p.any('scope')],
    run: (rt, name, scope) => {
      const module = moduleOf(rt, name);
      if (typeof scope !== 'string' && scope !== null) {
        throw typeError('the scope of a module is given as a str, or as nil for every scope');
      }
      rt.editor.putModule({ ...module, scope: scope === null ? null : targetOf(rt.root, scope) });
      return null;
    },
  }),
  func('deploy_module', {
    doc: 'Gives all nodes the code of a module, a str for Python, bytes for what can be started itself; then, or with nil at once, starts its processes anew.',
    changes: CHANGES_ROOT,
    params: [p.str('name'), p.later(code())],
    run: (rt, name, given) => {
      const code = given();
      const module = moduleOf(rt, name);
      deploy(rt, module, code);
      return null;
    },
  }),
  func('refresh_module', {
    doc: 'Starts the processes of a module anew, on all nodes.',
    changes: CHANGES_ROOT,
    params: [p.str('name')],
    run: (rt, name) => {
      deploy(rt, moduleOf(rt, name), null);
      return null;
    },
  }),
  func('restart_module', {
    doc: 'Starts the process of a module anew, on this node.',
    needs: OPERATE,
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => {
      const { id } = moduleOf(rt, name);
      rt.environment.node?.modules?.restart(id);
      return null;
    },
  }),
  func('has_module', {
    doc: 'Whether there is a module of this name.',
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => {
      rt.freshenModules();
      return rt.root.modules.byName.has(name);
    },
  }),
  func('module_info', {
    doc: 'What is known of a module, and how it is on this node.',
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => moduleInfo(rt, moduleOf(rt, name)),
  }),
  func('modules_info', {
    doc: 'What is known of every module, by ascending name.',
    readsState: true,
    run: (rt) => {
      rt.freshenModules();
      const modules = [...rt.root.modules.byName.values()].sort((a, b) => compareText(a.name, b.name));
      return new List(modules.map((module) => moduleInfo(rt, module)));
    },
  }),
];

function code(): p.Param<Bytes | string | null> {
  return p.param(
    'code',
    'bytes, a str, or nil',
    (value) => typeof value === 'string' || value instanceof Bytes || value === null,
  );
}

/** @throws QueryError value_err, lookup_err */
function moduleOf(rt: Runtime, name: string): ModuleInfo {
  assertName(name);
  const module = rt.root.modules.byName.get(name);
  if (module !== undefined) return module;
  rt.freshenModules();
  throw lookupError(`there is no module '${name}'`);
}

function assertFree({ root }: Runtime, name: string): void {
  if (root.modules.byName.has(name)) throw existsError(`there is a module '${name}' already`);
}

/** No two modules share a folder; a module that was renamed keeps its own. */
function freeFolder({ root }: Runtime, name: string, id: number): string {
  for (const { folder } of root.modules.byId.values()) if (folder === name) return `${name}-${id}`;
  return name;
}

const GITHUB = 'github.com';
const GITHUB_SOURCE = /^github\.com\/[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+(:[A-Za-z0-9._-]+)?(@[\x21-\x7e]+)?$/;

/** @throws QueryError value_err, and operation_err for what would have to be fetched */
function checkSource(source: string): void {
  if (source.startsWith(GITHUB)) {
    if (source.length > 4096 || !GITHUB_SOURCE.test(source)) {
      throw valueError(
        'a source on GitHub is written github.com/OWNER/REPO, optionally with :TOKEN and @REF',
      );
    }
    throw operationError(
      'modules are not fetched from GitHub: put the files into the folder of the module on each node',
    );
  }
  if (!isModulePath(source)) {
    throw valueError(
      "the source of a module is the path of a file in its folder: printable ASCII, not beginning with '/', without '..' and './'",
    );
  }
}

/** Levels of things that are written in a configuration. */
const CONF_DEEP = 3;

function packedConf(rt: Runtime, conf: Value): Uint8Array {
  if (conf === null) return new Uint8Array(0);
  const out = new MsgpackWriter();
  pack(conf, out, {
    deep: CONF_DEEP,
    ids: false,
    store: rt.store,
    sizeMax: rt.limits.resultBytes,
    nestingMax: MSGPACK_NESTING_MAX,
    charge: (units) => rt.charge(units),
  });
  const { length } = out.out;
  if (length > MODULE_CONF_BYTES_MAX) {
    throw quotaError(
      `the configuration of a module has ${MODULE_CONF_BYTES_MAX} bytes at most, not ${length}`,
    );
  }
  return out.out.take();
}

function deploy(rt: Runtime, module: ModuleInfo, code: Bytes | string | null): void {
  rt.editor.putModule({ ...module, starts: module.starts + 1 });
  if (code === null) return;
  const { name, source } = module;
  if (typeof code === 'string' && !source.endsWith('.py')) {
    throw typeError(`the code of '${name}' is not Python, so it is given as bytes`);
  }
  if (isManifest(source)) {
    throw operationError(
      `'${name}' has a manifest: its files are put into its folder on each node, not deployed`,
    );
  }
  if (rt.environment.node?.modules?.deploys !== true) {
    throw operationError('this node does not run code that is deployed: enable_modules must be deploy');
  }
  const bytes = typeof code === 'string' ? Buffer.from(code) : code.data;
  if (bytes.length > MODULE_CODE_BYTES_MAX) {
    throw quotaError(`the code of a module has ${MODULE_CODE_BYTES_MAX} bytes at most, not ${bytes.length}`);
  }
  if (bytes.length + rt.root.modules.codeBytesBeside(module.id) > MODULES_CODE_BYTES_MAX) {
    throw quotaError(`the code of all modules has ${MODULES_CODE_BYTES_MAX} bytes at most`);
  }
  rt.charge(bytes.length);
  rt.editor.setModuleCode(module, slicesOf(bytes));
}

/** True if a source names a manifest, which says what is to be started. */
function isManifest(source: string): boolean {
  return source === 'module.json' || source.endsWith('/module.json');
}

const NOT_INSTALLED: ModuleLook = {
  status: 'module not installed',
  file: null,
  manifest: null,
  tasks: 0,
  restarts: 0,
};

function moduleInfo(rt: Runtime, module: ModuleInfo): MpData {
  const { status, file, manifest, tasks, restarts } =
    rt.environment.node?.modules?.look(module.id) ?? NOT_INSTALLED;
  const isOnNode = rt.scope.kind === 'node';
  const conf = module.conf.length === 0 ? null : new MpData(module.conf);
  return packInfo(rt, {
    name: module.name,
    created_at: module.createdAt,
    status,
    scope: scopeText(rt, module),
    file: file ?? undefined,
    conf: rt.access.has(Privilege.CHANGE, 'thingsdb') ? conf : undefined,
    tasks: isOnNode ? tasks : undefined,
    restarts: isOnNode ? restarts : undefined,
    version: manifest?.version,
    doc: manifest?.doc ?? undefined,
    defaults: manifest === null ? undefined : defaultsInfo(rt, manifest.defaults),
    exposes: manifest === null ? undefined : exposesInfo(rt, manifest.exposes),
  });
}

function scopeText({ root }: Runtime, { scope }: ModuleInfo): string | null {
  if (scope === null || typeof scope === 'string') return scope === null ? null : `@${scope}`;
  return `@collection:${root.collections.get(scope)?.name ?? '<unknown>'}`;
}

function defaultsInfo(rt: Runtime, { deep, load, keys }: ModuleDefaults): Info | undefined {
  if (deep === null && load === null && keys.size === 0) return undefined;
  const options = {
    deep: 1,
    ids: false,
    store: null,
    sizeMax: rt.limits.resultBytes,
    nestingMax: MSGPACK_NESTING_MAX,
    charge: (units: number) => rt.charge(units),
  };
  const values = [...keys].map(([key, value]): [string, Info] => [key, (sink) => pack(value, sink, options)]);
  const own: [string, Info | null][] = [
    ['deep', deep],
    ['load', load],
  ];
  return new Map([...own.filter(([, value]) => value !== null), ...values]);
}

function exposesInfo(rt: Runtime, exposes: ReadonlyMap<string, ModuleFunction>): Info | undefined {
  if (exposes.size === 0) return undefined;
  const sorted = [...exposes].sort(([a], [b]) => compareText(a, b));
  return new Map(sorted.map(([name, exposed]) => [name, exposedInfo(rt, exposed)]));
}

function exposedInfo(rt: Runtime, exposed: ModuleFunction): Info {
  if (exposed.kind === 'closure') {
    const { closure } = exposed;
    chargeParse(rt, closure.source);
    return { definition: closure.pretty(), with_side_effects: rt.needsChange(closure) };
  }
  const { doc, defaults, argmap } = exposed;
  return { doc: doc === '' ? undefined : doc, defaults: defaultsInfo(rt, defaults), argmap };
}
