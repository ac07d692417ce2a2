/**
 * The second door, for tests of hosts: the core with planted bugs, to see whether a test harness notices
 * them. Nothing in here is for production, and it may change with any version.
 */
export { isMutant, MUTANT_NAMES, MUTANTS, type Mutant } from './mutants.js';
export { Planter, type RaftNodeClass } from './plant.js';
export { type Edit, ModulePlanter, type PlantedBug } from './planting.js';
