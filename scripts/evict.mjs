/** Tests that load this take everything out of memory that may leave it, after each part of a query: see `Harness` of the engine. */
process.env.ALTHING_TEST_EVICTS = '1';
