/** Time between two signs of life of nodes that have nothing to say. */

/**
 * Signs of life within the silence after which a peer is down, at least where heartbeats are that frequent: an
 * idle cluster takes much of its processor time for them.
 */
const SIGNS_MIN = 5;

/** Limits that follow from the silence after which a peer is down, and from the time between two heartbeats. */
export interface SignsOfLife {
  /** Heartbeats for which nothing needs to be sent before a sign of life is. */
  readonly quietBeatsMax: number;
  /** Silence of a peer in which no sign of life is missing, in milliseconds. */
  readonly wellSilenceMs: number;
}

export function signsOfLife(silenceMs: number, heartbeatMs: number): SignsOfLife {
  const quietBeatsMax = Math.max(1, Math.floor(silenceMs / SIGNS_MIN / heartbeatMs));
  return { quietBeatsMax, wellSilenceMs: (quietBeatsMax + 1) * heartbeatMs };
}
