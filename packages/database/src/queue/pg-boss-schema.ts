// Additions to pg-boss's schema. Several processes may apply them at once.

import type { PgBoss } from 'pg-boss'

const ADVISORY_LOCK = 7_291_046_388

/** Finds a waiting job by its key without scanning all waiting jobs. */
export async function addKeyIndex(boss: PgBoss): Promise<void> {
  await underLock(
    boss,
    `create index if not exists svc_waiting_key on pgboss.job_common (name, singleton_key) where state < 'active';`,
  )
}

/**
 * pg-boss reads the server's clock through one SQL function. With an injected clock, that function returns the last
 * stored time; the result of this call is the function that stores it.
 */
export async function injectTime(boss: PgBoss, now: () => number): Promise<() => Promise<void>> {
  if (now === Date.now) return async () => {}
  await underLock(
    boss,
    `create table if not exists pgboss.injected_time (id integer primary key, now timestamptz not null);
    create or replace function pgboss.job_now() returns timestamptz language sql stable as
      'select coalesce((select now from pgboss.injected_time), pg_catalog.now())';`,
  )
  const store = `insert into pgboss.injected_time (id, now) values (1, to_timestamp($1))
    on conflict (id) do update set now = excluded.now`
  return async () => void (await boss.getDb().executeSql(store, [now() / 1000]))
}

async function underLock(boss: PgBoss, statements: string): Promise<void> {
  await boss.getDb().executeSql(`begin; select pg_advisory_xact_lock(${ADVISORY_LOCK}); ${statements} commit;`)
}
