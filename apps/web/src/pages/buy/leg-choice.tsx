// The choice of the asset, and of the network that it is paid on.

import type { PaymentLeg } from '@svc/api/quote'
import { texts } from '#texts/buy'
import { Field } from '../../ui/field.tsx'
import { networkTitle, shortAmount } from '../../ui/names.ts'
import type { Checkout } from './checkout.ts'
import { isSameLeg } from './steps.ts'

const t = texts.pay

/** The leg that the buyer chose, or else the one in dollars, or the first. */
export function chosenLeg(legs: readonly PaymentLeg[], chosen: PaymentLeg | null): PaymentLeg {
  const leg = legs.find((one) => isSameLeg(one, chosen)) ?? legs.find(({ extra }) => extra.name === 'USDC') ?? legs[0]
  return leg as PaymentLeg // there is at least one
}

interface LegChoiceProps {
  checkout: Checkout
  /** At least one. */
  legs: readonly PaymentLeg[]
  hint?: string
}

export function LegChoice({ checkout, legs, hint }: LegChoiceProps) {
  const chosen = chosenLeg(legs, checkout.leg.value)
  return (
    <Field label={t.asset} hint={hint}>
      {(control) => (
        <select
          {...control}
          onChange={(event) => {
            checkout.leg.value = legs[event.currentTarget.selectedIndex] ?? null
          }}
        >
          {legs.map((leg) => (
            <option key={keyOf(leg)} value={keyOf(leg)} selected={leg === chosen}>
              {t.leg(leg.extra.name, networkTitle(leg.network), shortAmount(leg.extra.human_amount))}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function keyOf({ network, asset }: PaymentLeg): string {
  return `${network} ${asset}`
}
