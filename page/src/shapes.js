// Geometry of shapes, and figures for bodies that have none: capsules from their frame to the points where something acts on them.
import { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, ConeGeometry, CylinderGeometry, Matrix4, Quaternion,
  SphereGeometry, Vector3 } from 'three';
import { toCreasedNormals } from 'three/examples/jsm/utils/BufferGeometryUtils.js';

export function localMatrix(at, turn) {
  const [w, x, y, z] = turn;
  return new Matrix4().compose(new Vector3(...at), new Quaternion(x, y, z, w), new Vector3(1, 1, 1));
}

function triangleGeometry(t, buffer) {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(buffer, t.vertex, 3 * t.vertices), 3));
  geometry.setIndex(new BufferAttribute(new Uint32Array(buffer, t.face, 3 * t.faces), 1));
  if (t.faces < 150000) return toCreasedNormals(geometry, 0.7);
  geometry.computeVertexNormals();
  return geometry;
}

// In the frame of the shape; null where nothing bounded is to be drawn. count: how many there are.
export function shapeGeometry(shape, buffer, low, count = 1) {
  const [a, b, c] = shape.size, round = low ? 12 : count > 100 ? 20 : 40;
  switch (shape.type) {
    case 'sphere': return low ? new SphereGeometry(Math.abs(a), 8, 6) : new SphereGeometry(Math.abs(a), round, Math.ceil(0.65 * round));
    case 'box': return new BoxGeometry(a, b, c);
    case 'cylinder': return new CylinderGeometry(Math.abs(a), Math.abs(a), b, round, 1, a < 0).rotateX(Math.PI / 2);
    case 'capsule': return new CapsuleGeometry(a, b, low ? 3 : 10, round).rotateX(Math.PI / 2);
    case 'ellipsoid': return new SphereGeometry(1, low ? 8 : 36, low ? 6 : 24).scale(a, b, c);
    case 'cone': return new ConeGeometry(a, b, round).rotateX(Math.PI / 2);
    default: return shape.triangles ? triangleGeometry(shape.triangles, buffer) : null;
  }
}

export function geometryKey(shape) {
  return shape.triangles ? `${shape.type} ${shape.triangles.vertex}` : `${shape.type} ${shape.size}`;
}

// Half of its least extent: joints are drawn a little thicker.
export function thickness(shape) {
  const [a, b, c] = shape.size.map(Math.abs);
  switch (shape.type) {
    case 'sphere': case 'capsule': return a;
    case 'box': return Math.min(a, b, c) / 2;
    case 'cylinder': case 'cone': return Math.min(a, b / 2);
    case 'ellipsoid': return Math.min(a, b, c);
    default: return null;
  }
}

// Half lengths of a box about it, in its frame; of triangles the farthest of each axis.
export function halfExtents(shape, buffer) {
  const [a, b, c] = shape.size.map(Math.abs);
  switch (shape.type) {
    case 'sphere': return [a, a, a];
    case 'box': return [a / 2, b / 2, c / 2];
    case 'cylinder': case 'cone': return [a, a, b / 2];
    case 'capsule': return [a, a, a + b / 2];
    case 'ellipsoid': return [a, b, c];
    default: break;
  }
  const out = [0, 0, 0];
  if (!shape.triangles) return out;
  const x = new Float32Array(buffer, shape.triangles.vertex, 3 * shape.triangles.vertices);
  for (let i = 0; i < x.length; i++) out[i % 3] = Math.max(out[i % 3], Math.abs(x[i]));
  return out;
}

// The point of a shape that is farthest in a direction, in its own frame.
export function support(shape, d, out) {
  const [a, b, c] = shape.size;
  const flat = Math.hypot(d.x, d.y) || 1;
  switch (shape.type) {
    case 'sphere': return out.copy(d).multiplyScalar(a);
    case 'capsule': out.copy(d).multiplyScalar(a); out.z += Math.sign(d.z) * b / 2; return out;
    case 'box': return out.set(Math.sign(d.x) * a / 2, Math.sign(d.y) * b / 2, Math.sign(d.z) * c / 2);
    case 'cylinder': return out.set(d.x / flat * a, d.y / flat * a, Math.sign(d.z) * b / 2);
    case 'ellipsoid': {
      const n = Math.hypot(a * d.x, b * d.y, c * d.z) || 1;
      return out.set(a * a * d.x / n, b * b * d.y / n, c * c * d.z / n);
    }
    default: return out.set(0, 0, 0);
  }
}

// What is drawn of each body: its shapes for the eye, else those for contacts.
export function drawnShapes(model) {
  const drawn = model.bodies.map(() => []);
  model.shapes.forEach((s, i) => { if (s.use !== 'collision' && s.type !== 'plane') drawn[s.body].push(i); });
  const bare = drawn.map((list) => list.length === 0);
  model.shapes.forEach((s, i) => { if (s.use === 'collision' && bare[s.body] && s.type !== 'plane') drawn[s.body].push(i); });
  return drawn;
}

// Points of each body where joints, closures, forces or names are, in its frame.
export function bodyPoints(model) {
  const points = model.bodies.map(() => []);
  const add = (place) => { if (place) points[place.body].push(place.at); };
  for (const joint of model.joints) if (joint.seat) add({ body: model.bodies[joint.body].parent, at: joint.seat });
  for (const closure of model.closures) { add(closure.a); add(closure.b); }
  for (const force of model.forces) { add(force.a); add(force.b); }
  for (const point of model.points) add(point.place);
  for (const sensor of model.sensors) add(sensor.place);
  return points;
}

function capsuleBetween(a, b, radius, low) {
  const span = new Vector3().subVectors(b, a), length = span.length();
  const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), span.normalize());
  return new CapsuleGeometry(radius, length, low ? 3 : 8, low ? 8 : 24).applyQuaternion(turn)
    .translate((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2);
}

// Geometries for a body without shapes. scale: of the whole model.
export function figure(body, points, scale, low) {
  const origin = new Vector3(), ends = [];
  const add = (at) => {
    const p = new Vector3(...at);
    if (p.length() > 1e-3 * scale && p.length() < 1e3 * scale && ends.every((q) => q.distanceTo(p) > 1e-3 * scale)) ends.push(p);
  };
  points.forEach(add);
  if (ends.length === 0) add(body.com);
  const longest = Math.max(0, ...ends.map((p) => p.length()));
  const radius = Math.min(0.04 * (longest || scale), 0.04 * scale);
  if (ends.length === 0) return { radius: 0.07 * scale, parts: [new SphereGeometry(0.07 * scale, low ? 8 : 28, low ? 6 : 18)] };
  const parts = ends.slice(0, 12).map((p) => capsuleBetween(origin, p, radius, low));
  const slender = Math.max(...body.inertia.slice(0, 3)) < 1e-3 * body.mass * longest * longest;
  if (body.mass > 0 && slender) {  // a mass that is nearly a point
    const com = new Vector3(...body.com);
    parts.push(new SphereGeometry(0.09 * longest, low ? 8 : 28, low ? 6 : 18).translate(com.x, com.y, com.z));
  }
  return { radius, parts };
}
