/** The examples of docs/types.md, run in order in one collection. */
import { testPage } from '../testing/page-tests.js';

testPage('types.md');
