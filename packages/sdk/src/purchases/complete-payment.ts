// Pays a quote on chain exactly once. Each signed payment is recorded before it is sent, and no new payment is signed
// while a recorded one could land as well.

import type { PaymentLeg } from '@svc/api/quote'
import { toHex } from '@svc/protocol/bytes'
import { syncClock } from '../calls/clock.ts'
import { type Context, randomBytes } from '../context.ts'
import { PaymentError } from '../errors.ts'
import type { JournalEntry } from '../journal.ts'
import { abortable, unlessAborted } from '../wallets/abortable.ts'
import type { NetworkFee, SignedPayment, Wallet } from '../wallets/wallet.ts'
import {
  type PaymentAttempt,
  type PaymentRecord,
  recordAnswer,
  recordRefusal,
  type WalletRequest,
} from './payment-record.ts'
import { hasTime, type Payable } from './quote.ts'

/**
 * Called before each payment is signed, with the maximum fee of the network. False ends the purchase. The fee is null
 * if the wallet does not report it. `replaced` is a pending payment that the new one replaces, so that only one of the
 * two can land. It is null for an additional payment.
 */
export type Approve = (
  leg: PaymentLeg,
  fee: NetworkFee | null,
  replaced: SignedPayment | null,
) => boolean | Promise<boolean>

export interface PaymentTask<R extends PaymentRecord> {
  entry: JournalEntry<R>
  wallet: Wallet
  /** The first record. */
  begin: R
  /** Returns the leg to pay next. */
  payable: () => Promise<Payable>
  approve?: Approve | undefined
  signal?: AbortSignal | undefined
}

const POLL_MS = 1_000
/** After this many rounds the caller gets an error and can resume later. */
const MAX_ROUNDS = 300
const MAX_SIGNED = 3
/** Consecutive failures of a node before the purchase fails. */
const MAX_FAILURES = 10

/** Pays, and returns the payment that landed. */
export async function completePayment<R extends PaymentRecord>(
  context: Context,
  task: PaymentTask<R>,
): Promise<PaymentAttempt> {
  const { entry, begin, signal } = task
  const wallet = abortable(task.wallet, signal)
  const outcomeOf = tolerant(wallet, signal)
  let record = (await entry.read()) ?? begin
  let open: readonly PaymentAttempt[] = record.attempts
  let failure: unknown
  try {
    await syncClock(context, signal)
    for (let round = 0, signed = 0; round < MAX_ROUNDS; round++) {
      signal?.throwIfAborted()
      requirePayer(record, wallet)
      const outcomes = await Promise.all(record.attempts.map(({ payment }) => outcomeOf(payment)))
      const landed = record.attempts.find((_, i) => outcomes[i] === 'landed')
      if (landed) return landed
      // Payments that failed or expired moved no money.
      record = { ...record, attempts: record.attempts.filter((_, i) => outcomes[i] === 'pending') }
      open = record.attempts
      const newest = open.at(-1)
      if (record.asked) {
        failure = new PaymentError('may_have_moved', 'the wallet was asked to pay, but its answer is unknown')
        if (!(await foundSent(entry, wallet, record))) await context.wait(POLL_MS, signal)
      } else if (newest && hasTime(context, newest, 0)) {
        failure = await sendAgain(wallet, newest)
        if ((await outcomeOf(newest.payment)) === 'landed') return newest
        await context.wait(POLL_MS, signal)
      } else if (signed < MAX_SIGNED && (await signNext(context, task, record))) {
        signed++
      } else if (!newest && signed >= MAX_SIGNED) {
        throw new PaymentError('not_moved', `none of ${MAX_SIGNED} payments landed on the chain before they expired`)
      } else {
        await context.wait(POLL_MS, signal)
      }
      record = (await entry.read()) ?? begin
      open = record.attempts
    }
  } catch (error) {
    failure = error
    // Another process, or this one, may have asked a wallet since.
    record = (await entry.read().catch(() => null)) ?? record
  }
  throw paymentError(failure, open, record.asked)
}

/** Records a payment that the wallet made without an answer, if it is on chain. */
async function foundSent<R extends PaymentRecord>(
  entry: JournalEntry<R>,
  wallet: Wallet,
  { asked, ...record }: R,
): Promise<boolean> {
  const payment = asked && (await wallet.findSent?.(asked.leg).catch(() => null))
  if (!asked || !payment) return false
  const { leg, expiresAt } = asked
  return entry.write({ ...record, attempts: [...record.attempts, { leg, expiresAt, payment }] } as unknown as R) // without `asked`
}

function requirePayer({ payer }: PaymentRecord, { address }: Wallet): void {
  if (payer !== address) throw new PaymentError('not_moved', `this purchase was started by ${payer}, not by ${address}`)
}

/** Treats an outcome as pending while the node does not answer, up to a limit of failures. */
function tolerant(wallet: Wallet, signal: AbortSignal | undefined): Wallet['outcomeOf'] {
  let failures = 0
  return async (payment) => {
    try {
      const outcome = await wallet.outcomeOf(payment)
      failures = 0
      return outcome
    } catch (error) {
      if (++failures >= MAX_FAILURES || signal?.aborted) throw error
      return 'pending'
    }
  }
}

/** Returns an error instead of throwing it: only the outcome on chain is decisive. */
async function sendAgain(wallet: Wallet, { payment }: PaymentAttempt): Promise<unknown> {
  return wallet.send(payment).then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Signs and records the next payment. False if none may be made yet, or another process was faster. */
async function signNext<R extends PaymentRecord>(context: Context, task: PaymentTask<R>, record: R): Promise<boolean> {
  const { entry, payable, approve, signal } = task
  const wallet = abortable(task.wallet, signal)
  const open = record.attempts.at(-1)
  if (open && !wallet.signInstead) return false
  const next = await payable()
  const objection = await wallet.objection(next.leg)
  if (objection) throw new PaymentError('not_moved', `${wallet.address} ${objection}`)
  const fee = (approve && (await wallet.fee?.(next.leg, open?.payment))) ?? null
  if (approve && !(await approve(next.leg, fee, open?.payment ?? null)))
    throw new PaymentError('not_moved', 'the payment was not approved')
  if (wallet.findSent) return askToSend(task, record, { ...next, request: toHex(randomBytes(8)) }, fee)
  const payment = open
    ? await wallet.signInstead?.(open.payment, next.leg, fee?.amount)
    : await wallet.sign(next.leg, fee?.amount)
  // Signing in a wallet can take so long that the quote has nearly expired.
  if (!payment || !hasTime(context, next, wallet.landsWithin)) return false
  return entry.write({ ...record, attempts: [...record.attempts, { ...next, payment }] })
}

/**
 * Records the request before the wallet is asked, because the wallet sends immediately and its answer may be lost. The
 * answer is recorded even after the caller has stopped waiting.
 */
async function askToSend<R extends PaymentRecord>(
  { entry, wallet, begin, signal }: PaymentTask<R>,
  record: R,
  asked: WalletRequest,
  fee: NetworkFee | null,
): Promise<boolean> {
  signal?.throwIfAborted()
  if (!(await entry.write({ ...record, asked }))) return false
  const answer = wallet.sign(asked.leg, fee?.amount).then(
    (payment) => recordAnswer(entry, begin, asked, payment),
    async (error: unknown) => {
      if (error instanceof PaymentError && error.money === 'not_moved') await recordRefusal(entry, asked)
      throw error
    },
  )
  await unlessAborted(answer, signal)
  return true
}

/** The error of a purchase, which states whether money has moved. */
export function paymentError(
  failure: unknown,
  attempts: readonly PaymentAttempt[],
  asked: Payable | undefined = undefined,
): PaymentError {
  if (failure instanceof PaymentError && failure.money !== 'not_moved' && failure.tx !== null) return failure
  const tx = attempts.at(-1)?.payment.tx
  if (tx !== undefined || asked) {
    const message = 'the outcome of the payment is not certain yet; try again: nothing is paid twice'
    return new PaymentError('may_have_moved', message, { tx: tx ?? null, cause: failure })
  }
  if (failure instanceof PaymentError) return failure
  const why = failure instanceof Error ? failure.message : 'no payment could be made'
  return new PaymentError('not_moved', why, { cause: failure })
}
