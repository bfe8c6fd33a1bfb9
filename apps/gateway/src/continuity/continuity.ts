// A restored or lagging database must not sign a number, take a payment or take a nonce a second time (T-37). What the
// database knows is held against the logbook and the chain at start, and whenever another server answers. While it is
// behind, the gateway only reads.

import { ChainUnavailable } from '@svc/chains/node-pool'
import type { SolanaNodes } from '@svc/chains/solana/nodes'
import { lru } from '@svc/concurrency/caches'
import type { Database } from '@svc/database/open'
import type { ServerIdentity } from '@svc/database/server-identity'
import { isDatabaseUnavailable } from '@svc/database/unavailable'
import type { NonceTable } from '@svc/guard/tables'
import type { Log } from '@svc/http-service/log'
import type { ServiceError } from '@svc/http-service/service-error'
import { isoSeconds } from '@svc/protocol/evidence'
import { MAX_CLOCK_LEAD_SECONDS } from '@svc/protocol/request-envelope'
import type { Transaction } from 'kysely'
import type { Schema } from '../db/schema.ts'
import { anchoredGap, type UnknownAnchors, unknownAnchors } from './anchored.ts'
import { createClockGuard } from './clock-guard.ts'
import { distinct, hasLostNonces, type Missing, missingInDatabase, missingOf, newestNote } from './compare.ts'
import type { Entry, LogGap, NotedStatement } from './entries.ts'
import { databaseBehind, databaseUnchecked, envelopeBeforeLoss, logbookUnavailable } from './errors.ts'
import { type Logbook, openLogbook } from './logbook.ts'
import { newestReceipts, newestStatements } from './store.ts'
import { createUnclearCommits } from './unclear-commits.ts'

export interface ContinuityStatus {
  state: 'current' | 'checking' | 'behind'
  logbook: 'ok' | 'failing' | 'off'
  chain: 'ok' | 'failing' | 'off'
  /** How the database stands to the published log; `failing`: that cannot be read now. */
  log: LogGap['kind'] | 'ok' | 'failing'
  /** The file of the database was exchanged while this process had it open. */
  isReplaced: boolean
  missing: Missing
  clock: { aheadSeconds: number | null; isWrong: boolean }
}

export interface Continuity {
  /** Opens the logbook and begins to compare. Until then nothing is noted and nothing is refused: commands only read. */
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
  /** `assertCurrent`, and that the transaction sees the last statement that this process knows of the proof. */
  assertFollows(proofId: string | null, sequence: number): void
  /** Throws where an envelope may have been used on a server that is gone. `iat` in Unix seconds. */
  assertUnused(iat: number): void
  /** Resolves once the database is current. */
  whenCurrent(signal: AbortSignal): Promise<void>
  /**
   * Commits a transaction and notes what it wrote, which is durable in both places when this resolves. If the commit is
   * not answered, what it wrote is noted once the database shows it (T-160).
   */
  commit<Result>(
    work: (tx: Transaction<Schema>) => Promise<Result>,
    writtenBy: (result: Result) => readonly Entry[],
  ): Promise<Result>
  /** Notes what was committed without an answer. Call it before anybody learns of what the database has. */
  noteUnclear(): Promise<void>
  /** Durable when it resolves. Call it before anybody else learns of the statement. */
  noteStatement(statement: Omit<NotedStatement, 'kind'>): Promise<void>
  noteNonce(nonce: NonceTable): void
}

export interface ContinuityOptions {
  folder: string | null
  database: Database<Schema>
  /** Null where nothing is published. */
  publications: { nodes: Pick<SolanaNodes, 'history' | 'wire'>; signer: string } | null
  /** By how much the clock of this process may differ from that of the database; 0 for any. */
  clockToleranceSeconds: number
  log: Log
  now: () => number
}

const TICK_MS = 5000
const CHAIN_AGAIN_MS = 30_000
const MAX_REMEMBERED = 50_000
/** A crash may have come between a commit and its note. Nothing waits that long in between. */
const UNNOTED_SECONDS = 60
const MAX_UNNOTED = 10_000
const NOTHING: Missing = { statements: [], payments: [] }

export function createContinuity(options: ContinuityOptions): Continuity {
  const { folder, database, publications, log, now } = options
  const { db } = database
  const clock = createClockGuard(options.clockToleranceSeconds, log)
  const unixNow = () => Math.floor(now() / 1000)
  const unclear = createUnclearCommits(db, unixNow)
  const noted = lru<string, { sequence: number; digest: string }>(MAX_REMEMBERED)
  const waiting = new Set<() => void>()
  let logbook: Logbook | null = null
  let state: 'unstarted' | ContinuityStatus['state'] = 'unstarted'
  let missing = NOTHING
  let isLogbookFailing = false
  /** What could not be noted after it was committed. */
  let unnoted: Entry[] = []
  let server: ServerIdentity | null = null
  let isReplaced = false
  /** Envelopes issued up to then are refused. */
  let lostUntil = 0
  /** Of the chain: null until it was read for the present server. */
  let anchored: UnknownAnchors | null = null
  let chainReadAt = 0
  /** Statements of this process that a transaction did not see. */
  const unseen: NotedStatement[] = []
  let findLogGap: (() => Promise<LogGap | null>) | null = null
  let logGap: LogGap | null = null
  let isLogFailing = false
  let hasCaughtUp = false
  let generation = 0
  let comparison: Promise<void> | null = null
  let tick: NodeJS.Timeout | undefined

  async function readChain(): Promise<UnknownAnchors | null> {
    if (!publications) return { statements: [], checkpoints: [] }
    chainReadAt = Date.now()
    try {
      return await unknownAnchors(db, publications.nodes, publications.signer)
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error
      log.warn({ err: error }, 'the chain cannot be compared with the database now')
      return null
    }
  }

  /** A log that cannot be read now is not written either; statements are signed meanwhile. */
  async function readLog(): Promise<void> {
    try {
      logGap = (await findLogGap?.()) ?? null
      isLogFailing = false
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      isLogFailing = true
      log.warn({ err: error }, 'the published log cannot be compared with the database now')
    }
  }

  async function compareOnce(): Promise<void> {
    const noticed = folder === null ? NOTHING : await missingInDatabase(db, folder)
    anchored ??= await readChain()
    const published = await missingOf(db, [...(anchored?.statements ?? []), ...unseen])
    missing = distinct({
      statements: [...noticed.statements, ...published.statements],
      payments: noticed.payments,
    })
    await readLog()
    logGap ??= await anchoredGap(db, anchored?.checkpoints ?? [])
    if (isReplaced || logGap || missing.statements.length + missing.payments.length > 0) return void setState('behind')
    // Without a logbook only the chain can tell.
    if (folder === null && anchored === null) return void setState('checking')
    await catchUp()
    setState('current')
  }

  function compare(): Promise<void> {
    comparison ??= (async () => {
      try {
        for (let seen = -1; seen !== generation; ) {
          seen = generation
          await compareOnce()
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

  /** Notes what was committed before a crash kept it from being noted; and, in a new logbook, what there is to lose. */
  async function catchUp(): Promise<void> {
    if (hasCaughtUp || folder === null) return
    const since = ((await newestNote(folder)) ?? UNNOTED_SECONDS) - UNNOTED_SECONDS
    const statements = await newestStatements(db, since, MAX_UNNOTED)
    const receipts = await newestReceipts(db, isoSeconds(since), MAX_UNNOTED)
    await note([...statements.reverse(), ...receipts.reverse()])
    hasCaughtUp = true
  }

  function setState(next: ContinuityStatus['state']): void {
    if (next !== state && next === 'behind') {
      const { statements, payments } = missing
      log.error(
        { statements: statements.length, payments: payments.length, log: logGap?.kind ?? 'ok', isReplaced },
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
    try {
      if (entries.length > 0) await logbook?.append(entries, unixNow())
    } catch (error) {
      unnoted.push(...entries)
      throw logbookFailed(error)
    }
    for (const entry of entries) if (entry.kind === 'statement') remember(entry)
  }

  function remember({ proofId, sequence, digest }: NotedStatement): void {
    if (sequence > (noted.get(proofId)?.sequence ?? 0)) noted.set(proofId, { sequence, digest })
  }

  function logbookFailed(error: unknown): ServiceError {
    isLogbookFailing = true
    log.error({ err: error }, 'the logbook cannot be written: nothing is signed until it can')
    return logbookUnavailable(error)
  }

  async function tryLogbookAgain(): Promise<void> {
    if (!isLogbookFailing || !logbook) return
    const entries = unnoted
    await logbook.append(entries, unixNow())
    unnoted = unnoted.slice(entries.length)
    isLogbookFailing = unnoted.length > 0
  }

  async function onTick(): Promise<void> {
    try {
      serverSeen(await database.server())
      await tryLogbookAgain()
      await unclear.resolve(note)
    } catch {
      // Whatever is away is seen by those who need it.
    }
    const isChainDue = anchored === null && Date.now() - chainReadAt > CHAIN_AGAIN_MS
    if (state !== 'current' || isChainDue) await compare()
  }

  function serverSeen(seen: ServerIdentity): void {
    if (state === 'unstarted') return
    clock.compared(seen.clockAheadMs)
    if (seen.history === server?.history && seen.run === server.run) return
    const isOther = server !== null && seen.history !== server.history
    server = seen
    generation++
    anchored = null
    if (isOther) {
      lostUntil = unixNow() + MAX_CLOCK_LEAD_SECONDS
      if (database.dialect === 'sqlite') isReplaced = true
      log.warn({ database: seen.history }, 'another database answers: it is compared with what was signed')
      void logbook?.turnTo(seen.history).catch(() => {})
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
    if (state === 'behind') throw databaseBehind()
    if (state === 'checking') throw databaseUnchecked()
    if (isLogbookFailing) throw logbookUnavailable()
    clock.assertRight()
  }

  return {
    async start() {
      server = await database.server()
      clock.compared(server.clockAheadMs)
      if (folder !== null) {
        logbook = await openLogbook(folder, server.history)
        if (await hasLostNonces(db, folder, unixNow())) {
          lostUntil = unixNow() + MAX_CLOCK_LEAD_SECONDS
          log.warn('the database has lost nonces: envelopes that may have been used are refused')
        }
      }
      state = 'checking'
      void compare()
      tick = setInterval(() => void onTick(), TICK_MS)
      tick.unref()
    },

    async stop() {
      clearInterval(tick)
      const open = logbook
      logbook = null
      await open?.close()
    },

    serverSeen,

    status: () => ({
      state: state === 'unstarted' ? 'checking' : state,
      logbook: folder === null ? 'off' : isLogbookFailing ? 'failing' : 'ok',
      chain: !publications ? 'off' : anchored === null && !comparison ? 'failing' : 'ok',
      log: isLogFailing ? 'failing' : (logGap?.kind ?? 'ok'),
      isReplaced,
      missing,
      clock: { aheadSeconds: clock.aheadSeconds(), isWrong: clock.isWrong() },
    }),

    watchLog(findGap) {
      findLogGap = findGap
      compareAgain()
    },
    compareAgain,

    async requireCurrent() {
      if (state === 'checking') await compare()
      await unclear.resolve(note)
      assertCurrent()
    },

    assertCurrent,

    assertFollows(proofId, sequence) {
      assertCurrent()
      const known = proofId === null ? undefined : noted.get(proofId)
      if (state === 'unstarted' || proofId === null || !known || known.sequence <= sequence) return
      unseen.push({ kind: 'statement', proofId, ...known })
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

    async commit(work, writtenBy) {
      let written: readonly Entry[] = []
      const committed = db.transaction().execute(async (tx) => {
        const result = await work(tx)
        written = writtenBy(result)
        return result
      })
      const result = await committed.catch((error) => {
        if (isDatabaseUnavailable(error)) unclear.add(written)
        throw error
      })
      await note(written)
      return result
    },
    noteUnclear: () => unclear.resolve(note),
    async noteStatement(statement) {
      if (noted.get(statement.proofId)?.digest !== statement.digest) await note([{ kind: 'statement', ...statement }])
    },
    noteNonce(nonce) {
      try {
        logbook?.keepNonce(nonce)
      } catch (error) {
        logbookFailed(error)
      }
    },
  }
}
