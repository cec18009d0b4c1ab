// Runs the script of a page that has it packed, in the block `script`. The policy of the page knows its hash: another text would not run.
import { bytesOf, inflate } from './data.js';

const script = document.createElement('script');
script.type = 'module';
script.textContent = new TextDecoder().decode(await inflate(bytesOf(document.getElementById('sarrus-script').textContent)));
document.head.append(script);
