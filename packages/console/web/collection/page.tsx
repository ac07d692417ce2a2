/** The page of a collection. */
import type { JSX } from 'preact';
import { collectionScope } from '../state/names.js';
import { linkTo, route } from '../state/route.js';
import { Head } from '../ui/parts.js';

export function CollectionPage(): JSX.Element {
  const [, name = ''] = route.value.path;
  return (
    <div class="page">
      <Head title={name}>
        <a href={linkTo(['q'], { scope: collectionScope(name), code: '.keys();' })}>Query it</a>
      </Head>
    </div>
  );
}
