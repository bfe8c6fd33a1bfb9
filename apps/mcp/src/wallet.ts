import type { Signer, Wallet } from '@svc/sdk'
import { KeyFileError, readKeyFile } from '@svc/sdk/node'
import { SetupError } from './failures.ts'
import { nodeOf } from './nodes.ts'
import type { Settings } from './settings.ts'

interface OpenWallet {
  signer: Signer
  /** Null where no node of its chain is known: then it owns and signs, but cannot pay. */
  wallet: Wallet | null
}

/** The key that pays and owns. */
export async function openWallet(file: string, settings: Settings): Promise<OpenWallet> {
  const key = await readKeyFile(file).catch(refused)
  const rpcUrl = nodeOf(settings, key.namespace)
  return { signer: key.signer, wallet: rpcUrl === null ? null : await key.wallet(rpcUrl) }
}

function refused(error: unknown): never {
  if (!(error instanceof KeyFileError)) throw error
  const hint = error.code === 'readable_by_others' ? '; make it yours alone with chmod 600' : ''
  throw new SetupError(`SVC_WALLET: ${error.message}${hint}`)
}
