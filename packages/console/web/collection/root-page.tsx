/** Procedures of the `@thingsdb` scope, which belong to no collection. */
import type { JSX } from 'preact';
import { route } from '../state/route.js';
import { Head } from '../ui/parts.js';
import { Procedures } from './procedures.js';

const SCOPE = '@thingsdb';

export function RootPage(): JSX.Element {
  const [, , ...rest] = route.value.path;
  return (
    <div class="page">
      <Head title="Procedures of @thingsdb" />
      <Procedures scope={SCOPE} rest={rest} />
    </div>
  );
}
