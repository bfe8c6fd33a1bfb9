import type { PaymentLeg } from '@svc/api/quote'
import type { Wallet } from '@svc/sdk'

/** The steps of a wallet in a payment. */
export type PaymentStep = 'wallet' | 'sending' | 'confirming' | 'looking'

/** Wraps a wallet so that its steps can be shown. */
export function observed(wallet: Wallet, onStep: (step: PaymentStep) => void): Wallet {
  const { findSent } = wallet
  return {
    ...wallet,
    async sign(leg, maxFee) {
      onStep('wallet')
      const signed = await wallet.sign(leg, maxFee)
      onStep('sending')
      return signed
    },
    async outcomeOf(payment) {
      const outcome = await wallet.outcomeOf(payment)
      onStep(outcome === 'landed' ? 'confirming' : 'sending')
      return outcome
    },
    ...(findSent && {
      findSent: (leg: PaymentLeg) => {
        onStep('looking')
        return findSent(leg)
      },
    }),
  }
}
