// Signed uploads, opened the way a server opens them.

import { crc32 } from 'node:zlib'
import { openPayload, type Payload } from '../src/payload.ts'
import { arriving } from './chunked-body.ts'
import { check, sign } from './signing.ts'

export const SIGNED = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
export const SIGNED_TRAILER = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'
export const UNSIGNED_TRAILER = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'

export function crc32Of(bytes: Buffer): string {
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crc32(bytes))
  return crc.toString('base64')
}

export async function collect({ bytes }: Payload): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of bytes) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

/** A PUT with these headers, and the outcome of its body. */
export async function open(
  headers: Record<string, string>,
  body: Buffer | ((seed: string) => Promise<Buffer>),
  lengths?: number[],
) {
  const head = await sign({ method: 'PUT', path: '/bucket/key', headers })
  const signed = check(head)
  const bytes = typeof body === 'function' ? await body(signed.authorization.signature) : body
  return openPayload(head, signed, arriving(bytes, lengths))
}

export async function codeOf(run: Promise<Payload>): Promise<string> {
  try {
    await collect(await run)
    return 'accepted'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}
