// A team of threads that do one job together, phase by phase. Made once; a job costs no thread and no memory.
#ifndef SR_BASE_TEAM_H
#define SR_BASE_TEAM_H

typedef struct srTeam srTeam;
typedef void (*srTeamJob)(void* user, srTeam* team, int part, int parts);

// At least the caller alone, where there are no threads or they cannot be had. NULL: out of memory.
srTeam* sr_team_create(int members);
void sr_team_destroy(srTeam* team);
int sr_team_members(const srTeam* team);
// The job in as many parts as there are members, from 0 on; returns when all are done. Who is free takes the next part: a member that sleeps is not waited for.
void sr_team_run(srTeam* team, srTeamJob job, void* user);
// A loop over 0 .. n-1 in ranges, a part each; they are the same for the same n, and begin at multiples of four. One range by the caller alone where team is NULL or n is small. part: less
// than SR_TEAM_MOST.
enum { SR_TEAM_MOST = 64 };
typedef void (*srTeamLoop)(void* user, int part, int from, int to);
void sr_team_loop(srTeam* team, int n, srTeamLoop loop, void* user);
int sr_team_hands(const srTeam* team, int n);  // ranges of such a loop
// The same where a range is worth the meeting from `least` entries on.
void sr_team_share(srTeam* team, int n, int least, srTeamLoop loop, void* user);
// A loop over few pieces of much work each, in ranges that begin anywhere.
void sr_team_pieces(srTeam* team, int n, srTeamLoop loop, void* user);
// Inside a job of sr_team_run: waits until all parts have come here. What they wrote before is seen by all afterwards.
void sr_team_meet(srTeam* team);

#endif
