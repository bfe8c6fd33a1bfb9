// A restored or lagging database must not sign a number, take a payment or take a nonce a second time (T-37). What the
// database knows is held against the logbook and the chain at start, and whenever another server answers. While it is
// behind, the gateway only reads.

import { lru } from '@svc/concurrency/caches'
import type { Guard } from '@svc/database/commit'
import type { Database } from '@svc/database/open'
import type { ServerIdentity } from '@svc/database/server-identity'
import { createClockGuard } from '@svc/guard/clock-guard'
import type { NonceTable } from '@svc/guard/tables'
import type { Log } from '@svc/http-service/log'
import { ServiceError } from '@svc/http-service/service-error'
import { MAX_CLOCK_LEAD_SECONDS } from '@svc/protocol/request-envelope'
import type { Schema } from '../db/schema.ts'
import { hasLostNonces, type Missing } from './compare.ts'
import type { Entry, LogGap, NotedStatement } from './entries.ts'
import {
  clocksDiffer,
  databaseBehind,
  databaseUnchecked,
  envelopeBeforeLoss,
  logbooksAwaited,
  logbookUnavailable,
} from './errors.ts'
import { createGaps, type Gaps, type Publications } from './gaps.ts'
import { createNotes } from './notes.ts'
import { createReplica, type Replica } from './replicas/replica.ts'
import type { AwaitedLogbook } from './replicas/store.ts'
import { createRevoking, type Revoking } from './revoking.ts'
import { createUnclear } from './unclear.ts'

export interface ContinuityStatus {
  state: 'current' | 'checking' | 'behind'
  logbook: 'ok' | 'failing' | 'off'
  chain: 'ok' | 'failing' | 'off'
  log: ReturnType<Gaps['log']>
  /** The file of the database was exchanged while this process had it open. */
  isReplaced: boolean
  missing: Missing
  /** Logbooks of other machines that were not compared with this database, or miss something in it. */
  awaited: AwaitedLogbook[]
  clock: { aheadSeconds: number | null; isWrong: boolean }
}

export interface Continuity {
  /** Opens the logbook and begins to compare. Until then nothing is refused: commands note what they do, and no more. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Called for every server that a new connection leads to. */
  serverSeen(server: ServerIdentity): void
  status(): ContinuityStatus
  /** The published log is compared, too, from then on. */
  watchLog(findGap: () => Promise<LogGap | null>): void
  /** For whoever sees that the database may be behind. */
  compareAgain(): void
  /** Throws unless the database is known to be current; waits for a comparison that is under way. */
  requireCurrent(): Promise<void>
  /** The same at once, for use in a transaction: its connection may be the first to another server. */
  assertCurrent(): void
  /** Whether `requireCurrent` passes. */
  isCurrent(): Promise<boolean>
  /** `assertCurrent`, and that the transaction sees the last statement that this process knows of the proof. */
  assertFollows(proofId: string | null, sequence: number): void
  /** Throws where an envelope may have been used on a server that is gone. `iat` in Unix seconds. */
  assertUnused(iat: number): void
  /** Resolves once the database is current. */
  whenCurrent(signal: AbortSignal): Promise<void>
  /** Of the database's commits. */
  guard: Guard<Entry>
  /** Notes what was committed without an answer. Call it before anybody learns of what the database has. */
  noteUnclear(): Promise<void>
  /** Durable when it resolves. Call it before anybody else learns of the statement. */
  noteStatement(statement: Omit<NotedStatement, 'kind'>): Promise<void>
  noteNonce(nonce: NonceTable): void
  /** Whatever ends somebody's access is done by it. */
  revoking: Revoking
}

export interface ContinuityOptions {
  folder: string | null
  database: Database<Schema, Entry>
  /** Null where nothing is published. */
  publications: Publications | null
  /** By how much the clock of this process may differ from that of the database; 0 for any. */
  clockToleranceSeconds: number
  log: Log
  now: () => number
}

const TICK_MS = 5000
const MAX_REMEMBERED = 50_000

export function createContinuity(options: ContinuityOptions): Continuity {
  const { folder, database, publications, log, now } = options
  const { db } = database
  const clock = createClockGuard({ toleranceSeconds: options.clockToleranceSeconds, log, refusal: clocksDiffer })
  const unixNow = () => Math.floor(now() / 1000)
  const noted = lru<string, { sequence: number; digest: string }>(MAX_REMEMBERED)
  const waiting = new Set<() => void>()
  const notes = createNotes({ folder, database, log, now: unixNow })
  const gaps = createGaps({ db, folder, publications, log })
  const unclear = createUnclear({ db, note, now: unixNow })
  let replica: Replica | null = null
  let awaited: AwaitedLogbook[] = []
  let state: 'unstarted' | ContinuityStatus['state'] = 'unstarted'
  let server: ServerIdentity | null = null
  let isReplaced = false
  /** Envelopes issued up to then are refused. */
  let lostUntil = 0
  let generation = 0
  let comparison: Promise<void> | null = null
  let tick: NodeJS.Timeout | undefined

  async function compareOnce(asked: number): Promise<void> {
    const history = server?.history ?? ''
    if ((await gaps.look()) || isReplaced) {
      awaited = []
      setState('behind')
      return replica?.report(null)
    }
    // Without a logbook only the chain can tell.
    if (folder === null && !gaps.isChainRead()) return void setState('checking')
    await notes.catchUp()
    await replica?.report(history)
    awaited = (await replica?.awaited(history)) ?? []
    // Another server may have answered meanwhile: it is compared next.
    if (asked !== generation) return
    setState(awaited.length > 0 ? 'behind' : 'current')
  }

  function compare(): Promise<void> {
    comparison ??= (async () => {
      try {
        for (let seen = -1; seen !== generation; ) {
          seen = generation
          await compareOnce(seen)
        }
      } catch (error) {
        // The database is away, or the logbook cannot be read: the next tick tries again.
        log.warn({ err: error }, 'the database cannot be compared with what was signed')
      } finally {
        comparison = null
      }
    })()
    return comparison
  }

  function setState(next: ContinuityStatus['state']): void {
    if (next !== state && next === 'behind') {
      const { statements, payments, revocations } = gaps.missing()
      log.error(
        {
          statements: statements.length,
          payments: payments.length,
          revocations: revocations.length,
          log: gaps.log(),
          isReplaced,
          awaited: awaited.map(({ host }) => host),
        },
        'the database is behind what this gateway has signed: it only reads, see /health and docs/operations.md',
      )
    }
    if (next === 'current' && state === 'behind') log.info('the database is current again')
    state = next
    if (state !== 'current') return
    for (const resume of waiting) resume()
    waiting.clear()
  }

  async function note(entries: readonly Entry[]): Promise<void> {
    await notes.note(entries)
    for (const entry of entries) if (entry.kind === 'statement') remember(entry)
  }

  function remember({ proofId, sequence, digest }: NotedStatement): void {
    if (sequence > (noted.get(proofId)?.sequence ?? 0)) noted.set(proofId, { sequence, digest })
  }

  async function onTick(): Promise<void> {
    try {
      serverSeen(await database.server())
      await notes.tryAgain()
      await unclear.note()
    } catch {
      // Whatever is away is seen by those who need it.
    }
    if (state !== 'current' || gaps.isChainDue() || (await isOtherAwaited())) await compare()
  }

  async function isOtherAwaited(): Promise<boolean> {
    const found = await replica?.awaited(server?.history ?? '').catch(() => [])
    return found !== undefined && found.length > 0
  }

  function serverSeen(seen: ServerIdentity): void {
    if (state === 'unstarted') return
    clock.compared(seen.clockAheadMs)
    if (seen.history === server?.history && seen.run === server.run) return
    const isOther = server !== null && seen.history !== server.history
    server = seen
    generation++
    gaps.forgetChain()
    if (isOther) {
      lostUntil = unixNow() + MAX_CLOCK_LEAD_SECONDS
      if (database.dialect === 'sqlite') isReplaced = true
      log.warn({ database: seen.history }, 'another database answers: it is compared with what was signed')
      notes.turnTo(seen.history)
    }
    state = 'checking'
    void compare()
  }

  function compareAgain(): void {
    if (state === 'unstarted') return
    generation++
    if (state === 'current') state = 'checking'
    void compare()
  }

  function assertCurrent(): void {
    if (state === 'behind') throw awaited.length > 0 ? logbooksAwaited() : databaseBehind()
    if (state === 'checking') throw databaseUnchecked()
    if (notes.isFailing()) throw logbookUnavailable()
    clock.assertRight()
  }

  async function requireCurrent(): Promise<void> {
    if (state === 'checking') await compare()
    await unclear.note()
    assertCurrent()
  }

  return {
    async start() {
      server = await database.server()
      clock.compared(server.clockAheadMs)
      replica = createReplica(database, await notes.open(server.history))
      if (folder !== null && (await hasLostNonces(db, folder, unixNow()))) {
        lostUntil = unixNow() + MAX_CLOCK_LEAD_SECONDS
        log.warn('the database has lost nonces: envelopes that may have been used are refused')
      }
      state = 'checking'
      void compare()
      tick = setInterval(() => void onTick(), TICK_MS)
      tick.unref()
    },

    async stop() {
      clearInterval(tick)
      await comparison
      // Whoever waits for this logbook waits for the next process that writes to it.
      await replica
        ?.leave()
        .catch((error) => log.warn({ err: error }, 'the database was not told that this process ends'))
      replica = null
      await notes.close()
    },

    serverSeen,

    status: () => ({
      state: state === 'unstarted' ? 'checking' : state,
      logbook: folder === null ? 'off' : notes.isFailing() ? 'failing' : 'ok',
      chain: !publications ? 'off' : !gaps.isChainRead() && !comparison ? 'failing' : 'ok',
      log: gaps.log(),
      isReplaced,
      missing: gaps.missing(),
      awaited,
      clock: { aheadSeconds: clock.aheadSeconds(), isWrong: clock.isWrong() },
    }),

    watchLog(findGap) {
      gaps.watchLog(findGap)
      compareAgain()
    },
    compareAgain,

    requireCurrent,

    async isCurrent() {
      try {
        await requireCurrent()
        return true
      } catch (error) {
        if (error instanceof ServiceError) return false
        throw error
      }
    },

    assertCurrent,

    assertFollows(proofId, sequence) {
      assertCurrent()
      const known = proofId === null ? undefined : noted.get(proofId)
      if (state === 'unstarted' || proofId === null || !known || known.sequence <= sequence) return
      gaps.unseen({ kind: 'statement', proofId, ...known })
      compareAgain()
      throw databaseUnchecked()
    },

    assertUnused(iat) {
      if (iat <= lostUntil) throw envelopeBeforeLoss(Math.max(1, lostUntil - unixNow() + 1))
    },

    async whenCurrent(signal) {
      while (state !== 'current' && state !== 'unstarted') {
        const resumed = Promise.withResolvers<void>()
        waiting.add(resumed.resolve)
        signal.addEventListener('abort', () => resumed.reject(signal.reason), { once: true })
        await resumed.promise
      }
    },

    guard: { requireCurrent, assertCurrent, journal: note, unclear: unclear.add },
    noteUnclear: unclear.note,
    async noteStatement(statement) {
      if (noted.get(statement.proofId)?.digest !== statement.digest) await note([{ kind: 'statement', ...statement }])
    },
    noteNonce: notes.keepNonce,
    revoking: createRevoking(database.commit, unixNow),
  }
}
