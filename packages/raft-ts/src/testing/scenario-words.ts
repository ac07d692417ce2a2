/** Words of scenario scripts, and the values that they stand for; `scenarios/README.md` describes them. */
import { changeOf } from '../change.js';
import type { Promised, RaftOptions } from '../config.js';
import { chainEntry, murmur3 } from '../hash.js';
import type { ChangeStep } from '../membership.js';
import type { Entry } from '../types.js';
import { ScriptError } from './script.js';

const SWITCHES: ReadonlyMap<string, 'preVote' | 'checkQuorum' | 'forwardProposals'> = new Map([
  ['prevote', 'preVote'],
  ['checkquorum', 'checkQuorum'],
  ['forward', 'forwardProposals'],
]);

type NumberOption = Exclude<
  keyof RaftOptions,
  'preVote' | 'checkQuorum' | 'forwardProposals' | 'hashPayload'
>;

const NUMBERS: ReadonlyMap<string, NumberOption> = new Map([
  ['election', 'electionTicks'],
  ['heartbeat', 'heartbeatTicks'],
  ['max-message-bytes', 'maxMessageBytes'],
  ['max-message-entries', 'maxMessageEntries'],
  ['max-inflight', 'maxInflightMessages'],
  ['max-inflight-bytes', 'maxInflightBytes'],
  ['max-proposal-bytes', 'maxProposalBytes'],
  ['max-pending-bytes', 'maxPendingBytes'],
  ['max-pending-entries', 'maxPendingEntries'],
  ['max-apply-bytes', 'maxApplyBytes'],
  ['max-tail-bytes', 'maxTailBytes'],
  ['max-reads', 'maxPendingReads'],
  ['max-writes', 'maxWritesInFlight'],
  ['max-outbox', 'maxOutbox'],
  ['disk-stall', 'diskStallTicks'],
  ['max-term-jump', 'maxTermJump'],
]);

const OTHER_OPTIONS: ReadonlySet<string> = new Set(['voters', 'learners', 'seed', 'lease', 'promised']);

export function optionsOf(given: ReadonlyMap<string, string>): Partial<RaftOptions> {
  const options: { -readonly [Name in keyof RaftOptions]?: RaftOptions[Name] } = {};
  for (const [key, value] of given) {
    const number = NUMBERS.get(key);
    const onOff = SWITCHES.get(key);
    if (number !== undefined) options[number] = Number(value);
    else if (onOff !== undefined) options[onOff] = value === 'on';
    else if (!OTHER_OPTIONS.has(key)) throw new ScriptError(`No such option: ${key}`);
  }
  return options;
}

/** `promised=7/2/3`: index, term of the entry, current term. */
export function promisedOf(options: ReadonlyMap<string, string>): Promised | undefined {
  const text = options.get('promised');
  if (text === undefined) return undefined;
  const [index = 0, term = 0, currentTerm = 0] = text.split('/').map(Number);
  return { index, term, currentTerm };
}

/** `v4` voter, `l5` learner, `p6` learner to be promoted, `r2` remove, `joint`, `explicit`, `leave`. */
export function changeFrom(words: readonly string[]): ReturnType<typeof changeOf> {
  const steps: ChangeStep[] = [];
  for (const word of words.filter((each) => /^[vlpr]\d+$/.test(each))) {
    const node = Number(word.slice(1));
    if (word.startsWith('v')) steps.push({ action: 'addVoter', node });
    else if (word.startsWith('r')) steps.push({ action: 'remove', node });
    else steps.push({ action: 'addLearner', node, promote: word.startsWith('p') });
  }
  return {
    ...changeOf(...steps),
    transition: words.includes('joint') ? 'joint' : 'auto',
    leave: words.includes('explicit') ? 'explicit' : 'auto',
  };
}

/** `3/2:a 4/2:b`: index, term and payload of each entry. */
export function entriesOf(list: string, prevHash: number): Entry[] {
  let hash = prevHash;
  return list
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const [place = '', text = ''] = word.split(':');
      const [index = 0, term = 0] = place.split('/').map(Number);
      const entry = chainEntry(hash, index, term, 'normal', bytesOf(text), murmur3);
      hash = entry.hash;
      return entry;
    });
}

export function scalarOf(word: string): unknown {
  if (word === 'true' || word === 'false') return word === 'true';
  return word;
}

export function numbersOf(list: string): number[] {
  return list
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(Number);
}

export function bytesOf(word: string): Uint8Array {
  // `x*300` is 300 bytes of x.
  const repeated = /^(.)\*(\d+)$/.exec(word);
  return new TextEncoder().encode(repeated === null ? word : repeated[1]!.repeat(Number(repeated[2])));
}
