// Amounts of money, which are never floats.

import { common } from '#texts/common'

/** Atomic units as a decimal amount. */
export function displayAmount(raw: string, decimals: number): string {
  if (!/^\d+$/.test(raw)) return raw
  const [whole, fraction] = withPoint(raw, decimals)
  return common.integer(whole) + fraction
}

const SOL_DECIMALS = 9

export function sol(lamports: number): string {
  return `${displayAmount(String(lamports), SOL_DECIMALS)} SOL`
}

/** The sum of two decimal texts. */
export function addDecimals(a: string, b: string): string {
  const places = Math.max(fractionOf(a).length, fractionOf(b).length)
  const atomic = (text: string) => BigInt(text.replace('.', '') + '0'.repeat(places - fractionOf(text).length))
  return withPoint(String(atomic(a) + atomic(b)), places).join('')
}

function fractionOf(text: string): string {
  return text.split('.')[1] ?? ''
}

function withPoint(digits: string, places: number): [whole: string, fraction: string] {
  const padded = digits.padStart(places + 1, '0')
  const point = padded.length - places
  const fraction = padded.slice(point).replace(/0+$/, '')
  return [padded.slice(0, point), fraction && `.${fraction}`]
}
