// The purchase that the page shows: what is done next, and what became of it. Payments are recorded by the SDK's journal
// in this browser before they leave the page, so that a reload, a lost answer or a second tab never pays twice.

import { signal } from '@preact/signals'
import { findPayment } from '@svc/api/payment'
import type { PaymentLeg } from '@svc/api/quote'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Client, Journal, PurchaseRecord, Wallet } from '@svc/sdk'
import { publicUrl } from '../../gateway.ts'
import { createSignedClient } from '../../signed-client.ts'
import type { ConnectedWallet } from '../../wallets/wallet.ts'
import { type KeptPurchase, keep, type Order, readKept, removeKept, withPurchase } from './kept.ts'
import { type Problem, problemOf, unknownOutcome } from './problem.ts'

/** What the page waits for. */
export type Doing = 'quote' | 'checking' | 'wallet' | 'sending' | 'confirming' | 'looking' | 'other_tab'

export type Stage =
  | { at: 'choose'; problem: Problem | null }
  | { at: 'pay'; problem: Problem | null }
  | { at: 'working'; doing: Doing }
  /** A payment may have been made, or was made and not accepted. Nothing is paid before that is settled. */
  | { at: 'unsettled'; problem: Problem; isUnanswered: boolean }
  | { at: 'done'; receipt: SignedReceipt }
  | { at: 'gone' }

export type Checkout = ReturnType<typeof createCheckout>

/** Later than this after its end, the gateway no longer takes a payment of a quote. */
const LATE_MS = 24 * 3_600_000

export function createCheckout() {
  const purchase = signal<KeptPurchase | null>(null)
  const stage = signal<Stage>({ at: 'choose', problem: null })
  const wallet = signal<ConnectedWallet | null>(null)
  const leg = signal<PaymentLeg | null>(null)
  const method = signal(0)
  let running: AbortController | null = null
  let ended: Promise<void> = Promise.resolve()

  const setStage = (next: Stage) => {
    stage.value = next
  }
  const doing = (what: Doing) => setStage({ at: 'working', doing: what })

  /** Gets a quote for an order, and keeps it as a purchase. */
  async function begin(order: Order): Promise<void> {
    doing('quote')
    try {
      const { client } = await tools()
      const quote = await client.quote(order as Parameters<Client['quote']>[0])
      const id = [...crypto.getRandomValues(new Uint8Array(12))]
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('')
      const started = new Date().toISOString()
      show({ id, started, order, quotes: [quote], isShownElsewhere: false, receipt: null })
      setStage({ at: 'pay', problem: null })
    } catch (error) {
      setStage({ at: 'choose', problem: await problemOf(error) })
    }
  }

  function show(next: KeptPurchase): void {
    keep(next)
    purchase.value = next
  }

  /** Shows a purchase of this browser where it stands. */
  async function open(id: string): Promise<void> {
    stop()
    const kept = readKept(id)
    purchase.value = kept
    if (!kept) return setStage({ at: 'gone' })
    if (kept.receipt) return setStage({ at: 'done', receipt: kept.receipt })
    await settle()
  }

  function reset(): void {
    stop()
    purchase.value = null
    setStage({ at: 'choose', problem: null })
  }

  function stop(): void {
    running?.abort()
    running = null
  }

  /** Finds out what became of payments that were begun; if there are none, the purchase can be paid. */
  const settle = (problem: Problem | null = null) => run((signal) => settleNow(signal, problem))

  async function settleNow(signal: AbortSignal, problem: Problem | null = null): Promise<void> {
    doing('checking')
    const { sdk, journal, client } = await tools()
    const { id } = current()
    const place = { journal, baseUrl: baseUrl() }
    const record = await sdk.readPurchase(place, id)
    if (record?.receipt) return finish(record.receipt)
    if (record && (record.attempts.length > 0 || record.asked)) {
      const { watchedPayer } = await import('../../wallets/payers.ts')
      const payer = await watchedPayer(record.payer)
      const receipt = await resume(record, payer, signal)
      if (receipt) return finish(receipt)
      await sdk.releaseUnpaid(place, id, payer)
    }
    const paid = current().isShownElsewhere ? await findElsewhere(client) : null
    if (paid) return finish(paid)
    setStage({ at: 'pay', problem })
  }

  /** Goes on with payments of a wallet that is not connected; null if all of them are void. */
  async function resume(record: PurchaseRecord, payer: Wallet, signal: AbortSignal): Promise<SignedReceipt | null> {
    const { sdk, journal } = await tools()
    const notConnected = async (): Promise<never> => {
      throw new sdk.PaymentError('not_moved', 'the wallet is not connected')
    }
    const client = await createSignedClient({ address: payer.address, sign: notConnected }, journal)
    const asset = record.order.pay_asset
    try {
      return await client.buyQuoted({
        ...goods(),
        intent: current().id,
        wallet: observed(payer, doing),
        ...(typeof asset === 'string' && { asset }),
        quote: notConnected,
        signal,
      })
    } catch (error) {
      if (error instanceof sdk.PaymentError && error.money === 'not_moved') return null
      throw error
    }
  }

  /** Pays a leg of the newest quote with a connected wallet. */
  const pay = ({ signer, payer }: ConnectedWallet, leg: PaymentLeg) =>
    run(async (signal) => {
      doing('checking')
      const { journal, client: plain } = await tools()
      // It may have been paid from a phone meanwhile.
      const paid = current().isShownElsewhere ? await findElsewhere(plain) : null
      if (paid) return finish(paid)
      const client = await createSignedClient(signer, journal)
      const receipt = await client.buyQuoted({
        ...goods(),
        intent: current().id,
        wallet: observed(payer, doing),
        asset: leg.extra.name,
        quote: async () => newestQuote(),
        approve: ({ extra, amount }) => extra.pay_req_id === leg.extra.pay_req_id && amount === leg.amount,
        signal,
      })
      finish(receipt)
    })

  /** Another quote in place of one that has ended. Payments of all before it are still looked for. */
  const renewQuote = () =>
    run(async () => {
      doing('quote')
      const { client } = await tools()
      const paid = current().isShownElsewhere ? await findElsewhere(client) : null
      if (paid) return finish(paid)
      const quote = await client.quote(current().order as Parameters<Client['quote']>[0])
      show({ ...current(), quotes: [...current().quotes, quote] })
      setStage({ at: 'pay', problem: null })
    })

  /** Noted before anybody can see how to pay elsewhere. */
  function showElsewhere(): void {
    if (!current().isShownElsewhere) show({ ...current(), isShownElsewhere: true })
  }

  /** Looks once for a payment that was made elsewhere. */
  async function look(): Promise<void> {
    if (running || stage.value.at !== 'pay') return
    const { client } = await tools()
    const paid = await findElsewhere(client).catch(() => null)
    if (paid && stage.value.at === 'pay') await run(async () => finish(paid))
  }

  async function findElsewhere(client: Client): Promise<SignedReceipt | null> {
    for (const quote of [...current().quotes].reverse()) {
      const { pay_req_id, expires_at } = quote.extensions.svc.info
      if (Date.parse(expires_at) + LATE_MS < Date.now()) continue
      const { payment } = (await client.call(findPayment, { body: { pay_req_id } })).body
      const leg = payment && quote.accepts.find((one) => isPrimary(one) && one.extra.name === payment.pay_asset)
      if (leg) return client.confirm({ leg, tx: payment.tx })
    }
    return null
  }

  /** Shows the gateway a transaction that was made elsewhere. */
  const confirmTransaction = (tx: string, preferred: PaymentLeg | null) => {
    const isUnsettled = stage.value.at !== 'pay'
    return run(
      async () => {
        doing('confirming')
        const { sdk, client } = await tools()
        const family = tx.startsWith('0x') ? 'eip155:' : 'solana:'
        const legs = [...current().quotes]
          .reverse()
          .flatMap(({ accepts }) => accepts)
          .filter(({ network }) => network.startsWith(family))
          .sort((a, b) => Number(isSameLeg(b, preferred)) - Number(isSameLeg(a, preferred)))
        let first: unknown = null
        for (const leg of legs) {
          try {
            return finish(await client.confirm({ leg, tx }))
          } catch (error) {
            first ??= error
            // Another leg or an earlier quote may be what it paid.
            const { cause } = error as Error
            if (!sdk.isGatewayError(cause, 'payment_verification_failed', 'quote_expired')) throw error
          }
        }
        throw first
      },
      isUnsettled ? 'unsettled' : 'pay',
    )
  }

  /** Whether only the payer's wallet knows what it has sent. */
  async function isUnanswered(): Promise<boolean> {
    const { sdk, journal } = await tools()
    const record = await sdk.readPurchase({ journal, baseUrl: baseUrl() }, current().id)
    return Boolean(record?.asked) || Boolean(record?.attempts.some(({ payment }) => payment.raw === ''))
  }

  /** Waits no longer for a payment that was sent. */
  async function doubt(): Promise<void> {
    stop()
    await ended
    if (stage.value.at !== 'working') return
    setStage({ at: 'unsettled', problem: unknownOutcome(), isUnanswered: await isUnanswered() })
  }

  /** On the word of the payer, who has looked into the wallet. */
  async function nothingWasSent(): Promise<void> {
    stop()
    await run(async (signal) => {
      const { sdk, journal } = await tools()
      await sdk.forgetUnansweredPayment({ journal, baseUrl: baseUrl() }, current().id)
      await settleNow(signal)
    })
  }

  async function remove(id: string): Promise<void> {
    const { sdk, journal } = await tools()
    await sdk.forgetPurchase({ journal, baseUrl: baseUrl() }, id)
    removeKept(id)
    if (purchase.value?.id === id) reset()
  }

  /** One thing after another. What is begun ends what runs. After a failure, the page is where that leaves it. */
  function run(work: (signal: AbortSignal) => Promise<void>, afterwards?: 'pay' | 'unsettled'): Promise<void> {
    stop()
    const mine = new AbortController()
    running = mine
    // What was stopped still holds the purchase for a moment.
    ended = ended.then(() => runLocked(work, mine, afterwards))
    return ended
  }

  /** If another tab was at work, what it has done comes first. */
  async function runLocked(
    work: (signal: AbortSignal) => Promise<void>,
    mine: AbortController,
    afterwards: 'pay' | 'unsettled' | undefined,
  ): Promise<void> {
    const { signal } = mine
    if (signal.aborted) return
    let hasWaited = false
    const onWait = () => {
      hasWaited = true
      doing('other_tab')
    }
    const reread = async () => {
      if (signal.aborted) return
      const kept = readKept(current().id)
      if (kept) purchase.value = kept
      if (kept?.receipt) return finish(kept.receipt)
      return hasWaited ? settleNow(signal) : work(signal)
    }
    try {
      await withPurchase(current().id, signal, reread, onWait)
    } catch (error) {
      if (signal.aborted) return
      const problem = await problemOf(error)
      const next = afterwards ?? (problem.money === 'not_moved' ? 'pay' : 'unsettled')
      setStage(
        next === 'pay' ? { at: 'pay', problem } : { at: 'unsettled', problem, isUnanswered: await isUnanswered() },
      )
    } finally {
      if (running === mine) running = null
    }
  }

  function finish(receipt: SignedReceipt): void {
    show({ ...current(), receipt })
    setStage({ at: 'done', receipt })
  }

  function current(): KeptPurchase {
    if (!purchase.value) throw new Error('no purchase is shown')
    return purchase.value
  }

  function newestQuote() {
    return current().quotes.at(-1) as KeptPurchase['quotes'][number] // at least one, by its making
  }

  /** Typed by the quote that the gateway gave for it. */
  function goods() {
    const { units, provider, extends: of } = current().order
    return { units, ...(provider && { provider: provider as 'gcs' }), ...(of && { extends: of }) }
  }

  return {
    purchase,
    stage,
    /** The wallet that is connected. */
    wallet,
    /** What the buyer wants to pay with; null for the first. */
    leg,
    /** How the buyer wants to pay, by its place among the tabs. */
    method,
    begin,
    open,
    reset,
    settle,
    pay,
    renewQuote,
    showElsewhere,
    look,
    confirmTransaction,
    doubt,
    nothingWasSent,
    remove,
  }
}

/** Loaded with the first purchase. */
async function tools() {
  const sdk = await import('@svc/sdk')
  const journal: Journal = sdk.storageJournal()
  return { sdk, journal, client: await createSignedClient(null, journal) }
}

/** As the client has it. */
function baseUrl(): string {
  return publicUrl().replace(/\/+$/, '')
}

/** The wallet, and what it does for people to see. */
function observed(wallet: Wallet, doing: (what: Doing) => void): Wallet {
  const { findSent } = wallet
  return {
    ...wallet,
    async sign(leg, maxFee) {
      doing('wallet')
      const signed = await wallet.sign(leg, maxFee)
      doing('sending')
      return signed
    },
    async outcomeOf(payment) {
      const outcome = await wallet.outcomeOf(payment)
      doing(outcome === 'landed' ? 'confirming' : 'sending')
      return outcome
    },
    ...(findSent && {
      findSent: (leg: PaymentLeg) => {
        doing('looking')
        return findSent(leg)
      },
    }),
  }
}

export function isPrimary({ network }: PaymentLeg): boolean {
  return network.startsWith('solana:')
}

export function isSameLeg(leg: PaymentLeg, other: PaymentLeg | null): boolean {
  return other !== null && leg.network === other.network && leg.asset === other.asset
}
