// Finds what was signed and is not in the database, from the three other records: the journal, the chain and the
// published log.

import type { Position } from '@svc/database/journal/journal'
import { isDatabaseUnavailable } from '@svc/database/unavailable'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import type { SolanaNodes } from '@svc/payments/solana/nodes'
import type { Log } from '@svc/service/program/log'
import type { Db } from '../db/schema.ts'
import { anchoredGap, type LogGap, type UnknownAnchors, unknownAnchors } from './anchored.ts'
import {
  type Compared,
  compareWithJournal,
  countMissing,
  type JournalLocation,
  type Missing,
  NOTHING,
} from './missing.ts'
import { byProof, unknownStatements } from './statements.ts'

export interface Publications {
  nodes: Pick<SolanaNodes, 'history' | 'wire'>
  /** Base58. */
  signer: string
}

/** All values are those of the last check. */
export interface Gaps {
  /** Whether there is any gap. */
  check(): Promise<boolean>
  missing(): Missing
  /** How far the journal was read. */
  ends(): Position[]
  /** How the database compares with the published log; `failing`: the log is unreadable at the moment. */
  log(): LogGap['kind'] | 'ok' | 'failing'
  isChainRead(): boolean
  /** Whether the chain should be read again after a failure. */
  isChainDue(): boolean
  /** Discards what was read: another server must be compared with the chain again. */
  forgetChain(): void
  /** From then on the published log is compared, too. */
  watchLog(findGap: () => Promise<LogGap | null>): void
}

interface Parts {
  db: Db
  journal: JournalLocation | null
  publications: Publications | null
  log: Log
}

const CHAIN_RETRY_MS = 30_000

export function createGaps({ db, journal, publications, log }: Parts): Gaps {
  let compared: Compared = { missing: NOTHING, ends: [] }
  /** Null until the chain was compared with the present server. */
  let anchored: UnknownAnchors | null = null
  let chainReadAt = 0
  /** Counts servers, because a comparison with one server does not apply to the next. */
  let epoch = 0
  let findLogGap: (() => Promise<LogGap | null>) | null = null
  let logGap: LogGap | null = null
  let isLogFailing = false

  async function anchoredUnknown(): Promise<UnknownAnchors | null> {
    if (anchored) return anchored
    const startEpoch = epoch
    const read = await readChain()
    if (startEpoch === epoch) anchored = read
    return read
  }

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

  /** An unreadable log is not written either. Statements are signed meanwhile. */
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

  return {
    async check() {
      const journaled = journal ? await compareWithJournal(db, journal) : { missing: NOTHING, ends: [] }
      const unknown = await anchoredUnknown()
      compared = { ...journaled, missing: await withAnchored(db, journaled.missing, unknown) }
      await readLog()
      logGap ??= await anchoredGap(db, unknown?.checkpoints ?? [])
      return logGap !== null || countMissing(compared.missing) > 0
    },
    missing: () => compared.missing,
    ends: () => compared.ends,
    log: () => (isLogFailing ? 'failing' : (logGap?.kind ?? 'ok')),
    isChainRead: () => anchored !== null,
    isChainDue: () => anchored === null && Date.now() - chainReadAt > CHAIN_RETRY_MS,
    forgetChain() {
      epoch++
      anchored = null
    },
    watchLog(findGap) {
      findLogGap = findGap
    },
  }
}

/** Adds statements that only the chain has. */
export async function withAnchored(db: Db, missing: Missing, anchored: UnknownAnchors | null): Promise<Missing> {
  const unknown = await unknownStatements(db, anchored?.statements ?? [])
  const named = new Set(missing.statements.map(({ digest }) => digest))
  const others = unknown.filter(({ digest }) => !named.has(digest))
  if (others.length === 0) return missing
  const counts = { ...missing.counts, statement: (missing.counts.statement ?? 0) + others.length }
  return { ...missing, counts, statements: [...missing.statements, ...others].sort(byProof) }
}
