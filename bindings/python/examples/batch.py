"""A thousand double pendulums under a controller: states and forces are arrays with a row for each copy."""
import sarrus

model = sarrus.loads("""
<sarrus version="1" name="two-rods">
  <body name="upper">
    <joint name="q1" type="revolute" axis="0 1 0"/>
    <inertial mass="1" com="0 0 -0.5" inertia="1/12 1/12 0"/>
  </body>
  <body name="lower" parent="upper">
    <joint name="q2" type="revolute" axis="0 1 0" at="0 0 -1"/>
    <inertial mass="1" com="0 0 -0.5" inertia="1/12 1/12 0"/>
  </body>
</sarrus>""").compile()

batch = sarrus.Batch(model, count=1000, h=0.002, threads=2, random=["q.q1=uniform:-1:1", "q.q2=uniform:-1:1"])
batch.reset(seed=1)
before = batch.rows()["kinetic"] + batch.rows()["potential"]
for _ in range(500):
    batch.step(-2 * batch.v, n=2)  # dampers
after = batch.rows()["kinetic"] + batch.rows()["potential"]
print(f"{(before - after).mean():.3f} J lost on average, at most {(before - after).max():.3f} J; all at t = {batch.t[0]:.3f} s")
