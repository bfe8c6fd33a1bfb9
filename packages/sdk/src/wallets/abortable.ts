import type { Wallet } from './wallet.ts'

/** Rejects as soon as the signal is aborted. Payments that the wallet signs after that are discarded, never sent. */
export function abortable(wallet: Wallet, signal: AbortSignal | undefined): Wallet {
  const { signInstead, fee, findSent } = wallet
  return {
    ...wallet,
    objection: (leg) => unlessAborted(wallet.objection(leg), signal),
    ...(fee && { fee: (leg, instead) => unlessAborted(fee(leg, instead), signal) }),
    sign: (leg, maxFee) => unlessAborted(wallet.sign(leg, maxFee), signal),
    ...(signInstead && { signInstead: (of, leg, maxFee) => unlessAborted(signInstead(of, leg, maxFee), signal) }),
    ...(findSent && { findSent: (leg) => unlessAborted(findSent(leg), signal) }),
    send: (payment) => unlessAborted(wallet.send(payment), signal),
    outcomeOf: (payment) => unlessAborted(wallet.outcomeOf(payment), signal),
  }
}

export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}
