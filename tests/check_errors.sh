#!/usr/bin/env bash
# Errors in a model are reported all at once, whichever stage finds them, and once each: what follows from another error is not reported.
# Hints for what other programs call otherwise, and for what is no XML.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0

# errors NAME LINE:COLUMN WORDS ...: `sarrus check` reports these errors of the model on standard input, and no others.
errors() {
  local name=$1 count=0
  shift
  cat > model.xml
  "$sarrus" check model.xml > out 2> log
  [ $? -eq 2 ] || { echo "FAILED errors: $name: status is not 2" && bad=1; }
  while [ $# -gt 0 ]; do
    grep -F "model.xml:$1: error: " log | grep -qF -- "$2" || { echo "FAILED errors: $name: no error at $1: $2" && bad=1; }
    count=$((count + 1))
    shift 2
  done
  [ "$(grep -c 'error: ' log)" -eq $count ] || { echo "FAILED errors: $name: $count errors expected" && bad=1; }
  [ $bad -eq 0 ] || sed 's/^/    /' log
}

errors "reader, tree, values, names and formulas together" 3:34 "unknown type 'revolut' of <joint>; did you mean 'revolute'?" \
  3:43 "unknown attribute 'axes'" 6:29 "unknown body 'uper'; did you mean 'upper'?" 7:49 "unknown name 'l'" 10:18 "unknown joint 'elbo'" 10:37 "expected" \
  11:31 "unknown name 'k'" 12:26 "unknown joint 'nix'" << 'END'
<sarrus version="1" name="a">
  <body name="upper">
    <joint name="shoulder" type="revolut" axes="0 1 0" limits="-1 1"/>
    <inertial mass="1"/>
  </body>
  <body name="fore" parent="uper">
    <joint name="elbow" type="revolute" at="0 0 l"/>
    <inertial mass="1"/>
  </body>
  <driver joint="elbo" motion="sin(t"/>
  <torque joint="elbow" law="-k*q(shoulder)"/>
  <sensor name="s" expr="q(nix)"/>
</sarrus>
END

errors "what the contacts of a model lack" 9:3 "the law 'exact' needs 'K'" 9:3 "needs 'bristle-K'" 9:29 "the law 'exact' needs 'K', or 'E'" 9:29 "needs 'bristle-K'" \
  10:3 "needs 'D', its damping" << 'END'
<sarrus version="1" name="a">
  <material name="m" restitution="0.5" mu-s="0.35" mu-k="0.3"/>
  <ground><shape name="floor" type="plane" material="m"/></ground>
  <body name="rod"><joint name="f" type="free" q="0 0 1 1 0 0 0"/><inertial mass="1" inertia="0.1 0.1 0.1"/>
    <shape name="c" type="capsule" size="0.05 0.15" material="m"/></body>
  <body name="bob"><joint name="z" type="prismatic" axis="0 0 1" q="2"/><inertial mass="1"/>
    <shape name="b" type="sphere" size="0.06" material="m"/>
  </body>
  <contact a="c" b="floor"/><contact a="b" b="floor"/>
  <contact a="c" b="b" normal="kelvin-voigt" K="1e6" friction="none"/>
</sarrus>
END

errors "no error follows from another one" 2:32 "unknown name 'm'" 3:51 "unknown element <bodi>" 7:63 "unknown point 'b/topp'" 9:52 "unknown attribute 'exp'" \
  13:29 "unknown type 'linear'" << 'END'
<sarrus version="1" name="a">
  <parameter name="a" value="2*m"/><parameter name="mass" value="3*a"/>
  <body name="b"><joint name="j" type="revolute"/><bodi name="c"/>
    <inertial mass="mass"/>
    <point name="tip" at="0 0 a"/>
  </body>
  <sensor name="tip" point="b/tip"/><sensor name="top" point="b/topp"/>
  <sensor name="height" expr="sensor(tip, z) + sensor(top, z)"/>
  <torque joint="j" law="-a*q(j) - lag"/>  <sensor exp="t" name="lag"/>
  <torque joint="c" law="q(c) + sensor(height)"/>
  <link a="b/tip" b="c" law="-a*z"/>
  <friction joint="j" F="2*a"/>
  <motion name="gait" type="linear" points="0 0 1 1"/>
  <driver joint="j" motion="gait(t)"/>
</sarrus>
END

errors "a circle of parents does not hide the rest" 2:26 "circle" 3:26 "circle" 4:26 "unknown joint 'd'" << 'END'
<sarrus version="1" name="a">
  <body name="a" parent="b"><inertial mass="1"/></body>
  <body name="b" parent="a"><inertial mass="1"/></body>
  <sensor name="s" expr="q(d)"/>
</sarrus>
END

errors "a file that cannot be included is one error" 2:18 "missing.xml" 3:32 "expected" << 'END'
<sarrus version="1" name="a">
  <include file="missing.xml"/>
  <torque joint="j" law="-k*q(j"/><sensor name="s" point="arm/tip"/>
</sarrus>
END

errors "units behind numbers, and too many values" 2:56 "the unit 'deg' is a factor: write 30*deg" 2:68 "write 12*mm" 3:53 "'q' of <joint> takes 1 value, got 2" << 'END'
<sarrus version="1" name="a">
  <body name="b"><joint name="j" type="revolute" q="30 deg" at="12 mm 0 0"/><inertial mass="1"/></body>
  <body name="c"><joint name="k" type="revolute" q="30 1"/><inertial mass="1"/></body>
</sarrus>
END

errors "raw < in formulas" 3:34 "'<' inside an attribute is written &lt; in XML" 4:34 "'<' inside an attribute is written &lt;" 5:18 "unknown joint 'k'" << 'END'
<sarrus version="1" name="a">
  <body name="b"><joint name="j" type="revolute"/><inertial mass="1"/></body>
  <torque joint="j" law="if(q(j) < 0, 1, 0)"/>
  <torque joint="j" law="if(v(j) <0, 1, 0)"/>
  <torque joint="k" law="1"/>
</sarrus>
END
errors "raw &" 2:29 "'&' inside an attribute is written &amp; in XML" << 'END'
<sarrus version="1" name="a">
  <torque joint="j" law="1 & 2"/>
</sarrus>
END

errors "XML that ends too early" 2:29 "expected a number, a name" 3:29 "unknown attribute 'masse'" 5:3 "mismatched tag" << 'END'
<sarrus version="1" name="a">
  <torque joint="j" law="1 +"/>
  <body name="b"> <inertial masse="1"/>
  <torque joint="j" law="1"/>
</sarrus>
END

# What others call otherwise. An element that is there by now needs no hint.
for word in spring damper spring-damper motor actuator gear geom mass gravity world limit; do
  grep -q "^### .*<$word>" "$OLDPWD/docs/using/format.md" && continue
  echo "<sarrus version='1'><body name='b'><inertial mass='1'/></body><$word name='x'/></sarrus>" > model.xml
  "$sarrus" check model.xml > out 2> log
  grep -q "unknown element <$word>; .*<[a-z]*" log && ! grep -q "did you mean" log || { echo "FAILED errors: <$word>: $(cat log)" && bad=1; }
done

[ $bad -eq 0 ] && echo "ok errors: all at once, each of them once"
exit $bad
