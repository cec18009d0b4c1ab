// A team of threads that do one job together, phase by phase. Made once; a job costs no thread and no memory.
#ifndef SR_BASE_TEAM_H
#define SR_BASE_TEAM_H

typedef struct srTeam srTeam;
typedef void (*srTeamJob)(void* user, srTeam* team, int member, int members);

// At least the caller alone, where there are no threads or they cannot be had. NULL: out of memory.
srTeam* sr_team_create(int members);
void sr_team_destroy(srTeam* team);
int sr_team_members(const srTeam* team);
// All members run the job, the caller as member 0; returns when all are done.
void sr_team_run(srTeam* team, srTeamJob job, void* user);
// A loop over 0 .. n-1, of which each member takes a range; they are the same for the same n, and begin at multiples of four. The caller's alone where team is NULL or n is small. member: less
// than SR_TEAM_MOST.
enum { SR_TEAM_MOST = 64 };
typedef void (*srTeamLoop)(void* user, int member, int from, int to);
void sr_team_loop(srTeam* team, int n, srTeamLoop loop, void* user);
int sr_team_hands(const srTeam* team, int n);  // members that take a range of such a loop
// Inside a job: waits until all members have come here. What they wrote before is seen by all afterwards.
void sr_team_meet(srTeam* team);

#endif
