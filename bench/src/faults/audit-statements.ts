import { verifyStatement } from '@svc/verifier/verify-statement'
import { lockersOf } from '../mixed/ledger.ts'
import type { Audit } from './check.ts'

interface Statement {
  sequence: number
  statement_digest: string
  prev_statement_digest: string | null
  anchor: { tx: string } | null
  envelope: Record<string, unknown>
}

/** Checks that the chain of each receipt is complete and signed, and contains every acknowledged statement. */
export async function auditStatements({ ledger, ask, each, check, keys }: Audit): Promise<void> {
  const linked = check('sequences have no gaps, and each statement names its predecessor')
  const stored = check('every acknowledged statement and anchor is stored')
  await each(lockersOf(ledger), async ({ receiptId, statements, anchors }) => {
    const chain = (await ask(`/v1/storage/statements?receipt_id=${receiptId}&limit=1000&envelopes=true`)).body
      .statements as Statement[]
    for (const [i, { sequence, prev_statement_digest, envelope }] of chain.entries()) {
      linked.checked++
      const before = chain[i - 1]?.statement_digest ?? null
      const { failed } = verifyStatement(envelope as never, { pinnedKeys: keys })
      if (sequence !== i + 1 || prev_statement_digest !== before || failed.length > 0)
        linked.broken.push(`${receiptId} statement ${sequence} (after ${i}) ${failed.join(' ')}`)
    }
    for (const [sequence, digest] of statements) {
      stored.checked++
      if (chain[sequence - 1]?.statement_digest !== digest) stored.broken.push(`${receiptId} statement ${sequence}`)
    }
    for (const [sequence, tx] of anchors) {
      stored.checked++
      if (chain[sequence - 1]?.anchor?.tx !== tx) stored.broken.push(`${receiptId} anchor ${sequence}`)
    }
  })
}
