// The front end of pages of runs (sarrus run --page): the data are in the document.
import { openDocument } from './main.js';

await openDocument();
