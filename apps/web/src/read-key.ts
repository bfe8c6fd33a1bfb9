// Reads a private key that is pasted or opened as a file. Only its signatures leave the page.

import type { Signer } from '@svc/sdk/signers'

export class UnreadableKey extends Error {
  override name = 'UnreadableKey'
  readonly isEncrypted: boolean

  constructor(isEncrypted: boolean) {
    super('not a key')
    this.isEncrypted = isEncrypted
  }
}

/** A Solana keypair as numbers or base58, its 32 secret bytes in base58, or an EVM key in hex. */
export async function readKey(text: string): Promise<Signer> {
  const { signerFromEvmKey, signerFromSeed, signerFromSolanaKeypair } = await import('@svc/sdk/signers')
  const { fromBase58 } = await import('@svc/protocol/bytes')
  const trimmed = text.trim()
  if (trimmed.startsWith('{')) throw new UnreadableKey(/"crypto"|"ciphertext"/i.test(trimmed))
  try {
    if (trimmed.startsWith('[')) return signerFromSolanaKeypair(JSON.parse(trimmed))
    if (/^(0x)?[0-9a-f]{64}$/i.test(trimmed)) return signerFromEvmKey(trimmed)
    const keypair = fromBase58(trimmed, 64)
    const seed = fromBase58(trimmed, 32)
    if (keypair) return signerFromSolanaKeypair(keypair)
    if (seed) return signerFromSeed(seed)
  } catch {
    // The text has the form of a key, but is not a valid key.
  }
  throw new UnreadableKey(false)
}
