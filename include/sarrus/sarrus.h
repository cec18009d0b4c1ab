// Sarrus, all of it.
#ifndef SARRUS_SARRUS_H
#define SARRUS_SARRUS_H

#include <sarrus/analysis.h>
#include <sarrus/base.h>
#include <sarrus/constraint.h>
#include <sarrus/dynamics.h>
#include <sarrus/force.h>
#include <sarrus/function.h>
#include <sarrus/integrate.h>
#include <sarrus/io.h>
#include <sarrus/model.h>
#include <sarrus/spec.h>

#endif
