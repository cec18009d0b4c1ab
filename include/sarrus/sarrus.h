// Sarrus: the whole public interface.
#ifndef SARRUS_SARRUS_H
#define SARRUS_SARRUS_H

#include <sarrus/access.h>
#include <sarrus/admittance.h>
#include <sarrus/analysis.h>
#include <sarrus/base.h>
#include <sarrus/batch.h>
#include <sarrus/closure.h>
#include <sarrus/compare.h>
#include <sarrus/constraint.h>
#include <sarrus/dynamics.h>
#include <sarrus/force.h>
#include <sarrus/friction.h>
#include <sarrus/function.h>
#include <sarrus/generate.h>
#include <sarrus/integrate.h>
#include <sarrus/io.h>
#include <sarrus/laws.h>
#include <sarrus/live.h>
#include <sarrus/model.h>
#include <sarrus/modes.h>
#include <sarrus/netfile.h>
#include <sarrus/network.h>
#include <sarrus/nonsmooth.h>
#include <sarrus/normal.h>
#include <sarrus/page.h>
#include <sarrus/plot.h>
#include <sarrus/recommend.h>
#include <sarrus/record.h>
#include <sarrus/report.h>
#include <sarrus/sensor.h>
#include <sarrus/simulate.h>
#include <sarrus/spec.h>
#include <sarrus/sweep.h>
#include <sarrus/system.h>
#include <sarrus/table.h>
#include <sarrus/text.h>

#endif
