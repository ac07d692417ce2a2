/** The examples of the pages in `docs/`. */
import { testPage } from '../testing/page-tests.js';

const PAGES = [
  'futures.md',
  'indexes.md',
  'language.md',
  'modelling.md',
  'rooms.md',
  'tasks.md',
  'tutorial.md',
  'types.md',
];

for (const page of PAGES) testPage(page);

// Readers of the tutorial paste what they see: an error in the midst of a block would take back what is needed later.
testPage('tutorial.md', true);
