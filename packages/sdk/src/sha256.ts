import { toHex } from '@svc/protocol/bytes'
import { sha256Hex as sha256HexNow } from '@svc/protocol/sha256'

/** Hashes with Web Crypto where it exists. Pages that were not loaded over HTTPS do not have it. */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle
  return subtle ? toHex(new Uint8Array(await subtle.digest('SHA-256', bytes as BufferSource))) : sha256HexNow(bytes)
}
