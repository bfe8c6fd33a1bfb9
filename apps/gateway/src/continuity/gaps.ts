// What was signed and is not in the database, by all that remembers it: the logbook, the chain, and the published log.

import { ChainUnavailable } from '@svc/chains/node-pool'
import type { SolanaNodes } from '@svc/chains/solana/nodes'
import { isDatabaseUnavailable } from '@svc/database/unavailable'
import type { Log } from '@svc/http-service/log'
import type { Db } from '../db/schema.ts'
import { anchoredGap, type UnknownAnchors, unknownAnchors } from './anchored.ts'
import { countMissing, distinct, type Missing, missingInDatabase, missingOf, NOTHING } from './compare.ts'
import type { LogGap, NotedStatement } from './entries.ts'

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
  /** How the database stands to the published log; `failing`: that cannot be read now. */
  log(): LogGap['kind'] | 'ok' | 'failing'
  isChainRead(): boolean
  /** Whether a chain that could not be read may be tried again. */
  isChainDue(): boolean
  /** For another server: what the chain has is held against it anew. */
  forgetChain(): void
  /** A transaction did not see a statement of this process. */
  unseen(statement: NotedStatement): void
  /** The published log is compared, too, from then on. */
  watchLog(findGap: () => Promise<LogGap | null>): void
}

interface Parts {
  db: Db
  folder: string | null
  publications: Publications | null
  log: Log
}

const CHAIN_AGAIN_MS = 30_000

export function createGaps({ db, folder, publications, log }: Parts): Gaps {
  let missing = NOTHING
  /** Null until the chain was read for the present server. */
  let anchored: UnknownAnchors | null = null
  let chainReadAt = 0
  /** What was read for one server says nothing about the next. */
  let serversSeen = 0
  const unseen: NotedStatement[] = []
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
      const noticed = folder === null ? NOTHING : await missingInDatabase(db, folder)
      const unknown = await anchoredUnknown()
      const published = await missingOf(db, [...(unknown?.statements ?? []), ...unseen])
      missing = distinct(noticed, published)
      await readLog()
      logGap ??= await anchoredGap(db, unknown?.checkpoints ?? [])
      return logGap !== null || countMissing(missing) > 0
    },
    missing: () => missing,
    log: () => (isLogFailing ? 'failing' : (logGap?.kind ?? 'ok')),
    isChainRead: () => anchored !== null,
    isChainDue: () => anchored === null && Date.now() - chainReadAt > CHAIN_AGAIN_MS,
    forgetChain() {
      serversSeen++
      anchored = null
    },
    unseen(statement) {
      unseen.push(statement)
    },
    watchLog(findGap) {
      findLogGap = findGap
    },
  }
}
