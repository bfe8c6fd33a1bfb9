// Dollars as whole millionths: money is never a floating-point number.

import { amountText, atomicAmount } from '@svc/sdk/money'

const DECIMALS = 6

/** Of text like `2` or `0.25`; null for anything else. */
export function microDollars(text: string): bigint | null {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? atomicAmount(text, DECIMALS) : null
}

/** `0.25`, with at least two digits after the point. */
export function dollarText(micro: bigint): string {
  const [whole = '', fraction = ''] = amountText(micro, DECIMALS).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
