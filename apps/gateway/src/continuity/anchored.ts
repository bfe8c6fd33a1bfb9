// Holds the database against the chain: statements that this gateway has published and does not know.

import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit'
import type { SolanaNodes } from '@svc/chains/solana/nodes'
import { type AnchorPayload, MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { ANCHOR_SCHEMA } from '@svc/protocol/names'
import type { Db } from '../db/schema.ts'
import type { NotedStatement } from './entries.ts'
import { findReceiptOfProof, knownDigests, knownPublications } from './store.ts'

export interface AnchoredStatement extends NotedStatement {
  tx: string
  payload: AnchorPayload
}

const PAGE = 1000
/** Anybody may send transactions that name an address: how much of that is read has an end. */
const MAX_PAGES = 10
const MAX_READ = 500

/**
 * From the newest transaction of the publication key back to the newest that the database knows: it is noted there before
 * it is sent. Only what the key has signed counts. Statements of proofs that the database does not know are missing only
 * where it knows an earlier transaction of the key: otherwise they may be of another gateway that had the key before.
 */
export async function unknownAnchors(
  db: Db,
  nodes: Pick<SolanaNodes, 'history' | 'wire'>,
  signer: string,
): Promise<AnchoredStatement[]> {
  const found: AnchoredStatement[] = []
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
      if (isKnown) break
      if (hasFailed || !memo?.includes(ANCHOR_SCHEMA) || read++ >= MAX_READ) continue
      const wire = await nodes.wire(tx)
      const payload = wire && signedAnchor(wire, signer)
      if (payload)
        found.push({ kind: 'statement', proofId: payload.pid, sequence: payload.seq, digest: payload.dg, tx, payload })
    }
    before = page.at(-1)?.tx
    if (page.length < PAGE) break
  }
  const digests = await knownDigests(
    db,
    found.map(({ digest }) => digest),
  )
  const unknown = found.filter(({ digest }) => !digests.has(digest))
  if (isKnown) return unknown
  const owned: AnchoredStatement[] = []
  for (const anchor of unknown) if ((await findReceiptOfProof(db, anchor.proofId)) !== null) owned.push(anchor)
  return owned
}

/** The anchor in a transaction, if the key signed it; nodes are not believed. */
function signedAnchor(wire: Uint8Array, signer: string): AnchorPayload | null {
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

function readPayload(memo: string): AnchorPayload | null {
  try {
    const payload = JSON.parse(memo) as AnchorPayload
    const isAnchor = payload.s === ANCHOR_SCHEMA && typeof payload.pid === 'string' && typeof payload.dg === 'string'
    return isAnchor && Number.isSafeInteger(payload.seq) ? payload : null
  } catch {
    return null
  }
}
