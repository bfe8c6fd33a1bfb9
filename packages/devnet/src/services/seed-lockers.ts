// Writes receipts, lockers and files directly into a gateway's database: for tests that are not about buying, and for
// lockers that are too large to fill over HTTP.

import { createHash, randomBytes } from 'node:crypto'
import type { PaymentLeg } from '@svc/api/quote'
import type { Context } from '@svc/gateway/context'
import { createLocker } from '@svc/gateway/lockers/create-locker'
import { insertPayRequest, insertReceipt } from '@svc/gateway/purchases/store'
import { isoSeconds } from '@svc/protocol/evidence'
import { receiptId } from '@svc/protocol/ids'
import { receiptMessage, type SignedReceipt, signedReceipt } from '@svc/protocol/receipt'
import { writable } from '../writable.ts'

export interface SeededPurchase {
  /** Base58, or an EVM address. */
  owner: string
  provider?: string
  units?: number
  /** The transaction that paid. */
  tx?: string
  /** The legs of its quote; none by default. */
  accepts?: readonly PaymentLeg[]
}

/** A receipt without a purchase. */
export async function seedReceipt(context: Context, purchase: SeededPurchase): Promise<SignedReceipt> {
  const { owner, provider = 'gcs', units = 1, accepts } = purchase
  const id = randomBytes(16).toString('hex')
  const { tx: tx_hash = `tx_${id}` } = purchase
  const { config, database, signers } = context
  const createdAt = Math.floor(context.now() / 1000)
  const extensions = { svc: { terms: config.payments.terms[provider as 'gcs'] } }
  const quote = JSON.stringify({ extensions, ...(accepts && { accepts }) })
  await database.commit((tx) =>
    insertPayRequest(tx, {
      pay_req_id: `pr_${id}`,
      provider,
      units,
      quote,
      created_at: createdAt,
      expires_at: createdAt + 300,
    }),
  )
  const isEvm = owner.startsWith('0x')
  const unsigned = {
    receipt_id: receiptId(`pr_${id}`, tx_hash),
    pay_req_id: `pr_${id}`,
    proof_id: randomBytes(16).toString('hex'),
    paid_amount: '1',
    paid_raw: '1',
    pay_asset: 'USDC',
    network: isEvm ? 'evm-mainnet' : 'primary-mainnet',
    ...(isEvm ? { block_number: 1 } : { slot: 1 }),
    sig_alg: isEvm ? 'secp256k1' : 'ed25519',
    tx_hash,
    payer_pubkey: owner,
    units,
    confirmed_at: isoSeconds(createdAt),
    result_hash: '',
  } as const
  const signature = await signers.statement.sign(receiptMessage(unsigned))
  const receipt = signedReceipt(unsigned, signers.statement.publicKey, signature)
  await insertReceipt(writable(database.db), receipt)
  return receipt
}

/** An open locker. */
export async function seedLocker(context: Context, { tags = [], ...purchase }: SeededPurchase & { tags?: string[] }) {
  const receipt = await seedReceipt(context, purchase)
  const { provider = 'gcs' } = purchase
  const quote = JSON.stringify({ extensions: { svc: { terms: context.config.payments.terms[provider as 'gcs'] } } })
  const made = await writable(context.database.db)
    .transaction()
    .execute((tx) =>
      createLocker(tx, () => {}, {
        receipt,
        request: { provider, quote },
        tags,
        createdAt: Math.floor(context.now() / 1000),
        maxPerOwner: Number.MAX_SAFE_INTEGER,
      }),
    )
  if (made.outcome === 'refused') throw made.refusal
  return made.locker
}

const ROWS_AT_ONCE = 1000

/** Confirmed files named `folder-<i>/file-<i>.txt`, without bytes in storage. */
export async function seedFiles({ database, now }: Context, lockerId: string, count: number): Promise<void> {
  const at = isoSeconds(Math.floor(now() / 1000))
  await writable(database.db)
    .transaction()
    .execute(async (tx) => {
      for (let first = 0; first < count; first += ROWS_AT_ONCE) {
        const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - first) }, (_, i) =>
          fileRow(lockerId, first + i, at),
        )
        await tx.insertInto('files').values(rows).execute()
      }
      await tx
        .updateTable('lockers')
        .set({ file_count: count, total_bytes: count * FILE_BYTES, manifest_version: 1, manifest_changed_at: at })
        .where('locker_id', '=', lockerId)
        .execute()
    })
}

const FILE_BYTES = 100

function fileRow(locker_id: string, index: number, at: string) {
  const number = String(index).padStart(7, '0')
  return {
    locker_id,
    filename: `folder-${number.slice(0, 4)}/file-${number}.txt`,
    content_type: 'text/plain',
    expected_hash: null,
    object_id: createHash('sha256').update(`${locker_id} ${index}`).digest('hex').slice(0, 32),
    provider_ref: null,
    size_bytes: FILE_BYTES,
    content_hash: `sha256:${createHash('sha256').update(number).digest('hex')}`,
    uploaded_at: at,
    hash_recorded_at: at,
    upload_content_type: 'text/plain',
    upload_expected_hash: null,
    upload_object_id: null,
  }
}
