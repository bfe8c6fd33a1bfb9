// Keeps a restored or lagging database from reusing a sequence number, a payment or a nonce (T-37). The database is
// compared with the journal and the chain at start, and whenever another server answers. While it is behind, the
// gateway only reads.

import { lru } from '@svc/concurrency/caches'
import type { Guard } from '@svc/database/commit'
import type { Database } from '@svc/database/open'
import type { ServerIdentity } from '@svc/database/server-identity'
import { MAX_CLOCK_LEAD_SECONDS } from '@svc/protocol/request-envelope'
import { createClockGuard } from '@svc/service/guard/clock-guard'
import type { NonceTable } from '@svc/service/guard/tables'
import type { Log } from '@svc/service/program/log'
import { ServiceError } from '@svc/service/service-error'
import type { Schema } from '../db/schema.ts'
import { type ChangeAccess, createChangeAccess } from './access-changes.ts'
import type { LogGap } from './anchored.ts'
import type { DocumentId } from './document-id.ts'
import {
  clocksDiffer,
  databaseBehind,
  databaseUnchecked,
  envelopeBeforeLoss,
  journalsMissing,
  logbookUnavailable,
} from './errors.ts'
import { createGaps, type Gaps, type Publications } from './gaps.ts'
import { createJournaling } from './journaling.ts'
import { hasLostNonces } from './last-nonce.ts'
import type { JournalLocation, Missing } from './missing.ts'
import { pruneJournal } from './prune.ts'
import { createReplica, type Replica } from './replicas/replica.ts'
import type { MissingJournal } from './replicas/store.ts'
import { setRead } from './store.ts'

export interface ContinuityStatus {
  state: 'current' | 'checking' | 'behind'
  logbook: 'ok' | 'failing' | 'off'
  chain: 'ok' | 'failing' | 'off'
  log: ReturnType<Gaps['log']>
  /** The database file was replaced while this process had it open. */
  isReplaced: boolean
  missing: Missing
  /** Journals of other machines that were not compared with this database, or that have entries it lacks. */
  missingJournals: MissingJournal[]
  clock: { aheadSeconds: number | null; isWrong: boolean }
}

export interface Continuity {
  /** Opens the journal and starts to compare. Before that nothing is refused: commands only record what they change. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Called for every server that a new connection reaches. */
  serverConnected(server: ServerIdentity): void
  status(): ContinuityStatus
  /** From then on the published log is compared, too. */
  watchLog(findGap: () => Promise<LogGap | null>): void
  /** Call when a read suggests that the database is behind. */
  compareAgain(): void
  /** Throws unless the database is known to be current; waits for a comparison that is under way. */
  requireCurrent(): Promise<void>
  /**
   * Like `requireCurrent` without waiting, for use in a transaction: its connection may be the first to another server.
   */
  assertCurrent(): void
  /** Whether `requireCurrent` passes. */
  isCurrent(): Promise<boolean>
  /**
   * `assertCurrent`, and requires the last statement of the proof that this process knows to be visible in the
   * transaction.
   */
  assertFollows(proofId: string | null, sequence: number): void
  statementAdded(proofId: string, sequence: number): void
  /** Throws if the envelope may have been used on a server that is gone. `iat` in Unix seconds. */
  assertUnused(iat: number): void
  /** Resolves once the database is current. */
  whenCurrent(signal: AbortSignal): Promise<void>
  /** Null without a journal. */
  location: JournalLocation | null
  /** The guard of the database's commits. */
  guard: Guard<Schema, DocumentId>
  /**
   * Resolves when the documents are in the journal, whichever process committed them. Call it after reading a document
   * and before anyone learns of it. It asks the database once for each document. Admin views do not wait: an admin who
   * restores a database knows that its last seconds may be missing.
   */
  requireWritten(...ids: DocumentId[]): Promise<void>
  /** Like `requireWritten`, for all changes of signing keys. */
  requireKeysWritten(): Promise<void>
  /** Writes everything that is committed to the journal. */
  catchUp(): Promise<void>
  recordNonce(nonce: NonceTable): void
  /** Makes every change that grants or ends access. */
  changeAccess: ChangeAccess
}

export interface ContinuityOptions {
  /** Null for no journal. */
  journal: JournalLocation | null
  database: Database<Schema, DocumentId>
  /** Null where nothing is published. */
  publications: Publications | null
  /** By how much the clock of this process may differ from the database's; 0 for any difference. */
  clockToleranceSeconds: number
  log: Log
  now: () => number
}

const TICK_MS = 5000
/** Comparing a long journal takes a while and slows down other readers, so comparisons pause afterwards. */
const PAUSE_RATIO = 10
const MAX_PAUSE_MS = 30_000
const MAX_REMEMBERED = 50_000
const DAY_MS = 86_400_000

export function createContinuity(options: ContinuityOptions): Continuity {
  const { journal, database, publications, log, now } = options
  const { db } = database
  const clock = createClockGuard({ toleranceSeconds: options.clockToleranceSeconds, log, refusal: clocksDiffer })
  const unixNow = () => Math.floor(now() / 1000)
  /** The last sequence of each proof that this process has signed. */
  const sequences = lru<string, number>(MAX_REMEMBERED)
  const waiting = new Set<() => void>()
  const journaling = createJournaling({ location: journal, database, log, now: unixNow, compareAgain })
  const gaps = createGaps({ db, journal, publications, log })
  let replica: Replica | null = null
  let missingJournals: MissingJournal[] = []
  let state: 'unstarted' | ContinuityStatus['state'] = 'unstarted'
  let server: ServerIdentity | null = null
  let isReplaced = false
  /** Envelopes issued until then are refused: they may have been used on a server that is gone. */
  let lostUntil = 0
  let generation = 0
  let comparison: Promise<void> | null = null
  let settling = Promise.resolve()
  /** Until then, a database that is behind is not compared again. */
  let pausedUntilMs = 0
  let tick: NodeJS.Timeout | undefined
  let prunedAtMs = 0

  async function compareOnce(startGeneration: number): Promise<void> {
    const history = server?.history ?? ''
    if ((await gaps.check()) || isReplaced) {
      missingJournals = []
      setState('behind')
      return replica?.report(null)
    }
    // Without a journal, only the chain can show a gap.
    if (!journal && !gaps.isChainRead()) return void setState('checking')
    await journaling.catchUp()
    await replica?.report(history)
    missingJournals = (await replica?.missingJournals(history)) ?? []
    // Another server may have answered meanwhile; it is compared next.
    if (startGeneration !== generation) return
    setState(missingJournals.length > 0 ? 'behind' : 'current')
  }

  /**
   * Records how far the journal was read, so that it is not read again, and removes what is older than every backup.
   * Comparisons do not wait for this, because commits wait for comparisons.
   */
  async function settleJournal(): Promise<void> {
    try {
      // Inside the transaction: another server may have been compared meanwhile.
      if (gaps.ends().length > 0) await database.commit((tx) => setRead(tx, gaps.ends()))
      await pruneDaily()
    } catch (error) {
      log.warn({ err: error }, 'the database could not record how far the journal was read')
    }
  }

  async function pruneDaily(): Promise<void> {
    if (!journal || Date.now() - prunedAtMs < DAY_MS) return
    prunedAtMs = Date.now()
    await pruneJournal(database, journal.folder, prunedAtMs - journal.retentionDays * DAY_MS)
  }

  function compare(): Promise<void> {
    comparison ??= (async () => {
      const startedMs = performance.now()
      try {
        for (let compared = -1; compared !== generation; ) {
          compared = generation
          await compareOnce(compared)
        }
      } catch (error) {
        // The database is unavailable or the journal is unreadable: the next tick tries again.
        log.warn({ err: error }, 'the database cannot be compared with what was signed')
      } finally {
        const endedMs = performance.now()
        pausedUntilMs = endedMs + Math.min(PAUSE_RATIO * (endedMs - startedMs), MAX_PAUSE_MS)
        comparison = null
        if (state === 'current') settling = settling.then(settleJournal)
      }
    })()
    return comparison
  }

  function refuseEarlierEnvelopes(): void {
    lostUntil = unixNow() + MAX_CLOCK_LEAD_SECONDS
  }

  function setState(next: ContinuityStatus['state']): void {
    if (next !== state && next === 'behind') {
      const { counts, unreadable, earlier } = gaps.missing()
      log.error(
        {
          missing: counts,
          unreadable,
          earlier,
          log: gaps.log(),
          isReplaced,
          awaited: missingJournals.map(({ host }) => host),
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

  async function onTick(): Promise<void> {
    try {
      serverConnected(await database.server())
      if (state === 'current') {
        await journaling.tick()
        await pruneDaily()
      }
    } catch {
      // Code that needs the unavailable part reports it.
    }
    const isOther = await isJournalMissing()
    if (state === 'behind' && missingJournals.length === 0 && performance.now() < pausedUntilMs) return
    if (state !== 'current' || gaps.isChainDue() || isOther) await compare()
  }

  async function isJournalMissing(): Promise<boolean> {
    const found = await replica?.missingJournals(server?.history ?? '').catch(() => [])
    return found !== undefined && found.length > 0
  }

  function serverConnected(identity: ServerIdentity): void {
    if (state === 'unstarted') return
    clock.compared(identity.clockAheadMs)
    if (identity.history === server?.history && identity.run === server.run) return
    const isOther = server !== null && identity.history !== server.history
    server = identity
    generation++
    gaps.forgetChain()
    if (isOther) {
      refuseEarlierEnvelopes()
      if (database.dialect === 'sqlite') isReplaced = true
      log.warn({ database: identity.history }, 'another database answers: it is compared with what was signed')
      journaling.switchHistory(identity.history)
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
    if (state === 'behind') throw missingJournals.length > 0 ? journalsMissing() : databaseBehind()
    if (journaling.isFailing()) throw logbookUnavailable()
    if (state === 'checking') throw databaseUnchecked()
    clock.assertRight()
  }

  async function requireCurrent(): Promise<void> {
    if (state === 'checking') await compare()
    assertCurrent()
  }

  return {
    async start() {
      server = await database.server()
      clock.compared(server.clockAheadMs)
      replica = createReplica(database, await journaling.open(server.history))
      // Nonces used at another replica are not in this journal.
      const isOther = (await replica.missingJournals(server.history)).length > 0
      if (isOther || (journal && (await hasLostNonces(db, journal.folder, unixNow())))) {
        refuseEarlierEnvelopes()
        log.warn('the database may have lost nonces: envelopes that may have been used are refused')
      }
      state = 'checking'
      void compare()
      tick = setInterval(() => void onTick(), TICK_MS)
      tick.unref()
    },

    async stop() {
      clearInterval(tick)
      await comparison
      await settling
      // Callers that wait for this journal wait for the next process that writes to it.
      await replica
        ?.leave()
        .catch((error) => log.warn({ err: error }, 'the database could not record that this process ends'))
      replica = null
      await journaling.close()
    },

    serverConnected,

    status: () => ({
      state: state === 'unstarted' ? 'checking' : state,
      logbook: !journal ? 'off' : journaling.isFailing() ? 'failing' : 'ok',
      chain: !publications ? 'off' : !gaps.isChainRead() && !comparison ? 'failing' : 'ok',
      log: gaps.log(),
      isReplaced,
      missing: gaps.missing(),
      missingJournals,
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
      if (proofId === null || state === 'unstarted') return
      if (sequence >= (sequences.get(proofId) ?? 0)) return
      compareAgain()
      throw databaseUnchecked()
    },
    statementAdded(proofId, sequence) {
      if (sequence > (sequences.get(proofId) ?? 0)) sequences.set(proofId, sequence)
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

    location: journal,
    guard: { requireCurrent, assertCurrent, begin: journaling.begin },
    requireWritten: (...ids) => journaling.requireWritten(ids),
    requireKeysWritten: () => journaling.requireAccessWritten('keys'),
    catchUp: journaling.catchUp,
    recordNonce: journaling.saveNonce,
    changeAccess: createChangeAccess(database.commit, unixNow, () => journaling.requireAccessWritten('all')),
  }
}
