/** The examples of docs/language.md, run in order in one collection. */
import { testPage } from '../testing/page-tests.js';

testPage('language.md');
