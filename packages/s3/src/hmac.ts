// HMAC-SHA-256 by its definition (RFC 2104). A signature needs six with keys that are used once or twice, and Node's
// `createHmac` spends ten times as long on setting up a key.

import { hash } from 'node:crypto'

const BLOCK = 64

export function hmacSha256(key: Uint8Array, text: string): Buffer {
  const short = key.length > BLOCK ? hash('sha256', key, 'buffer') : key
  const length = Buffer.byteLength(text)
  const inner = Buffer.allocUnsafe(BLOCK + length)
  pad(inner, short, 0x36)
  inner.write(text, BLOCK)
  const outer = Buffer.allocUnsafe(BLOCK + 32)
  pad(outer, short, 0x5c)
  outer.set(hash('sha256', inner, 'buffer'), BLOCK)
  return hash('sha256', outer, 'buffer')
}

function pad(block: Buffer, key: Uint8Array, value: number): void {
  for (let i = 0; i < BLOCK; i++) block[i] = (key[i] ?? 0) ^ value
}
