import { type Config, isLoopback } from '../../config/index.js';
import { slotsOf } from '../../peers/formation/slots.js';

/**
 * Where other nodes reach this one: at its name; but one that listens on this machine alone at the address that
 * it listens on, unless the setting `cluster` has its name. A node that has no others keeps its name.
 *
 * @param hasOthers whether it is meant to have any
 */
export function ownHost(
  {
    nodeName,
    bindNodeAddr,
    listenNodePort,
    cluster,
  }: Pick<Config, 'nodeName' | 'bindNodeAddr' | 'listenNodePort' | 'cluster'>,
  hasOthers: boolean,
): string {
  if (!hasOthers || !isLoopback(bindNodeAddr)) return nodeName;
  return slotsOf(cluster, nodeName, listenNodePort).own < 0 ? bindNodeAddr : nodeName;
}
