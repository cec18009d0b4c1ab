// Teams of threads: every part of a job is done once, whoever takes it, and nobody passes a meeting before all have come.
#include "base/team.h"

#include "runner.h"

enum { LOOPS = 3000, ENTRIES = 1003, LEAST = 4, MEETINGS = 50, MEMBERS = 5 };

typedef struct Counts {
  int done[ENTRIES], parts[SR_TEAM_MOST];
} Counts;

static void count(void* user, int part, int from, int to) {
  Counts* of = user;
  for (int i = from; i < to; i++) of->done[i]++;
  of->parts[part]++;
}

// Loops follow each other without a pause, so that members come late to many of them; more members than processors sleep in between.
TEST(every_entry_of_a_loop_is_taken_once) {
  for (int members = 1; members <= MEMBERS; members++) {
    srTeam* team = sr_team_create(members);
    Counts of = {0};
    ENSURE_EQUAL(sr_team_members(team), members);
    for (int k = 0; k < LOOPS; k++) sr_team_share(team, ENTRIES - k % 3, LEAST, count, &of);
    for (int i = 0; i < ENTRIES - 2; i++) ENSURE_EQUAL(of.done[i], LOOPS);
    for (int i = 0; i < members; i++) ENSURE_EQUAL(of.parts[i], LOOPS);
    ENSURE_EQUAL(of.parts[members], 0);
    sr_team_destroy(team);
  }
}

// Below twice `least` entries the caller does all of it; ranges begin at multiples of four.
static void check_ranges(void* user, int part, int from, int to) {
  int* of = user;
  of[2 * part] = from;
  of[2 * part + 1] = to;
}

TEST(ranges_of_a_loop_follow_each_other) {
  srTeam* team = sr_team_create(3);
  int of[2 * SR_TEAM_MOST];
  sr_team_share(team, 21, 11, check_ranges, of);
  ENSURE_EQUAL(of[0], 0);
  ENSURE_EQUAL(of[1], 21);
  sr_team_share(team, 22, 11, check_ranges, of);
  ENSURE_EQUAL(of[0], 0);
  ENSURE_EQUAL(of[5], 22);
  for (int part = 1; part < 3; part++) {
    ENSURE_EQUAL(of[2 * part], of[2 * part - 1]);
    ENSURE_EQUAL(of[2 * part] % 4, 0);
    ENSURE(of[2 * part] < of[2 * part + 1]);
  }
  sr_team_destroy(team);
}

// Few pieces of much work: as many parts as there are members, or pieces.
TEST(pieces_of_a_loop_follow_each_other) {
  srTeam* team = sr_team_create(3);
  static const int end[][3] = {{1, 2, 2}, {1, 2, 3}, {1, 2, 4}, {1, 3, 5}};  // of 2, 3, 4, 5 pieces
  for (int n = 1; n <= 5; n++) {
    int of[2 * SR_TEAM_MOST] = {0};
    sr_team_pieces(team, n, check_ranges, of);
    ENSURE_EQUAL(of[0], 0);
    if (n == 1) ENSURE_EQUAL(of[1], 1);
    for (int part = 0; part < 3 && part < n && n > 1; part++) {
      ENSURE_EQUAL(of[2 * part + 1], end[n - 2][part]);
      if (part > 0) ENSURE_EQUAL(of[2 * part], of[2 * part - 1]);
    }
  }
  sr_team_destroy(team);
}

typedef struct Meetings {
  int at[MEMBERS], behind;
} Meetings;

// Every part writes its own number, and reads those of the others behind the meeting.
static void meet(void* user, srTeam* team, int part, int parts) {
  Meetings* of = user;
  for (int k = 1; k <= MEETINGS; k++) {
    of->at[part] += 1;
    sr_team_meet(team);
    bool all = true;
    for (int i = 0; i < parts; i++) all = all && of->at[i] % MEETINGS == k % MEETINGS;
    sr_team_meet(team);
    if (!all && part == 0) of->behind++;
  }
}

TEST(nobody_passes_a_meeting_before_all_have_come) {
  for (int members = 1; members <= MEMBERS; members++) {
    srTeam* team = sr_team_create(members);
    Meetings of = {0};
    for (int k = 0; k < 5; k++) sr_team_run(team, meet, &of);
    ENSURE_EQUAL(of.behind, 0);
    for (int i = 0; i < members; i++) ENSURE_EQUAL(of.at[i], 5 * MEETINGS);
    sr_team_destroy(team);
  }
}
