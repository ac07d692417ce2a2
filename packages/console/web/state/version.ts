/** Looks if the node still serves the files that this page came with: it may be upgraded while the page is open. */
import { signal } from '@preact/signals';
import { pageSays } from './settings.js';

/** True if the node has another console by now. */
export const isOutdated = signal(false);

/** Asks the node for its page. What it does not answer is no other version. */
export async function lookForOtherVersion(): Promise<void> {
  try {
    const answer = await fetch('./', { credentials: 'omit', cache: 'no-store' });
    if (answer.ok && answer.headers.get('content-type')?.startsWith('text/html') === true)
      isOutdated.value = !isOurs(await answer.text());
  } catch {
    // The frame says it when the node is not there.
  }
}

/** The names of files change with their content. */
function isOurs(page: string): boolean {
  const scripts = [...document.querySelectorAll('script[src]')].map((each) => each.getAttribute('src') ?? '');
  return [...scripts, pageSays('althing-worker')].every((name) => page.includes(`"${name}"`));
}
