// Identifies the database that answers. A copy of a database has the same rows, so a copy can only be detected from
// outside.

import { stat } from 'node:fs/promises'
import { CompiledQuery, type Kysely } from 'kysely'
import { dialectNameOf } from './dialects.ts'

export interface ServerIdentity {
  /**
   * Changes when other data may be behind the same address: another file, another cluster, a promoted standby, or a new
   * database.
   */
  history: string
  /** Also changes when the server was restarted. */
  run: string
  /**
   * How far, at least, the clock of this process is ahead of the server's; negative when it is behind. Null when there
   * is no second clock, or the answer took too long.
   */
  clockAheadMs: number | null
}

export async function serverIdentity(db: Kysely<unknown>, url: string): Promise<ServerIdentity> {
  if (dialectNameOf(url) === 'postgres')
    return postgresIdentity(async (sql) => (await db.executeQuery(CompiledQuery.raw(sql))).rows[0])
  const { dev, ino } = await stat(sqlitePath(url))
  return { history: `sqlite ${dev}:${ino}`, run: '', clockAheadMs: null }
}

export function sqlitePath(url: string): string {
  return url.slice('sqlite:'.length)
}

/** Returns the first row. */
type Ask = (sql: string) => Promise<unknown>

const RUN = `select cast(pg_postmaster_start_time() as text) as run,
  cast(extract(epoch from clock_timestamp()) * 1000 as double precision) as time`

/** The timeline is that of the log being written: the control file names the new one only after a checkpoint. */
const HISTORY = `select 'postgres ' || system_identifier || ' ' || case when pg_is_in_recovery()
  then 'standby' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end || ' ' ||
  (select oid from pg_database where datname = current_database()) as history
  from pg_control_system()`

/** Some hosted servers do not let every role read the history: then every restart counts as a new history. */
export async function postgresIdentity(ask: Ask): Promise<ServerIdentity> {
  const askedAt = Date.now()
  const { run, time } = (await ask(RUN)) as { run: string; time: number }
  const clockAheadMs = aheadOf(time, askedAt, Date.now())
  const found = (await ask(HISTORY).catch(() => null)) as { history: string } | null
  return { history: found?.history ?? `postgres ${run}`, run, clockAheadMs }
}

const MAX_ROUND_TRIP_MS = 2000

/** The server read its clock at some moment between the question and the answer. */
function aheadOf(serverTime: number, askedAt: number, answeredAt: number): number | null {
  const roundTrip = answeredAt - askedAt
  // A clock that jumps meanwhile makes this negative or too long.
  if (roundTrip < 0 || roundTrip > MAX_ROUND_TRIP_MS) return null
  return Math.max(askedAt - serverTime, 0) + Math.min(answeredAt - serverTime, 0)
}
