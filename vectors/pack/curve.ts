// Program-derived addresses: hashes that are not points of the curve.

import { base58, fromBase58, sha256 } from './formats.ts'

const P = 2n ** 255n - 19n

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let [square, rest] = [base % P, exponent]; rest > 0n; rest >>= 1n, square = (square * square) % P) {
    if (rest & 1n) result = (result * square) % P
  }
  return result
}

const D = ((P - 121665n) * power(121666n, P - 2n)) % P

/** Whether x² = (y² - 1) / (d·y² + 1) has a solution. */
function isPoint(bytes: Uint8Array): boolean {
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) & (2n ** 255n - 1n)
  const y2 = (y * y) % P
  const x2 = ((y2 + P - 1n) * power((D * y2 + 1n) % P, P - 2n)) % P
  return x2 === 0n || power(x2, (P - 1n) / 2n) === 1n
}

export function derivedAddress(program: string, ...seeds: Uint8Array[]): string {
  for (let bump = 255; ; bump--) {
    const parts = [...seeds, Uint8Array.of(bump), fromBase58(program, 32), Buffer.from('ProgramDerivedAddress')]
    const candidate = Buffer.from(sha256(Buffer.concat(parts)), 'hex')
    if (!isPoint(candidate)) return base58(candidate)
  }
}
