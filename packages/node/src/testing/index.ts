/** Tools for tests that need a real node. No part of the package's door. */
export { Answer, type ErrorBody } from './answer.js';
export { freePorts } from './free-ports.js';
export { Float64, type Packable, packed, unpacked } from './msgpack.js';
export { RawConnection } from './raw-connection.js';
export { RealCluster } from './real-cluster.js';
export { basic, RealNode, type RequestOptions, type TestSettings } from './real-node.js';
export { until, WAIT_MS, within } from './until.js';
