# A pendulum from Python, cell by cell: editors that know `# %%` (Spyder, VS Code, Jupyter by jupytext) run it as a notebook;
# `python3 pendulum_notebook.py` runs it whole.

# %% Where the model comes from: written here; sarrus.load("arm.urdf") reads a file
import numpy as np

import sarrus

m = sarrus.Spec("pendulum")
m.add("parameter", name="l", value=1)
rod = m.add("body", name="rod")
rod.add("joint", name="theta", type="revolute", axis=[0, 1, 0], q="pi/2")
rod.add("inertial", mass=1, com="0 0 -l")
rod.add("point", name="tip", at="0 0 -l")
m.add("sensor", name="tip", point="rod/tip")
print(m.text())

# %% Compile: everything is checked, all errors come at once
model = m.compile()
print(model, model.q_name, model.body_mass)

# %% One state: everything at once, or piece by piece on a data whose arrays are views
everything = model.eval(q=[0.3], v=[1.0])
print("a =", everything["a"], "at q = 0.3; by hand", -9.81 * np.sin(0.3))

data = model.data(q=[0.3])
model.forward(data)
print("M =", model.mass_matrix(data.q), "tip at", model.frame(data, "rod/tip")["position"])

# %% A run: columns by name
result = model.run(t_end=2.3678419475762, rtol=1e-10, atol=1e-12)
print(result)
print("after one period theta is off by", result["q.theta"][-1] - np.pi / 2)
print("energy balance misses", result.report["energy"]["residual"], "J in", result.report["steps"], "steps")

# %% Edit and run again: the period against the length, released at 0.1 rad
m.joints["theta"].q = 0.1
for length in (0.25, 1, 4):
    m.parameters["l"].value = length
    swing = m.compile().run(t_end=6, rtol=1e-10, every=1e-3)
    theta, t = swing["q.theta"], swing.t
    falls = np.flatnonzero((theta[:-1] > 0) & (theta[1:] <= 0))[:2]
    period = np.diff(t[falls] + theta[falls] / (theta[falls] - theta[falls + 1]) * 1e-3)
    print(f"l = {length}: period {period[0] if len(period) else np.nan:.4f} s,",
          f"small angles {2 * np.pi * np.sqrt(length / 9.81):.4f} s")

# %% Keep it: model and table; verbs of the command line work on the files
m.save("pendulum.xml")
result.save("pendulum.csv")
sarrus.plot("pendulum.csv", y=["q.theta", "kinetic,potential"], out="pendulum.svg")
print(sarrus.recommend("pendulum.xml", rtol=1e-6, t_end=2)["recommend"]["method"])

# %% Errors name the file, line and column
m.joints["theta"].type = "revolut"
try:
    m.compile()
except sarrus.Error as error:
    print("refused:", error.messages[0])
