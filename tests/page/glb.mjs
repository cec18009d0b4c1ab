// What another reader of glTF makes of a file: node glb.mjs THREE FILE.glb TABLE.csv BODY... THREE: folder of the package three. Bodies are at the places and in
// the turns of the table's columns point(BODY).*, in a model whose up is z.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const [, , three, file, table, ...bodies] = process.argv;
const load = (path) => import(pathToFileURL(join(three, path)));
const { AnimationMixer, Box3, Quaternion, Vector3 } = await load('build/three.module.js');
const { GLTFLoader } = await load('examples/jsm/loaders/GLTFLoader.js');
const lines = readFileSync(table, 'utf8').trim().split('\n').filter((line) => !line.startsWith('#'));
const names = lines[0].split(',').map((x) => x.replace(/ \[.*\]$/, '')), rows = lines.slice(1).map((line) => line.split(',').map(Number));
const bytes = readFileSync(file);
const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), '');
const mixer = new AnimationMixer(gltf.scene);
mixer.clipAction(gltf.animations[0]).play();
let bad = 0;
const fail = (text) => { console.log(`FAILED glb: ${text}`); bad++; };
for (const row of [0, 1, Math.floor(rows.length / 2), rows.length - 2]) {
  mixer.setTime(rows[row][0] - rows[0][0]);
  gltf.scene.updateMatrixWorld(true);
  for (const body of bodies) {
    const at = (word) => { const i = names.indexOf(`point(${body}).${word}`); if (i < 0) throw new Error(`no column of ${body}`); return rows[row][i]; };
    const node = gltf.scene.getObjectByName(body);
    const place = node.getWorldPosition(new Vector3()), turn = node.getWorldQuaternion(new Quaternion());
    // y is up: x y z of the model are x -z y there
    const expected = [at('x'), at('z'), -at('y')], most = Math.max(...expected.map((x, k) => Math.abs(x - place.getComponent(k))));
    if (!(most < 5e-6)) fail(`${body} at t = ${rows[row][0]} is ${most} m away`);
    const q = new Quaternion(-Math.SQRT1_2, 0, 0, Math.SQRT1_2).multiply(new Quaternion(at('qx'), at('qy'), at('qz'), at('qw')));
    if (!(turn.angleTo(q) < 2e-3)) fail(`${body} at t = ${rows[row][0]} is turned by ${turn.angleTo(q)} rad`);  // acos near 1: the root of the rounding
  }
}
const box = new Box3().setFromObject(gltf.scene);
if (box.isEmpty() || !Number.isFinite(box.min.x + box.max.y)) fail('nothing is to be seen');
let meshes = 0;
gltf.scene.traverse((x) => { meshes += x.isMesh ? 1 : 0; });
console.log(`glb: ${file}: ${meshes} meshes, ${gltf.animations[0].tracks.length} tracks, box ${box.min.toArray().map((x) => x.toFixed(3))} to ${box.max.toArray().map((x) => x.toFixed(3))}`);
process.exit(bad > 0 ? 1 : 0);
