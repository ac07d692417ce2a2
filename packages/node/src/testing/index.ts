/**
 * Tools for tests that need a real node, and for programs that play with nodes: nothing of jest. It is a door
 * of the package, for `verification` and the scripts; it lies here because the tests beside the node's code
 * need it, too.
 */
export { Answer, type ErrorBody } from './answer.js';
export { freePorts } from './free-ports.js';
export { type End, Launched, type LaunchOptions, SERVE, variablesOf } from './launch.js';
export { ManualClock } from './manual-clock.js';
export { MiniCluster } from './mini-cluster.js';
export { Float64, type Packable, packed, unpacked } from './msgpack.js';
export { RawConnection } from './raw-connection.js';
export { RawLine } from './raw-line.js';
export { RealCluster } from './real-cluster.js';
export {
  basic,
  FREE_PORT,
  type NodePlace,
  RealNode,
  type RequestOptions,
  type TestSettings,
} from './real-node.js';
export { until, WAIT_MS, within } from './until.js';
