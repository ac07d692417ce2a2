/** What stands around every page: where one is, where one can go, and how the page behaves. */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { collections, loadCollections } from '../state/names.js';
import { goTo, linkTo, route } from '../state/route.js';
import { logOut, nodeName, userName } from '../state/session.js';
import { isProduction, isReadOnlyForGood, readOnly, type Theme, theme } from '../state/settings.js';
import { Assembly, Dialog, Failure, Mark, useEvery } from '../ui/parts.js';
import { NodeAway, OtherVersion } from './away.js';
import { Palette, type PaletteAction } from './palette.js';
import { COLLECTION_PLACE, PLACES, type Place, placeOf } from './places.js';
import { Tour } from './tour.js';

/** Milliseconds between two questions for the collections while no node told them. */
const LEARN_MS = 4000;

export function Frame(): JSX.Element {
  const [isMenuOpen, openMenu] = useState(false);
  const [over, setOver] = useState<Over | null>(null);
  const learn = (): void => {
    if (collections.value === null) void loadCollections();
  };
  useEffect(learn, []);
  useEvery(LEARN_MS, learn);
  useEffect(() => listenToKeys(setOver), []);
  useEffect(() => openMenu(false), [route.value]);
  return (
    <div class="frame">
      <header class="top">
        <button
          type="button"
          class="menu plain"
          aria-expanded={isMenuOpen}
          aria-controls="nav"
          onClick={() => openMenu(!isMenuOpen)}
        >
          Menu
        </button>
        <a class="wordmark" href={linkTo([])}>
          <Assembly />
          Althing
        </a>
        <span class="where">{nodeName.value}</span>
        {isProduction ? <Mark kind="warn">production</Mark> : null}
        <span class="gap" />
        <button type="button" class="find" onClick={() => setOver('palette')}>
          Go to … <kbd>Ctrl K</kbd>
        </button>
        <ReadOnlySwitch />
        <ThemeButton />
        <button type="button" class="plain" onClick={() => logOut()} aria-label={`Log out ${userName.value}`}>
          Log out
        </button>
      </header>
      <nav class={isMenuOpen ? 'nav open' : 'nav'} id="nav" aria-label="Pages">
        <div>
          <Navigation />
          <button type="button" class="plain" onClick={() => setOver('tour')}>
            Tour
          </button>
        </div>
      </nav>
      <main id="main" tabIndex={-1} aria-label="Page">
        <NodeAway />
        <OtherVersion />
        <CurrentPage />
      </main>
      {over === 'palette' ? <Palette actions={actionsOf(setOver)} close={() => setOver(null)} /> : null}
      {over === 'tour' ? <Tour close={() => setOver(null)} /> : null}
      {over === 'keys' ? <Keys close={() => setOver(null)} /> : null}
    </div>
  );
}

/** What lies over a page. */
type Over = 'palette' | 'keys' | 'tour';

/** What can be done on every page. */
function actionsOf(open: (what: Over) => void): readonly PaletteAction[] {
  const colours = (['light', 'dark', 'system'] as const).map((each) => ({
    title: `Colours: ${each}`,
    act: () => {
      theme.value = each;
    },
  }));
  const readsOnly = {
    title: readOnly.value ? 'Read-only: off' : 'Read-only: on',
    act: () => {
      readOnly.value = !readOnly.value;
    },
  };
  return [
    { title: 'New query', act: () => goTo(['q'], { scope: '', code: '' }) },
    ...(isReadOnlyForGood ? [] : [readsOnly]),
    ...colours,
    { title: 'Keys', act: () => open('keys') },
    { title: 'Tour', act: () => open('tour') },
    { title: 'Log out', act: () => logOut() },
  ];
}

function Navigation(): JSX.Element {
  const [first = '', name] = route.value.path;
  return (
    <>
      <ul>
        {PLACES.map((place) => (
          <li key={place.name}>
            <a
              href={linkTo(place.name === '' ? [] : [place.name])}
              aria-current={first === place.name ? 'page' : undefined}
            >
              {place.title} <span class="shortcut">g {place.key}</span>
            </a>
          </li>
        ))}
      </ul>
      <h2>Collections</h2>
      <ul>
        {(collections.value ?? []).slice(0, COLLECTIONS_MAX).map((collection) => (
          <li key={collection}>
            <a
              href={linkTo([COLLECTION_PLACE, collection])}
              aria-current={first === COLLECTION_PLACE && name === collection ? 'page' : undefined}
            >
              {collection}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Collections that the navigation lists; Ctrl-K finds all. */
const COLLECTIONS_MAX = 50;

function CurrentPage(): JSX.Element {
  const place = placeOf(route.value.path[0] ?? '');
  const [loaded, set] = useState<{ readonly place: Place; readonly page: ComponentType } | null>(null);
  const [error, fail] = useState<unknown>(null);
  useEffect(() => {
    let isWanted = true;
    place.load().then(
      (page) => isWanted && set({ place, page }),
      (caught: unknown) => isWanted && fail(caught),
    );
    document.title = `${place.title} · Althing`;
    return () => {
      isWanted = false;
    };
  }, [place]);
  if (error !== null) return <MissingPart error={error} />;
  if (loaded === null || loaded.place !== place) return <div class="page" />;
  const Page = loaded.page;
  return <Page />;
}

function MissingPart({ error }: { readonly error: unknown }): JSX.Element {
  return (
    <div class="page">
      <Failure error={error} />
      <p>
        This part of the console could not be loaded; what you wrote is kept.{' '}
        <button type="button" onClick={() => location.reload()}>
          Load the console again
        </button>
      </p>
    </div>
  );
}

function ReadOnlySwitch(): JSX.Element {
  return (
    <label class="check" title="The console changes nothing while this is on">
      <input
        type="checkbox"
        checked={readOnly.value}
        disabled={isReadOnlyForGood}
        onChange={(event) => (readOnly.value = event.currentTarget.checked)}
      />
      Read-only
    </label>
  );
}

const THEMES: Readonly<Record<Theme, readonly [next: Theme, sign: string]>> = {
  system: ['light', '◐'],
  light: ['dark', '○'],
  dark: ['system', '●'],
};

function ThemeButton(): JSX.Element {
  const [next, sign] = THEMES[theme.value];
  return (
    <button
      type="button"
      class="plain"
      aria-label={`Colours: ${theme.value}. Change to ${next}`}
      title={`Colours: ${theme.value}`}
      onClick={() => (theme.value = next)}
    >
      {sign}
    </button>
  );
}

function Keys({ close }: { readonly close: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" close={close}>
      <table>
        <tbody>
          {[
            ['Ctrl K', 'Find a page, a collection, a procedure, an action'],
            ['?', 'These keys'],
            ...PLACES.map(({ key, title }) => [`g ${key}`, title]),
            ['Ctrl Enter', 'Run the query'],
            ['Shift Enter', 'Run what is selected'],
            ['Alt Shift F', 'Format the query'],
          ].map(([key, what]) => (
            <tr key={key}>
              <td>
                <kbd>{key}</kbd>
              </td>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" class="main" onClick={close}>
        Done
      </button>
    </Dialog>
  );
}

/** Keys that work on every page: Ctrl-K, `?`, and `g` with another one behind it. */
function listenToKeys(open: (what: Over) => void): () => void {
  let isAfterG = false;
  const listen = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      open('palette');
      return;
    }
    const target = event.composedPath()[0];
    const isText =
      target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
    if (isText || event.ctrlKey || event.altKey || event.metaKey) return;
    const place = isAfterG ? PLACES.find(({ key }) => key === event.key) : undefined;
    isAfterG = event.key === 'g';
    if (place !== undefined) goTo(place.name === '' ? [] : [place.name]);
    else if (event.key === '?') open('keys');
  };
  addEventListener('keydown', listen);
  return () => removeEventListener('keydown', listen);
}
