# Which folder of src may use which: allowed[user, used]. For includes (check_include_order.sh) and for references of the linker
# (check_link_order.sh).
BEGIN {
  n = split("base math collide expr law model dynamics force constraint contact record plugin catalog system analysis simulate advise report network symbolic generated batch", line, " ")
  for (i = 1; i <= n; i++) for (j = 1; j <= i; j++) allowed[line[i], line[j]] = 1
  allowed["system", "integrate"] = allowed["analysis", "integrate"] = allowed["simulate", "integrate"] = allowed["advise", "integrate"] = allowed["report", "integrate"] = allowed["network", "integrate"] = allowed["symbolic", "integrate"] = allowed["generated", "integrate"] = allowed["batch", "integrate"] = 1
  split("base math integrate", few, " ");     for (i in few) allowed["integrate", few[i]] = 1
  split("base math nonsmooth", few, " ");     for (i in few) allowed["nonsmooth", few[i]] = 1
  split("integrate system analysis simulate advise report network io access", few, " "); for (i in few) allowed[few[i], "nonsmooth"] = 1
  split("base plot", few, " ");               for (i in few) allowed["plot", few[i]] = 1
  split("base math collide expr law model io", few, " "); for (i in few) allowed["io", few[i]] = 1
  split("base math integrate sundials", few, " "); for (i in few) allowed["sundials", few[i]] = 1
  split("base math suitesparse", few, " "); for (i in few) allowed["suitesparse", few[i]] = 1
  split("io netfile", few, " "); for (i in few) allowed["netfile", few[i]] = 1
  for (i = 1; i <= n; i++) allowed["netfile", line[i]] = 1
  for (i = 1; i <= n; i++) if (line[i] !~ /^(network|symbolic|generated|batch)$/) allowed["page", line[i]] = 1
  allowed["page", "page"] = allowed["page", "integrate"] = 1
  for (i = 1; i <= n; i++) if (allowed["page", line[i]]) allowed["live", line[i]] = 1
  allowed["live", "page"] = allowed["live", "io"] = allowed["live", "live"] = allowed["live", "integrate"] = 1
  split("base math collide expr law model dynamics constraint record system analysis simulate advise report network netfile integrate io plot page access", few, " "); for (i in few) allowed["access", few[i]] = 1
}
