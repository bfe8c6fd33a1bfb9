// What both families of chains have in common: nodes of the right chain, a transaction that is sent once, a payment that
// our readers accept.

import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import type { Network } from '@svc/api/networks'
import { poll } from '@svc/concurrency/retry'
import { type Finality, familyOf } from '@svc/payments/families'
import { judgePayment } from '@svc/payments/payment'
import { sendOnce } from '@svc/payments/transactions'
import { paymentReference } from '@svc/protocol/ids'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import { requireThat } from './trial.ts'

/** How long a transaction may take until it is as final as it must be. */
export const WAIT_MS = 90_000
const ATTEMPTS = 3

export interface Access {
  rpcUrls: readonly string[]
  quorum: number
  finality: Finality | undefined
}

/** Each node shows the genesis hash or the chain id before it answers anything else. */
export async function requireNodes(network: Network, { rpcUrls }: Access): Promise<void> {
  for (const url of rpcUrls) {
    const { probe } = familyOf(network).open(network, { rpcUrls: [url], quorum: 1 }, undefined)
    // The rest of the address may be a secret.
    requireThat(await probe.isAvailable(), `${URL.parse(url)?.host} does not answer, or is on another chain`)
  }
}

interface Sending<Signed> {
  sign(): Promise<Signed>
  send(signed: Signed): Promise<unknown>
  watch(signed: Signed): Promise<{ outcome: TransactionOutcome }>
}

/** As the gateway does: recorded before it is sent, and resolved before another is signed in its place. */
export function land<Signed extends { tx: string }>(network: Network, { sign, send, watch }: Sending<Signed>) {
  let stored: Signed | null = null
  return sendOnce<Signed, Signed>({
    async resolve(round) {
      if (stored === null) return null
      const signed: Signed = stored
      const { outcome } = await watch(signed)
      if (outcome === 'landed') return signed
      requireThat(outcome === 'expired' && round < ATTEMPTS, `transaction ${signed.tx} is ${outcome}`)
      stored = null
      return null
    },
    sign,
    async record(signed) {
      stored = signed
      console.log(`  sends ${network.explorer}${signed.tx}`)
      return true
    },
    send,
  })
}

export function newQuote() {
  const payReqId = `pr_${randomBytes(16).toString('hex')}`
  return { payReqId, reference: paymentReference(payReqId), createdAt: Math.floor(Date.now() / 1000) }
}

interface Paid extends ReturnType<typeof newQuote> {
  tx: string
  payTo: string
  payer: string
  amount: bigint
}

/** The gateway's own reading and judgement of a payment. */
export async function requirePaid(network: Network, access: Access, paid: Paid): Promise<void> {
  const { tx, payTo, payer, amount, payReqId, reference, createdAt } = paid
  const { reader } = familyOf(network).open(network, access, access.finality)
  const destination = { asset: network.nativeAsset, payTo }
  const ask = async () => {
    const reading = await reader.read(tx, destination)
    return reading.outcome === 'not_found' || reading.outcome === 'unavailable' ? null : reading
  }
  const found = await poll(ask, { intervalMs: 500, timeoutMs: WAIT_MS })
  requireThat(found?.outcome === 'found', `the payment ${tx} is ${inspect(found)}`)
  const now = Math.floor(Date.now() / 1000)
  const terms = { amount, payReqIds: [payReqId], createdAt, expiresAt: now + 60, skewSeconds: 30, now }
  const judgement = judgePayment(found, terms)
  requireThat(judgement.paid, `the payment ${tx} is refused: ${inspect(judgement)}`)
  const isOurs = found.payer === payer && found.received === amount && found.references.includes(reference)
  requireThat(isOurs, `${found.payer} paid ${found.received} for ${found.references.join(', ') || 'no quote'}`)
}
