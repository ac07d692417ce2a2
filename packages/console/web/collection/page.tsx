/** The page of a collection: its data, procedures, types, enums, rooms, tasks, and its export, each at an address of its own. */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { collectionScope, loadNames } from '../state/names.js';
import { linkTo, route } from '../state/route.js';
import { may } from '../state/session.js';
import { Failure, Head } from '../ui/parts.js';

/** What every section of the page is given. */
export interface SectionProps {
  /** The name of the collection. */
  readonly name: string;
  readonly scope: string;
  /** What stands behind the section in the address. */
  readonly rest: readonly string[];
}

interface Section {
  readonly key: string;
  readonly title: string;
  readonly load: () => Promise<ComponentType<SectionProps>>;
}

const SECTIONS: readonly Section[] = [
  { key: 'data', title: 'Data', load: async () => (await import('./data.js')).Data },
  { key: 'procedures', title: 'Procedures', load: async () => (await import('./procedures.js')).Procedures },
  { key: 'types', title: 'Types', load: async () => (await import('./types.js')).Types },
  { key: 'rooms', title: 'Rooms', load: async () => (await import('./rooms.js')).Rooms },
  { key: 'history', title: 'History', load: async () => (await import('./history.js')).History },
  { key: 'export', title: 'Export', load: async () => (await import('./export.js')).Export },
];

export function CollectionPage(): JSX.Element {
  const [, name = '', key = 'data', ...rest] = route.value.path;
  const scope = collectionScope(name);
  const section = SECTIONS.find((each) => each.key === key) ?? SECTIONS[0];
  const [loaded, set] = useState<{ readonly key: string; readonly view: ComponentType<SectionProps> } | null>(
    null,
  );
  const [error, fail] = useState<unknown>(null);
  useEffect(() => {
    let isWanted = true;
    section?.load().then(
      (view) => isWanted && set({ key: section.key, view }),
      (caught: unknown) => isWanted && fail(caught),
    );
    return () => {
      isWanted = false;
    };
  }, [section]);
  // Somebody else may have changed them meanwhile.
  useEffect(() => void loadNames(scope), [scope, section]);
  useEffect(() => {
    document.title = `${name} · Althing`;
  }, [name]);
  const View = loaded?.key === section?.key ? loaded?.view : undefined;
  return (
    <div class="page">
      <Head title={name}>
        <a href={linkTo(['q'], { scope, code: '' })}>Query</a>
      </Head>
      <nav class="pages" aria-label="Parts of the collection">
        {SECTIONS.map((each) => (
          <a
            key={each.key}
            href={linkTo(['c', name, each.key])}
            aria-current={each === section ? 'page' : undefined}
          >
            {each.title}
          </a>
        ))}
      </nav>
      <Failure error={error} />
      {View === undefined ? null : may('QUERY', scope) || section?.key === 'procedures' ? (
        <View key={`${name} ${key}`} name={name} scope={scope} rest={rest} />
      ) : (
        <p class="empty">To see this takes the privilege QUERY on {scope}.</p>
      )}
    </div>
  );
}
