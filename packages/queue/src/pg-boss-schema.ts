// What pg-boss's schema needs besides what pg-boss puts there. Several processes may do this at once.

import type { PgBoss } from 'pg-boss'

const LOCK = 7_291_046_388

/** Without it, to find whether a job waits takes longer the more of them wait. */
export async function addKeyIndex(boss: PgBoss): Promise<void> {
  await alone(
    boss,
    `create index if not exists svc_waiting_key on pgboss.job_common (name, singleton_key) where state < 'active';`,
  )
}

/**
 * pg-boss goes by the clock of its server, through one function. Where time is injected, that function answers what it
 * was last told; the answer here is how to tell it.
 */
export async function injectTime(boss: PgBoss, now: () => number): Promise<() => Promise<void>> {
  if (now === Date.now) return async () => {}
  await alone(
    boss,
    `create table if not exists pgboss.injected_time (id integer primary key, now timestamptz not null);
    create or replace function pgboss.job_now() returns timestamptz language sql stable as
      'select coalesce((select now from pgboss.injected_time), pg_catalog.now())';`,
  )
  const tell = `insert into pgboss.injected_time (id, now) values (1, to_timestamp($1))
    on conflict (id) do update set now = excluded.now`
  return async () => void (await boss.getDb().executeSql(tell, [now() / 1000]))
}

async function alone(boss: PgBoss, statements: string): Promise<void> {
  await boss.getDb().executeSql(`begin; select pg_advisory_xact_lock(${LOCK}); ${statements} commit;`)
}
