/** Things that expire, that never do, and that were given more time before they did: what is there in the end. */
import { Anomaly, type Operation } from './history.js';

/**
 * Checks that things which never expire are there, and those that were given more time in the end.
 *
 * @param spared the values of things that are to live on, when all others should be gone
 * @throws Anomaly
 */
export function checkExpiry(operations: readonly Operation[], spared: readonly string[]): void {
  const left = new Set(spared);
  const made = new Map<string, Operation>();
  for (const operation of operations) {
    if (operation.action.kind === 'mortal') made.set(operation.action.value, operation);
  }
  const reprieved = new Set<string>();
  let unknown = 0;
  for (const { action, outcome, answer } of operations) {
    if (action.kind !== 'reprieve') continue;
    if (outcome === 'unknown') unknown += 1;
    else if (outcome === 'ok' && typeof answer === 'string') reprieved.add(answer);
  }
  for (const value of reprieved) {
    if (!left.has(value)) throw new Anomaly('expiry', `${value} was given more time, and is gone`);
  }
  for (const [value, { id, action, outcome, answer }] of made) {
    const isMortal = action.kind === 'mortal' && action.until !== null;
    if (left.has(value)) {
      if (outcome === 'failed')
        throw new Anomaly('expiry', `${value} of operation ${id} was refused and is there`);
      if (isMortal && !reprieved.has(value)) unknown -= 1;
    } else if (outcome === 'ok' && answer === true && !isMortal)
      throw new Anomaly('expiry', `${value} of operation ${id} never expires, and is gone`);
  }
  if (unknown < 0) throw new Anomaly('expiry', 'more things live on than may have been given more time');
  const stranger = spared.find((value) => !made.has(value));
  if (stranger !== undefined) throw new Anomaly('expiry', `nobody made ${stranger}`);
}
