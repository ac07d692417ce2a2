/** The pages of the console: where they lie, what they are called, and by which key they are reached. */
import type { ComponentType } from 'preact';

export interface Place {
  /** The first part of the path; empty for the first page. */
  readonly name: string;
  readonly title: string;
  /** Behind `g`. */
  readonly key: string;
  /** Loads the page's code. */
  readonly load: () => Promise<ComponentType>;
}

export const PLACES: readonly Place[] = [
  {
    name: '',
    title: 'Overview',
    key: 'o',
    load: async () => (await import('../cluster/page.js')).Overview,
  },
  { name: 'q', title: 'Query', key: 'q', load: async () => (await import('../query/page.js')).QueryPage },
  {
    name: 'activity',
    title: 'Activity',
    key: 'a',
    load: async () => (await import('../pages/activity.js')).Activity,
  },
  { name: 'tasks', title: 'Tasks', key: 't', load: async () => (await import('../pages/tasks.js')).Tasks },
  { name: 'users', title: 'Users', key: 'u', load: async () => (await import('../users/page.js')).Users },
  {
    name: 'modules',
    title: 'Modules',
    key: 'm',
    load: async () => (await import('../modules/page.js')).Modules,
  },
  {
    name: 'root',
    title: 'Root procedures',
    key: 'p',
    load: async () => (await import('../collection/root-page.js')).RootPage,
  },
  {
    name: 'backups',
    title: 'Backups',
    key: 'b',
    load: async () => (await import('../pages/backups.js')).Backups,
  },
];

/** The first part of the path of a collection's page. */
export const COLLECTION_PLACE = 'c';

const COLLECTION: Place = {
  name: COLLECTION_PLACE,
  title: 'Collection',
  key: '',
  load: async () => (await import('../collection/page.js')).CollectionPage,
};

/** The page that a path begins with; the first page for one that there is not. */
export function placeOf(name: string): Place {
  if (name === COLLECTION_PLACE) return COLLECTION;
  const found = PLACES.find((place) => place.name === name) ?? PLACES[0];
  if (found === undefined) throw new Error('there are no pages');
  return found;
}
