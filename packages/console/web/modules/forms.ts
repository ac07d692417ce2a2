/** Forms for what can be done to modules. */
import type { WireValue } from '@althing/client';
import { valueOfText } from '../query/variables.js';
import type { Deed } from '../ui/deed.js';
import type { Form, FormField } from '../ui/form.js';

export const ROOT = '@thingsdb';

export function newModule(): Form {
  return {
    title: 'New module',
    what: 'A program that operators placed in the folder of the module on each node, or that is deployed afterwards.',
    fields: [
      { key: 'name', label: 'Name' },
      { key: 'source', label: 'File in its folder: the program, or module.json' },
      confField(''),
    ],
    deed: (given) => {
      const vars = { name: given.text('name'), source: given.text('source') };
      return withConf(given.text('conf'), (conf) =>
        conf === null
          ? root('new_module(name, source);', vars)
          : root('new_module(name, source, conf);', { ...vars, conf }),
      );
    },
  };
}

export function configure(name: string, conf: string): Form {
  return {
    title: 'Configure the module',
    what: 'It is sent to the processes that run, and starts others.',
    fields: [confField(conf)],
    deed: (given) =>
      withConf(given.text('conf'), (value) => root('set_module_conf(name, conf);', { name, conf: value })),
  };
}

export function limitScope(name: string, scope: string): Form {
  return {
    title: 'Set the scope',
    fields: [
      {
        key: 'scope',
        label: 'The only scope that may call it; empty: every one',
        start: scope,
        isOptional: true,
      },
    ],
    deed: (given) => root('set_module_scope(name, scope);', { name, scope: given.text('scope') || null }),
  };
}

export function renameModule(name: string): Form {
  return {
    title: 'Rename the module',
    fields: [{ key: 'to', label: 'Name', start: name }],
    deed: (given) => root('rename_module(name, to);', { name, to: given.text('to') }),
  };
}

export function deploy(name: string): Form {
  return {
    title: 'Deploy code',
    what: 'All nodes get it, and start the module anew. It runs with the rights of the node; enable_modules must be deploy.',
    fields: [{ key: 'code', label: 'A script with #! in front, or Python', kind: 'lines' }],
    deed: (given) => {
      const code = given.text('code');
      // A str is taken for Python.
      const call = code.startsWith('#!') ? 'deploy_module(name, bytes(code));' : 'deploy_module(name, code);';
      return root(call, { name, code });
    },
  };
}

export function refresh(name: string): Form {
  return {
    title: 'Start it anew',
    what: 'Its processes on all nodes end and begin again; requests that wait for them fail.',
    deed: () => root('refresh_module(name);', { name }),
  };
}

export function removeModule(name: string): Form {
  return {
    title: 'Delete the module',
    what: 'Its processes end, and queries that call it fail. Files that operators placed stay.',
    typed: name,
    deed: () => root('del_module(name);', { name }),
  };
}

function confField(start: string): FormField {
  return {
    key: 'conf',
    label: 'Configuration, as JSON; empty: none',
    kind: 'lines',
    start,
    isOptional: true,
  };
}

/** Null for a text that is no JSON. */
function withConf(text: string, make: (conf: WireValue) => Deed): Deed | null {
  if (text.trim() === '') return make(null);
  try {
    return make(valueOfText('json', text));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function root(code: string, vars: Readonly<Record<string, WireValue>>): Deed {
  return { scope: ROOT, code, vars };
}
