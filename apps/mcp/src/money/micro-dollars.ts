// Dollars as whole millionths: money is never a fraction in floating point.

const FRACTION_DIGITS = 6

/** Of text like `2` or `0.25`; null for anything else. */
export function microDollars(text: string): bigint | null {
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text)
  if (!match) return null
  return BigInt((match[1] as string) + (match[2] ?? '').padEnd(FRACTION_DIGITS, '0'))
}

/** `0.25`, and at least two digits behind the point. */
export function dollarText(micro: bigint): string {
  const digits = micro.toString().padStart(FRACTION_DIGITS + 1, '0')
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -FRACTION_DIGITS)}.${fraction}`
}
