/** Actions as numbers, which fit in tables of what follows from them. */
import type { Message } from '../messages.js';

export type Action =
  /** A message arrives. */
  | { readonly kind: 'deliver'; readonly message: Message }
  /** Its election timeout has run out. */
  | { readonly kind: 'campaign' }
  /** A client proposes the `number`th entry. */
  | { readonly kind: 'propose'; readonly number: number }
  /** A leader's heartbeat is due. */
  | { readonly kind: 'beat' }
  /** Its oldest writes reach the disk, and it is told so by one word. */
  | { readonly kind: 'persist'; readonly count: number }
  /** It dies and starts again; of its writes in flight, the first few had reached the disk. */
  | { readonly kind: 'crash'; readonly survivors: number }
  /** A client reads, after somebody knew `atLeast` as committed. */
  | { readonly kind: 'read'; readonly atLeast: number }
  | { readonly kind: 'transfer'; readonly to: number }
  /** A leader's host, which can't reach a node (0: which reaches all), lets the group fall silent. */
  | { readonly kind: 'sleep'; readonly without: number }
  /** A leader's host reaches a node again. */
  | { readonly kind: 'back'; readonly node: number }
  /** The `number`th membership change is proposed. */
  | { readonly kind: 'change'; readonly number: number }
  /** The host fetches what is ready. */
  | { readonly kind: 'fetch' }
  /** A message arrives, and is under way once more. */
  | { readonly kind: 'repeat'; readonly message: Message };

export type ActionKind = Action['kind'];

/** The code of an action: its kind and a number, which for messages is theirs. */
export function codeOf(kind: ActionKind, argument = 0): number {
  return CODES[kind] + argument * KIND_COUNT;
}

/** The action with a code. */
export function actionOf(code: number, messages: readonly Message[]): Action {
  const kind = KINDS[code % KIND_COUNT]!;
  const argument = Math.floor(code / KIND_COUNT);
  switch (kind) {
    case 'deliver':
    case 'repeat':
      return { kind, message: messages[argument]! };
    case 'propose':
    case 'change':
      return { kind, number: argument };
    case 'persist':
      return { kind, count: argument };
    case 'crash':
      return { kind, survivors: argument };
    case 'read':
      return { kind, atLeast: argument };
    case 'transfer':
      return { kind, to: argument };
    case 'sleep':
      return { kind, without: argument };
    case 'back':
      return { kind, node: argument };
    case 'campaign':
    case 'beat':
    case 'fetch':
      return { kind };
  }
}

const KIND_COUNT = 16;
const CODES: Readonly<Record<ActionKind, number>> = {
  deliver: 0,
  campaign: 1,
  propose: 2,
  beat: 3,
  persist: 4,
  crash: 5,
  read: 6,
  transfer: 7,
  change: 8,
  fetch: 9,
  repeat: 10,
  sleep: 11,
  back: 12,
};
const KINDS: readonly ActionKind[] = [
  'deliver',
  'campaign',
  'propose',
  'beat',
  'persist',
  'crash',
  'read',
  'transfer',
  'change',
  'fetch',
  'repeat',
  'sleep',
  'back',
];
