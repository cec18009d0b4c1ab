"""Many runs in threads: the model is shared, every run has a data of its own, and the library lets other threads work."""
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import sarrus

model = sarrus.loads("""
<sarrus version="1" name="two-rods">
  <body name="upper">
    <joint name="q1" type="revolute" axis="0 1 0" damping="0.02"/>
    <inertial mass="1" com="0 0 -0.5" inertia="1/12 1/12 0"/>
  </body>
  <body name="lower" parent="upper">
    <joint name="q2" type="revolute" axis="0 1 0" at="0 0 -1" damping="0.02"/>
    <inertial mass="1" com="0 0 -0.5" inertia="1/12 1/12 0"/>
  </body>
</sarrus>""").compile()

angles = np.linspace(0.5, 3.0, 12)
with ThreadPoolExecutor() as pool:
    results = list(pool.map(lambda angle: model.run(t_end=5, q=[angle, 0.1], rtol=1e-8), angles))

for angle, result in zip(angles, results):
    print(f"released at {angle:.2f} rad: ends at {result['q.q1'][-1]: .4f} rad, {result.report['energy']['dissipated']:.3f} J lost")
