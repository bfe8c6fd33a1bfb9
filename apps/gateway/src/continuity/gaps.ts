// What was signed and is not in the database, by all that remembers it: the journal, the chain, and the published log.

import type { Position } from '@svc/database/journal/journal'
import { isDatabaseUnavailable } from '@svc/database/unavailable'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import type { SolanaNodes } from '@svc/payments/solana/nodes'
import type { Log } from '@svc/service/program/log'
import type { Db } from '../db/schema.ts'
import { anchoredGap, type LogGap, type UnknownAnchors, unknownAnchors } from './anchored.ts'
import { type Compared, compareWithJournal, countMissing, type JournalPlace, type Missing, NOTHING } from './missing.ts'
import { byProof, unknownStatements } from './statements.ts'

export interface Publications {
  nodes: Pick<SolanaNodes, 'history' | 'wire'>
  /** Base58. */
  signer: string
}

/** Each value is of the last look. */
export interface Gaps {
  /** Whether there is any gap. */
  look(): Promise<boolean>
  missing(): Missing
  /** How far the journal was read. */
  ends(): Position[]
  /** How the database stands to the published log; `failing`: that cannot be read now. */
  log(): LogGap['kind'] | 'ok' | 'failing'
  isChainRead(): boolean
  /** Whether a chain that could not be read may be tried again. */
  isChainDue(): boolean
  /** For another server: it is compared with the chain again. */
  forgetChain(): void
  /** The published log is compared, too, from then on. */
  watchLog(findGap: () => Promise<LogGap | null>): void
}

interface Parts {
  db: Db
  journal: JournalPlace | null
  publications: Publications | null
  log: Log
}

const CHAIN_AGAIN_MS = 30_000

export function createGaps({ db, journal, publications, log }: Parts): Gaps {
  let compared: Compared = { missing: NOTHING, ends: [] }
  /** Null until the chain was read for the present server. */
  let anchored: UnknownAnchors | null = null
  let chainReadAt = 0
  /** What was read for one server says nothing about the next. */
  let serversSeen = 0
  let findLogGap: (() => Promise<LogGap | null>) | null = null
  let logGap: LogGap | null = null
  let isLogFailing = false

  async function anchoredUnknown(): Promise<UnknownAnchors | null> {
    if (anchored) return anchored
    const asked = serversSeen
    const read = await readChain()
    if (asked === serversSeen) anchored = read
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

  return {
    async look() {
      const noticed = journal ? await compareWithJournal(db, journal) : { missing: NOTHING, ends: [] }
      const unknown = await anchoredUnknown()
      compared = { ...noticed, missing: await withAnchored(db, noticed.missing, unknown) }
      await readLog()
      logGap ??= await anchoredGap(db, unknown?.checkpoints ?? [])
      return logGap !== null || countMissing(compared.missing) > 0
    },
    missing: () => compared.missing,
    ends: () => compared.ends,
    log: () => (isLogFailing ? 'failing' : (logGap?.kind ?? 'ok')),
    isChainRead: () => anchored !== null,
    isChainDue: () => anchored === null && Date.now() - chainReadAt > CHAIN_AGAIN_MS,
    forgetChain() {
      serversSeen++
      anchored = null
    },
    watchLog(findGap) {
      findLogGap = findGap
    },
  }
}

/** With statements that only the chain knows of. */
export async function withAnchored(db: Db, missing: Missing, anchored: UnknownAnchors | null): Promise<Missing> {
  const unknown = await unknownStatements(db, anchored?.statements ?? [])
  const named = new Set(missing.statements.map(({ digest }) => digest))
  const others = unknown.filter(({ digest }) => !named.has(digest))
  if (others.length === 0) return missing
  const counts = { ...missing.counts, statement: (missing.counts.statement ?? 0) + others.length }
  return { ...missing, counts, statements: [...missing.statements, ...others].sort(byProof) }
}
