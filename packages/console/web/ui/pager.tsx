import type { JSX } from 'preact';
import { PAGE } from '../results/protocol.js';

/** Goes from hundred to hundred. */
export function Pager({
  from,
  total,
  go,
}: {
  readonly from: number;
  readonly total: number;
  readonly go: (from: number) => void;
}): JSX.Element | null {
  if (total <= PAGE) return null;
  return (
    <div class="row num">
      <button type="button" disabled={from === 0} onClick={() => go(Math.max(0, from - PAGE))}>
        Before
      </button>
      <span>
        {from} to {Math.min(total, from + PAGE) - 1} of {total}
      </span>
      <button type="button" disabled={from + PAGE >= total} onClick={() => go(from + PAGE)}>
        Next
      </button>
      <button
        type="button"
        disabled={from + PAGE >= total}
        onClick={() => go(Math.floor((total - 1) / PAGE) * PAGE)}
      >
        Last
      </button>
    </div>
  );
}
