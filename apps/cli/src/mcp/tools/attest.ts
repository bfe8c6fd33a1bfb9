import { PushResult } from '@svc/api/attestations'
import { lockerOf } from '@svc/sdk'
import Type from 'typebox'
import { requireOwner } from '../context.ts'
import { counted } from '../server/readable.ts'
import { ReceiptId, STRICT, tool } from './tool.ts'

export const attest = tool({
  name: 'attest',
  title: 'Attest the content of a locker',
  description:
    'Has the gateway sign a statement of exactly the files in the locker (at least one), and publish it on chain if the ' +
    'gateway publishes. The statement is checked here. Free; if nothing has changed, the existing one is returned. ' +
    'Statements are never deleted.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: Type.Object({ receipt_id: ReceiptId }, STRICT),
  output: Type.Object({
    receipt_id: Type.String(),
    unchanged: Type.Boolean({ description: 'Whether the last statement is still true, so that no new one was made.' }),
    sequence: Type.Integer({ description: 'The number of this statement for this receipt.' }),
    statement_digest: Type.String(),
    merkle_root: Type.String({ description: 'Commits to names, sizes and hashes of all files.' }),
    file_count: Type.Integer(),
    total_bytes: Type.Integer(),
    attested_at: Type.String(),
    publication: PushResult.properties.status,
    anchor_tx: Type.Union([Type.String(), Type.Null()]),
  }),
  async run(context, { receipt_id }, { signal, progress }) {
    requireOwner(context)
    progress(0, 1, 'attesting')
    const { attestation, unchanged, push_result } = await context.client.attest(lockerOf(receipt_id), { signal })
    const { merkle_root, file_count, total_bytes, attested_at, envelope } = attestation
    const sequence = envelope?.body.sequence ?? 0
    const anchor_tx = push_result.anchor?.tx ?? null
    const published = anchor_tx
      ? `on chain in ${anchor_tx}`
      : `not on chain (${push_result.reason ?? push_result.status})`
    return {
      text:
        `Statement ${sequence}${unchanged ? ', as before: nothing has changed' : ''}: ${counted(file_count, 'file')}, ` +
        `${merkle_root}, signed, ${published}. \`verify\` checks it.`,
      data: {
        receipt_id,
        unchanged,
        sequence,
        statement_digest: envelope?.statement_digest ?? '',
        merkle_root,
        file_count,
        total_bytes,
        attested_at,
        publication: push_result.status,
        anchor_tx,
      },
    }
  },
})
