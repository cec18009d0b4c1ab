// Team of threads with one meeting point. A member that arrives first spins for a while (a phase takes
// microseconds), then sleeps; with more members than processors it sleeps at once.
#define _POSIX_C_SOURCE 200809L
#include "base/team.h"

#include "base/base.h"

#if defined(__STDC_NO_ATOMICS__) || defined(_WIN32) || defined(SARRUS_NO_THREADS) ||                                   \
    (defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__))

struct srTeam {
  int members;
};

srTeam* sr_team_create(int members) {
  (void)members;
  srTeam* team = sr_alloc(sizeof *team);
  if (team) team->members = 1;
  return team;
}

void sr_team_destroy(srTeam* team) { sr_free(team); }
int sr_team_members(const srTeam* team) { return team->members; }
void sr_team_run(srTeam* team, srTeamJob job, void* user) { job(user, team, 0, 1); }
void sr_team_meet(srTeam* team) { (void)team; }

#else

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

// Looks at the meeting point before a member sleeps. They take about 0.1 ms, as long as what one member does alone between two jobs: to sleep and to wake can take
// longer than that.
#define LOOKS 200000

typedef struct Member {
  srTeam* team;
  int number;
  pthread_t thread;
} Member;

struct srTeam {
  int members, looks;
  srTeamJob job;  // NULL: go home
  void* user;
  atomic_int arrived;
  atomic_uint round;  // of meetings
  pthread_mutex_t mutex;
  pthread_cond_t turn;
  Member* member;
};

void sr_team_meet(srTeam* team) {
  if (team->members == 1) return;
  const unsigned round = atomic_load(&team->round);
  if (atomic_fetch_add(&team->arrived, 1) + 1 == team->members) {
    atomic_store(&team->arrived, 0);
    pthread_mutex_lock(&team->mutex);  // so that no wake-up is lost between check and sleep
    atomic_store(&team->round, round + 1);
    pthread_cond_broadcast(&team->turn);
    pthread_mutex_unlock(&team->mutex);
    return;
  }
  for (int i = 0; i < team->looks; ++i) {
    if (atomic_load(&team->round) != round) return;
  }
  pthread_mutex_lock(&team->mutex);
  while (atomic_load(&team->round) == round) pthread_cond_wait(&team->turn, &team->mutex);
  pthread_mutex_unlock(&team->mutex);
}

static void* work(void* argument) {
  const Member* me = argument;
  for (;;) {
    sr_team_meet(me->team);  // a job has come
    if (!me->team->job) return NULL;
    me->team->job(me->team->user, me->team, me->number, me->team->members);
    sr_team_meet(me->team);  // it is done
  }
}

void sr_team_run(srTeam* team, srTeamJob job, void* user) {
  team->job = job;
  team->user = user;
  sr_team_meet(team);
  if (!job) return;
  job(user, team, 0, team->members);
  sr_team_meet(team);
}

static void send_home(srTeam* team) {
  sr_team_run(team, NULL, NULL);
  for (int i = 1; i < team->members; ++i) (void)pthread_join(team->member[i].thread, NULL);
}

static void hire(srTeam* team, int members) {
  int hired = 1;
  team->members = members;  // known before the first of them comes to the meeting point
  for (; hired < members; ++hired) {
    team->member[hired] = (Member){.team = team, .number = hired};
    if (pthread_create(&team->member[hired].thread, NULL, work, &team->member[hired]) != 0) break;
  }
  if (hired == members) return;
  // Fewer than requested: those present cannot leave a meeting of `members`, so the caller takes the place of the rest.
  team->job = NULL;
  for (int i = hired; i < members; ++i) atomic_fetch_add(&team->arrived, 1);
  sr_team_meet(team);
  for (int i = 1; i < hired; ++i) (void)pthread_join(team->member[i].thread, NULL);
  team->members = 1;
}

srTeam* sr_team_create(int members) {
  srTeam* team = sr_alloc(sizeof *team);
  Member* member = sr_alloc((size_t)members * sizeof *member);
  if (!team || !member) {
    sr_free(team);
    sr_free(member);
    return NULL;
  }
  team->members = 1;
  team->member = member;
  team->looks = members <= sysconf(_SC_NPROCESSORS_ONLN) ? LOOKS : 0;
  atomic_init(&team->arrived, 0);
  atomic_init(&team->round, 0);
  pthread_mutex_init(&team->mutex, NULL);
  pthread_cond_init(&team->turn, NULL);
  if (members > 1) hire(team, members);
  return team;
}

void sr_team_destroy(srTeam* team) {
  if (!team) return;
  if (team->members > 1) send_home(team);
  pthread_cond_destroy(&team->turn);
  pthread_mutex_destroy(&team->mutex);
  sr_free(team->member);
  sr_free(team);
}

int sr_team_members(const srTeam* team) { return team->members; }

#endif

// ---- loops --------------------------------------------------------------------------------------------------------------

#define WORTH 400  // entries of a loop that is shared: two meetings cost about as much as a hundred entries

typedef struct Loop {
  srTeamLoop loop;
  void* user;
  int n;
} Loop;

int sr_team_hands(const srTeam* team, int n) {
  const int members = team != NULL && n >= WORTH ? sr_team_members(team) : 1;
  return members < SR_TEAM_MOST ? members : SR_TEAM_MOST;
}

static void take_range(void* user, srTeam* team, int member, int members) {
  const Loop* of = user;
  const int hands = sr_team_hands(team, of->n), quarter = (of->n + 3) / 4;
  (void)members;
  if (member >= hands) return;
  const int from = 4 * (int)((long)quarter * member / hands), end = 4 * (int)((long)quarter * (member + 1) / hands);
  of->loop(of->user, member, from, end < of->n ? end : of->n);
}

void sr_team_loop(srTeam* team, int n, srTeamLoop loop, void* user) {
  Loop of = {loop, user, n};
  if (sr_team_hands(team, n) > 1) {
    sr_team_run(team, take_range, &of);
  } else {
    loop(user, 0, 0, n);
  }
}
