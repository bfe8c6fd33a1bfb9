// What the logbook notes, as lines of text. The ids of quotes and receipts open things: of them, only hashes are written.
// Proof ids, digests and transactions are public, and so are wallets; a nonce that was used opens nothing.

import { hash } from 'node:crypto'
import type { NonceTable } from '@svc/guard/tables'
import { unixSeconds } from '@svc/protocol/evidence'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { parseRevoked, type Revoked } from './revoked.ts'
import { parseSale, type Sale } from './sale.ts'

export interface NotedStatement {
  kind: 'statement'
  proofId: string
  sequence: number
  digest: string
}

export interface NotedReceipt {
  kind: 'receipt'
  network: string
  tx: string
  receiptHash: string
  /** Null for a renewal, which has no statements of its own. */
  proofId: string | null
  /** Unix seconds. */
  confirmedAt: number
  /** Null where an earlier release noted the receipt. */
  sale: Sale | null
}

export interface NotedRefund {
  kind: 'refund'
  network: string
  tx: string
}

/** What somebody had and has no longer. */
export interface NotedRevocation {
  kind: 'revocation'
  /** Random: the database has a row with it. */
  id: string
  /** Unix seconds. */
  revokedAt: number
  revoked: Revoked
}

/** What is published of the log and not in the database. */
export interface LogGap {
  /** `behind`: entries are missing. `forked`: others are in their places. `foreign`: another log is published there. */
  kind: 'behind' | 'forked' | 'foreign'
  /** How many entries are missing. */
  missing: number
}

export type Entry = NotedStatement | NotedReceipt | NotedRefund | NotedRevocation

export function noteOfReceipt(receipt: SignedReceipt, sale: Sale | null): NotedReceipt {
  return {
    kind: 'receipt',
    network: receipt.network,
    tx: receipt.tx_hash,
    receiptHash: receiptHash(receipt.receipt_id),
    proofId: receipt.proof_id ?? null,
    confirmedAt: unixSeconds(receipt.confirmed_at) ?? 0,
    sale,
  }
}

export function receiptHash(receiptId: string): string {
  return hash('sha256', `svc/logbook ${receiptId}`)
}

const NONE = '-'

/** `at`: Unix seconds. */
export function lineOf(entry: Entry, at: number): string {
  if (entry.kind === 'statement') return `statement ${at} ${entry.proofId} ${entry.sequence} ${entry.digest}\n`
  if (entry.kind === 'refund') return `refund ${at} ${entry.network} ${entry.tx}\n`
  if (entry.kind === 'revocation')
    return `revocation ${at} ${entry.id} ${entry.revokedAt} ${JSON.stringify(entry.revoked)}\n`
  const { network, tx, receiptHash: hashed, proofId, confirmedAt, sale } = entry
  const receipt = `${at} ${network} ${tx} ${hashed} ${proofId ?? NONE} ${confirmedAt}`
  // On two lines, because earlier releases read the first only.
  return `receipt ${receipt}\n${sale ? `sale ${receipt} ${JSON.stringify(sale)}\n` : ''}`
}

const STATEMENT = /^statement (\d+) ([0-9a-f]{32}) (\d+) ([0-9a-f]{64})$/
const RECEIPT = /^(?:receipt|sale) (\d+) (\S+) (\S+) ([0-9a-f]{64}) ([0-9a-f]{32}|-) (\d+)(?: (\{.*\}))?$/
const REFUND = /^refund (\d+) (\S+) (\S+)$/
const REVOCATION = /^revocation (\d+) ([0-9a-f]{32}) (\d+) (\{.*\})$/

/** Null for a line that is not whole, which the last one of a crash may be, and for what a later release has noted. */
export function readLine(line: string): { at: number; entry: Entry } | null {
  const statement = STATEMENT.exec(line)
  if (statement) {
    const [, at, proofId, sequence, digest] = statement as unknown as [string, string, string, string, string]
    return { at: Number(at), entry: { kind: 'statement', proofId, sequence: Number(sequence), digest } }
  }
  const receipt = RECEIPT.exec(line)
  if (receipt) {
    const [, at, network, tx, hashed, proofId, confirmedAt, text] = receipt as unknown as string[]
    const entry = { network, tx, receiptHash: hashed, proofId: proofId === NONE ? null : proofId }
    const sale = text === undefined ? null : parseSale(text)
    const noted = { kind: 'receipt', ...entry, confirmedAt: Number(confirmedAt), sale } as NotedReceipt
    return { at: Number(at), entry: noted }
  }
  const revocation = REVOCATION.exec(line)
  if (revocation) {
    const [, at, id, revokedAt, text] = revocation as unknown as [string, string, string, string, string]
    const revoked = parseRevoked(text)
    return revoked && { at: Number(at), entry: { kind: 'revocation', id, revokedAt: Number(revokedAt), revoked } }
  }
  const refund = REFUND.exec(line)
  if (!refund) return null
  const [, at, network, tx] = refund as unknown as [string, string, string, string]
  return { at: Number(at), entry: { kind: 'refund', network, tx } }
}

/** Of one length, so that each overwrites the one before. */
const NONCE_CHARACTERS = 240

export function nonceText({ signer, nonce, forget_at }: NonceTable): string {
  return `${signer} ${nonce} ${forget_at}`.padEnd(NONCE_CHARACTERS - 1).concat('\n')
}

export function readNonce(text: string): NonceTable | null {
  const [signer, nonce, forgetAt] = text.trim().split(' ')
  if (!signer || !nonce || !/^\d+$/.test(forgetAt ?? '')) return null
  return { signer, nonce, forget_at: Number(forgetAt) }
}
