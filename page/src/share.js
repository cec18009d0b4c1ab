// Links that hold a model: #model=... is its text and the files that it includes, deflated, in the letters of addresses (RFC 4648, section 5).
import { bytesOf, inflate } from './data.js';

const MOST = 60000;  // letters: what programs for mail and chat still take

const toLetters = (bytes) => {
  let text = '';
  for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

export async function writeLink({ file, text, files }) {
  const decoder = new TextDecoder(), texts = Object.fromEntries(Object.entries(files).map(([name, data]) => [name, typeof data === 'string' ? data : decoder.decode(data)]));
  const stream = new Blob([JSON.stringify({ file, text, files: texts })]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const letters = toLetters(new Uint8Array(await new Response(stream).arrayBuffer()));
  if (letters.length > MOST) throw new Error(`The model makes a link of ${letters.length} letters; at most ${MOST} work everywhere. Save it as a file instead.`);
  return `#model=${letters}`;
}

// null: the address holds none
export async function readLink(hash) {
  const letters = /[#&]model=([^&]*)/.exec(hash)?.[1];
  if (!letters) return null;
  try {
    const bytes = await inflate(bytesOf(letters.replaceAll('-', '+').replaceAll('_', '/').padEnd(4 * Math.ceil(letters.length / 4), '=')));
    const { file, text, files } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof text !== 'string') throw new Error('no text');
    const texts = Object.fromEntries(Object.entries(files ?? {}).filter(([, data]) => typeof data === 'string'));
    return { file: typeof file === 'string' && file ? file : 'model.xml', text, files: texts };
  } catch {
    throw new Error('The model in the address of this page is cut or changed; it could not be read.');
  }
}
