// Keys from files: Solana keypairs in the form of its tools and wallets, and private keys of EVM accounts. Errors never
// show the content of a file.

import { open } from 'node:fs/promises'
import { NETWORKS } from '@svc/api/networks'
import { fromBase58 } from '@svc/protocol/bytes'
import { type Signer, signerFromEvmKey, signerFromSolanaKeypair } from '../signers.ts'
import { nodeNetwork } from '../wallets/node-network.ts'
import type { Wallet } from '../wallets/wallet.ts'

export interface Key {
  namespace: Wallet['namespace']
  signer: Signer
  /** Returns a wallet that pays through a node of its chain. */
  wallet(rpcUrl: string): Promise<Wallet>
}

export class KeyFileError extends Error {
  override name = 'KeyFileError'
  readonly code: 'unreadable' | 'readable_by_others' | 'encrypted' | 'no_key'

  constructor(code: KeyFileError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Refuses a file that others can read. */
export async function readKeyFile(path: string): Promise<Key> {
  return parseKey(await readPrivately(path), path)
}

const MAX_BYTES = 16 * 1024

/** The text of a file that only its owner can read. */
export async function readPrivately(path: string): Promise<string> {
  const file = await open(path).catch(unreadable(path))
  try {
    // Check the open file, because the path may name another one a moment later.
    const facts = await file.stat()
    if (!facts.isFile())
      throw new KeyFileError(
        'unreadable',
        `${path} is ${facts.isDirectory() ? 'a folder' : 'not a regular file'}, but must be a key file`,
      )
    const { mode, size } = facts
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new KeyFileError('readable_by_others', `other users can read ${path}, so it is refused`)
    if (size > MAX_BYTES) throw noKey(path)
    return await file.readFile('utf8').catch(unreadable(path))
  } finally {
    await file.close()
  }
}

function unreadable(path: string) {
  return ({ code }: NodeJS.ErrnoException): never => {
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EACCES' ? 'you have no permission' : code
    throw new KeyFileError('unreadable', `${path} cannot be read: ${why}`)
  }
}

/** `from` names the key in errors: a path or a variable. */
export function parseKey(text: string, from: string): Key {
  const trimmed = text.trim()
  if (trimmed.startsWith('{')) throw new KeyFileError('encrypted', `${from} is an encrypted keystore`)
  if (/^(0x)?[0-9a-f]{64}$/i.test(trimmed)) return evmKey(trimmed, from)
  const keypair = trimmed.startsWith('[') ? byteList(trimmed) : fromBase58(trimmed, 64)
  if (!keypair) throw noKey(from)
  return solanaKey(keypair, from)
}

function noKey(from: string): KeyFileError {
  return new KeyFileError(
    'no_key',
    `${from} contains neither a Solana keypair (64 numbers) nor an EVM key (64 hex digits)`,
  )
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
  const signer = signerOr(
    () => signerFromSolanaKeypair(keypair),
    `the two halves of the keypair in ${from} do not match`,
  )
  return {
    namespace: 'solana',
    signer,
    // The chain libraries are large, so only paying loads one.
    wallet: async (rpcUrl) => {
      const { solanaWallet } = await import('../wallets/solana-wallet.ts')
      return onItsNetwork(rpcUrl, solanaWallet({ rpcUrl, signer }))
    },
  }
}

function evmKey(hex: string, from: string): Key {
  const account = `0x${hex.replace(/^0x/i, '').toLowerCase()}` as const
  const signer = signerOr(() => signerFromEvmKey(account), `${from} does not contain a valid key of an EVM account`)
  return {
    namespace: 'eip155',
    signer,
    wallet: async (rpcUrl) => {
      const { evmWallet } = await import('../wallets/evm-wallet.ts')
      return onItsNetwork(rpcUrl, evmWallet({ rpcUrl, account }))
    },
  }
}

const TIMEOUT_MS = 10_000

/** If the namespace has several networks, the node determines the network. A node that does not answer cannot pay. */
async function onItsNetwork(rpcUrl: string, wallet: Wallet): Promise<Wallet> {
  const { namespace } = wallet
  const networks = NETWORKS.filter(({ caip2 }) => caip2.startsWith(`${namespace}:`))
  if (networks.length < 2) return wallet
  const options = { signal: new AbortController().signal, timeoutMs: TIMEOUT_MS }
  const network = await nodeNetwork(namespace, rpcUrl, options).catch(() => null)
  return network === null ? wallet : { ...wallet, network }
}

/** Errors of libraries may quote the key, so they are replaced. */
function signerOr(make: () => Signer, objection: string): Signer {
  try {
    return make()
  } catch {
    throw new KeyFileError('no_key', objection)
  }
}
