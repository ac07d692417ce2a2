/** Messages of the frame: while the node does not answer, with where else the cluster can be reached; and when it comes back as another version. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { currentTab, tabs } from '../query/tabs.js';
import { loadOtherConsoles, otherConsoles } from '../state/other-nodes.js';
import { linkTo, route } from '../state/route.js';
import { ask, isNodeAway, lastAnswerAt } from '../state/session.js';
import { isOutdated, lookForOtherVersion } from '../state/version.js';
import { useEvery } from '../ui/parts.js';

/** How often the node is asked whether it is there, and how long its answer is waited for, in milliseconds. */
const ASK_MS = 4000;
const WAIT_MS = 3000;
/** How often it is asked for the other nodes. */
const OTHERS_MS = 60_000;

export function NodeAway(): JSX.Element | null {
  useEffect(() => void loadOtherConsoles(), []);
  useEvery(OTHERS_MS, () => {
    if (!isNodeAway.value) void loadOtherConsoles();
  });
  // Each question notes how it was answered: a page that asks by itself is enough.
  useEvery(ASK_MS, () => {
    if (isNodeAway.value || Date.now() - lastAnswerAt() > ASK_MS)
      void ask('@node', 'nil;', {}, { timeoutMs: WAIT_MS }).catch(() => {});
  });
  if (!isNodeAway.value) return null;
  return (
    <div class="notice bad away" role="alert">
      <strong>This node does not answer.</strong> What you wrote is kept, and the page goes on by itself when
      the node is back.
      {otherConsoles.value.length === 0 ? null : (
        <p class="row">
          The same on another node, after a login there:
          {otherConsoles.value.map(({ name, url }) => (
            <a key={url} href={url + placeHere()}>
              {name}
            </a>
          ))}
        </p>
      )}
    </div>
  );
}

/** How often the node is asked whether it was upgraded, besides whenever it was away, in milliseconds. */
const VERSION_MS = 60_000;

/** The node has other files than this page: it was upgraded meanwhile. */
export function OtherVersion(): JSX.Element | null {
  const isAway = isNodeAway.value;
  useEffect(() => {
    if (!isAway) void lookForOtherVersion();
  }, [isAway]);
  useEvery(VERSION_MS, () => void lookForOtherVersion());
  if (!isOutdated.value) return null;
  return (
    <div class="notice warn away" role="alert">
      <strong>The node has another version of the console by now.</strong> This page goes on, but parts of it
      may be missing. What you wrote is kept.{' '}
      <button type="button" onClick={() => location.reload()}>
        Load the console again
      </button>
    </div>
  );
}

/** The fragment of this place; on the query page with the code, which is kept for this address alone. */
function placeHere(): string {
  const { path } = route.value;
  const tab = tabs.value.find(({ id }) => id === currentTab.value);
  if (path[0] !== 'q' || tab === undefined) return linkTo(path);
  return linkTo(['q'], { scope: tab.scope, code: tab.code });
}
