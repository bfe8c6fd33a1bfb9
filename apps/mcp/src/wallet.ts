// The key that pays and owns: a Solana keypair or the private key of an EVM account, in a file that nobody else can read.

import { open } from 'node:fs/promises'
import { fromBase58 } from '@svc/protocol/bytes'
import { type Signer, signerFromEvmKey, signerFromSolanaKeypair } from '@svc/sdk/signers'
import { isPrivateHost } from '@svc/sdk/wallets/private-host'
import type { Wallet } from '@svc/sdk/wallets/wallet'
import { SetupError } from './failures.ts'
import type { Settings } from './settings.ts'

interface OpenWallet {
  signer: Signer
  /** Null where no node of its chain is known: then it owns and signs, but cannot pay. */
  wallet: Wallet | null
}

export async function openWallet(file: string, settings: Settings): Promise<OpenWallet> {
  const text = (await readKeyFile(file)).trim()
  if (/^(0x)?[0-9a-f]{64}$/i.test(text)) return evm(text, settings)
  const keypair = text.startsWith('[') ? byteList(text) : fromBase58(text, 64)
  if (!keypair) throw noKey(file)
  return solana(keypair, settings, file)
}

const MAX_BYTES = 16 * 1024

async function readKeyFile(path: string): Promise<string> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new SetupError(`SVC_WALLET: ${path} cannot be read (${error.code})`)
  })
  try {
    // Of the file that is open, not of what the path may name a moment later.
    const { mode, size } = await file.stat()
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new SetupError(`SVC_WALLET: others can read ${path}; make it yours alone with chmod 600`)
    if (size > MAX_BYTES) throw noKey(path)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Nothing of the text is shown. */
function noKey(file: string): SetupError {
  return new SetupError(
    `SVC_WALLET: ${file} holds neither a Solana keypair (64 numbers) nor an EVM key (64 hex digits)`,
  )
}

function byteList(text: string): Uint8Array | null {
  try {
    const numbers: unknown = JSON.parse(text)
    const isBytes =
      Array.isArray(numbers) && numbers.every((value) => Number.isInteger(value) && value >= 0 && value < 256)
    return isBytes ? Uint8Array.from(numbers) : null
  } catch {
    return null
  }
}

async function solana(keypair: Uint8Array, { nodes, gateway }: Settings, file: string): Promise<OpenWallet> {
  const signer = solanaSigner(keypair, file)
  const rpcUrl = nodes.solana ?? (isPrivateHost(gateway) ? LOCAL_NODES.solana : null)
  if (rpcUrl === null) return { signer, wallet: null }
  // The chains' libraries are large: only one is loaded.
  const { solanaWallet } = await import('@svc/sdk/solana-wallet')
  return { signer, wallet: solanaWallet({ rpcUrl, signer }) }
}

function solanaSigner(keypair: Uint8Array, file: string): Signer {
  try {
    return signerFromSolanaKeypair(keypair)
  } catch {
    throw noKey(file)
  }
}

async function evm(hex: string, { nodes, gateway }: Settings): Promise<OpenWallet> {
  const account = `0x${hex.replace(/^0x/i, '').toLowerCase()}` as const
  const signer = signerFromEvmKey(account)
  const rpcUrl = nodes.eip155 ?? (isPrivateHost(gateway) ? LOCAL_NODES.eip155 : null)
  if (rpcUrl === null) return { signer, wallet: null }
  const { evmWallet } = await import('@svc/sdk/evm-wallet')
  return { signer, wallet: evmWallet({ rpcUrl, account }) }
}

/** Where `npm start` has them: a gateway on this machine has its chains there too. */
export const LOCAL_NODES = { solana: 'http://127.0.0.1:8899', eip155: 'http://127.0.0.1:8545' }
