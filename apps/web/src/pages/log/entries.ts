// Entries with the statements behind them, each checked against the root of the newest checkpoint.

import type { LogStatements } from '@svc/api/log'
import { readProof } from '@svc/protocol/transparency/proof'
import { statementDigestMatches, wellFormedEnvelope } from '@svc/verifier/envelope-facts'
import { fetchAnswer, getJson, RequestFailed } from '../../gateway.ts'
import { isInLog, type ReadLog } from './log-reader.ts'

export const PAGE = 20

type Listed = LogStatements['entries'][number]

export interface Entry extends Listed {
  /** Whether the tiles of the log have this digest at this position. */
  isProven: boolean
  /** Whether the signed statement has this digest; null if the gateway has lost it. */
  isStatement: boolean | null
}

/** Up to a page of entries before `end`, newest first. */
export async function readEntries(log: ReadLog, end: number, count = PAGE): Promise<Entry[]> {
  const from = Math.max(0, end - count)
  const { entries } = await getJson<LogStatements>(`/v1/log/statements?from=${from}&limit=${end - from}`)
  return Promise.all(entries.toReversed().map((entry) => check(log, entry)))
}

async function check(log: ReadLog, entry: Listed): Promise<Entry> {
  const { index, statement_digest, envelope } = entry
  return {
    ...entry,
    isProven: await isInLog(log, index, statement_digest),
    isStatement: envelope && isStatementOf(envelope, statement_digest),
  }
}

/** Whether an untrusted envelope has the digest. */
function isStatementOf(envelope: NonNullable<Listed['envelope']>, digest: string): boolean {
  const read = wellFormedEnvelope({ envelope })
  return read?.statement_digest === digest && statementDigestMatches({ envelope }).value === 'passed'
}

/** The index of a statement; null if it is not in the log. */
export async function findIndex(digest: string): Promise<number | null> {
  try {
    const proof = readProof(await (await fetchAnswer(`/v1/log/proof?statement_digest=${digest}`, {})).text())
    return typeof proof === 'string' ? null : proof.index
  } catch (error) {
    if (error instanceof RequestFailed && error.status === 404) return null
    throw error
  }
}

type Wanted = { digest: string } | { index: number }

/** Parses a search text; null if it is neither a digest nor a number. */
export function readWanted(text: string): Wanted | null {
  const word = text
    .trim()
    .toLowerCase()
    .replace(/^sha256:/, '')
  if (/^[0-9a-f]{64}$/.test(word)) return { digest: word }
  return /^\d{1,15}$/.test(word) ? { index: Number(word) } : null
}
