// From a quote to an open locker.

import { isDeepStrictEqual } from 'node:util'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { type PayableLeg, payLeg } from '@svc/devnet/pay-leg'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Identity, evmIdentity, type Identity } from '@svc/devnet/services/signing'
import type { Request } from './client.ts'
import type { LockerEntry, Payment } from './ledger.ts'
import type { Shopper } from './shopper.ts'

/** A payer and its chain. An EVM payer sends one transaction at a time, so each belongs to one buyer. */
export interface Payer {
  index: number
  network: 'primary-mainnet' | 'evm-mainnet'
  identity: Identity
}

export const PRIMARY_PAYERS: readonly Payer[] = DEMO_PAYERS.map((payer, index) => ({
  index,
  network: 'primary-mainnet',
  identity: ed25519Identity(payer.privateKeyBytes),
}))

/** All EVM development accounts except the last two, which own the registry and send x402 payments. */
export const EVM_PAYERS: readonly Payer[] = DEV_PAYERS.slice(0, -2).map((payer, index) => ({
  index,
  network: 'evm-mainnet',
  identity: evmIdentity(Buffer.from(payer.privateKey.slice(2), 'hex')),
}))

/** Returns null when the gateway does not answer for too long. The ledger then contains any payment made. */
export async function buyLocker(shopper: Shopper, payer: Payer): Promise<LockerEntry | null> {
  const { ledger, chains, attempt, client, random } = shopper
  const order = { units: 1, pay_network: payer.network, pay_asset: 'USDC', provider: random.pick(shopper.providers) }
  const quote = await attempt(402, () =>
    client.send({ operation: 'quote', method: 'POST', path: '/v1/storage/request', body: order }),
  )
  if (!quote) return null
  const quotedAt = performance.now()
  const [leg] = quote.body.accepts as [PayableLeg]
  const tx = await payLeg(chains, leg, { payer: payer.index })
  const payment: Payment = { leg, tx, quotedAt, owner: payer.identity, receipt: null, locker: null }
  ledger.payments.push(payment)
  return completePurchase(shopper, payment)
}

/** Confirms a payment and opens its locker, continuing from any interrupted step. */
export async function completePurchase(shopper: Shopper, payment: Payment): Promise<LockerEntry | null> {
  const { attempt, client, ledger } = shopper
  const confirmed = await attempt(200, () => client.send(confirmation(payment)))
  if (!confirmed) return null
  const receipt = confirmed.body.receipt as { receipt_id: string }
  if (payment.receipt && !isDeepStrictEqual(payment.receipt, receipt))
    ledger.violations.push(`the payment ${payment.tx} has two receipts`)
  payment.receipt ??= receipt
  const { receipt_id: receiptId } = receipt
  const provisioned = await shopper.signed(payment.owner, 'open locker', {
    method: 'POST',
    path: '/v1/storage/signed_provision',
    body: { receipt_id: receiptId },
    receiptId,
    ops: ['locker:provision'],
  })
  if (!provisioned) return null
  const { locker_id: lockerId } = provisioned.space as { locker_id: string }
  const { owner } = payment
  payment.locker ??= newLocker({ receiptId, lockerId, owner })
  return payment.locker
}

function newLocker(of: Pick<LockerEntry, 'receiptId' | 'lockerId' | 'owner'>): LockerEntry {
  return { ...of, files: new Map(), statements: new Map(), anchors: new Map(), operators: new Map() }
}

export function confirmation({ leg, tx }: Pick<Payment, 'leg' | 'tx'>): Request {
  const body = { pay_req_id: leg.extra.pay_req_id }
  return {
    operation: 'confirm payment',
    method: 'POST',
    path: '/v1/storage/confirm',
    body,
    headers: { 'x402-tx': tx },
  }
}
