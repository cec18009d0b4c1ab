// Team of threads. A job is cut into parts; whoever is free takes the next one, the caller first: it never waits for a member that has not come yet, because it sleeps, or because other programs have its
// processor, but for parts that somebody works on alone. Who has nothing to do looks for work for a while (between two jobs there are microseconds), then sleeps; with more members than
// processors at once.
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
void sr_team_meet(srTeam* team) { (void)team; }
static void run_parts(srTeam* team, int parts, srTeamJob job, void* user) {
  (void)parts;
  job(user, team, 0, 1);
}

#else

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

// How often a member looks for work before it sleeps: for about 0.1 ms, as long as the caller works alone between two jobs. To wake a member costs the caller some microseconds.
#define LOOKS 200000
#define MOST 0x7fff  // members
#define LINE 128     // bytes: two cache lines, which processors fetch together

typedef struct Member {
  srTeam* team;
  pthread_t thread;
} Member;

struct srTeam {
  int members, looks;
  pthread_mutex_t mutex;
  pthread_cond_t turn;  // something has changed that somebody who sleeps waits for
  Member* member;
  atomic_int asleep;  // is somebody, who has not been woken since?
  char apart[LINE];
  atomic_uint_least64_t open;  // number of the job, its parts and the next one of these: 32, 16 and 16 bits
  srTeamJob job;               // in the same cache line: a member that has taken a part reads it next
  void* user;
  uint64_t jobs;
  char apart_too[LINE];
  atomic_uint done;  // parts of all jobs by others than the caller
  char apart_again[LINE];
  unsigned others;  // what it is when all are done
  atomic_int arrived;
  atomic_uint round;  // of meetings
};

#define HOME UINT64_MAX  // in place of a job: go home

static uint64_t parts_of(uint64_t open) { return open >> 16 & 0xffff; }
static uint64_t next_of(uint64_t open) { return open & 0xffff; }

// ---- sleep --------------------------------------------------------------------------------------------------------------

static bool has_work(srTeam* team, unsigned nothing) {
  const uint64_t open = atomic_load(&team->open);
  (void)nothing;
  return open == HOME || next_of(open) < parts_of(open);
}
static bool is_done(srTeam* team, unsigned others) { return atomic_load(&team->done) == others; }
static bool has_met(srTeam* team, unsigned round) { return atomic_load(&team->round) != round; }

static bool looks(srTeam* team, bool (*is_so)(srTeam*, unsigned), unsigned what) {
  for (int i = 0; i <= team->looks; ++i) {
    if (is_so(team, what)) return true;
  }
  return false;
}

// Until it is so. Who makes it so does that first, then looks whether somebody sleeps; who sleeps says so first, then looks whether it is so: no wake-up is lost. Who has been woken looks for a while
// again: what it was woken for may have been done by others meanwhile, and more follows.
static void wait_until(srTeam* team, bool (*is_so)(srTeam*, unsigned), unsigned what) {
  while (!looks(team, is_so, what)) {
    pthread_mutex_lock(&team->mutex);
    atomic_store(&team->asleep, 1);
    if (!is_so(team, what)) pthread_cond_wait(&team->turn, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
  }
}

static void wake(srTeam* team) {
  if (atomic_load(&team->asleep) == 0 || atomic_exchange(&team->asleep, 0) == 0) return;
  pthread_mutex_lock(&team->mutex);
  pthread_cond_broadcast(&team->turn);
  pthread_mutex_unlock(&team->mutex);
}

// ---- jobs ---------------------------------------------------------------------------------------------------------------

// The next part, -1: none is left. The job is not read before: until its parts are done there is no other one.
static int take_part(srTeam* team, int* parts) {
  uint64_t open = atomic_load(&team->open);
  while (open != HOME && next_of(open) < parts_of(open)) {
    if (!atomic_compare_exchange_weak(&team->open, &open, open + 1)) continue;
    *parts = (int)parts_of(open);
    return (int)next_of(open);
  }
  return -1;
}

// Returns how many.
static unsigned do_parts(srTeam* team) {
  unsigned count = 0;
  int parts;
  for (int part = take_part(team, &parts); part >= 0; part = take_part(team, &parts), ++count)
    team->job(team->user, team, part, parts);
  return count;
}

static void* work(void* argument) {
  srTeam* team = ((const Member*)argument)->team;
  while (atomic_load(&team->open) != HOME) {
    const unsigned count = do_parts(team);
    if (count > 0) {
      atomic_fetch_add(&team->done, count);
      wake(team);
    }
    wait_until(team, has_work, 0);
  }
  return NULL;
}

// The first part is the caller's.
static void run_parts(srTeam* team, int parts, srTeamJob job, void* user) {
  if (parts == 1) {
    job(user, team, 0, 1);
    return;
  }
  team->job = job;
  team->user = user;
  atomic_store(&team->open, ++team->jobs << 32 | (uint64_t)parts << 16 | 1);
  wake(team);
  job(user, team, 0, parts);
  team->others += (unsigned)parts - 1;
  if (is_done(team, team->others)) return;
  team->others -= do_parts(team);
  wait_until(team, is_done, team->others);
}

void sr_team_meet(srTeam* team) {
  if (team->members == 1) return;
  const unsigned round = atomic_load(&team->round);
  if (atomic_fetch_add(&team->arrived, 1) + 1 < team->members) {
    wait_until(team, has_met, round);
    return;
  }
  atomic_store(&team->arrived, 0);
  atomic_store(&team->round, round + 1);
  wake(team);
}

// ---- life ---------------------------------------------------------------------------------------------------------------

// As many as there can be had.
static void hire(srTeam* team, int members) {
  while (team->members < members) {
    Member* next = &team->member[team->members];
    next->team = team;
    if (pthread_create(&next->thread, NULL, work, next) != 0) return;
    ++team->members;
  }
}

srTeam* sr_team_create(int members) {
  const int most = members < MOST ? members : MOST;
  srTeam* team = sr_alloc(sizeof *team);
  Member* member = sr_alloc((size_t)most * sizeof *member);
  if (!team || !member) {
    sr_free(team);
    sr_free(member);
    return NULL;
  }
  team->members = 1;
  team->member = member;
  team->looks = members <= sysconf(_SC_NPROCESSORS_ONLN) ? LOOKS : 0;
  atomic_init(&team->asleep, 0);
  atomic_init(&team->open, 0);
  atomic_init(&team->done, 0);
  atomic_init(&team->arrived, 0);
  atomic_init(&team->round, 0);
  pthread_mutex_init(&team->mutex, NULL);
  pthread_cond_init(&team->turn, NULL);
  hire(team, most);
  return team;
}

void sr_team_destroy(srTeam* team) {
  if (!team) return;
  atomic_store(&team->open, HOME);
  wake(team);
  for (int i = 1; i < team->members; ++i) (void)pthread_join(team->member[i].thread, NULL);
  pthread_cond_destroy(&team->turn);
  pthread_mutex_destroy(&team->mutex);
  sr_free(team->member);
  sr_free(team);
}

int sr_team_members(const srTeam* team) { return team->members; }

#endif

// ---- loops --------------------------------------------------------------------------------------------------------------

#define WORTH 200  // entries of a part at the least: to share a loop costs as much as some tens of them

typedef struct Loop {
  srTeamLoop loop;
  void* user;
  int n;
} Loop;

static int hands(const srTeam* team, int n, int least) {
  const int members = team != NULL && n >= 2 * least ? sr_team_members(team) : 1;
  return members < SR_TEAM_MOST ? members : SR_TEAM_MOST;
}

int sr_team_hands(const srTeam* team, int n) { return hands(team, n, WORTH); }

static void take_pieces(void* user, srTeam* team, int part, int parts) {
  const Loop* of = user;
  (void)team;
  of->loop(of->user, part, (int)((long)of->n * part / parts), (int)((long)of->n * (part + 1) / parts));
}

static void take_range(void* user, srTeam* team, int part, int parts) {
  const Loop* of = user;
  const int quarter = (of->n + 3) / 4, end = 4 * (int)((long)quarter * (part + 1) / parts);
  (void)team;
  of->loop(of->user, part, 4 * (int)((long)quarter * part / parts), end < of->n ? end : of->n);
}

static void share(srTeam* team, int parts, srTeamJob job, Loop* of) {
  if (parts > 1) {
    run_parts(team, parts, job, of);
  } else {
    of->loop(of->user, 0, 0, of->n);
  }
}

void sr_team_share(srTeam* team, int n, int least, srTeamLoop loop, void* user) {
  share(team, hands(team, n, least), take_range, &(Loop){loop, user, n});
}

void sr_team_pieces(srTeam* team, int n, srTeamLoop loop, void* user) {
  const int parts = hands(team, n, 1);
  share(team, parts < n ? parts : n, take_pieces, &(Loop){loop, user, n});
}

void sr_team_loop(srTeam* team, int n, srTeamLoop loop, void* user) { sr_team_share(team, n, WORTH, loop, user); }

void sr_team_run(srTeam* team, srTeamJob job, void* user) { run_parts(team, sr_team_members(team), job, user); }
