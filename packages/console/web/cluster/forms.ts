/** Forms for what can be done to nodes and collections. */
import type { WireValue } from '@althing/client';
import type { Deed } from '../ui/deed.js';
import type { Form } from '../ui/form.js';

const ROOT = '@thingsdb';

export function addNode(): Form {
  return {
    title: 'Add a node',
    what: 'It must have been started with this secret (althing serve --secret), or wait with the cluster’s own.',
    fields: [
      { key: 'secret', label: 'Secret', kind: 'secret' },
      { key: 'address', label: 'Address' },
      { key: 'port', label: 'Node port', start: '9220' },
    ],
    deed: (given) => {
      const port = given.text('port');
      if (!/^\d{1,5}$/.test(port)) return null;
      const vars = { secret: given.text('secret'), address: given.text('address'), port: BigInt(port) };
      return root('new_node(secret, address, port);', vars);
    },
  };
}

export function removeNode(id: string, name: string): Form {
  return {
    title: 'Remove the node',
    what: `Node ${id} gives away what it leads, leaves the cluster for good, and ends.`,
    typed: name,
    deed: () => root('remove_node(node);', { node: BigInt(id) }),
  };
}

export function transferLeadership(id: string): Form {
  return {
    title: 'Give away what it leads',
    what: `Other nodes lead what node ${id} leads; it goes on serving.`,
    deed: () => ({ scope: `@node:${id}`, code: 'transfer_leadership();' }),
  };
}

export function shutDown(id: string, name: string): Form {
  return {
    title: 'Stop the node',
    what: `Node ${id} ends in an orderly way. It takes somebody at its machine to start it again.`,
    typed: name,
    deed: () => ({ scope: `@node:${id}`, code: 'shutdown();' }),
  };
}

export function newCollection(): Form {
  return {
    title: 'New collection',
    fields: [{ key: 'name', label: 'Name' }],
    deed: (given) => root('new_collection(name);', { name: given.text('name') }),
  };
}

export function renameCollection(name: string): Form {
  return {
    title: 'Rename the collection',
    what: 'Programs that use the old name get an error.',
    fields: [{ key: 'to', label: 'Name', start: name }],
    deed: (given) => root('rename_collection(name, to);', { name, to: given.text('to') }),
  };
}

export function setTimeZone(name: string, zone: string): Form {
  return {
    title: 'Set the time zone',
    fields: [{ key: 'zone', label: 'Name, such as Europe/Amsterdam', start: zone }],
    deed: (given) =>
      root('set_time_zone(scope, zone);', { scope: `@collection:${name}`, zone: given.text('zone') }),
  };
}

/** @param things in it now, as far as they are known */
export function removeCollection(name: string, things: string): Form {
  return {
    title: 'Delete the collection',
    what: `Everything in it is gone: ${things === '' ? 'all' : things} things, types, procedures, tasks.`,
    typed: name,
    deed: () => root('del_collection(name);', { name }),
  };
}

function root(code: string, vars: Readonly<Record<string, WireValue>>): Deed {
  return { scope: ROOT, code, vars };
}
