import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { homeFolder } from '@svc/sdk/user-folder'
import type { Setting } from '../config/settings.ts'
import { UsageError } from '../failures.ts'
import type { Environment } from '../world.ts'
import { type Key, keyInFile, keyInText } from './key.ts'

/** The keys at hand. One that is named by option is the only one. */
export async function findKeys(env: Environment, wallet: Setting | null): Promise<Key[]> {
  const keys = wallet ? [await keyInFile(wallet.value)] : []
  if (wallet?.from !== '--wallet' && env.SVC_EVM_KEY) keys.push(keyInVariable(env.SVC_EVM_KEY))
  if (keys.length > 0) return keys
  const usual = usualFile(env)
  return usual && (await exists(usual)) ? [await keyInFile(usual)] : []
}

/** Files that keys are read from, or would be. */
export function keyFiles(env: Environment, wallet: Setting | null): string[] {
  return [wallet?.value, usualFile(env)].filter((path) => typeof path === 'string')
}

/** Where Solana's tools keep theirs. */
function usualFile(env: Environment): string | null {
  const home = homeFolder(env)
  return home && join(home, '.config', 'solana', 'id.json')
}

function keyInVariable(text: string): Key {
  const key = keyInText(text, 'SVC_EVM_KEY')
  if (key.namespace !== 'eip155') throw new UsageError('SVC_EVM_KEY holds no EVM key')
  return key
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
