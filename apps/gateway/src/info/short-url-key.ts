import { toHex } from '@svc/protocol/bytes'
import type { Context } from '../context.ts'

export function shortUrlVerifyKey({ signers }: Context) {
  return {
    verify_key_hex: toHex(signers.shortUrl.publicKey),
    algorithm: 'ed25519',
    usage: 'short_url_token_verification',
  } as const
}
