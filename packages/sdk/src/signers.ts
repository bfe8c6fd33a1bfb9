// Signers of requests. A signer is an address and a function that signs bytes.

import { fromBase58, fromHex, toBase58, toHex } from '@svc/protocol/bytes'
import { ed25519Signer, evmAddressOf, personalSign } from '@svc/protocol/keys'

export interface Signer {
  /** An Ed25519 key in base58, or an EVM address. The form determines the signature scheme. */
  readonly address: string
  /**
   * Returns a 64-byte Ed25519 signature in base58, or `0x` and the 65 bytes of an EIP-191 personal signature in hex.
   */
  sign(message: Uint8Array): Promise<string>
}

/** A signer from the 32 secret bytes of an Ed25519 key. */
export function signerFromSeed(seed: Uint8Array): Signer {
  if (seed.length !== 32) throw new RangeError('an Ed25519 seed has 32 bytes')
  const key = ed25519Signer(seed)
  return { address: toBase58(key.publicKey), sign: async (message) => toBase58(key.sign(message)) }
}

/** A signer from the keypair in the `id.json` of Solana's tools: seed and public key, 64 bytes. */
export function signerFromSolanaKeypair(keypair: Uint8Array | readonly number[]): Signer {
  const bytes = Uint8Array.from(keypair)
  const signer = signerFromSeed(bytes.slice(0, 32))
  if (signer.address !== toBase58(bytes.slice(32))) throw new RangeError('these 64 bytes are not a Solana keypair')
  return signer
}

/** A signer from the private key of an EVM account: 32 bytes, or hex with or without `0x`. */
export function signerFromEvmKey(privateKey: Uint8Array | string): Signer {
  const key =
    typeof privateKey === 'string'
      ? fromHex(privateKey.replace(/^0x/i, '').toLowerCase(), 32)
      : Uint8Array.from(privateKey)
  if (key?.length !== 32) throw new RangeError('a private key of an EVM account has 32 bytes')
  return { address: evmAddressOf(key), sign: async (message) => personalSign(message, key) }
}

/** The part of a viem wallet client or account that is used. */
export interface ViemLike {
  account?: { address: string } | undefined
  address?: string
  signMessage(request: { message: { raw: `0x${string}` } }): Promise<string>
}

/** A signer from a viem account, or from a viem wallet client that has one. */
export function signerFromViem(wallet: ViemLike): Signer {
  const address = wallet.account?.address ?? wallet.address
  if (!address) throw new TypeError('the wallet client has no account')
  return {
    address: address.toLowerCase(),
    sign: (message) => wallet.signMessage({ message: { raw: `0x${toHex(message)}` } }),
  }
}

/** The part of the wallet standard's feature `solana:signMessage` that is used. */
export interface SignMessageFeature<Account> {
  signMessage(...requests: { account: Account; message: Uint8Array }[]): Promise<readonly { signature: Uint8Array }[]>
}

/** A signer from a browser wallet: `wallet.features['solana:signMessage']` and one of its accounts. */
export function signerFromWalletStandard<Account extends { address: string }>(
  account: Account,
  feature: SignMessageFeature<Account>,
): Signer {
  if (!fromBase58(account.address, 32)) throw new TypeError('the account is not on the primary chain')
  return {
    address: account.address,
    async sign(message) {
      const [signed] = await feature.signMessage({ account, message })
      if (!signed) throw new Error('the wallet returned no signature')
      return toBase58(signed.signature)
    },
  }
}
