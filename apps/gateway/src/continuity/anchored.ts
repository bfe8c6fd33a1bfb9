// Compares the database with the chain: finds what this gateway has published and the database lacks.

import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit'
import type { SolanaNodes } from '@svc/payments/solana/nodes'
import { type AnchorPayload, MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { ANCHOR_SCHEMA, LOG_ANCHOR_SCHEMA } from '@svc/protocol/names'
import type { LogAnchorPayload } from '@svc/protocol/transparency/anchor'
import type { Db } from '../db/schema.ts'
import { type NamedStatement, unknownStatements } from './statements.ts'
import { findCheckpointRoots, findOwnLog, findReceiptOfProof, knownPublications } from './store.ts'

const SCHEMAS = [ANCHOR_SCHEMA, LOG_ANCHOR_SCHEMA]

interface AnchoredStatement extends NamedStatement {
  tx: string
  payload: AnchorPayload
}

export interface UnknownAnchors {
  statements: AnchoredStatement[]
  /** Checkpoints of logs that the key has anchored, of this log and of others. */
  checkpoints: LogAnchorPayload[]
}

/** The part of the published log that the database lacks. */
export interface LogGap {
  /**
   * `behind`: entries are missing. `forked`: the positions hold other entries. `foreign`: another log is published
   * there.
   */
  kind: 'behind' | 'forked' | 'foreign'
  /** How many entries are missing. */
  missing: number
}

const PAGE = 1000
/** Anyone can send transactions that name an address, so reading stops at a limit. */
const MAX_PAGES = 10
const MAX_READ = 500

/**
 * Reads from the newest transaction of the publication key back to the newest one that the database knows; a
 * transaction is recorded there before it is sent. Only transactions that the key has signed count. Statements of
 * unknown proofs are missing only if the database knows an earlier transaction of the key: otherwise they may belong to
 * a gateway that had the key before. A replay may restore later transactions than a lost one, so the rest of the page
 * is searched for proofs that the database knows.
 */
export async function unknownAnchors(
  db: Db,
  nodes: Pick<SolanaNodes, 'history' | 'wire'>,
  signer: string,
): Promise<UnknownAnchors> {
  const found: AnchoredStatement[] = []
  const earlier: AnchoredStatement[] = []
  const checkpoints: LogAnchorPayload[] = []
  let isKnown = false
  let read = 0
  let before: string | undefined
  for (let i = 0; i < MAX_PAGES && !isKnown; i++) {
    const page = await nodes.history(signer, { limit: PAGE, ...(before !== undefined && { before }) })
    const known = await knownPublications(
      db,
      page.map(({ tx }) => tx),
    )
    for (const { tx, memo, hasFailed } of page) {
      isKnown ||= known.has(tx)
      if (known.has(tx) || hasFailed || !SCHEMAS.some((schema) => memo?.includes(schema))) continue
      if ((isKnown && !(await namesOwnProof(db, memo))) || read++ >= MAX_READ) continue
      const wire = await nodes.wire(tx)
      const payload = wire && signedAnchor(wire, signer)
      if (payload && 'dg' in payload)
        (isKnown ? earlier : found).push({
          proofId: payload.pid,
          sequence: payload.seq,
          digest: payload.dg,
          tx,
          payload,
        })
      else if (payload) checkpoints.push(payload)
    }
    before = page.at(-1)?.tx
    if (page.length < PAGE) break
  }
  const unknown = await unknownStatements(db, isKnown ? found : [])
  const doubtful = await unknownStatements(db, isKnown ? earlier : found)
  const owned: AnchoredStatement[] = []
  for (const anchor of doubtful) if ((await findReceiptOfProof(db, anchor.proofId)) !== null) owned.push(anchor)
  return { statements: [...unknown, ...owned], checkpoints }
}

const PROOF = /"pid":"([0-9a-f]{32})"/

/** Trusts the memo that the node reports. */
async function namesOwnProof(db: Db, memo: string | null | undefined): Promise<boolean> {
  const proofId = PROOF.exec(memo ?? '')?.[1]
  return proofId !== undefined && (await findReceiptOfProof(db, proofId)) !== null
}

/** The part of this database's log that is anchored on the chain and missing from the database. */
export async function anchoredGap(db: Db, checkpoints: readonly LogAnchorPayload[]): Promise<LogGap | null> {
  if (checkpoints.length === 0) return null
  const { origin, size } = await findOwnLog(db)
  const own = checkpoints.filter(({ o }) => o === origin)
  const largest = Math.max(0, ...own.map(({ n }) => n))
  if (largest > size) return { kind: 'behind', missing: largest - size }
  const roots = await findCheckpointRoots(
    db,
    own.map(({ n }) => n),
  )
  return own.some(({ n, root }) => (roots.get(n) ?? root) !== root) ? { kind: 'forked', missing: 0 } : null
}

/** The anchor in a transaction, if the key signed it. The signature is checked: nodes are not trusted. */
function signedAnchor(wire: Uint8Array, signer: string): AnchorPayload | LogAnchorPayload | null {
  const { messageBytes, signatures } = getTransactionDecoder().decode(wire)
  const signature = Object.entries(signatures).find(([account]) => account === signer)?.[1]
  const key = ed25519PublicKeyFromBase58(signer)
  if (!signature || !key?.verify(new Uint8Array(messageBytes), new Uint8Array(signature))) return null
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
  if (message.version === 1) return null
  for (const { programAddressIndex, data } of message.instructions) {
    if (!data || !MEMO_PROGRAMS.includes(message.staticAccounts[programAddressIndex] ?? '')) continue
    const payload = readPayload(Buffer.from(data).toString())
    if (payload) return payload
  }
  return null
}

function readPayload(memo: string): AnchorPayload | LogAnchorPayload | null {
  try {
    const payload = JSON.parse(memo) as AnchorPayload | LogAnchorPayload
    if (payload.s === LOG_ANCHOR_SCHEMA) return isLogAnchor(payload as LogAnchorPayload) ? payload : null
    const { s, pid, dg, seq } = payload as AnchorPayload
    const isAnchor = s === ANCHOR_SCHEMA && typeof pid === 'string' && typeof dg === 'string'
    return isAnchor && Number.isSafeInteger(seq) ? payload : null
  } catch {
    return null
  }
}

function isLogAnchor({ o, n, root }: LogAnchorPayload): boolean {
  return typeof o === 'string' && typeof root === 'string' && Number.isSafeInteger(n)
}
