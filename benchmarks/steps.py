"""Steps a second from Python: rk4 at 1 ms on one arm, as an MJCF file; beside MuJoCo's Python where it is installed (bench-steps has the
loops in C). Steps per second of processor time and by the clock, each the best of some windows.

    python3 benchmarks/steps.py [--quick] [--csv FILE] ARM.xml
"""
import argparse
import pathlib
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bindings" / "python"))
import sarrus  # noqa: E402

H = 1e-3
GOAL = 100_000  # steps a second, one call for each


def rate(steps, windows, n):
    processor = clock = 0.0
    for _ in range(windows):
        before = time.process_time(), time.perf_counter()
        steps(n)
        after = time.process_time(), time.perf_counter()
        processor, clock = max(processor, n / (after[0] - before[0])), max(clock, n / (after[1] - before[1]))
    return processor, clock


def sarrus_loops(path):
    model = sarrus.load(path).compile()
    data = model.data()
    tau = data.tau

    def many(n):
        model.step(data, H, n)

    def one(n):
        for _ in range(n):
            model.step(data, H)

    def forced(n):
        for i in range(n):
            tau[0] = 0.01 * (i & 1)
            model.step(data, H)

    def environment(held):  # an action holds for so many steps
        env = sarrus.Environment(path, observe=["q.*", "v.*"], h=H, n=held)
        env.reset(seed=0)
        action = env.action * 0

        def loop(n):
            for i in range(n // held):
                action[0] = 0.01 * (i & 1)
                env.step(action)

        return loop

    return [("model.step of many", many), ("model.step of one", one), ("model.step of one with a new force", forced),
            ("Environment.step of one", environment(1)), ("Environment.step of ten", environment(10))]


def mujoco_loops(path):
    try:
        import mujoco
    except ImportError:
        return []
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = H, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)

    def one(n):
        for _ in range(n):
            mujoco.mj_step(model, data)

    return [("mj_step", one)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("arm")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--csv", help="append the rows to this table")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    windows, n = (3, 300) if given.quick else (40, 2500)
    rows = [(engine, "Python: " + loop, *rate(steps, windows, n))
            for engine, loops in (("sarrus", sarrus_loops(given.arm)), ("mujoco", mujoco_loops(given.arm))) for loop, steps in loops]
    for engine, loop, processor, clock in rows:
        print(f"{engine:10} {loop:44} {processor:12.0f} {clock:12.0f}")
    if given.csv:
        with open(given.csv, "a", encoding="utf-8") as out:
            out.writelines(f"{engine},{loop},{processor:.0f},{clock:.0f}\n" for engine, loop, processor, clock in rows)
    one = next(processor for engine, loop, processor, _ in rows if engine == "sarrus" and loop.endswith("model.step of one"))
    if not given.quick and one < GOAL:
        sys.exit(f"{one:.0f} steps a second of processor time; the aim is {GOAL}")


if __name__ == "__main__":
    main()
