// A key as people have it: what Solana's tools and wallets keep, or the private key of an EVM account.

import { fromBase58 } from '@svc/protocol/bytes'
import { type Signer, signerFromEvmKey, signerFromSolanaKeypair } from '@svc/sdk/signers'
import type { Wallet } from '@svc/sdk/wallets/wallet'
import { Failure } from '../failures.ts'

export interface Key {
  namespace: Wallet['namespace']
  address: string
  /** For people: which file or variable it came from. */
  from: string
  signer: Signer
  /** Pays through a node of its chain. */
  wallet(rpcUrl: string): Promise<Wallet>
}

/** Nothing of the text is ever shown, also not in errors. */
export function parseKey(text: string, from: string): Key {
  const trimmed = text.trim()
  if (trimmed.startsWith('{'))
    throw new Failure(`${from} is an encrypted keystore`, 'export the plain key to a file with mode 600, and name that')
  if (/^(0x)?[0-9a-f]{64}$/i.test(trimmed)) return evmKey(trimmed, from)
  const keypair = trimmed.startsWith('[') ? byteList(trimmed) : fromBase58(trimmed, 64)
  if (keypair) return solanaKey(keypair, from)
  throw new Failure(`${from} holds no key`, 'it must be a Solana keypair (64 numbers) or an EVM key (64 hex digits)')
}

function byteList(text: string): Uint8Array | null {
  try {
    const numbers: unknown = JSON.parse(text)
    const isKeypair = Array.isArray(numbers) && numbers.length === 64 && numbers.every(isByte)
    return isKeypair ? Uint8Array.from(numbers) : null
  } catch {
    return null
  }
}

function isByte(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256
}

function solanaKey(keypair: Uint8Array, from: string): Key {
  let signer: Signer
  try {
    signer = signerFromSolanaKeypair(keypair)
  } catch {
    throw new Failure(`the two halves of the keypair in ${from} do not belong together`)
  }
  return {
    namespace: 'solana',
    address: signer.address,
    from,
    signer,
    // The chains' libraries are large: only those who pay load them.
    wallet: async (rpcUrl) => (await import('@svc/sdk/solana-wallet')).solanaWallet({ rpcUrl, signer }),
  }
}

function evmKey(hex: string, from: string): Key {
  const account = `0x${hex.replace(/^0x/i, '').toLowerCase()}` as const
  const signer = signerFromEvmKey(account)
  return {
    namespace: 'eip155',
    address: signer.address,
    from,
    signer,
    wallet: async (rpcUrl) => (await import('@svc/sdk/evm-wallet')).evmWallet({ rpcUrl, account }),
  }
}
