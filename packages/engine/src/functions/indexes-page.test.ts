/** The examples of docs/indexes.md, run in order in one collection. */
import { testPage } from '../testing/page-tests.js';

testPage('indexes.md');
